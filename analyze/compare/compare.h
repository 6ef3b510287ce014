/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compares BASE with NEW: two variants of one capture or of two, or two files. Every figure is that
 * of a measure or of the store, as the reports print it. This folder only subtracts and judges.
 */
#ifndef ZC_COMPARE_H
#define ZC_COMPARE_H

#include "analyze/figures/tables.h"
#include "analyze/model/profile.h"
#include "analyze/model/verdict.h"
#include "analyze/store/history.h"

/* --- a comparison --- */

enum end { BASE, NEW, ENDS };

struct compare_end {
	struct store *store; /* NULL where the end is a bare file */
	bool shared;	     /* BASE owns the store */
	struct bare *bare;   /* owned; ends.c */
	const char *variant; /* the store's string */
	char *label;	     /* the user's name for the end; owned */
};

struct comparison {
	const struct compare_table
		*table; /* compare_table_run sets it; of a self-test, see there */
	struct compare_end end[ENDS];
	struct query query; /* the query of both ends: unit, basis, scores; each table sets variant
			       and side */
	struct work_done work[ENDS];
	struct time_slice slice; /* the part of each run's window, or of a perf.data */
	/* --side, or NULL for the table's default. Both are set or none is. They differ where the
	 * ends name the compared side differently. */
	const char *side[ENDS];
	bool total;	/* --side total: only its rows; both sides above are NULL */
	const char *by; /* the table of the waterfall's steps; NULL: components */
	long limit;	/* rows; 0: the table's default */
	enum estimator estimator;
	struct verdict_rule rule;
	size_t splits;	   /* the most splits of a self-test; not 0: only BASE has figures */
	bool every_figure; /* not those of compare alone */
};

/*
 * Opens both ends. With `capture`, `base` and `new` are variants of it. Without, each is a CAPTURE
 * of one variant, a CAPTURE:VARIANT, a perf.data or the text of perf report. The message for an
 * unknown variant lists the variants of the capture.
 */
int compare_open(struct comparison *c, const char *capture, const char *base, const char *new,
		 struct error *err);
/* Returns whether an end is a pattern of variants, "send+*". Such an end has no variant. */
bool compare_is_pattern(const char *ref);
/* Closes both ends. Returns ret, or the error of a store. */
int compare_close(struct comparison *c, int ret, struct error *err)
	__attribute__((warn_unused_result));
/* Returns the first error of the stores, or 0. */
int compare_failed(const struct comparison *c, struct error *err);

struct figures; /* figures.h */

struct gate; /* gate.h */

/* What the gate and the commit message need of a table. Starts as zeros. */
struct outcome {
	struct gate *gate;	  /* the caller's, or NULL: gets the rows that can have a verdict */
	bool limits_differ;	  /* throughput does not compare the ends */
	size_t runs[ENDS], tests; /* the fewest runs of a primary figure; its tests */
	/* The side of a list of costs, until the ends are closed. NULL: all sides, or files. */
	const char *side;
	char unit[32]; /* unit of work of a list of costs, as "KiB" */
	/* Table metrics leaves its figures here if the caller sets it; they go with the comparison.
	 */
	struct figures *figures;
};

struct diff_spec; /* diff.h */

/* A table of `compare`. One file defines it, the list in compare.c names it. */
struct compare_table {
	const char *name, *what; /* what NULL: --table cannot choose it */
	const char *table;	 /* "compare functions": the name in its output */
	const struct column *columns;
	int ncolumns;
	/* As in struct measure. The sources are variants of captures, two files, and the runs of
	 * one variant (SOURCE_NUMBERS). */
	const char *options[SOURCES];
	const char *whole; /* as in struct measure */
	const char *spare;
	const struct diff_spec *spec;	   /* the columns of a list of costs */
	const struct compare_table *pairs; /* compares two patterns of variants instead */
	bool of_figures;		   /* rows are figures, with the movements of components */
	bool of_facts;			   /* rows are no figures and have no verdicts */
	bool of_pairs;			   /* each row compares two variants of its own */
	size_t limit;			   /* rows without --limit; 0: all */
	int (*run)(const struct comparison *c, struct table *t, struct outcome *out,
		   struct error *err);
};
#define COMPARE_NAMES(word) .name = word, .table = "compare " word

#define OPT_VERDICT "side estimator fail-on threshold "
#define OPT_CHOICE  "from to unit basis cpu comm dso symbol limit all "
/* The options of a list of costs, and `more`. */
#define OPT_COST_LIST(more)                                                          \
	.options = {[SOURCE_CAPTURE] = OPT_VERDICT OPT_CHOICE "workload-only " more, \
		    [SOURCE_PERF] = "rate units seconds busy-ns " OPT_CHOICE more}

extern const struct compare_table comparison_metrics, comparison_pairs;
const struct compare_table *compare_table_find(const char *name); /* or NULL */
const struct compare_table *compare_table_at(size_t i);		  /* NULL past the last */
/* Returns the first table that is made from this source. */
const struct compare_table *compare_table_for(enum data_source source);

/* Starts `t` as that table, without rows. */
void compare_table_init(const struct compare_table *table, struct table *t);
/* Initializes and fills `t`. */
int compare_table_run(const struct compare_table *table, struct comparison *c, struct table *t,
		      struct outcome *out, struct error *err);

/*
 * Turns a table of `compare` and its outcome into the text of a commit message. `first` are the
 * lines above the title, `second` those below it.
 */
int compare_commit(const struct comparison *c, const struct outcome *out, const struct str *first,
		   const struct str *second, struct table *t, struct error *err);

/*
 * Prints "worse: sender ns/KiB +7.3%; no clear change: throughput". The first changes go into
 * `subject` as far as they fit into `room` characters, the others into `body`. Ends with different
 * limits get no words on throughput.
 */
