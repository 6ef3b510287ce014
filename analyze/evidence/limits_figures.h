/* SPDX-License-Identifier: GPL-2.0-only */
/* The figures that show limits: of each side of a variant, estimated over the runs. */
#ifndef ZC_LIMITS_FIGURES_H
#define ZC_LIMITS_FIGURES_H

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
	LIMITS
};

struct limit_kind {
	const char *name;
	double least;	       /* the threshold in percent of the window, or of the link's speed */
	const char *waits_for; /* NULL: the side itself holds the data back */
};
extern const struct limit_kind limit_kinds[LIMITS];

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
	enum estimator estimator;
	bool own; /* only figures of the workload: of its threads, its cgroup and its sockets */
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
