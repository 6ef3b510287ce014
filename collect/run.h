/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One run: its options, and what came of it. run_execute does everything in order, whatever
 * happens ends everything it started, and leaves run.json behind. Times are CLOCK_MONOTONIC ns.
 */
#ifndef ZC_RUN_H
#define ZC_RUN_H

#include "collect/collect.h"
#include "collect/guard.h"
#include "collect/power_command.h"
#include "collect/sync.h"
#include "collect/tree.h"
#include "lib/cpuset.h"
#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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
