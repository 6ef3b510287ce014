/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * BASE against NEW: two variants of one capture, or of two. Every figure comes from a measure or
 * from the store, as the reports print it; here it is only subtracted and judged.
 */
#ifndef ZC_COMPARE_H
#define ZC_COMPARE_H

#include "analyze/compare/verdict.h"
#include "analyze/measures/measure.h"
#include "analyze/model/slice.h"
#include "lib/stats.h"

enum end { BASE, NEW, ENDS };

struct compare_end {
	struct store *store; /* NULL: it is a bare file */
	bool shared;	     /* with BASE, whose it is */
	struct bare *bare;   /* owned; bare.h */
	const char *variant; /* the store's string */
	char *label;	     /* as the user named it; owned */
};

struct comparison {
	const struct compare_table *table; /* what is compared; set by compare_table_run */
	struct compare_end end[ENDS];
	struct query
		query; /* unit, basis, scores: the same for both; variant, side: set per table */
	struct work {  /* of a bare file; 0: not given */
		double rate, units, seconds, busy_ns;
	} work[ENDS];
	struct time_slice slice; /* of the runs' windows, of a perf.data */
	/* --side; NULL: the table's own default. Both are set, or none; they differ where what NEW
	 * has is compared with a side that BASE calls otherwise */
	const char *side[ENDS];
	const char *by; /* what the waterfall's steps are; NULL: components */
	long limit;	/* rows; 0: the table's own default */
	bool all;
	enum estimator estimator;
	struct verdict_rule rule;
};

/*
 * `capture` NULL: BASE and NEW are CAPTURE, when it has one variant, or CAPTURE:VARIANT; else
 * variants of `capture`. An unknown variant's message lists those there are. Without `capture` each
 * may also be a perf.data or the text of perf report.
 */
int compare_open(struct comparison *c, const char *capture, const char *base, const char *new,
		 struct error *err);
/* Closes both ends; returns ret, or the error that a store met. */
int compare_close(struct comparison *c, int ret, struct error *err)
	__attribute__((warn_unused_result));
int compare_failed(const struct comparison *c, struct error *err);

/* What a table was made of, beside its rows. Begins with zeros. */
struct outcome {
	unsigned worse;	   /* rows that fail the gate --fail-on worse */
	unsigned judged;   /* rows that it asks and that have a verdict, worse ones among them */
	unsigned unjudged; /* rows that it asks and that have too few runs for one */
	char aside[512];   /* metrics that are worse and not asked: "receiver cpu, sender cpu" */
	/* of a list of costs: */
	char side[64], unit[32]; /* of work: "KiB" */
	size_t runs[ENDS], tests;
	bool parts; /* its rows may overlap and are parts of `whole`, ns per unit */
	double whole[ENDS];
};

/* A row that the gate asks. */
void outcome_count(struct outcome *out, enum verdict v);

struct diff_spec; /* diff.h */

/* A table of `compare`. Its own file defines it, the list in tables.c names it. */
struct compare_table {
	const char *name, *what; /* what NULL: --table does not choose it */
	const char *table;	 /* "compare functions": the name in its output */
	const struct column *columns;
	int ncolumns;
	/* As in struct measure. Sources: variants of captures, two files, two texts of calls or
	 * counters; numbers stand for the runs of one variant. */
	const char *options[SOURCES];
	const char *spare;
	const struct diff_spec *spec; /* of a list of costs */
	size_t limit;		      /* its rows unless --limit says; 0: all */
	int (*run)(const struct comparison *c, struct table *t, struct outcome *out,
		   struct error *err);
};
#define COMPARE_NAMES(word) .name = word, .table = "compare " word

#define OPT_VERDICT "side estimator fail-on threshold "
#define OPT_CHOICE  "from to unit basis cpu comm dso symbol limit all "
/* The options of a list of costs, and `more`. */
#define OPT_COST_LIST(more)                                         \
	.options = {[SOURCE_CAPTURE] = OPT_VERDICT OPT_CHOICE more, \
		    [SOURCE_PERF] = "rate units seconds busy-ns " OPT_CHOICE more}

const struct compare_table *compare_table_find(const char *name); /* or NULL */
const struct compare_table *compare_table_at(size_t i);		  /* NULL past the last */
/* The first table that is made from this source. */
const struct compare_table *compare_table_for(enum data_source source);

/* Begins `t` as that table, without rows. */
void compare_table_init(const struct compare_table *table, struct table *t);
/* Fills `t`, initialised here. */
int compare_table_run(const struct compare_table *table, struct comparison *c, struct table *t,
		      struct outcome *out, struct error *err);

/* Makes of a table of `compare`, and what came with it, the narrow one of a commit message. */
void compare_commit(const struct comparison *c, const struct outcome *out, struct table *t);

/* Notes: how the captures were read, where that is not the usual way, or not the same. */
void compare_manner(const struct comparison *c, struct table *t);

/*
 * Which side is held against which, once both ends are open: sides of one name are; the only side
 * of one end and the only one of the other, whatever their names; else --side must say it. Every
 * side that was named is there.
 */
int compare_pair_sides(struct comparison *c, struct error *err);

/* What the side that BASE calls so is called at that end; NULL stays NULL. */
const char *compare_side_of(const struct comparison *c, enum end e, const char *side);

/* Notes: sides of two names, sides of one end alone. */
void compare_sides_say(const struct comparison *c, struct table *t);

/* "receiver, sender"; the caller frees. */
char *compare_names(const char **names, int n);

/* Are both ends bare files? */
bool compare_is_bare(const struct comparison *c);

/*
 * The side that a list of costs is of, as BASE calls it, "" where both ends are files: --side, else
 * the receiver, else the first that both ends have.
 */
int compare_side(const struct comparison *c, const char **side, struct error *err);

/* c->estimator: the query's, else that of BASE's capture; both ends then use it. */
int compare_estimator(struct comparison *c, struct error *err);

/* The query for one end and side, which BASE calls so. */
struct query compare_query(const struct comparison *c, enum end e, const char *side);

/*
 * What must stand above anything else: an end that copied although it was to be zero-copy, NULL
 * when there is none. Sets c->rule.copied when that is NEW. Once, after compare_open; the caller
 * frees the text.
 */
char *compare_evidence(struct comparison *c);

#endif
