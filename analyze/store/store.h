/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The store of a capture's runs, metrics, system calls and profiles. Only analyze/store speaks
 * SQL. A string that a function of the store returns lives until store_close(). A function that
 * reads rows or names into an array returns their number, or -errno. The caller frees the array.
 */
#ifndef ZC_STORE_H
#define ZC_STORE_H

#include "analyze/model/profile.h"
#include "analyze/model/rows.h"
#include "lib/note.h"

#include <stdio.h>

struct store;

/*
 * Opens the store of a capture folder, or a zcost.db. If the store is missing or old, the error
 * says "run zcost analyze first". For an archive, the error says to unpack it.
 */
int store_open(struct store **store, const char *capture, struct error *err);
/* Opens a store again in a child process, where SQLite forbids the connection of the parent. */
int store_open_again(struct store *store, struct error *err);
/*
 * Creates an empty store at `path`, or in memory if path is NULL. The file has a temporary name
 * until store_commit_all().
 */
int store_create(struct store **store, const char *path, struct error *err);
/* Creates an empty store in memory. Messages call the store by `name`, the name of its source. */
int store_create_in_memory(struct store **store, const char *name, struct error *err);
/*
 * Closes the store. Returns rc if rc is an error. Otherwise returns the first error that a
 * statement of the store met, even if the caller of the statement ignored it. Every command checks
 * the result. A NULL store returns rc.
 */
int store_close(struct store *store, int rc, struct error *err) __attribute__((warn_unused_result));
/* Returns the first error that a statement of the open store met, or 0. */
int store_failed(const struct store *store, struct error *err);
int store_begin(struct store *store, struct error *err); /* each run is one transaction */
int store_commit(struct store *store, struct error *err);
/* Syncs the complete file and gives the file its final name. The store stays open for reading. */
int store_commit_all(struct store *store, struct error *err);
const char *store_path(const struct store *store);
/*
 * Returns a place for what a layer above keeps until the store closes, which then calls release().
 * The place holds NULL at first.
 */
enum store_place { KEEP_FINE, KEEP_BASIC, KEEP_PLACES };
void **store_keep(struct store *store, enum store_place place, void (*release)(void *data));

/* Selects runs. A NULL member matches all runs. */
struct run_filter {
	const char *variant, *pass, *side;
	int repeat;  /* 0 matches all repeats */
	bool failed; /* selects failed runs, too */
};

/* Adds a run and sets run->id. */
int store_run_add(struct store *store, struct run *run, struct error *err);

/* Marks a stored run as failed. The run stays in the store, and no figure uses it. */
int store_run_fail(struct store *store, int64_t run, const char *why, struct error *err);

int store_collector_add(struct store *store, int64_t run, const struct collector_row *c,
			struct error *err);
/* Returns whether the run has the collector, and the host supports it. */
bool store_has_collector(struct store *store, int64_t run, const char *name);

int store_collectors(struct store *store, int64_t run, struct collector_row **rows,
		     struct error *err);

/* Reads the selected runs in the capture's order. */
int store_runs(struct store *store, const struct run_filter *f, struct run **runs,
	       struct error *err);

int store_variants(struct store *store, const char ***names, struct error *err);
/* Lists receivers first, then proxies, senders and sides without a role. */
int store_sides(struct store *store, const char ***names, struct error *err);
/* Variants, hosts and settings are in the plan's order, others in the order of the alphabet. */
enum store_names {
	NAMES_VARIANT,
	NAMES_SIDE,
	NAMES_HOST,
	NAMES_SETTING,
	NAMES_COMM,
	NAMES_DSO,
	NAMES_EVENT,
	NAMES_FUNCTION,
	NAMES_SERIES
};
int store_names(struct store *s, enum store_names what, const char ***names, struct error *err);
/* Returns whether the role of the side is receiver, sender or proxy. */
bool store_side_is(struct store *store, const char *side, const char *role);
const char *store_variant_what(struct store *store, const char *variant); /* or NULL */
const char *store_capture_value(struct store *store, const char *key);	  /* or NULL */

