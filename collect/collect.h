/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One run on this host, and the collectors that watch it.
 *
 * A collector is a `const struct collector` in its own file and one row of THE TABLE
 * (collect.c). A hook is NULL where there is nothing to do. A run calls the hooks in this order,
 * snap and turn often and each of the others at most once:
 *
 *   probe    checks that this host can do it; else the error is the reason, with the way out
 *   prepare  does everything slow, such as loading programs and opening files, all switched off
 *            -- here the workload starts, and warms up --
 *   before   runs shortly before the window: finds what the workload has by now; may be slow
 *   start    the window opens: switches on, or takes the first reading
 *   snap     once a second: takes one cheap reading
 *   turn     when turn_ns is due: sets turn_ns, the time of the next one. `start` sets the first
 *   stop     the window closes: switches off, or takes the last reading (in reverse order of rows)
 *   after    the window is closed and the workload still runs; may be slow
 *            -- here the workload ends --
 *   finish   writes files, ends children, frees; always called when prepare was called
 *
 * `read` replaces start, snap and stop: it adds one reading to c->reading.text.
 *
 * A failed probe or prepare makes the collector `unsupported`. A later failure makes it `degraded`,
 * and the first reason stays. No failure of a collector fails the run.
 *
 * A hook saves raw bytes and does not interpret them: the parsers are in analyze/probes.
 */
#ifndef ZC_COLLECT_H
#define ZC_COLLECT_H

#include "lib/error.h"
#include "lib/stats.h"
#include "lib/str.h"

#include <jansson.h>
#include <sys/types.h>

struct collect;

/* Returns 0 or -errno with c->err filled. */
typedef int collect_hook(struct collect *c);

/* How a collector's data is cut to the window. */
enum collect_when {
	AT_THE_EDGE, /* a total from start to stop */
	DATED, /* readings with their times, taken just outside the window and interpolated to its
		  ends */
	APART /* records with their times, or nothing measured: on long before the window, off after
		 it */
};

/* The kinds of runs, and the collectors that each one uses (struct collector). */
enum collect_pass {
	PASS_MEASURE = 1 << 0,
	PASS_PROFILE = 1 << 1,
	PASS_SYSCALLS = 1 << 2,
	PASS_TRACE = 1 << 3, /* follows events; a plan or a user names it */
	PASS_EVERY = PASS_MEASURE | PASS_PROFILE | PASS_SYSCALLS | PASS_TRACE
};

enum { COLLECT_FILES = 4, COLLECT_SOURCES = 4 };

struct collector {
	const char *name, *what;
	const char *files[COLLECT_FILES];     /* that it may leave in the run's folder */
	const char *sources[COLLECT_SOURCES]; /* that snapfile_* copies */
	enum collect_when when;
	unsigned int passes;   /* that use it; 0: it runs only when the user names it */
	unsigned int required; /* passes that exist for its sake: without it they are incomplete */
	bool in_netns;	       /* its sources are read in the workload's network namespace */
	bool always_due;       /* no reading is skipped for what it costs, and no mean is saved */
	collect_hook *probe;
	collect_hook *prepare;
	collect_hook *before;
	collect_hook *start;
	collect_hook *snap;
	collect_hook *turn;
	collect_hook *stop;
	collect_hook *read;
	collect_hook *after;
	void (*finish)(struct collect *c);
};

extern const struct collector *const collectors[]; /* ends with NULL */

/*
 * Readings of a collector: its first file is a .snap (lib/snap.h), and each reading is one snapshot
 * in it. The runner takes one at the window's start, once a second, and at the window's end.
 *
 * Some readings take long: thousands of interrupts, a driver that asks its firmware. Between the
 * window's ends such readings are skipped until they take at most a thousandth of the time. The CPU
 * time that they cost stands in run.json: readings, reading_us (the mean), longest_us, skipped.
 */
struct reading {
	int fd;			    /* the .snap; 0: not open */
	struct str text;	    /* the present reading; the collector adds to it */
	uint64_t began_ns, next_ns; /* CLOCK_MONOTONIC */
	uint64_t cpu_ns;	    /* CPU time of the thread when the reading began */
	uint64_t spent_ns, longest_ns;
	unsigned int n, skipped;
};

