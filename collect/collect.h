/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One run on this host, and the collectors that watch it.
 *
 * A collector is a row of THE TABLE (table.c): six hooks, NULL where there is nothing to do. For a
 * run they are called in this order, each at most once but snap:
 *
 *   probe    can this host do it? else the reason, in words, with the way out
 *   prepare  everything slow: programs loaded, files opened, all of it switched off
 *            -- here the workload is started, and warms up --
 *   before   the window is about to open: what the workload has by now is looked up, at leisure
 *   start    the window opens: switch on, or take the first reading
 *   snap     once a second: one cheap reading
 *   stop     the window closes: switch off, or take the last reading (in the table's reverse order)
 *   after    the window is closed and the workload still runs: what needs it alive, at leisure
 *            -- here the workload ends --
 *   finish   write files, end children, free; called whenever prepare was, however the run went
 *
 * A hook returns 0 or -errno with c->err filled. A failed probe or prepare makes the collector
 * `unsupported`; a later failure makes it `degraded`, the first reason stays. Nothing a collector
 * does fails the run.
 *
 * A hook saves raw bytes and understands nothing: parsers live in the laptop half.
 */
#ifndef ZC_COLLECT_H
#define ZC_COLLECT_H

#include "collect/run/reading.h"
#include "lib/cpuset.h"
#include "lib/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct collect;

/* Returns 0 or -errno with c->err filled. */
typedef int collect_hook(struct collect *c);

/* When it is started and stopped: what it brings is cut to the window then, or can be later. */
enum collect_when {
	AT_THE_EDGE, /* a total: it counts from start to stop */
	DATED,	     /* readings with their times, interpolated to the edges: taken just outside */
	APART	     /* records with their times, or nothing measured: on long before, off after */
};

/* The kinds of runs, and the collectors that each one uses (struct collector). */
enum collect_pass {
	PASS_MEASURE = 1 << 0,
	PASS_PROFILE = 1 << 1,
	PASS_SYSCALLS = 1 << 2,
	PASS_EVERY = PASS_MEASURE | PASS_PROFILE | PASS_SYSCALLS
};

enum { COLLECT_FILES = 12, COLLECT_SOURCES = 4 };

struct collector {
	const char *name, *what;
	const char *files[COLLECT_FILES];     /* that it may leave in the run's folder */
	const char *sources[COLLECT_SOURCES]; /* that snapfile_* copies (collect/run/reading.h) */
	enum collect_when when;
	unsigned int passes;   /* that use it; 0: it runs only when the user names it */
	unsigned int required; /* passes that exist for its sake: without it they are incomplete */
	bool in_netns;	       /* its sources are read in the workload's network namespace */
	bool always_due;       /* no reading is skipped for what it costs, and no cost is saved */
	collect_hook *probe;
	collect_hook *prepare;
	collect_hook *before;
	collect_hook *start;
	collect_hook *snap;
	collect_hook *stop;
	collect_hook *read;
	collect_hook *after;
	void (*finish)(struct collect *c);
};

extern const struct collector *const collectors[]; /* ends with NULL */

enum collect_state { COLLECT_OK, COLLECT_UNSUPPORTED, COLLECT_DEGRADED };

/* One collector in one run. `data` belongs to the collector, which frees it in finish. */
struct collect {
	const struct collector *is;
	struct run *run;
	enum collect_state state;
	bool asked;    /* named by the user, or what the pass is for: missing it is worth exit 4 */
	bool prepared; /* prepare was called, so finish must be */
	struct error err;
	char *why;
	struct reading reading; /* for the hook `read` */
	int64_t lost;		/* -1: cannot tell */
	struct cut {
		uint64_t from, to; /* CLOCK_MONOTONIC ns; 0: it was not */
	} on, off;		   /* start, and stop, happened between these */
	json_t *info;
	void *data;
};

/* A collector's own remarks: `degraded` also when nothing failed, facts for run.json. */
void collect_degraded(struct collect *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void collect_why(struct collect *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void collect_info_str(struct collect *c, const char *key, const char *value);
void collect_info_int(struct collect *c, const char *key, int64_t value);

/* Path of `name` in the run's folder; the caller frees. */
char *collect_path(const struct collect *c, const char *name);

/*
 * Fills *list with what to collect: `names` is the user's "perf,cpu" or "all", or NULL for what
 * `pass` needs. The caller frees *list. An unknown name: -EINVAL, and the error lists all.
 */
int collect_choose(struct run *run, const char *names, struct collect **list, size_t *n,
		   struct error *err);

/* The hooks of all chosen collectors, in order; of those of one kind where that is given. */
void collect_prepare(struct collect *list, size_t n);
void collect_before(struct collect *list, size_t n);
void collect_rehearse(struct collect *list, size_t n); /* a reading of what is dated */
void collect_start(struct collect *list, size_t n, enum collect_when when);
void collect_snap(struct collect *list, size_t n);
void collect_stop(struct collect *list, size_t n, enum collect_when when);
void collect_after(struct collect *list, size_t n);
void collect_finish(struct collect *list, size_t n);
void collect_free(struct collect *list, size_t n);

#endif