int store_capture_put(struct store *store, const char *key, const char *value, struct error *err);
/* Adds a variant. `base` is NULL if the plan has a variant of this name. */
int store_variant_add(struct store *store, const char *name, const char *what, const char *base,
		      struct error *err);
const char *store_variant_base(struct store *store, const char *variant); /* or NULL */

int store_setting_add(struct store *store, const char *variant, const char *name, const char *value,
		      struct error *err);
const char *store_setting(struct store *store, const char *variant, const char *name); /* or NULL */
/* Returns a text that only variants with the same settings have. It is "" without settings. */
const char *store_settings_key(struct store *store, const char *variant);

int store_host_add(struct store *store, const struct host_row *h, struct error *err);
int store_fact_add(struct store *store, const struct fact_row *f, struct error *err);
/* Reads the facts of a host or of a variant, by name. */
int store_facts(struct store *store, const char *host, const char *variant, struct fact_row **rows,
		struct error *err);
int store_run_facts(struct store *store, int64_t run, struct fact_row **rows, struct error *err);
const char *store_run_fact(struct store *store, int64_t run, const char *name); /* or NULL */
int store_hosts(struct store *store, struct host_row **rows, struct error *err);

int store_topology_add(struct store *store, const struct topology_row *row, struct error *err);
/* Reads the rows of one host in the order in which the analysis added them. */
int store_topology(struct store *store, const char *host, struct topology_row **rows,
		   struct error *err);

/* Reads a metric of a run. Returns false if the run has no such metric. `source` may be NULL. */
bool store_metric_of(struct store *store, int64_t run, const struct metric_key *key, double *value,
		     const char **source);
/* The same for a metric with neither an object nor a CPU. */
bool store_metric(struct store *store, int64_t run, const char *name, double *value);
/*
 * Adds up a metric without object of the complete runs with the variant, pass and side of `like`.
 * `repeat` 0 means all repeats. Returns NAN if no run has the metric.
 */
double store_metric_sum(struct store *store, const struct run *like, int repeat, const char *name);
/* Returns whether any run of the variant has the metric. A NULL variant means any run. */
bool store_has_metric(struct store *store, const char *name, const char *object,
		      const char *variant);
int store_metric_put(struct store *store, int64_t run, const struct metric_row *m,
		     struct error *err);
int store_metric_drop(struct store *store, int64_t run, const char *name, struct error *err);

/* Makes the store read all metrics of a run at once: a page asks for hundreds, a table for few. */
void store_hold_metrics(struct store *store);
/*
 * Reads the metrics of a run that have the name, with any object: those of the whole side, those of
 * single CPUs, or both. A name NAME:GLOB selects objects.
 */
enum metric_cpus { OF_SIDE, OF_EACH_CPU, OF_ALL };
int store_metrics(struct store *store, int64_t run, const char *name, enum metric_cpus cpus,
		  struct metric_row **rows, struct error *err);

/* Adds one point of a metric over time. */
int store_series_put(struct store *store, int64_t run, const char *name, uint64_t t_ns,
		     double value, struct error *err);

struct series_size {
	const char *name;     /* a string of the store */
	uint64_t first, last; /* CLOCK_MONOTONIC ns */
	int64_t points;
};
/* Lists the series of a run by name. */
int store_series_sizes(struct store *store, int64_t run, struct series_size **rows,
		       struct error *err);

struct series_row {
	uint64_t t_ns; /* CLOCK_MONOTONIC */
	double value, low, high;
};
/* Reads the first points of a series by time, `most` or fewer. */
int store_series(struct store *store, int64_t run, const char *name, int64_t most,
		 struct series_row **rows, struct error *err);
/*
 * Reads a series in parts of equal time, by time: the means of the times and of the values in each
 * part that has a point, the lowest and the highest value.
 */
int store_series_parts(struct store *store, int64_t run, const struct series_size *of, int parts,
		       struct series_row **rows, struct error *err);

int store_syscall_add(struct store *store, int64_t run, const struct syscall_row *row,
		      struct error *err);
int store_syscalls(struct store *store, int64_t run, struct syscall_row **rows, struct error *err);

bool store_has_syscalls(struct store *store, int64_t run);

int store_thread_add(struct store *store, int64_t run, const struct thread_row *row,
		     struct error *err);
