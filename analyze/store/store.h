/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The store, the only place that speaks SQL. Opaque; strings it returns live until store_close.
 * The rest of the laptop half asks it for runs, metrics, syscall rows and profiles.
 */
#ifndef ZC_STORE_H
#define ZC_STORE_H

#include "analyze/model/profile.h"
#include "analyze/model/rows.h"
#include "analyze/model/run.h"
#include "lib/error.h"
#include "lib/note.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct store;

/* A capture folder, its archive, or a zcost.db; says "run zcost analyze first" where there is none
 * or it is old.
 */
int store_open(struct store **store, const char *capture, struct error *err);
/* An empty one at `path`, NULL for memory; the file appears under its name at store_commit_all. */
int store_create(struct store **store, const char *path, struct error *err);
/* In memory, for messages with the name of what it is made from. */
int store_create_in_memory(struct store **store, const char *name, struct error *err);
/*
 * Closes; returns rc, or where rc is no error the first error that a statement met, also one that
 * its caller took for "not there". No command ends well without asking. NULL: returns rc.
 */
int store_close(struct store *store, int rc, struct error *err) __attribute__((warn_unused_result));
/* The same first error while the store is open, or 0. */
int store_failed(const struct store *store, struct error *err);
int store_begin(struct store *store, struct error *err); /* one transaction per run */
int store_commit(struct store *store, struct error *err);
/* Everything is in: syncs the file and gives it its name. The store stays open, for reading. */
int store_commit_all(struct store *store, struct error *err);
const char *store_path(const struct store *store);

/* Which runs: NULL members match all. */
struct run_filter {
	const char *variant, *pass, *side;
	int repeat;  /* 0: all */
	bool failed; /* also the failed ones */
};

/* Adds a run and sets run->id. */
int store_run_add(struct store *store, struct run *run, struct error *err);

/* What was found of it later: it stays, and no figure is taken from it. */
int store_run_fail(struct store *store, int64_t run, const char *why, struct error *err);

int store_collector_add(struct store *store, int64_t run, const struct collector_row *c,
			struct error *err);
/* What the run's collectors said; the caller frees. Count or -errno. */
int store_collectors(struct store *store, int64_t run, struct collector_row **rows,
		     struct error *err);

/* In the capture's order; *runs is freed by the caller with free(). Returns the count or -errno. */
int store_runs(struct store *store, const struct run_filter *f, struct run **runs,
	       struct error *err);

/* Names in the plan's order; the caller frees the array, not the strings. */
int store_variants(struct store *store, const char ***names, struct error *err);
int store_sides(struct store *store, const char ***names, struct error *err); /* receiver first */
const char *store_variant_what(struct store *store, const char *variant);     /* or NULL */
const char *store_capture_value(struct store *store, const char *key);	      /* or NULL */

int store_capture_put(struct store *store, const char *key, const char *value, struct error *err);
/* `base` NULL: the plan has it by that name. */
int store_variant_add(struct store *store, const char *name, const char *what, const char *base,
		      struct error *err);
const char *store_variant_base(struct store *store, const char *variant); /* or NULL */

int store_setting_add(struct store *store, const char *variant, const char *name, const char *value,
		      struct error *err);
/* Names of all settings, in the plan's order; the caller frees the array. Count or -errno. */
int store_settings(struct store *store, const char ***names, struct error *err);
const char *store_setting(struct store *store, const char *variant, const char *name); /* or NULL */

int store_host_add(struct store *store, const struct host_row *h, struct error *err);
int store_hosts(struct store *store, struct host_row **rows, struct error *err);

int store_topology_add(struct store *store, const struct topology_row *row, struct error *err);
/* Of one host, as they were added; the caller frees the rows. Count or -errno. */
int store_topology(struct store *store, const char *host, struct topology_row **rows,
		   struct error *err);

/* A metric of a run: false when it is absent. *source may be NULL. */
bool store_metric(struct store *store, int64_t run, const char *name, double *value,
		  const char **source);
