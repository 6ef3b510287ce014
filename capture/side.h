/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One side of a run: a child `zcost collect --sync`, spoken to over its standard input and output,
 * so that the side may as well be on another host. What it says on standard error goes to a file.
 *
 *     child: ready              the workload runs and the collectors are set up
 *     us:    go <at> <length>   measure from CLOCK_MONOTONIC `at` ns (of the child's host), for
 *                               `length` ns, 0: until the workload ends
 *     us:    abort              (or end of input) stop everything
 *
 * The child exits 0, or 4 (lossy), or says in run.json and by another status why it failed.
 */
#ifndef ZC_CAPTURE_SIDE_H
#define ZC_CAPTURE_SIDE_H

#include "capture/plan.h"
#include "lib/str.h"

#include <stdint.h>
#include <sys/types.h>

enum side_state { SIDE_UNUSED, SIDE_STARTING, SIDE_READY, SIDE_DONE };

struct side_proc {
	enum side_state state;
	pid_t pid;
	int pidfd;
	int to, from;	 /* its standard input and output, ours to close */
	int status;	 /* as of waitpid, when SIDE_DONE */
	bool aborted;	 /* we ended it: what it then says is no cause */
	struct str line; /* a part of a line from it */
};

/* `mark` is for its environment (lib/marked.h). */
int side_start(struct side_proc *s, char *const argv[], const char *log, const char *mark,
	       struct error *err);
void side_go(struct side_proc *s, uint64_t at_ns, uint64_t length_ns);
void side_abort(struct side_proc *s);

/* What poll found: lines of the child, its end. */
void side_on_output(struct side_proc *s);
void side_on_exit(struct side_proc *s);

/* Ends what still runs (the hard way after grace_ms) and releases everything. */
void side_close(struct side_proc *s, int grace_ms);

#endif
