/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One run: its options, and what came of it. run_execute does everything in order, whatever
 * happens ends everything it started, and leaves run.json behind. Times are CLOCK_MONOTONIC ns.
 */
#ifndef ZC_RUN_H
#define ZC_RUN_H

#include "collect/collect.h"
#include "collect/options.h"
#include "collect/run/tree.h"
#include "lib/cpuset.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * `zcost collect --sync`: someone else says when the window opens, so that two sides, here or on
 * another host, measure the same seconds. Lines on standard input and output, fit for ssh:
 *
 *   we say      ready\n                     the workload runs, every collector waits to be switched
 *                                           on
 *   we hear     go <start_ns> <duration_ns>\n
 *                                           open the window at that CLOCK_MONOTONIC time of this
 *                                           host (at once when it is past); duration 0: until the
 *                                           command ends
 *   or          abort\n                     stop the workload; the run is marked failed
 *
 * The end of standard input at any time before the run is over means abort: whoever steered us is
 * gone. A second `go` is ignored. --warmup and --duration are not used, and run.json holds what
 * was measured in fact.
 *
 * The clock to speak of is the host's own: whoever steers two hosts asks each for its time first.
 */

enum sync_heard { SYNC_NOTHING, SYNC_GO, SYNC_ABORT };

struct sync {
	int fd;
	char line[256];
	size_t len;
	bool closed;
	uint64_t start_ns, duration_ns; /* of the `go` heard */
	char why[128];			/* of an abort */
};

int sync_say_ready(struct error *err);

/* Reads what there is; call when fd is readable. */
enum sync_heard sync_hear(struct sync *s);

/*
 * A child of ours that does nothing until we die without having said goodbye (SIGKILL, out of
 * memory): then it ends what we had started, found by its mark (lib/marked.h): the workload with
 * all that left its group or session, and perf. What we were ourselves (BPF programs, events,
 * pipes) the kernel ends.
 */

struct guard {
	pid_t pid; /* 0: there is none */
	int fd;
};

/* `mark` is "NAME=VALUE". Call before anything is started that carries it. */
int guard_start(struct guard *g, const char *mark, struct error *err);
void guard_stop(struct guard *g);

/*
 * What the workload leaves behind: processes that left its group and lost their parent become our
 * children, once we said so, and are ended with the run.
 */

/* Call before anything is started. */
void orphans_adopt(void);

/* SIGTERM to all our children but one, SIGKILL after grace_ms; reaps them. `except` 0: none. */
void orphans_end(int grace_ms, pid_t except);

/* The folder of a run, before the run: whose is what it holds? */

/*
 * May a run be written to `dir`? Yes where it is not there or empty, and where a run was written
 * before, whatever was put beside that: *used then. -EEXIST: something else is kept in it.
 */
int folder_check(const char *dir, bool *used, struct error *err);

/* Nothing of an earlier run may pass for this one's. */
void folder_clear(const char *dir);

enum { RUN_POWER_CSV = 4 }; /* at most */

struct run {
	/* options; the strings belong to the caller */
	const char *dir;
	const char *host_dir; /* hosts/<host>; NULL: inside dir */
	const char *variant, *pass, *side, *units;
	int repeat;
	struct cpuset cpus;
	double warmup_s, duration_s, grace_s; /* duration 0: until the command ends */
	char **argv;
	bool sync;
	unsigned int freq;	     /* samples per second and CPU */
	const char *call_graph;	     /* fp, dwarf, dwarf,SIZE or lbr: as perf record has it */
	const char *syscalls_method; /* NULL: the best there is */
	unsigned int time_one_in;    /* system call in so many is timed, all are counted; 0: as 1 */
	const char **power_csv;	     /* files of an external meter */
	size_t npower_csv;
	const char *events; /* to count (events.h); NULL: the usual ones */
	struct power_command power_command[POWER_KINDS]; /* no two of one kind */
	size_t npower_command;

	/* what to collect */
	struct collect *collect;
	size_t ncollect;

	/* while it runs */
	char *hosts;	      /* folder for what explains this host's samples; owned */
	struct cpuset online; /* CPUs there are */
	pid_t pid;	      /* of the workload */
	int pidfd, signals;
	int held;   /* what lets the workload go when the window opens; -1: it runs */
	char *mark; /* in the environment of what must end with the run; owned */
	struct guard guard;
	struct sync in;
	bool running;
	struct tree tree; /* of the workload's processes: tree_of() */

	/* what came of it */
	uint64_t started_ns, ended_ns, start_ns, end_ns; /* the latter two: the window; 0: never */
	uint64_t wanted_ns;				 /* when it was to open */
	uint64_t early_ns; /* the command's end closed it that much before it was to; 0: it did not
			    */
	uint64_t own_ns;   /* CPU time that we took ourselves in the window, without children */
	char wall_clock[32];
	bool stopped; /* by us: there is no exit status */
	int status;   /* as of waitpid */
	bool failed;
	char why[1024];
};

/* 0 when the run is complete, also when it failed: see `failed`. -errno: no run.json possible. */
int run_execute(struct run *r, struct error *err);

/* Marks the run failed; the first reason stays. */
void run_fail(struct run *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Writes run.json (docs/formats.md). */
int run_write_json(const struct run *r, struct error *err);

#endif
