/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cost of each row of a measure at both ends, its change, and the verdict. Costs are in ns per
 * unit of work, pooled over the runs of an end as the report prints them. So the deltas, new -
 * base, add up to the difference of the totals. A row that one end lacks costs 0 there, within the
 * sampling error.
 *
 * A profile has shares; the basis is that of other runs, those of the pass measure. The cost in the
 * i-th run is therefore the i-th profile's share of the i-th basis, which carries both errors. The
 * number of runs is the smaller of the two numbers.
 *
 * The test is Mann-Whitney over the runs, with Holm's correction over the rows that cost at least
 * 1 % of the total, in the mean of both ends. This choice does not look at the difference. Other
 * rows are not tested. Costs that agree to 12 digits are ties.
 *
 * delta_ci is half of the 95 % interval of the pooled difference, by Welch and Satterthwaite from
 * the errors of both ends (costs.h). If one end has too few samples for an error, the upper limit
 * of their number replaces it. Where both ends have too few, or where an end has one run, there is
 * no interval. One run has a sampling error. A verdict needs an interval that leaves 0 out.
 */
#ifndef ZC_DIFF_H
#define ZC_DIFF_H

#include "analyze/compare/compare.h"
#include "analyze/costs/call_tree.h"

/* A row is tested when it costs this share of the total of both ends. */
#define FAMILY_SHARE 0.01

/* A table of costs (costs.h), or the one of system calls. */
struct diff_spec {
	const char *measure, *key, *key2; /* the key columns; key2 may be NULL */
	bool groups;			  /* rows may overlap, so their sum is no total */
	bool syscalls; /* from the runs of the pass syscalls, else from profiles */
};

struct diff_row {
	const char *key, *key2; /* key2 may be NULL */
	double cost[ENDS], sampling[ENDS], samples[ENDS], count[ENDS];
	struct stats_error error[ENDS]; /* the error of `cost`; se is NAN for few samples */
	bool seen[ENDS];
	double *runs[ENDS]; /* cost in each run; NULL: the end is not read yet */
	double delta, delta_ci, delta_sampling, p;
	enum verdict verdict;
	size_t id; /* the id of diff_add_row */
};

struct diff {
	struct diff_row *rows; /* the largest |delta| first */
	size_t n, cap;
	const char *unit; /* unit of work, as "KiB"; unset before the first end */
	bool parts;	  /* rows may overlap, and the reader sets the totals */
	bool joint;	  /* rows vary together: step_down.c corrects p, not Holm */
	size_t nruns[ENDS];
	double *run_count[ENDS]; /* all rows' counts, in each run */
	double total[ENDS], samples[ENDS];
	double others[ENDS];   /* busy_others_pct() of the runs behind the basis */
	bool never_idle[ENDS]; /* without CPU time: the basis is wall time */
	bool has_errors[ENDS]; /* the measure gives errors; else the runs give them */
	size_t tests;	       /* rows with a p */
	bool possible;	       /* this many tests over this many runs can give verdicts */
	struct arena arena;
	struct intern names;	 /* the keys */
	struct map ids;		 /* maps a key << 32 | key2 to its row + 1 */
	struct map limits[ENDS]; /* maps a number of samples to its upper limit as a share */
};

extern const struct diff_spec functions_spec, components_spec, syscalls_spec;
/* Returns the spec of "functions"; NULL unless its rows add up to the whole. */
const struct diff_spec *diff_spec_find(const char *name);

/* A diff begins as zeros. */
void diff_free(struct diff *d);

/*
 * Reads one end; -ENODATA when it has no such runs. Warnings and losses of the measures go to
 * `notes`, each once. The rows of both ends meet by their keys.
 */
int diff_read(struct diff *d, const struct comparison *c, enum end e, const char *side,
	      const struct diff_spec *spec, struct table *notes, struct error *err);
/* The part of diff_read that reads d->others of a capture. */
int diff_read_others(struct diff *d, const struct comparison *c, enum end e, const char *side,
		     struct error *err);

/* Both ends, judged. On error `d` is empty. */
int diff_read_ends(struct diff *d, const struct comparison *c, const char *side,
		   const struct diff_spec *spec, struct table *notes, struct error *err);

/* Copies the warnings of a measure, each once, and `lossy`; notes on sums of rows do not apply. */
void diff_carry_notes(struct table *to, const struct table *from);

/* Fills differences, intervals and verdicts of two ends that are read; sorts the rows. */
void diff_judge(struct diff *d, const struct verdict_rule *rule);

/* Fills the interval and the verdict of a row that has its p. */
void diff_judge_row(struct diff *d, const struct verdict_rule *rule, struct diff_row *row);

/* Corrects p of rows that vary together, without keys (step_down.c). Up to SPLIT_RUNS runs. */
void diff_correct_jointly(struct diff *d);

/* Returns p of a row with a verdict, else NAN. */
double diff_p(const struct diff_row *row);

/* Returns the row, or NULL. */
const struct diff_row *diff_find(const struct diff *d, const char *key, const char *key2);

/* A row of one end, over all its runs. */
struct diff_cost {
	const char *key, *key2;
	double cost, sampling, samples, count; /* count: calls per MiB; of groups, with callees */
};

