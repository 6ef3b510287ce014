/* SPDX-License-Identifier: GPL-2.0-only */
/* Child processes that a capture talks with, and the signals that end its waiting. */
#ifndef ZC_CAPTURE_CHILD_H
#define ZC_CAPTURE_CHILD_H

#include "capture/plan.h"
#include "lib/str.h"

#include <sys/types.h>

/*
 * SIGINT, SIGTERM and SIGHUP as a descriptor to poll. No signal cuts off a step in its middle, so
 * that a capture always stops its children and runs `after`.
 */
struct interrupt {
	int fd;	 /* readable when a signal came */
	int sig; /* the first signal; 0: none yet */
};

int interrupt_open(struct interrupt *i, struct error *err);
bool interrupt_came(struct interrupt *i); /* reads all signals that are pending */
void interrupt_close(struct interrupt *i);

/*
 * A child process that answers requests. Both directions are lines and bytes over its standard
 * input and output. The caller waits for an answer until `deadline`. Errors are return values:
 *
 *     -EPIPE      the child has ended or closed its output
 *     -ETIMEDOUT  no answer came before the deadline
 *     -EINTR      a signal came (only where `intr` is not NULL)
 */
struct link {
	pid_t pid;    /* 0 when there is no child */
	int to, from; /* its standard input and output */
	char buf[65536];
	size_t at, len; /* bytes of buf that the caller has taken, and that were read */
};

/* What a child may write to a log, when another host chooses it. The rest is lost. */
enum { LOG_MOST = 16 << 20 };

/* Starts the child. Its standard error goes to the file `log`, LOG_MOST bytes at most. */
int link_start(struct link *l, char *const argv[], const char *log, struct error *err);

int link_write_line(struct link *l, const char *line); /* adds the newline */

/* Reads one line into *line, without its newline. */
int link_read_line(struct link *l, struct interrupt *intr, uint64_t deadline, struct str *line);

/* Reads up to `max` bytes. Returns their number or an error. */
ssize_t link_read_bytes(struct link *l, struct interrupt *intr, uint64_t deadline, void *to,
			size_t max);

/* Says whether the child has ended. Closes the link if so. */
bool link_ended(struct link *l);

/* Closes the input of the child, waits for its end, and kills it after patience_s. *status may be
 * NULL. */
void link_close(struct link *l, double patience_s, int *status);

/*
 * One side of a run: a child `zcost collect --sync`. The capture talks with it over its standard
 * input and output only, so that ssh can run it on another host. Its standard error goes to a file.
 *
 * collect/run/run.h has the protocol. The child exits with 0 or with 4 (lossy). With any other
 * status, run.json says why it failed.
 */
enum side_state { SIDE_UNUSED, SIDE_STARTING, SIDE_READY, SIDE_DONE };

struct side_proc {
	enum side_state state;
	pid_t pid;
	int pidfd;
	int to, from; /* its standard input and output */
	int status;   /* the status of waitpid, when SIDE_DONE */
	bool aborted; /* side_abort ended it: its error is not why the run failed */
	bool settled, moving;
	char *step, *error; /* the last ones; owned; NULL: none came */
	char *late;	    /* why the run ended it before it was done; owned */
	struct str line;    /* the part of a line that has come so far */
};

/*
 * Starts the child with `mark` in its environment (lib/spawn.h). The log of a `remote` child takes
 * LOG_MOST bytes at most.
 */
int side_start(struct side_proc *s, char *const argv[], const char *log, const char *mark,
	       bool remote, struct error *err);
void side_go(struct side_proc *s, uint64_t at_ns, uint64_t length_ns);
void side_abort(struct side_proc *s);

/* Reads lines, or the exit status, of a child after poll reported them. */
void side_on_output(struct side_proc *s);
void side_on_exit(struct side_proc *s);

/* Ends a child that still runs, with SIGKILL after grace_ms. What it said stays until side_free. */
void side_close(struct side_proc *s, int grace_ms);
void side_free(struct side_proc *s);

#endif
