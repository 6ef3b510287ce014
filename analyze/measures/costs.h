/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From samples to costs: what functions, components, contexts and modules have in common. A part of
 * a table is one block of the store, or one bare file; each part's shares add up to 1 and its costs
 * to its basis, and a note of the table says so with the sums.
 *
 * Intervals are 95 %: the sampling error, 1.96 x basis x sqrt(p (1 - p) / n_eff), or, where several
 * runs were profiled and it is wider, that of the mean of their shares by Student's t.
 */
#ifndef ZC_COSTS_H
#define ZC_COSTS_H

#include "analyze/measures/basis.h"
#include "analyze/measures/measure.h"
#include "analyze/measures/scope.h"
#include "analyze/measures/tally.h"
#include "lib/str.h"

/*
 * The CPU use of a driver, a component, a group: its share of the samples x the load under which
 * they were taken, in percent of all CPUs' time. The load is given, or, of a capture, measured: the
 * side's CPU use over its number of CPUs.
 */
struct system_load {
	double pct,
		ci; /* NAN: not known; ci: half of its interval over the runs, 0 of a given one */
	bool measured, one_cpu; /* one_cpu: asked for with --cpu, which the load is not split by */
	int ncpus;
};

struct system_load system_load_of(struct store *s, const struct query *q, const struct block *b);

/* Half the interval of share x load, of both errors. */
double system_load_ci(const struct system_load *l, double share, double share_ci);

/* Into the notes; `b` without a variant: a file. */
void system_load_say(const struct system_load *l, const struct block *b, struct table *t);

/* --- costs --- */

struct cost_part {
	struct block block; /* NULL, NULL: a bare file */
	struct tally tally; /* sorted */
	struct basis_value basis;
	struct system_load load;
	int nruns;
	double t;	    /* Student's, of a 95 % interval over the runs */
	int nlost;	    /* runs that were profiled, and whose profiles hold no sample */
	struct cpuset cpus; /* that its profiles have samples of; only with spec.cpus */
};

/* A cost with its interval's half width; NAN where it is not known. */
struct cost {
	double share, share_ci, ns, ns_ci; /* share 0..1; ns: or what --in names */
};
struct cost cost_self(const struct cost_part *p, const struct tally_row *r);
struct cost cost_total(const struct cost_part *p, const struct tally_row *r);

/* One block's profiled runs by `spec`, whose filters and event come from the query. */
int cost_part_read(struct store *s, const struct query *q, const struct block *b,
		   const struct tally_spec *spec, struct cost_part *p, struct error *err);
void cost_part_free(struct cost_part *p);
/* "no samples: the profile of 1 run holds none that can be used", of a part that has none. */
void cost_say_absence(const struct cost_part *p, struct str *s);

/*
 * What the functions that copy data cost a block, in ns per unit: NAN where it was not profiled or
 * has no basis. A profile without a sample in them measured 0, within 3 / samples of the total (the
 * rule of three). *basis is what it is a part of.
 */
int copy_cost(struct store *s, const struct query *q, const struct block *b, struct cost *copy,
	      struct basis_value *basis, struct error *err);

/* The CPUs that the samples of a bare file come from; empty: not recorded. */
struct cpuset cost_cpus_of(const struct profile *p);
void cost_cpus_add(struct cpuset *set, const struct profile *p);

/* What a table of costs is: its own keys, and whether it has totals. */
struct cost_table {
	enum tally_key keys[TALLY_KEYS];
	int nkeys;
	bool totals;
	long limit; /* rows of each part unless the query says; 0: all */
};

/* The options that every table of costs takes, and `more`. */
#define COST_ROWS                                                                       \
	"by children dso symbol components component-set limit all unit basis rate in " \
	"system-load "
#define COST_OPTIONS(more)                                                         \
	.options = {                                                               \
		[SOURCE_CAPTURE] = OPT_RUNS OPT_SAMPLES COST_ROWS more,            \
		[SOURCE_PERF] = OPT_RECORDING OPT_SAMPLES COST_ROWS OPT_DONE more, \
		[SOURCE_TEXT] = OPT_SAMPLES COST_ROWS OPT_DONE more,               \
	}

/*
 * What the rows of a table of costs are in each run: self_ns of the i-th run of the query's one
 * block is ns[row * n + i], 0 where the run has no sample in the row. The caller sets n and frees
 * ns.
 */
struct cost_runs {
	size_t n, rows;
	double *ns;
};

/* Fills the whole table: columns, rows and notes. */
int cost_table_run(const struct cost_table *ct, struct store *s, const struct query *q,
		   struct table *t, struct error *err);

/* The `functions` table from the text of perf report. */

/*
 * Fills `t`, initialised with the columns of `functions` (and with "comm" where q->by asks for it).
 * Rows of one symbol in one shared object are added up over what else the text tells apart (comm)
 * and then sorted by self, then total. Where none were, they keep the text's order: perf sorts by
 * the children's share where there is one. ns are share x basis where the query knows the basis:
 * --rate, or --units with --busy-ns. -EINVAL where the query asks for what the text does not hold.
 */
int functions_from_flat(const struct flat *flat, const struct query *q, struct table *t,
			struct error *err);

/* -EINVAL where --cpu or --comm asks for what the text does not tell; for every table of it. */
int flat_check_samples(const struct flat *flat, const struct query *q, struct error *err);
/* Which of the text's tables is shown, into the notes of `t`, where there are several. */
void flat_say_tables(const struct flat *flat, struct table *t);

/* Of how many CPUs --rate is the work of. */
void flat_say_cpus(const struct query *q, struct table *t);

#endif
