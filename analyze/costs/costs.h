/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Turns samples into costs, for the tables of functions, components, contexts and modules. A part
 * of a table is one block of the store, or one bare file. The shares of a part add up to 1, and
 * its costs add up to its basis. A note of the table has these sums.
 *
 * docs/method.md explains the intervals. One run has no interval. It has a sampling error,
 * 1.96 x basis x sqrt(p (1 - p) / n_eff), in a column of that name.
 */
#ifndef ZC_COSTS_H
#define ZC_COSTS_H

#include "analyze/costs/basis.h"
#include "analyze/scope/measure.h"
#include "analyze/scope/scope.h"
#include "analyze/costs/tally.h"

/*
 * The CPU use of a driver, a component or a group is its share of the samples x the load of the
 * system, in percent of the time of all CPUs. The query gives the load, or the capture measures
 * it: the side's CPU use / its number of CPUs.
 */
struct system_load {
	double pct, ci; /* NAN: not known; ci: half the interval, 0 for a load from the query */
	bool measured, one_cpu; /* one_cpu: --cpu is set, but the load covers all CPUs */
};

/* --- costs --- */

struct cost_part {
	struct block block; /* NULL, NULL for a bare file */
	struct tally tally; /* sorted */
	struct basis_value basis;
	struct system_load load;
	int nruns;
	struct basis_runs measured; /* the runs of the basis */
	bool same_runs;		    /* the profiled runs are the runs of the basis */
	bool divided;		    /* the frame did not see all system calls */
	struct {
		double weight, busy_ns; /* the sums over all runs with both */
		double low, high;	/* the extremes of the runs, 0 to 1 */
	} coverage;
	int nlost;	    /* the number of profiled runs without a sample */
	struct cpuset cpus; /* CPUs with samples; of a block only with spec.cpus */
	unsigned int ncpus; /* CPUs of a bare file's basis */
};

/*
 * The least number of samples of a row with an interval, of runs for an interval, and of runs whose
 * intervals hold 95 % (docs/method.md). Two runs are up to 100 times as wide apart as they look.
 */
enum { COST_SAMPLES = 50, COST_LEAST_RUNS = 3, COST_RUNS = 10 };

/* NAN where not known. share: 0 to 1; ns: in the amount of --in */
struct cost {
	double share, share_ci, ns, ns_ci;  /* ci: half the interval */
	double share_sampling, ns_sampling; /* half the 95 % sampling error */
	struct stats_error error;	    /* the error of `ns` */
};
struct cost cost_self(const struct cost_part *p, const struct tally_row *r);
struct cost cost_total(const struct cost_part *p, const struct tally_row *r);

/*
 * Reads the profiled runs of one block with `spec`, or the samples of the query's bare file if the
 * block has no variant. The query provides the filters and the event.
 */
int cost_part_read(struct store *s, const struct query *q, const struct block *b,
		   const struct tally_spec *spec, struct cost_part *p, struct error *err);
void cost_part_free(struct cost_part *p);
/* Adds the doubts about the part's runs, or about its bare file. */
int cost_part_add_notes(struct store *s, const struct query *q, const struct cost_part *p,
			struct table *t, struct error *err);
/* Adds a note on CPUs that the query selects and a bare file has no samples of. */
void cost_note_silent_cpus(const struct query *q, const struct cost_part *p, struct table *t);
/* Lists the blocks that the query asks for. A bare file is one block without a variant. */
int cost_blocks(struct store *s, const struct query *q, struct block **blocks, struct error *err);
/* Appends how much of the busy time the samples cover, if that is known. */
void cost_print_coverage(const struct cost_part *p, struct str *s);
/* Returns whether the part has too few runs for an interval, so that its rows have sampling errors.
 */
bool cost_part_is_single(const struct cost_part *p);
/*
 * Appends why a part has no samples, such as "no samples: the profile of 1 run holds none that can
 * be used".
 */
void cost_print_absence(const struct cost_part *p, struct str *s);

/*
 * Reads the cost of the functions that copy data in a block, in ns per unit. NAN: the block has no
 * profile or no basis. A profile without a sample in these functions measured 0. *basis receives
 * the block's basis.
 *
 * With `alone`, the cost leaves out copying in system calls of other programs. *alone receives
 * whether that was possible: it needs the names of the workload's threads.
 */
int copy_cost(struct store *s, const struct query *q, const struct block *b, bool *alone,
	      struct cost *copy, struct basis_value *basis, struct error *err);

/*
 * Returns the variant that the copying of a variant is compared with: the plan's first variant with
 * the same settings, which may be the variant itself.
 */
const char *copying_base(struct store *s, const char *variant);

