/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples added up by keys: one row per function, component, module, or any combination of keys.
 * Rows carry weights, in total and by run. The caller computes shares and costs from the weights.
 *
 *   self(row)   weight of the samples whose leaf belongs to the row
 *   total(row)  weight of the samples with the row anywhere in the chain, once per sample
 *
 * Totals use the trie: each frame gets the weight below it, and a frame counts for its row unless
 * one of its ancestors counts for the same row.
 */
#ifndef ZC_TALLY_H
#define ZC_TALLY_H

#include "analyze/costs/components.h"
#include "analyze/scope/measure.h"
#include "analyze/model/profile.h"

/* Returns the base name of a path, and any other name unchanged. */
const char *dso_base_name(const char *name);

/* THE TABLE of keys is in tally.c. The keys of a sample precede the keys of a function. */
enum tally_key {
	BY_COMM,
	BY_PID,
	BY_TID,
	BY_THREAD, /* "comm:tid" */
	BY_CPU,
	BY_CONTEXT,
	BY_COMPONENT,
	BY_SYMBOL,
	BY_DSO,
	BY_MODULE,
	TALLY_KEYS
};

/* What a sample's row is: its leaf, or the direct caller or callee of a function in its chain. */
enum tally_relation { TALLY_LEAVES, TALLY_CALLERS, TALLY_CALLEES };

/* Returns the name of all unresolved addresses of an object, in tables without --all. */
static inline const char *tally_unresolved(const char *dso)
{
	return dso && !strcmp(dso, UNMAPPED) ? UNMAPPED : "[unresolved]";
}

struct call_tree; /* call_tree.h */
struct tally_spec {
	enum tally_key keys[TALLY_KEYS];
	int nkeys;
	bool totals, merge_unresolved;
	/* cost_part_read() sets the next three: what counts for `weight`, and so for the shares */
	bool exclude_idle;
	bool workload_only; /* only samples of the workload's processes, on any CPU */
	bool exclude_irq;   /* without softirqs and interrupts */
	const char *event, *comm, *dso, *symbol; /* as in struct query */
	const struct cpuset *cpus;
	const struct components *components;
	enum amount in; /* selects an event that counts this if `event` is NULL */
	enum tally_relation relation;
	const char *function; /* the relation's function: a name, or a glob if no function has this
				 name */
	struct call_tree *calls; /* receives each sample that counts for a row; or NULL */
};

struct tally_row {
	const char *key[TALLY_KEYS]; /* in the spec's order; "" if not known */
	uint64_t samples;
	unsigned int line; /* the first of the text; 0 of a profile */
	double self, total;
	double *run_self, *run_total; /* by run */
};

struct tally {
	struct tally_spec spec;
	int nruns;
	struct tally_row *rows;
	size_t n, cap;
	double weight, *run_weight; /* all counted samples, including those of filtered rows */
	uint64_t samples;
	double n_eff; /* (sum w)^2 / sum w^2 */
	double idle, unresolved, unclassified;
	double softirq, hardirq; /* parts of the rows; interrupts inside the relation's function */
	double others;		 /* no part of `weight`; what workload_only leaves out */
	double unsampled_idle;	 /* part of `weight` that no sample has (costs.c) */
	double unresolved_by[UNRESOLVED_N]; /* parts of unresolved by cause; empty for a text */
	bool no_self, no_total, no_samples; /* the text lacks the column */
	const char *event;
	bool exact;    /* its weights are exact times of contexts */
	size_t events; /* number of events in the profiles */
	struct intern ids, strings;
	struct arena arena;
};

const char *tally_key_name(enum tally_key key);
/* Returns the key, or -1 for an unknown name. */
int tally_key_find(const char *name);

void tally_init(struct tally *f, const struct tally_spec *spec, int nruns);
void tally_free(struct tally *f);

/*
 * Adds the samples of several runs, one run per call of tally_run. The caller replaces the events
 * and costs in `p` before each call; symbols, frames and strings stay. Returns -ENOENT if the
 * profile lacks the requested event. tally_end accepts NULL.
 */
struct tally_pass;
struct tally_pass *tally_begin(struct tally *f, const struct profile *p);
int tally_run(struct tally_pass *pass, int run, struct error *err);
void tally_end(struct tally_pass *pass);
/* Calls all three functions for a tally of one run, and sorts the rows. */
int tally_profile(struct tally *f, const struct profile *p, struct error *err);

/*
 * Adds the rows of the text of perf report, whose weights are percentages. Sorts them if a row adds
 * up several lines. Else they stay in the order of perf, which may sort by the children's share.
 */
void tally_flat(struct tally *f, const struct flat *flat);

/* Sorts by self, then by total, then by the text's lines, then by the keys' names. */
void tally_sort(struct tally *f);

/* Returns the row with these keys, and adds it if it is new. */
struct tally_row *tally_row(struct tally *f, const char *const keys[]);

/* Returns the context that each symbol reveals. The caller frees the array. */
enum context *tally_symbol_contexts(const struct profile *p);

#endif
