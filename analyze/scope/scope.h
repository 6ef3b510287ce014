/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The runs that a table is made from. A block is one (variant, side). Throughput, CPU and power
 * are those of the measure pass, in which no expensive instrument ran. Profiles and system calls
 * are those of the runs that have them.
 */
#ifndef ZC_SCOPE_H
#define ZC_SCOPE_H

#include "analyze/scope/measure.h"
#include "analyze/store/store.h"

#include <limits.h>

/* What a column `scope` says of a figure. */
#define SCOPE_WHAT \
	"whose figure: workload (its own processes, sockets or account), cpus (all that ran on the side's CPUs), namespace, host"

/* "wall", "platform", "package", NULL: figures use the first of them that was measured. */
extern const char *const power_kind_names[4];

struct block {
	const char *variant, *side; /* strings of the store */
};

/* The first columns of a table whose row's struct begins with `struct block block`. */
#define BLOCK_COLUMNS(row)                                            \
	{MEMBER_NAMED("variant", row, block.variant), .type = V_STR}, \
	{                                                             \
		MEMBER_NAMED("side", row, block.side), .type = V_STR  \
	}

/* The first columns of a table of cells alone. */
// clang-format off
#define SIDE_COLUMNS {"variant", .type = V_STR}, {"side", .type = V_STR}
// clang-format on

/*
 * The direction in which a side moves data. The name of a side does not say it: the "receiver" of
 * iperf3 -R sends, and a proxy does both.
 */
enum direction { RECEIVED, SENT, DIRECTIONS };

/* Returns the kernel's function that copies in this direction. */
static inline const char *copying_function(enum direction way)
{
	return way == SENT ? "_copy_from_iter" : "_copy_to_iter";
}

/* Fails for a name that is not one of `names`: an empty table would hide the user's mistake.
 * `glob`: a pattern that matches one of them is no mistake. `what` says what is named. */
int scope_check_name(struct store *s, const char *what, const char *name, bool glob,
		     const char **names, int n, struct error *err);

/* Lists the blocks that the query asks for, in the plan's order. The caller frees the list.
 * Returns their number or -errno. */
int scope_blocks(struct store *s, const struct query *q, struct block **blocks, struct error *err);

/* FOR_PROFILE_NOTES adds the profiled runs that have an empty profile. */
enum purpose { FOR_FIGURES, FOR_PROFILE, FOR_PROFILE_NOTES, FOR_SYSCALLS, FOR_WAITS };

/* Lists the block's runs that serve the purpose, by position. The caller frees the list. Returns
 * their number or -errno. */
int scope_runs(struct store *s, const struct query *q, const struct block *b, enum purpose p,
	       struct run **runs, struct error *err);

/* Returns a warning if the runs' pass has instruments that cost time, else NULL. */
const char *scope_doubt(const struct run *runs, int n);

/* Adds the warnings and losses of the runs to the table's notes, each text once. Sets t->lossy. */
void scope_notes(struct store *s, const struct run *runs, int n, struct table *t);
/* Adds the notes of the block's profiled runs, like scope_notes(). Returns 0 or -errno. */
int scope_profile_notes(struct store *s, const struct query *q, const struct block *b,
			struct table *t, struct error *err);
/*
 * Adds the losses of work and CPU time in runs without a profile: the costs of profiles are based
 * on both. With --workload-only, adds what the CPU time of the workload's threads leaves out.
 */
int scope_basis_notes(struct store *s, const struct query *q, const struct block *b,
		      struct table *t, struct error *err);
/* Adds the notes that concern the capture as a whole. */
void scope_capture_notes(struct store *s, struct table *t);

/* Finds the estimator that the query or the capture names; -EINVAL for an unknown name. */
int scope_estimator(struct store *s, const struct query *q, enum estimator *e, struct error *err);

