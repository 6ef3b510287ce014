/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What each thing of a table costs at both ends, its change, and whether that is real. Costs are
 * in ns per unit of work, pooled over the runs of an end as the report prints them, so that
 * delta = new - base adds up to the difference of the totals; a thing that one end does not have
 * costs 0 there, within the sampling error.
 *
 * A profile gives shares; the basis they divide comes from other runs, those that measured. So the
 * i-th run's cost is the i-th profile's share of the i-th basis: that carries both errors. There
 * are as many runs as the fewer of the two.
 *
 * The test is Mann-Whitney over the runs, corrected by Holm over the rows that cost at least 1 %
 * of the total, the mean of both ends taken: a choice that does not look at the difference. The
 * others are not tested. Costs of runs that agree to 12 digits are ties. lo..hi is that test's own
 * interval, at the level at which Holm's procedure tested the row, so that it leaves 0 out exactly
 * when the corrected p is below alpha; NAN where a row is not tested or the runs are too few.
 * delta_ci is half of its width then. Else it is half of a 95 % interval that claims nothing: the
 * wider of the errors of both ends, sampling (for a thing without a sample: 3 / n of the total, the
 * rule of three) and basis together, and, with two runs and more on each end, Welch's over the
 * runs.
 */
#ifndef ZC_DIFF_H
#define ZC_DIFF_H

#include "analyze/compare/compare.h"
#include "analyze/measures/costs.h"
#include "lib/alloc.h"
#include "lib/hash.h"
#include "lib/intern.h"
#include "lib/stats.h"

/* A row is tested when it costs this share of the total, both ends taken together. */
#define FAMILY_SHARE 0.01

/* Which measure, and its columns; those that it lacks are NULL. */
struct diff_spec {
	const char *measure, *key, *key2;
	const char *value;   /* ns per unit */
	const char *samples; /* sampling errors of what is absent need their number */
	const char *count;   /* calls per MiB; of groups, cost with what they call */
	bool syscalls;	     /* from the runs that accounted syscalls, else from profiles */
	/* rows are a part of it and may overlap: the measure that tells the whole; else NULL */
	const char *whole;
};

struct diff_row {
	const char *key, *key2; /* key2 may be NULL */
	double cost[ENDS], ci[ENDS], count[ENDS];
	bool seen[ENDS];
	double *runs[ENDS]; /* cost in each run of the end; NULL: the end is not read yet */
	double delta, delta_ci, lo, hi, p;
	enum verdict verdict;
};

struct diff {
	struct diff_row *rows; /* the largest |delta| first */
	size_t n, cap;
	const char *unit; /* of work: "KiB"; NULL before the first table */
	size_t nruns[ENDS];
	double *run_count[ENDS]; /* all rows' counts, in each run */
	double total[ENDS], samples[ENDS];
	bool never_idle[ENDS]; /* no CPU time: all the time of the CPUs stands in for it */
	double basis_ci[ENDS]; /* of the total, as a share of it; NAN: one run, not known */
	size_t tests;	       /* rows in Holm's correction */
	double level[2];       /* of their intervals: the lowest, the highest */
	bool possible;	       /* that many tests over that many runs can give verdicts */
	struct arena arena;
	struct intern names;
	struct map ids;
};

extern const struct diff_spec function_spec, component_spec, syscall_spec;
/* "functions"; NULL where there is none whose rows add up to the whole. */
const struct diff_spec *diff_spec_find(const char *name);

/* Begins with zeros. */
void diff_init(struct diff *d);
void diff_free(struct diff *d);

/*
 * Reads one end; -ENODATA when it has no such runs. Warnings and losses of the measures go to
 * `notes`, each once. The rows of both ends meet by their keys.
 */
int diff_read(struct diff *d, const struct comparison *c, enum end e, const char *side,
	      const struct diff_spec *spec, struct table *notes, struct error *err);

/* Both ends, judged. On error `d` is empty. */
int diff_read_ends(struct diff *d, const struct comparison *c, const char *side,
		   const struct diff_spec *spec, struct table *notes, struct error *err);

/* A measure's sums are not ours, but what it warns of is: each such note once, and `lossy`. */
void diff_carry_notes(struct table *to, const struct table *from);

/* Differences, intervals and verdicts, once both ends are read; sorts the rows. */
void diff_judge(struct diff *d, const struct verdict_rule *rule);

/* Returns the difference as a table prints it, with the row's intervals. */
struct value diff_delta(struct table *t, const struct diff_row *row, double delta);
/* Columns for the interval of the test, which agrees with p. */
#define DELTA_PART(name, which) name, "ns", V_REAL, .part_of = "delta_ns", .part = which
#define DELTA_BOUNDS                              \
	{DELTA_PART("delta_lo", PART_LOW)},       \
	{                                         \
		DELTA_PART("delta_hi", PART_HIGH) \
	}

/* NULL: no such row (before diff_judge). */
const struct diff_row *diff_find(const struct diff *d, const char *key, const char *key2);

/* The parts of diff_read that need no store: room for the runs, then the tables, then the basis. */
enum { DIFF_POOLED = -1 };
void diff_set_runs(struct diff *d, enum end e, size_t n);
int diff_add_table(struct diff *d, const struct diff_spec *spec, enum end e, int run,
		   const struct table *t, struct error *err);
/* Each run's costs, which the measure found with the pooled table `t`. */
void diff_add_runs(struct diff *d, const struct diff_spec *spec, enum end e, const struct table *t,
		   const struct cost_runs *runs);
/* The total out of the table of spec->whole. */
void diff_add_whole(struct diff *d, const struct diff_spec *spec, enum end e,
		    const struct table *t);
/* The basis of n runs; `estimator` is what the pooled costs' basis was made with. */
void diff_scale_runs(struct diff *d, enum end e, const double *basis, size_t n,
		     enum estimator estimator);

#endif
