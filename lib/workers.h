/* SPDX-License-Identifier: GPL-2.0-only */
/* Runs the same work on several threads, or one piece of work in a thread or process beside. */
#ifndef ZC_WORKERS_H
#define ZC_WORKERS_H

#include "lib/error.h"
#include "lib/str.h"

#include <pthread.h>
#include <sys/types.h>

enum { WORKERS_MAX = 64 };

/*
 * Returns the number of threads for `parts` parts of work: at most `asked`, or at most one per CPU
 * if `asked` is 0.
 */
size_t workers_count(unsigned int asked, size_t parts, size_t parts_worth_a_thread);

/*
 * Calls work(arg, 0) to work(arg, n - 1) in parallel and waits for all of them. The caller's thread
 * runs number 0. If a thread cannot start, its number is not called, so the others must be able to
 * do its share.
 */
void workers_run(size_t n, void (*work)(void *arg, size_t number), void *arg);

/* One piece of work beside the caller's. Zeroes: none runs. */
struct background {
	pthread_t thread;
	bool runs;
};

/* Starts the work. If no thread can start, does the work before it returns. */
void background_start(struct background *b, void *(*work)(void *arg), void *arg);
/* Waits until the work is done. */
void background_wait(struct background *b);

/* A child process that works on a copy of the caller's memory, for work that threads cannot share.
 */
struct twin {
	pid_t pid;
	int said; /* our end of the pipe for its result */
};

/* Starts the work. It appends its result to `result`, and returns 0 or -errno. */
int twin_start(struct twin *t, int (*work)(void *arg, struct str *result, struct error *err),
	       void *arg, struct error *err);
/*
 * Waits for the child, appends its result, and returns what its work returned. Once a stop is asked
 * (lib/stop.h), it ends the child first.
 */
int twin_wait(struct twin *t, struct str *result, struct error *err);

#endif