/* Returns a figure of one run, or NAN. */
typedef double (*figure_fn)(struct store *s, const struct run *r, const void *arg);
/* Returns a metric of the run or NAN, by the parts of its key. */
double run_metric(struct store *s, const struct run *r, const char *name, const char *object,
		  int cpu);
/* The same as a figure_fn: `key` is a struct metric_key. */
double figure_metric_of(struct store *s, const struct run *r, const void *key);
/*
 * The same for a constant text in a table of data: "NAME" or "NAME:OBJECT", as documents write
 * them.
 */
double figure_metric(struct store *s, const struct run *r, const void *name);

/*
 * Returns the metric of the CPU use that the query's figures are made from, in percent of one CPU:
 * of the side's CPUs with all that runs on them, or of the workload's processes.
 */
const char *busy_metric(const struct query *q);
/*
 * Returns how many rows --limit and --all ask for; `otherwise` without them. --all wins over
 * --limit.
 */
static inline long query_limit(const struct query *q, long otherwise)
{
	return q->all ? LONG_MAX : q->limit > 0 ? q->limit : otherwise;
}
/* Returns whether the query asks for the wall time of the workload's threads. */
static inline bool query_of_wall(const struct query *q)
{
	return q->event && !strcmp(q->event, WALL_EVENT);
}
/* The exponents of the scores: T^n / C and T^n / P^m. */
static inline double roi_exponent_n(const struct query *q)
{
	return q->roi_n > 0 ? q->roi_n : 2;
}
static inline double roi_exponent_m(const struct query *q)
{
	return q->roi_m > 0 ? q->roi_m : 1;
}
/* Returns whether figures measured by CPU count a CPU twice that two sides share. */
static inline bool busy_of_cpus(const struct query *q)
{
	return !q->workload_only;
}
/* Returns the text of column `scope` for a figure with this scope. */
const char *scope_of(const struct query *q, const char *scope);
/* The words of the note interrupts_of_threads, where a thread's time includes them. */
#define INTERRUPTS_IN_THREADS \
	"includes the softirqs and interrupts that interrupted it: the kernel has no CONFIG_IRQ_TIME_ACCOUNTING"
/* Returns the busy time outside the workload's processes, in percent of one CPU. A figure_fn. */
double busy_others(struct store *s, const struct run *r, const void *arg);
/*
 * Returns how much of the CPUs' busy time other programs took, in percent, as the median of the
 * runs. Returns 0 if it is not known, or if the query counts no whole CPUs.
 */
double busy_others_pct(struct store *s, const struct query *q, const struct run *runs, int n);
/*
 * With --workload-only, adds notes on the CPU time of the workload's processes: what it leaves out.
 * `end` names one of several captures, or is NULL.
 */
int busy_notes(struct store *s, const struct query *q, const char *end, struct table *t,
	       struct error *err);

/* Returns the figures of the runs that have it, and their number in *n. The caller frees. */
double *scope_figures(struct store *s, const struct run *runs, int nruns, figure_fn figure,
		      const void *arg, size_t *n);
/* Estimates over the runs that have the figure. */
struct estimate scope_estimate(struct store *s, const struct run *runs, int n, enum estimator e,
			       figure_fn figure, const void *arg);

/* The common part of tables with rows for each (variant, side). */

struct block_runs {
	struct block block;
	struct run *runs; /* runs of the pass that gives the figures */
	int n;
};
void block_runs_free(struct block_runs *b);

/* Returns the sum over the runs that have the metric, or NAN. */
double scope_sum(struct store *s, const struct block_runs *b, const char *metric,
		 const char *object);

struct block_list {
	struct block_runs *blocks;
	int n;
	enum estimator estimator;
};

/*
 * Returns the number of sides that make a total if the last of them is block i: all of its variant,
 * two or more. Else returns 0.
 */
int block_list_total(const struct block_list *list, int i);

/*
 * Fills the runs of `n` sides in the repeat of `first`, a run of the first side. Returns false if a
 * side lacks the repeat.
 */
bool block_runs_same_repeat(const struct block_runs *sides, int n, const struct run *first,
			    const struct run *runs[]);