enum collect_state { COLLECT_OK, COLLECT_UNSUPPORTED, COLLECT_DEGRADED };

/* Runs of a collector's BPF programs, in the parts of the window in which the kernel counts them.
 */
struct program_cost {
	uint64_t timed_ns, runs, runs_ns;
};

/*
 * The network namespace that the workload lives in, as under `ip netns exec`, which enters it some
 * time after it was started. A file or a socket opened while in a namespace stays with it.
 */
struct netns {
	int fd;		     /* the namespace, open; 0 for our own */
	uint64_t id, ours;   /* the ID in net:[ID] of /proc/PID/ns/net; 0 if not known */
	unsigned int others; /* further namespaces that the workload's processes are in */
};

/* One collector in one run. `data` belongs to the collector, which frees it in finish. */
struct collect {
	const struct collector *is;
	struct run *run;
	enum collect_state state;
	bool asked; /* named by the user, or required by the pass: without it the exit code is 4 */
	bool prepared; /* prepare was called, so finish will be */
	struct error err;
	char *why;
	struct reading reading;	  /* for the hook `read` */
	struct netns netns;	  /* for collectors that call netns_enter() */
	uint64_t looks, looks_ns; /* calls inside the window, and their CPU time */
	uint64_t turn_ns;	  /* CLOCK_MONOTONIC */
	const struct bpf_object
		*programs; /* attached: the account has their cost (bpf.h); or NULL */
	struct program_cost before, cost;
	int64_t lost; /* -1 if unknown */
	struct cut {
		uint64_t from, to; /* CLOCK_MONOTONIC ns; 0: never */
	} on, off;		   /* the times before and after start, and before and after stop */
	json_t *info;
	void *data;
};

/* Remarks of a collector: collect_degraded without an error, a reason, facts for run.json. */
void collect_degraded(struct collect *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void collect_why(struct collect *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void collect_info_str(struct collect *c, const char *key, const char *value);
void collect_info_int(struct collect *c, const char *key, int64_t value);

/* Returns the path of `name` in the run's folder. The caller frees it. */
char *collect_path(const struct collect *c, const char *name);

/* Writes the text, if there is any, to a file of the run's folder. A failure is a loss. */
void collect_write(struct collect *c, const char *name, const struct str *text);

/*
 * Fills *list with the collectors to use. `names` is the user's list, such as "perf,cpu" or "all".
 * NULL means the collectors of the run's pass. The caller frees *list. Returns -EINVAL for an
 * unknown name, and the error lists all names.
 */
int collect_choose(struct run *run, const char *names, struct collect **list, size_t *n,
		   struct error *err);

/*
 * Call the hooks of the chosen collectors in order; with `when`, only of collectors of that kind.
 */
void collect_prepare(struct collect *list, size_t n);
void collect_before(struct collect *list, size_t n);
void collect_start(struct collect *list, size_t n, enum collect_when when);
void collect_snap(struct collect *list, size_t n, bool dated_only);
/* Calls the turns that are due. Returns when the next one is; UINT64_MAX: never. */
uint64_t collect_turn(struct collect *list, size_t n);
void collect_stop(struct collect *list, size_t n, enum collect_when when);
void collect_after(struct collect *list, size_t n);
void collect_finish(struct collect *list, size_t n);
void collect_free(struct collect *list, size_t n);

/* --- parts of the window that a collector uses, with pauses of random length --- */

struct collect_parts {
	uint64_t part_ns, pause_ns; /* a pause is once to three times as long */
	bool begun, on;
	struct prng random;
};

/*
 * For the hook `turn`, whose first time is 0. The first returns whether a part begins or ends now,
 * as p->on then says. The second sets the time of the next turn, after that was done. The first
 * part begins at a random time, because a workload may begin with something else.
 */
bool collect_part_is_due(struct collect *c, struct collect_parts *p);
void collect_part_next(struct collect *c, struct collect_parts *p);

#endif
