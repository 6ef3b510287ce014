/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The workload's threads of one (variant, side), added up: by command over all runs, or by process
 * or thread within each run.
 */
#ifndef ZC_THREAD_GROUPS_H
#define ZC_THREAD_GROUPS_H

#include "analyze/scope/scope.h"

enum thread_key { BY_COMM, BY_PROCESS, BY_THREAD };

/* Finds the key that --by names. Returns false for another word. */
bool thread_key_find(const char *by, enum thread_key *key);

struct thread_group {
	const char *comm; /* "(ended processes)" for figures that only the parents' accounts have */
	int64_t pid, tid; /* 0 if the group has several */
	int run;	  /* index into the block's runs, or -1 for all runs */
	const char *cpus; /* CPUs that a single thread ran on */
	int threads;	  /* largest number in a run */
	double (*of)[THREAD_FIGURES]; /* by run; NAN if not measured */
	int *count;		      /* threads, by run */
	double order;		      /* largest first */
};

struct thread_groups {
	struct thread_group *g;
	size_t n, cap;
	int nruns;
	bool (*measured)[THREAD_FIGURES]; /* by run: the figure of any thread */
	struct arena arena;
};

/*
 * Reads the groups, sorted by the figure `order`. `comm` is a name, a glob or NULL for all.
 * Returns 0 or -errno.
 */
int thread_groups_read(struct thread_groups *list, struct store *s, const struct block_runs *b,
		       enum thread_key key, const char *comm, enum thread_figure order,
		       struct error *err);
void thread_groups_free(struct thread_groups *list);

/* Sets the table's columns to those of the list that rows by this key fill. */
void thread_columns(struct table *t, const struct column *columns, size_t n, enum thread_key key);

/* Adds a row with the run, the command, the process and the thread of the group. */
struct value *thread_group_row(const struct block_table *k, const struct thread_group *g);

/*
 * Estimates the figure over the runs. A run without the group counts as 0 if it measured other
 * groups.
 */
struct estimate thread_estimate(const struct thread_groups *list, const struct thread_group *g,
				enum thread_figure f, enum estimator e);

#endif
