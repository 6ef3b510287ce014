/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Child processes. Each child leads a process group of its own and gets SIGTERM when its parent
 * dies, so that nothing outlives us; the parent ends the group by id.
 */
#ifndef ZC_SPAWN_H
#define ZC_SPAWN_H

#include "lib/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct spawn {
	int in, out, err; /* fds for the child; 0 means inherit in, out or err as they are */
	const char *cwd;  /* NULL: ours */
	bool keep_group;  /* stay in our process group */
	const char *mark; /* "NAME=VALUE" for its environment (lib/marked.h); NULL: none */
	int *held; /* the child stops before it execs, until spawn_go gets what is put here; or NULL
		    */
};

/*
 * From now on nobody but our user reads what this process makes, whatever the modes say. Children
 * have the umask that we had before.
 */
void spawn_private(void);

/* Starts argv[0], looked up in PATH. A failed exec is reported here, with its errno. */
int spawn_start(pid_t *pid, char *const argv[], const struct spawn *opts, struct error *err);

/* A held child begins. A failed exec is reported here. */
int spawn_go(pid_t pid, char *const argv[], int held, struct error *err);

/* Waits at most timeout_ms (-1: for ever). 0 and *status as of waitpid, or -ETIMEDOUT. */
int spawn_wait(pid_t pid, int timeout_ms, int *status);

/* SIGTERM to the group, SIGKILL after grace_ms; reaps the child. *status may be NULL. */
void spawn_stop(pid_t pid, int grace_ms, int *status);

/* Starts, waits, and fails on any exit status but 0. */
int spawn_run(char *const argv[], const struct spawn *opts, struct error *err);

/* "exited with status 1", "was killed by signal 9 (Killed)"; static buffer. */
const char *spawn_status_text(int status);

/*
 * Processes known by a variable in their environment, NAME=VALUE. Whatever they start inherits it,
 * in whatever group or session, so that all of it is found again, also by who did not start it. One
 * that cleared its environment is not.
 */

/*
 * SIGTERM to all that carry `mark` ("NAME=VALUE"), SIGKILL after grace_ms. With `begins`, also to
 * those whose value only begins with it. Never to ourselves. How many there were at first.
 */
int marked_end(const char *mark, bool begins, int grace_ms);

#endif
