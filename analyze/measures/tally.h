/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples added up by keys: one row per function, component, module, or any combination. Rows carry
 * weights, overall and by run; shares and costs are made of them by the caller.
 *
 *   self(row)   weight of the samples whose leaf belongs to the row
 *   total(row)  weight of the samples with the row anywhere in the chain, once per sample
 *
 * Totals come from the trie: each frame gets the weight below it, and a frame counts for its row
 * unless an ancestor already does.
 */
#ifndef ZC_TALLY_H
#define ZC_TALLY_H

#include "analyze/measures/components.h"
#include "analyze/measures/measure.h"
#include "analyze/model/profile.h"

/*
 * What the objects of a profile are called in a table: a file by its base name, "libc.so.6". Where
 * samples are in several files of one base name, each is called by its path; where even the paths
 * are one, the first digits of the build-ids follow: "/opt/app (1a2b3c4d)".
 */
struct dso_names {
	const struct profile *p;
	uint8_t *how;	       /* by dso: enum dso_naming */
	struct intern strings; /* those made here */
};

void dso_names_init(struct dso_names *names, const struct profile *p);
const char *dso_name(struct dso_names *names, uint32_t dso);
void dso_names_free(struct dso_names *names);

/* The base name of a path; anything else as it is. */
const char *dso_base_name(const char *name);

/* THE TABLE of keys is in tally.c. The sample's own first, then those of a function. */
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

struct tally_spec {
	enum tally_key keys[TALLY_KEYS];
	int nkeys;
	bool totals, exclude_idle, merge_unresolved;
	bool tell_dsos; /* two files of one base name have rows of their own */
	const char *event, *comm, *dso, *symbol; /* as in struct query */
	const struct cpuset *cpus;
	const struct components *components;
	enum amount in; /* unless `event` names one, an event that counts this is the one */
};

struct tally_row {
	const char *key[TALLY_KEYS]; /* in the spec's order; "" where it is not known */
	uint64_t samples;
	double self, total;
	double *run_self, *run_total; /* one for each run */
};

struct tally {
	struct tally_spec spec;
	int nruns;
	struct tally_row *rows;
	size_t n, cap;
	double weight, *run_weight; /* all samples that count, also those of filtered rows */
	uint64_t samples;
	double n_eff; /* (sum w)^2 / sum w^2 */
	double idle, unresolved, unclassified;
	double unresolved_by[UNRESOLVED_N]; /* its parts by cause; none from a text */
	bool no_self, no_total, no_samples; /* read from a text that lacks it */
	const char *event;
	size_t events; /* how many the profiles have */
	struct intern ids, strings;
	struct arena arena;
};

const char *tally_key_name(enum tally_key key);
/* -1: there is no such key. */
int tally_key_find(const char *name);

void tally_init(struct tally *f, const struct tally_spec *spec, int nruns);
void tally_free(struct tally *f);

/*
 * Adds the samples of runs, one after the other: `p` has another run's events and costs each time,
 * and the same symbols, frames and strings. -ENOENT: the event asked for is not in it. tally_end
 * takes NULL.
 */
struct tally_pass;
struct tally_pass *tally_begin(struct tally *f, const struct profile *p);
int tally_run(struct tally_pass *pass, int run, struct error *err);
void tally_end(struct tally_pass *pass);
/* The three at once, of a tally of one run. */
int tally_profile(struct tally *f, const struct profile *p, struct error *err);

/* Adds the rows of the text of perf report, whose weights are percentages. */
int tally_flat(struct tally *f, const struct flat *flat, struct error *err);

/* By self, then by total, then by the keys' names. */
void tally_sort(struct tally *f);

/* --- for the two loaders --- */

struct tally_row *tally_row(struct tally *f, const char *const keys[]);
bool tally_wanted(const char *pattern, const char *name); /* NULL pattern: yes */

#endif