void commit_print_verdicts(struct str *subject, size_t room, struct str *body,
			   const struct figures *f, bool limits_differ);

/*
 * Adds lines with the conditions of a side, or of all sides where it is "": zero copy, host, CPUs,
 * network card, number of runs, and settings that differ. Files have none.
 */
int compare_conditions(const struct comparison *c, const char *side, struct str *lines,
		       struct error *err);

/* Adds at most `most` lines with a setting that differs, and the number of the others. */
int compare_settings(const struct comparison *c, size_t most, struct str *lines, struct error *err);

/* Returns the network card of a side of BASE, as the conditions name it, or NULL. */
const char *compare_card(const struct comparison *c, const char *side, struct arena *a,
			 struct error *err);

/*
 * Lists the settings of a side of BASE that captures must share to have figures that compare, the
 * last one a checksum of all keys of the plan. Kernel, programs and the plan's variables are not
 * among them: a history shows their changes. The caller frees the list. Texts are in `a` or the
 * store's. Returns the number or -errno.
 */
int compare_lasting_settings(const struct comparison *c, const char *side,
			     struct history_setting **list, struct arena *a, struct error *err);

/* Notes how the captures were read, where that was unusual or differs between the ends. */
void compare_note_reading(const struct comparison *c, struct table *t);

/*
 * Pairs the sides of the open ends: sides with the same name; or the only side of one end with the
 * only side of the other; or else the sides that --side names. Refuses a side that no end has.
 */
int compare_pair_sides(struct comparison *c, struct error *err);

/* Sets the side of both ends: "receiver", or of each: "receiver,local". `arg` must outlive `c`. */
bool compare_set_sides(struct comparison *c, char *arg);

/* Notes sides that only one end has. */
void compare_note_sides(const struct comparison *c, struct table *t);

/* Notes busy_others_pct() of a side, where it leaves no verdict on whole CPUs. */
void compare_note_others(const struct comparison *c, enum end e, const char *side, double pct,
			 struct table *t);

/* With --workload-only, notes what CPU time of both ends is not the workload's. */
int compare_note_workload(const struct comparison *c, struct table *t, struct error *err);

/* Returns "receiver, sender"; the caller frees. */
char *compare_names(const char **names, int n);

/* Returns whether both ends are bare files. */
bool compare_is_bare(const struct comparison *c);

/*
 * Finds the side of a list of costs, in BASE's words: --side, else the receiver, else the first
 * side of both ends. It is "" where both ends are files.
 */
int compare_side(const struct comparison *c, const char **side, struct error *err);

/* Sets c->estimator for both ends: the query's, else that of BASE's capture. */
int compare_estimator(struct comparison *c, struct error *err);

/* Returns the query for one end and for the side that BASE calls `side`. */
struct query compare_query(const struct comparison *c, enum end e, const char *side);

/*
 * Adds the line that stands above the table: which end asked for zero copy and copied. Adds none
 * where none did. Sets c->rule.copied where NEW did. Call it once, after compare_open.
 */
void compare_evidence(struct comparison *c, struct str *lines);

/*
 * Adds two lines if the runs of the ends did not take turns: that, and whether each end drifts.
 * Sets c->rule.apart and c->rule.drifts.
 */
int compare_drift(struct comparison *c, struct str *lines, struct error *err);

/*
 * Finds what limited both ends. Ends that share no limit get a line of `first`, the lines above the
 * table, and out->limits_differ is set. Other ends get a note of the table.
 */
int compare_limits(const struct comparison *c, struct table *t, struct outcome *out,
		   struct str *first, struct error *err);

/*
 * --- self_test.c ---
 *
 * Measures how often `compare` sees a difference where there is none. Splits the runs of one
 * variant into two halves at random, many times, or in every way where the ways are few, and judges
 * the halves as BASE and NEW. Runs of one variant differ only by chance, unless the machine
 * drifted.
 */

enum { SPLITS = 2000 }; /* at most */

struct splits {
	uint64_t *of; /* one mask per split; bit i: run i goes to the base */
	size_t n, runs, base;
	bool every; /* the list holds all splits */
	/* The split of the first half from the second, and of every other run from the rest. */
	uint64_t first_half, alternate;
};

/*
 * Lists at most `most` splits of up to SPLIT_RUNS runs, each pair of halves once. One half, the
 * base, has `base` runs, at most half of all.
 */
enum { SPLIT_RUNS = 63 };
void splits_make(struct splits *s, size_t runs, size_t base, size_t most);
void splits_free(struct splits *s);

/*
 * Fills a table with a row for each variant (or only `variant`), table and side: the share of
 * splits with a false alarm, its interval, and the level that this many runs can attain.
 * c->table is the only table to test, or NULL: metrics, components and functions.
 */
int compare_self_test(struct comparison *c, const char *capture, const char *variant,
		      struct table *t, struct error *err);

/* --- rows of tables --- */

/* A row of table metrics. */
struct metrics_row {
	const char *side, *metric, *unit;
	double base, new, p;
	const char *scope, *better, *verdict;
	int64_t base_runs, new_runs;
};

/* A row of a list of costs, or a step of table waterfall. */
struct costs_row {
	const char *key, *key2;		  /* the function and its object, or "" */
	double base_ns, new_ns, total_ns; /* total_ns: after the step */
	struct half_estimate delta_ns;
	double counts[ENDS + 1]; /* the third is the difference */
	double sampling_error, p;
	const char *verdict, *state;
};

/* --- files instead of captures --- */

/* Returns whether the path is a perf.data or a text, and not a capture, store or archive. */
bool bare_is(const char *path);
/* Returns whether it is such a text. */
bool bare_is_text(const char *path);

#endif
