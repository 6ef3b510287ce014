/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The store, the only place that speaks SQL. Opaque; strings it returns live until store_close.
 * The rest of the laptop half asks it for runs, metrics, syscall rows and profiles.
 */
#ifndef ZC_STORE_H
#define ZC_STORE_H

#include "analyze/model/profile.h"
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

struct run {
	int64_t id;
	const char *variant, *pass, *side, *host, *command, *cpus, *status, *why;
	int repeat, ncpus, position;
	uint64_t start_ns, end_ns;
};

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

struct collector_row {
	const char *name, *state, *why;
	int64_t lost; /* -1: it cannot tell */
};
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

struct host_row {
	const char *name, *release, *arch, *cpu_model, *virtualization;
	int64_t cpus; /* 0: unknown */
};
int store_host_add(struct store *store, const struct host_row *h, struct error *err);
int store_hosts(struct store *store, struct host_row **rows, struct error *err);

/* A place of a host's topology; docs in schema.sql. */
struct topology_row {
	const char *host, *kind, *name, *cpus, *distances;
	int64_t package, node, up; /* -1: not told */
	double size_kib, speed;	   /* NAN: not told */
};
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

struct metric_row {
	const char *name, *unit;
	double value;
	const char *source;
};
/* All of a run, by name; the caller frees. Count or -errno. */
int store_metric_list(struct store *store, int64_t run, struct metric_row **rows,
		      struct error *err);
/* Those whose names begin so, alike. */
int store_metric_prefix(struct store *store, int64_t run, const char *prefix,
			struct metric_row **rows, struct error *err);

/* A figure over time. */
int store_series_put(struct store *store, int64_t run, const char *name, uint64_t t_ns,
		     double value, struct error *err);

struct syscall_row {
	const char *comm, *name;
	int64_t pid, tid, nr;
	uint64_t calls, errors, total_ns, min_ns, max_ns, bytes, unfinished;
	double m2;
	bool has_bytes;
	uint64_t time_hist[64], size_hist[64];
};
int store_syscall_add(struct store *store, int64_t run, const struct syscall_row *row,
		      struct error *err);
/* The caller frees the rows. Count or -errno. */
int store_syscalls(struct store *store, int64_t run, struct syscall_row **rows, struct error *err);

bool store_has_syscalls(struct store *store, int64_t run);

/* A thread of the workload in the window; docs in schema.sql. NAN, NULL: not measured. */
struct thread_row {
	int64_t pid, tid;
	const char *comm, *allowed, *cpus;
	uint64_t first_ns, last_ns;
	double run_ns, user_ns, system_ns, migrations;		      /* collector threads */
	double sched_run_ns, wait_ns, slices, voluntary, involuntary; /* collector sched */
};
int store_thread_add(struct store *store, int64_t run, const struct thread_row *row,
		     struct error *err);
/* The busiest first; the caller frees the rows. Count or -errno. */
int store_threads(struct store *store, int64_t run, struct thread_row **rows, struct error *err);

/*
 * A TCP socket of the workload in the window: medians over its readings (min_rtt_us: the least;
 * app_limited_pct: of the readings), and what its counters grew by. Rates are bytes per second.
 * NAN: the kernel did not tell.
 */
// clang-format off
#define SOCKET_FIGURES(X)                                                                  \
	X(rtt_us) X(rttvar_us) X(min_rtt_us) X(cwnd) X(ssthresh) X(mss) X(delivery_rate)   \
	X(pacing_rate) X(rcv_rtt_us) X(rcv_space) X(snd_wnd) X(unacked) X(notsent) X(rmem) \
	X(rcvbuf) X(wmem) X(sndbuf) X(app_limited_pct) X(bytes_acked) X(bytes_received)    \
	X(bytes_sent) X(bytes_retrans) X(segs_out) X(segs_in) X(retrans) X(busy_us)        \
	X(rwnd_limited_us) X(sndbuf_limited_us) X(reordered) X(dsacks) X(out_of_order) X(drops)
// clang-format on
enum socket_figure {
#define X(name) SOCKET_##name,
	SOCKET_FIGURES(X)
#undef X
		SOCKET_NFIGURES,
};
struct socket_row {
	int64_t pid;
	const char *local, *peer, *congestion, *state;
	uint64_t first_ns, last_ns;
	int64_t readings;
	double f[SOCKET_NFIGURES];
};
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