/* Reads the threads of a run, the busiest first. */
int store_threads(struct store *store, int64_t run, struct thread_row **rows, struct error *err);

int store_socket_add(struct store *store, int64_t run, const struct socket_row *row,
		     struct error *err);
/* Reads the sockets of a run, those with the most bytes first. */
int store_sockets(struct store *store, int64_t run, struct socket_row **rows, struct error *err);

/* Returns whether the run has samples. */
bool store_has_profile(struct store *store, int64_t run);
/*
 * Reads the run's events and costs. *p is valid until the next call. All runs share one profile: a
 * symbol, a frame and a string have the same number in each run.
 */
int store_profile(struct store *store, int64_t run, const struct profile **p, struct error *err);
int store_profile_write(struct store *store, int64_t run, const struct profile *p,
			struct error *err);

/*
 * Reads the programs and libraries with a build-id that have samples of the workload in runs of the
 * variant and side.
 */
int store_objects(struct store *store, const char *variant, const char *side,
		  struct object_row **rows, struct error *err);

/* A function with samples, in one context. */
struct leaf_row {
	int64_t symbol;
	enum context context;
	const char *name, *module;
	enum dso_kind kind;
};
/* Reads each pair of function and context once. Works only while the store is being made. */
int store_leaves(struct store *store, struct leaf_row **rows, struct error *err);
/* Stores the components that the rules assign to the function. NULL means no component. */
int store_component_put(struct store *store, const struct leaf_row *leaf, const char *fine,
			const char *basic, struct error *err);

/* Reads the names of the tables, then of the views, in the schema's order. */
int store_tables(struct store *store, const char ***names, struct error *err);
/*
 * Writes one table or view as csv (RFC 4180) with a heading. NULL is an empty cell, and an empty
 * string is "".
 */
int store_csv(struct store *store, const char *table, FILE *out, struct error *err);
/*
 * Writes the store to a new file at `path` without names of hosts, people and programs
 * (docs/security.md). `identity` is the checksum of the manifest beside the new file.
 */
int store_write_anonymous(struct store *from, const char *path, const char *identity,
			  struct error *err);
/* Writes SQL that creates the same store. The caller checks `out` for write errors. */
int store_dump(struct store *store, FILE *out, struct error *err);

/*
 * --- many stores in one database (export clickhouse) ---
 *
 * `schema` is an empty store of store_create(). Each table has a column more, the first one:
 * `capture`. The names live as long as `schema`. The caller frees the list.
 */
int store_lab_tables(struct store *schema, const char ***names, struct error *err);
/* Writes the tables and views as SQL that ClickHouse reads, and SQLite and DuckDB without the lines
 * that begin with ENGINE or SETTINGS. */
int store_lab_schema(struct store *schema, FILE *out, struct error *err);
/* Write one table as tab-separated text: the names and the types of ClickHouse, and the rows. */
int store_lab_head(struct store *schema, const char *table, FILE *out, struct error *err);
int store_lab_rows(struct store *store, const char *table, const char *capture, FILE *out,
		   struct error *err);

/* Samples of one instruction. */
struct store_spot {
	int64_t id; /* the function's id, for store_code */
	const char *symbol, *dso, *line;
	uint64_t offset, samples, weight;
};
int store_spots(struct store *store, int64_t run, const char *event, const char *symbol,
		struct store_spot **rows, struct error *err);

/*
 * The code of a function. `bytes` is NULL if the code was not available. The caller frees `bytes`.
 */
struct store_code {
	const char *arch;
	uint64_t at;
	uint8_t *bytes;
	size_t size;
};
int store_code(struct store *store, int64_t id, struct store_code *code, struct error *err);

/* Adds a note of a run. Run 0 means the whole capture. */
int store_note_add(struct store *store, int64_t run, const struct note *note, struct error *err);
/* Adds all notes of a run, and frees the list. */
int store_notes_add(struct store *s, int64_t run, struct notes *notes, struct error *err);
/* Appends the notes of a run, with the names of the run's variant, side, pass and repeat. */
int store_notes(struct store *store, int64_t run, struct notes *notes, struct error *err);

#endif
