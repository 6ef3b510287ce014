/* SPDX-License-Identifier: GPL-2.0-only */
/* What limited a variant, in words, for other tables and for charts. */
#ifndef ZC_LIMITS_H
#define ZC_LIMITS_H

#include "analyze/scope/scope.h"

enum limit {
	LIMIT_CPU,
	LIMIT_SOFTIRQ,
	LIMIT_TAKEN, /* a CPU that other work holds */
	LIMIT_QUOTA,
	LIMIT_WIRE,
	LIMIT_CWND,
	LIMIT_RWND,
	LIMIT_SNDBUF,
	LIMIT_QUEUE, /* below TCP: a link, a qdisc or pacing */
	LIMIT_APPLICATION,
	LIMITS,
	LIMIT_NONE = LIMITS
};

struct limit_kind {
	const char *name;
	double least;	       /* the threshold in percent of the window, or of the link's speed */
	const char *waits_for; /* NULL where the side itself holds the data back */
};
extern const struct limit_kind limit_kinds[LIMITS + 1];

/* A limit of a variant. A variant without a limit has one row of kind LIMIT_NONE. */
struct limit_row {
	const char *variant, *side; /* strings of the store; side "": no limit is known */
	enum limit kind;
	const char *evidence; /* the figures that show the limit */
	double share;	      /* percent of the window, or of the link's speed; NAN: no limit */
	bool unmeasured;      /* no figure says whether there is a limit */
};

/* The limits of several variants, those of one variant in a row. */
struct limits {
	struct limit_row *row;
	size_t n, cap;
	struct arena arena;
};

/*
 * Reads the limits of all sides. The caller frees `l`, also after an error. Returns 0 or -errno.
 */
int limits_read(struct store *s, const struct query *q, struct limits *l, struct error *err);
void limits_free(struct limits *l);

/*
 * The order of the limits in words: the largest share of the window first, or by name. Two variants
 * have the same limits if their words by name are equal.
 */
enum limits_order { LIMITS_BY_SHARE, LIMITS_BY_NAME };

/*
 * Returns the limits of a variant, such as "sender cpu and sender rwnd (waits for the receiver)".
 * NULL: the variant has no row. The caller frees the text.
 */
char *limits_words(const struct limits *l, const char *variant, enum limits_order order);

/*
 * Returns whether two variants have different bottlenecks: both have rows in their limits, and no
 * limit of a side is a row of both. `cpu` and `softirq` are one limit: the side's busiest CPU.
 * Both variants may be in the same limits.
 */
bool limits_differ(const struct limits *l, const char *variant, const struct limits *others,
		   const char *other);

/* Adds the limits of all variants of the query as one result. Returns 0 or -errno. */
int limits_note(struct store *s, const struct query *q, struct table *t, struct error *err);

/* Returns whether the driver's links have no wire, so that their speed is only a number. */
bool limits_driver_is_virtual(const char *driver);

/* --- limits_figures.c: the figures of each side of a variant, estimated over the runs --- */

struct limit_found {
	double share; /* percent; NAN: not measured */
	char *text;   /* owned; or NULL */
};

struct limits_side {
	const struct block_runs *b;
	struct limit_found found[LIMITS];
	double acked; /* bytes */
};

struct limits_variant {
	struct store *s;
	const struct query *q;
	enum estimator estimator;
	struct limits_side *sides;
	int n;
};

/*
 * Reads the figures of all sides; the caller sets the other members. limits_free_figures() frees
 * the texts, also after an error. Returns 0 or -errno.
 */
int limits_read_figures(struct limits_variant *v, struct error *err);
void limits_free_figures(struct limits_variant *v);

#endif