/* The parts of diff_read that need no store, in their order: runs, costs. */
void diff_set_runs(struct diff *d, enum end e, size_t n);
/* Adds a cost to the row with its keys. Returns the row, valid until the next one. */
struct diff_row *diff_add_cost(struct diff *d, enum end e, const struct diff_cost *cost);
/* Adds a cost of one run. */
void diff_add_run(struct diff *d, enum end e, size_t run, const struct diff_cost *cost);
/* Returns -EINVAL for another unit than that of the other end. */
int diff_set_unit(struct diff *d, const char *unit, struct error *err);
/*
 * Adds a row without a table, after diff_set_runs of both ends. The row is valid until the next
 * one. `key` must live as long as the diff.
 */
struct diff_row *diff_add_row(struct diff *d, const char *key, size_t id);

/* --- costs.c: lists of costs, with the rows of both ends and the notes below them --- */

/* A judged diff, its measure, side and unit. */
struct cost_list {
	struct diff d;
	const struct diff_spec *spec;
	const char *side;
	const char *unit; /* unit of work, as "KiB" */
};

/* Reads both ends and adds notes to `t`. Returns -ENODATA where no end has a row. On error l->d is
 * empty. */
int cost_list_read(struct cost_list *l, const struct comparison *c, const struct diff_spec *spec,
		   struct table *t, struct error *err);

/* Returns digits after the point: at least two, and enough for four digits of the smaller total. */
int cost_digits(const struct cost_list *l);
/* Sets the digits of all columns in ns. */
void cost_columns(struct table *t, const char *unit, int digits);

/* Adds the notes below the rows: movements, sum, the rules of the verdicts. */
void cost_list_add_notes(const struct cost_list *l, const struct comparison *c, struct table *t);

/* Returns "new", "vanished", or NULL. */
const char *cost_state(const struct diff_row *r);

void cost_list_outcome(const struct cost_list *l, struct outcome *out);

/* --- movements.c: the largest movements, as notes and as a detail table --- */

struct movement {
	const char *side, *unit; /* unit of work, as "KiB" */
	const struct diff_row *row;
};

struct movements {
	struct movement *list; /* the caller frees it */
	size_t n, cap;
	size_t untested; /* the longest list with too few runs, though two or more at each end */
};

/* Adds all rows of a judged diff. The diff must outlive `m`. */
void movements_add(struct movements *m, const char *side, const struct diff *d, const char *unit);

/*
 * Adds the five largest movements to `t`, as notes and as its detail table "movements". Where no
 * movement is beyond its error, one note says so instead. Where more runs could tell, or where no
 * error is known, a note says that first. `thing` is the word for a row: "component". Returns the
 * number of the rows, which the list has first.
 */
size_t movements_add_notes(struct movements *m, const struct comparison *c, struct table *t,
			   const char *thing);

/*
 * --- call_diff.c ---
 *
 * The call trees of both ends as one tree, and the change of each frame with all that it calls.
 *
 * Each stack is in one region. Stacks of BASE alone vanished, and stacks of NEW alone are new, if
 * chance cannot explain it: they are in nine of ten runs, and cost more than the upper 97.5 % limit
 * of a stack without samples at the other end. All other stacks are in the first region. The frame
 * nearest to the root decides for all stacks through it. The costs of a frame are those of its
 * stacks in the region, so that the changes of the regions add up to the change of the total.
 *
 * Tests are those of a diff, on the cost of a frame in each run. They are hierarchical (Meinshausen
 * 2008, "Hierarchical testing of variable importance", Biometrika 95):
 *
 * - A frame of at least 1 % of the total, in the mean of both ends, has a test. It shares the test
 *   of its parent if in each run of both ends it has at least 98 % of the cost of the test's first
 *   frame. So a chain of callers is one test.
 * - A test passes if its p is below alpha, or that of a descendant. So its hypothesis is that
 *   nothing in the frame changed, and a gain and a loss of two children do not hide each other.
 * - A frame is tested if its parent passed, or if it has no parent.
 *
 * p is corrected over all frames, tested or not (step_down.c). So the family-wise error is at most
 * alpha. No choice looks at the difference.
 */

/* The unit of two files whose work is not known. */
#define CALL_SHARES "%"

enum call_region { IN_BOTH, VANISHED, APPEARED, REGIONS };

struct call_change {
	double cost[ENDS];	    /* ns per unit of work, of the frame with all that it calls */
	uint32_t first;		    /* the first frame of its test; CALL_NONE: too small */
	const struct diff_row *row; /* its test; NULL: too small, or the parent did not pass */
};

struct call_diff {
	struct call_tree tree;
	struct call_change *changes[REGIONS]; /* by frame of the tree; no cost: not in the region */
	struct call_change regions[REGIONS];  /* costs alone */
	struct diff d;			      /* total, nruns, tests, possible, never_idle */
	struct cost_part part[ENDS];
	const char *side, *unit; /* CALL_SHARES: costs are percent of an end's time */
};

/* Reads both ends of an open comparison and judges. Warnings and losses go to `notes`. */
int call_diff_read(struct call_diff *cd, const struct comparison *c, bool reverse,
		   struct table *notes, struct error *err);
/* Finds the regions of two ends that are read, and tests their frames. */
void call_diff_judge(struct call_diff *cd, const struct verdict_rule *rule);
void call_diff_free(struct call_diff *cd);

#endif