/* Metrics of a block's runs, each key once. The strings are the store's. */
struct metric_keys {
	struct metric_row *m;
	size_t n, cap;
};
/*
 * Adds the metrics with the name. Sorts the list by name, object and CPU and compares digits as
 * numbers.
 */
int metric_keys_add(struct metric_keys *list, struct store *s, const struct block_runs *b,
		    const char *name, enum metric_cpus cpus, struct error *err);
void metric_keys_free(struct metric_keys *list);

/* Reads the blocks that the query asks for, with their runs. */
int block_list_read(struct block_list *list, struct store *s, const struct query *q,
		    enum purpose purpose, struct error *err);
void block_list_free(struct block_list *list);

/* Returns why the collector has no data in the runs, or NULL. The caller frees. */
char *block_collector_reason(struct store *s, const struct block_runs *b, const char *collector);

/* Adds notes on the estimator, and the warnings and losses of the runs. */
void block_list_notes(const struct block_list *list, struct store *s, struct table *t);

/* Adds the notes of the runs and of the capture, without those on the estimator. */
void block_list_run_notes(const struct block_list *list, struct store *s, struct table *t);

/* A table with rows for each block, while it is made. */
struct block_table {
	struct store *s;
	const struct query *q;
	struct table *t;
	struct block_list list;
	const struct block_runs *b; /* the current block */
	size_t found;		    /* metrics that the runs have, with or without a row */
};

/*
 * Makes a table from the runs that give the figures, by the hooks `block`, `notes` and `how` of
 * the measure.
 */
int block_table_run(struct store *s, const struct query *q, struct table *t,
		    const struct measure *m, struct error *err);

/* Lists the runs of the block in every pass. */
int block_every_pass(struct store *s, const struct query *q, const struct block *block,
		     struct block_runs *b, struct error *err);

/* Adds the CPUs that the metric of any of the block's runs has. */
void block_cpus_add(const struct block_table *k, const char *metric, struct cpuset *set);

/* Adds a row with the block's variant and side. */
struct value *block_row(struct table *t, const struct block *b);

/* Estimates over the runs of the current block that have the figure. */
struct estimate block_estimate(const struct block_table *k, figure_fn figure, const void *arg);

/* Returns a count: without digits after the point, where it has none. */
struct value value_count(double n);
/* Fills the column if the table has the column. A single run has no interval. */
void put_estimate(struct table *t, struct value *row, const char *column, const struct estimate *e);

/* --- figures that a table cannot give, with one note for each reason --- */

/* A score without a value, and the blocks that lack it for one reason. */
struct absence {
	const char *score; /* the caller's */
	char *reason;	   /* NULL if the workload sent datagrams */
	struct str blocks; /* "a receiver, b total"; empty for all blocks */
	size_t nblocks;
};

struct absences {
	struct absence *list;
	size_t n, cap;
	size_t first; /* first absence of the current score */
};

/*
 * Records that the current score has no value in this block. A NULL reason means that the workload
 * sent datagrams.
 */
void absences_add(struct absences *a, const char *score, const char *variant, const char *side,
		  const char *reason);
/* Ends the current score. `blocks` is the number of blocks that should have the score. */
void absences_next(struct absences *a, size_t blocks);
void absences_add_notes(const struct absences *a, struct table *t);
void absences_free(struct absences *a);

/*
 * Adds a note on the part of the window that the figures cover. With `frames`, adds a note on rows
 * for inlined functions.
 */
void scope_add_slice_notes(struct store *s, bool frames, struct table *t);

/* Returns why --from or --to makes a collector's figures absent, else NULL. */
const char *scope_slice_absent(struct store *s, const char *collector);

/* Returns true for UDP workloads. UDP may lose data, so their cost per byte sent has no meaning. */
static inline bool sent_datagrams(struct store *s, const struct run *r)
{
	return figure_metric(s, r, "workload_udp") > 0;
}

#endif