/*
 * Reads the cost of the functions that copy in one direction, from programs to sockets or from
 * sockets to programs, with their callees. It leaves out other programs where copy_cost() can.
 * NAN: the block has no profile or no basis.
 */
int copying_read_direction(struct store *s, const struct query *q, const struct block *b,
			   enum direction way, double *ns, struct error *err);

/*
 * Reads the cost of a block in any of the functions, with their callees: names and globs with
 * commas between them. All programs count. NAN: the block has no profile, or no basis.
 * `unit` gets what the cost is for, such as "KiB".
 */
int group_cost(struct store *s, const struct query *q, const struct block *b, const char *functions,
	       struct cost *cost, const char **unit, struct error *err);

/* What the rows of a table of costs are. THE LIST is in cost_tables.c. */
struct cost_table {
	const char *name;
	enum tally_key keys[TALLY_KEYS];
	int nkeys;
	bool totals;
	bool groups;		      /* a row for each group of the query; groups may overlap */
	enum tally_relation relation; /* how rows relate to the query's function; then the only cost
					 is the total */
	long limit;		      /* rows of each part, unless the query has a limit; 0: all */
};
const struct cost_table *cost_table_find(const char *name);

/* The costs of a table's rows. */
struct cost_parts {
	const struct cost_table *table;
	struct tally_spec spec;
	struct components **rules; /* one set, or one for each group */
	int nrules;
	bool by_block;
	struct block *blocks;
	int nblocks;
	struct cost_part *part; /* one part for each block; then those of the next group */
	int n;
	struct cost_part *whole; /* all functions of each block; NULL unless rows are groups */
};
/* Reads the table that the query asks for. The caller frees c, also after an error. */
int cost_parts_read(struct cost_parts *c, const struct cost_table *ct, struct store *s,
		    const struct query *q, struct error *err);
/* Adds the notes of the table, whose parts show `shown` rows each. NULL means all rows. */
int cost_parts_add_notes(const struct cost_parts *c, struct store *s, const struct query *q,
			 struct table *t, struct error *err);
void cost_parts_free(struct cost_parts *c);
/* Returns whether the row is in the table: a function outside a group is not. */
bool cost_parts_has_row(const struct cost_parts *c, const struct tally_row *r);

/* The options of every table of costs, followed by `more`. */
#define COST_ROWS                                                         \
	"by dso symbol components component-set limit all unit basis in " \
	"system-load "
#define COST_OPTIONS(more)                                                               \
	.options = {                                                                     \
		[SOURCE_CAPTURE] = OPT_RUNS OPT_SAMPLES "workload-only " COST_ROWS more, \
		[SOURCE_PERF] = OPT_RECORDING OPT_SAMPLES COST_ROWS OPT_DONE more,       \
		[SOURCE_TEXT] = OPT_SAMPLES COST_ROWS OPT_DONE more,                     \
	}

/* A row of any table of costs. The table names what it shows in its columns. */
struct cost_row {
	struct block block;
	const char *key[TALLY_KEYS]; /* by enum tally_key */
	const char *unit;	     /* the unit of work, "KiB"; NULL: not known */
	double samples;
	/* Percent, and ns per unit in the amount of --in. The errors are those of a single run. */
	struct half_estimate self_share, total_share, self_ns, total_ns, cpu_use_pct;
	double self_sampling_error, total_sampling_error;
};

/* The column of a cost in a table of costs: self_ns or total_ns. */
#define COST_COLUMN(which)                                                                  \
	{                                                                                   \
		MEMBER(struct cost_row, which##_ns), "ns", V_REAL,                          \
			.digits = 1, .spread = SPREAD_HALF, .what = #which "_share x basis" \
	}
#define COST_SHARE(which, words)                                                                  \
	{                                                                                         \
		MEMBER(struct cost_row, which##_share), "%", V_REAL, .digits = 2, .what = (words) \
	}
#define COST_SAMPLES(words)                                                      \
	{                                                                        \
		MEMBER(struct cost_row, samples), .type = V_INT, .what = (words) \
	}
#define COST_KEY(name, of) MEMBER_NAMED(name, struct cost_row, key[of]), .type = V_STR

/* Fills the table of that name: columns, rows and notes. */
int cost_table_run(struct store *s, const struct query *q, struct table *t, struct error *err);

/* --- path.c --- */

enum { PATH_STAGES_MOST = 24 };

/* A stage of a packet's way. */
struct path_stage {
	const char *way, *stage;
	const char *functions; /* globs: their CPU time is the stage's; NULL: it has none */
	const char *within;    /* in this stage, the functions belong to it instead; or NULL */
};
/* Returns the i-th stage in a packet's order; NULL past the last. */
const struct path_stage *path_stage_at(size_t i);

#endif