/* Does any run of the variant (NULL: of all) have it? */
bool store_has_metric(struct store *store, const char *name, const char *variant);
int store_metric_put(struct store *store, int64_t run, const char *name, const char *unit,
		     double value, const char *source, struct error *err);

/* All of a run, by name; the caller frees. Count or -errno. */
int store_metric_list(struct store *store, int64_t run, struct metric_row **rows,
		      struct error *err);
/* Those whose names begin so, alike. */
int store_metric_prefix(struct store *store, int64_t run, const char *prefix,
			struct metric_row **rows, struct error *err);

/* A figure over time. */
int store_series_put(struct store *store, int64_t run, const char *name, uint64_t t_ns,
		     double value, struct error *err);

int store_syscall_add(struct store *store, int64_t run, const struct syscall_row *row,
		      struct error *err);
/* The caller frees the rows. Count or -errno. */
int store_syscalls(struct store *store, int64_t run, struct syscall_row **rows, struct error *err);

bool store_has_syscalls(struct store *store, int64_t run);

int store_thread_add(struct store *store, int64_t run, const struct thread_row *row,
		     struct error *err);
/* The busiest first; the caller frees the rows. Count or -errno. */
int store_threads(struct store *store, int64_t run, struct thread_row **rows, struct error *err);

int store_socket_add(struct store *store, int64_t run, const struct socket_row *row,
		     struct error *err);
/* Those that moved most first; the caller frees the rows. Count or -errno. */
int store_sockets(struct store *store, int64_t run, struct socket_row **rows, struct error *err);

/* Does the run have samples? */
bool store_has_profile(struct store *store, int64_t run);
/*
 * The run's events and costs, until the next call. The profile is the store's, one for all runs: a
 * symbol, a frame and a string have the same number in each run.
 */
int store_profile(struct store *store, int64_t run, const struct profile **p, struct error *err);
int store_profile_write(struct store *store, int64_t run, const struct profile *p,
			struct error *err);

/* A function that samples were taken in, and in which context. */
struct leaf_row {
	int64_t symbol; /* its id */
	enum context context;
	const char *name, *module;
	enum dso_kind kind;
};
/* Each pair once, while the store is made; the caller frees. Count or -errno. */
int store_leaves(struct store *store, struct leaf_row **rows, struct error *err);
/* What the rules say of it; NULL: nothing. */
int store_component_put(struct store *store, const struct leaf_row *leaf, const char *fine,
			const char *basic, struct error *err);

/* Tables, then views, in the order of the schema; the caller frees the array. Count or -errno. */
int store_tables(struct store *store, const char ***names, struct error *err);
/* One of them as csv (RFC 4180) with a heading: NULL is empty, an empty string "". */
int store_csv(struct store *store, const char *table, FILE *out, struct error *err);
/* SQL that makes the same store anew. Write errors stay with `out`. */
int store_dump(struct store *store, FILE *out, struct error *err);

/* Samples of one instruction; `symbol` is a glob. The caller frees the rows. Count or -errno. */
struct store_spot {
	int64_t id; /* of the function, for store_code */
	const char *symbol, *dso, *line;
	uint64_t offset, samples, weight;
};
int store_spots(struct store *store, int64_t run, const char *event, const char *symbol,
		struct store_spot **rows, struct error *err);

/* The bytes of a function; bytes NULL: they were not at hand. The caller frees them. */
struct store_code {
	const char *arch;
	uint64_t at;
	uint8_t *bytes;
	size_t size;
};
int store_code(struct store *store, int64_t id, struct store_code *code, struct error *err);

/* Adds a note of a run; run 0: of the whole capture. */
int store_note_add(struct store *store, int64_t run, const struct note *note, struct error *err);
/* Appends the notes of a run with the names of its variant, side, pass and repeat; -1: all runs. */
int store_notes(struct store *store, int64_t run, struct notes *notes, struct error *err);

#endif
