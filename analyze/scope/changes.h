/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The counters of a block's runs: the count in the window, the count per second and the count per
 * MiB of work. Each row is a metric with a common name ("snmp"), and has one value for each run.
 */
#ifndef ZC_CHANGES_H
#define ZC_CHANGES_H

#include "analyze/scope/scope.h"

struct change_row {
	const char *name; /* the object of the metric, or "" */
	int cpu;	  /* or NO_CPU */
	const char *unit;
	double *x;	 /* by run; NAN: the run does not have the counter */
	double *seconds; /* by run, how long the counter was known; NULL: in the whole window */
};

struct changes {
	const struct block_runs *b;
	enum estimator estimator;
	double *seconds, *mib;	/* by run; NAN: not known */
	struct change_row *row; /* sorted by name and CPU, with numbers in numeric order */
	size_t n, cap;
};

enum change_as { AS_COUNT, AS_PER_SECOND, AS_PER_MIB };

/*
 * Reads all metrics of the current block's runs with that name. Returns 0 or -errno. The caller
 * frees c in both cases.
 */
int changes_read(struct changes *c, const struct block_table *k, const char *metric,
		 enum metric_cpus cpus, struct error *err);
void changes_free(struct changes *c);
/* Reads for how long each counter was known, from the metrics with that name. */
int changes_known(struct changes *c, const struct block_table *k, const char *metric,
		  struct error *err);

struct estimate changes_estimate(const struct changes *c, const struct change_row *row,
				 enum change_as as);

/* Returns whether the counter changed in any run. */
bool change_happened(const struct changes *c, const struct change_row *row);

/* Returns the row with that name and CPU, or NULL. */
const struct change_row *changes_find(const struct changes *c, const char *name, int cpu);

/*
 * Fills in zeros for CPUs. A CPU that counted nothing has no metric, so a run with the counter's
 * sum over the side's CPUs counts as 0.
 */
void changes_fill_cpus(struct changes *c);

/*
 * Returns the state "OBJECT/KEY" of the runs: "256", or "256|512" if they differ, of a switch "on"
 * or "off"; NULL if no run has it. The caller frees it.
 */
char *changes_state(const struct changes *states, const char *object, const char *key,
		    bool is_switch);

struct change_rate {
	const struct change_row *row;
	double rate; /* per second */
};
/* Returns the rows, those with the highest rate first. The caller frees the list. */
struct change_rate *changes_rank(const struct changes *c);

/*
 * Returns whether a table with the options by and cpu shows the row: that of a CPU, or the sum over
 * the side's CPUs of a counter that changed on any CPU.
 */
bool changes_wanted(const struct changes *c, const struct change_row *row, const struct query *q);

/*
 * Sets the column cpus: the three CPUs with the largest shares of a counter, "1: 97 %, 0: 3 %".
 * `ranked` has the n rows of all counters.
 */
void changes_put_cpus(const struct change_rate *ranked, size_t n, const char *name, struct table *t,
		      struct value *cells);

/* Sets count, per_s with its interval, per_mib and runs, where the table has these columns. */
void changes_put(const struct changes *c, const struct change_row *row, struct table *t,
		 struct value *cells);

/*
 * Adds a note that no run measured the table's data, with the reason. `nothing` is the reason if
 * runs measured it and found none, or NULL.
 */
void changes_nothing(struct store *s, struct table *t, const char *nothing);
/* Adds a note on the counters without a row, or that no run measured any counter. */
void changes_note(struct block_table *k);

/* The kind of trouble that counters indicate whose names match the pattern. */
struct counter_kind {
	const char *pattern, *kind;
};
/* Returns the kind of the first pattern that matches the name, or NULL. `flags` are fnmatch's. */
const char *counter_kind_of(const struct counter_kind *list, size_t n, const char *name, int flags);

#endif
