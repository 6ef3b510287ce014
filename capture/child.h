/* SPDX-License-Identifier: GPL-2.0-only */
/* Child processes that a capture talks with, and the signals that end its waiting. */
#ifndef ZC_CAPTURE_CHILD_H
#define ZC_CAPTURE_CHILD_H

#include "capture/plan.h"
#include "lib/str.h"

#include <stdint.h>
#include <sys/types.h>

/*
 * SIGINT, SIGTERM and SIGHUP as something to poll for: nothing is cut off in the middle, so that
 * children are stopped and `after` is run whatever happens.
 */
struct interrupt {
	int fd;	 /* readable when a signal came */
	int sig; /* the first one, 0: none yet */
};

int interrupt_open(struct interrupt *i, struct error *err);
bool interrupt_came(struct interrupt *i); /* reads what there is */
void interrupt_close(struct interrupt *i);

/*
 * A child process spoken with in lines and bytes over its standard input and output, with patience
 * that ends. It says nothing to anybody but in return values:
 *
 *     -EPIPE      it has ended, or closed its end
 *     -ETIMEDOUT  nothing came for as long as we waited
 *     -EINTR      a signal came (only where `intr` is given)
 */
struct link {
	pid_t pid;    /* 0: there is none */
	int to, from; /* its standard input and output */
	char buf[65536];
	size_t at, len; /* of buf: read and not taken yet */
};

/* What it says on standard error goes to the file `log`. */
int link_start(struct link *l, char *const argv[], const char *log, struct error *err);

int link_write_line(struct link *l, const char *line); /* without its newline */

/* One line without its newline into *line, which is emptied first. */
int link_read_line(struct link *l, struct interrupt *intr, double patience_s, struct str *line);

/* Up to `max` bytes; the number or an error. */
ssize_t link_read_bytes(struct link *l, struct interrupt *intr, double patience_s, void *to,
			size_t max);

/* Has it ended? Then *status is as of waitpid. */
bool link_ended(struct link *l, int *status);

/* Closes its input and waits for its end, the hard way after patience_s. *status may be NULL. */
void link_close(struct link *l, double patience_s, int *status);

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
