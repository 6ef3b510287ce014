/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All flows of a program run, and the threads that move them. One thread: the main thread works
 * and prints the points. More: each is a thread of its own, and the main thread (the boss)
 * prints points, takes the signals and hands them on.
 */
#ifndef TCPZC_RUN_H
#define TCPZC_RUN_H

#include "tcpzc.h"
#include "terms.h"

#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/resource.h>

struct run;

struct worker {
	struct run *run;
	unsigned int index;  /* its flows are those with this index modulo the number of workers */
	struct flow **flows; /* the n of them */
	unsigned int n;
	struct pollfd *fds; /* two per flow: its own and f->back's */
	void *shared[2]; /* of a mode's flows of this thread (rx, tx): the mode makes and frees it
			  */

	uint64_t calls[CALL_COUNT]; /* those of no flow alone */
	struct rusage usage[2];	    /* at the start and the end of the span that calls.h defines */
	pthread_t thread;
	int tid;
	bool done; /* other threads read it */
};

struct run {
	const struct options *opt;
	struct flow *flows;
	struct worker *workers, *boss; /* the boss is workers[0], or a place behind the last */
	unsigned int n_flows, n_workers;
	uint64_t start_ns, next_point_ns; /* 0: no data yet */
	int wake;			  /* eventfd: a worker has news for the boss; -1: none */
	sem_t opened;			  /* a worker has its memory */
	int go;				  /* eventfd, counts the workers that may start */
	int out_error;			  /* errno of standard output; 0: none */
	int pid;
	bool give_up; /* before data */
	struct peer_terms peer;
};

/* run.c: everything, from opening the modes to the summary. 0, or -errno. */
int run_all(struct run *r);
void run_point_if_due(struct run *r, uint64_t now);
int run_connect(struct run *r);
void run_starts(struct run *r, uint64_t t_ns); /* the first data of all: the point at zero */
void run_ends(struct run *r);		       /* the last point, of all flows done */

/* boss.c: with more than one worker */
int boss_run(struct run *r);

/* wait.c: until poll says that a flow of those blocked can go on, or time does; or not at all. */
void wait_for_any(struct worker *w, bool at_all);

/* worker.c */
int worker_open(struct worker *w); /* pins the thread and opens its flows' modes */
void worker_work(struct worker *w);
void worker_close(struct worker *w);
void worker_tell_boss(struct worker *w);	    /* there is news */
void worker_span_begins(struct worker *w, int who); /* RUSAGE_SELF or RUSAGE_THREAD */
void worker_span_ends(struct worker *w, int who);

/* summary.c: NULL when memory runs out. */
json_t *summary_json(struct run *r);

/* report.c: JSON lines on standard output. */
void report_point(struct run *r, uint64_t t_ns);
void report_summary(struct run *r);
void report_error(struct run *r); /* and on standard error: the first flow's that failed */

#endif
