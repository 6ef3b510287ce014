/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Child processes. Each child leads a new process group, which the parent ends by its id. The child
 * gets SIGTERM when its parent dies, so that nothing outlives zcost.
 */
#ifndef ZC_SPAWN_H
#define ZC_SPAWN_H

#include "lib/error.h"

#include <limits.h>
#include <sys/types.h>

struct spawn {
	int in, out, err; /* the child's descriptors; 0: it inherits ours */
	const char *cwd;  /* the working folder; without one, ours */
	size_t file_most; /* bytes that the child may write to a file; 0: no limit */
	const char *mark; /* "NAME=VALUE" for its environment, for marked_end(); or NULL */
	int *held;	  /* not NULL: the child stops before exec; pass the value to spawn_go() */
	bool session; /* it leads a session without a terminal, so that nothing in it asks there */
	bool apart;   /* for a child of less rights: it gets none of what belongs to our session,
		       * no terminal, no key and no descriptor above 2 */
};

/* Makes all files that this process makes private to our user. Children get the umask of before. */
void spawn_private(void);

/* Lets this process open as many files as it may. Children get the limit of before. */
void spawn_raise_files(void);

/*
 * Blocks SIGINT, SIGTERM and SIGHUP, and ignores SIGPIPE. Returns a signalfd for the blocked
 * signals or -errno. SIGHUP stays ignored where nohup made it so. `flags` are those of signalfd().
 */
int spawn_open_signals(int flags, struct error *err);

/* Finds the file that execvp() would run. Returns false where no folder in PATH has the name. */
bool spawn_find_program(const char *name, char path[PATH_MAX]);

/* Starts argv[0], which it looks up in PATH. Returns -errno of a failed exec, too. */
int spawn_start(pid_t *pid, char *const argv[], const struct spawn *opts, struct error *err);

/* Lets a held child run. Returns -errno of a failed exec. */
int spawn_go(pid_t pid, char *const argv[], int held, struct error *err);

/* Waits for timeout_ms (-1: forever). Returns 0 and the *status of waitpid(), or -ETIMEDOUT. */
int spawn_wait(pid_t pid, int timeout_ms, int *status);

/* Sends SIGTERM to the group, SIGKILL after grace_ms, and reaps the child. status may be NULL. */
void spawn_stop(pid_t pid, int grace_ms, int *status);

/* Starts the child and waits for it. Fails if the exit status is not 0. */
int spawn_run(char *const argv[], const struct spawn *opts, struct error *err);

/* Returns "exited with status 1" or "was killed by signal 9 (Killed)". The thread's next
 * call replaces the text. */
const char *spawn_status_text(int status);

/*
 * Ends all processes, except ours, with `mark` ("NAME=VALUE") in their environment: SIGTERM first,
 * SIGKILL after grace_ms. With `begins` it also ends those with a value that only begins like this.
 * Children inherit the mark, so this finds them in any group or session, and a later zcost finds
 * them too. It does not find a process that cleared its environment, or has one of more than 1 MiB.
 * Returns the number of processes at the start.
 */
int marked_end(const char *mark, bool begins, int grace_ms);

/* Returns the number of processes that marked_end() would end. */
int marked_count(const char *mark, bool begins);

/* Says whether a process has the mark in its environment. `begins` is as in marked_end. */
bool marked_has_mark(const char *pid, const char *mark, bool begins);

#endif
