/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A run: all flows of the program and the threads that move them. With one thread, the main thread
 * does the work and prints the points. With several, the main thread (the boss) prints the points,
 * takes the signals and passes them on to the workers.
 */
#ifndef TCPZC_RUN_H
#define TCPZC_RUN_H

#include "tcpzc.h"

#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/resource.h>

struct run;

struct worker {
	struct run *run;
	unsigned int index;  /* flow i belongs to worker i modulo the number of workers */
	struct flow **flows; /* n of them */
	unsigned int n;
	struct pollfd *fds; /* two per flow: one for the flow and one for f->back */

	uint64_t calls[CALL_COUNT]; /* calls that belong to no single flow */
	struct rusage usage[2];	    /* at the start and at the end of the span in tcpzc.h */
	pthread_t thread;
	int tid;
	bool done; /* other threads read it */
};

struct run {
	const struct options *opt;
	struct flow *flows;
	struct worker *workers, *boss; /* the boss is workers[0], or the entry after the last one */
	unsigned int n_flows, n_workers;
	uint64_t start_ns, next_point_ns; /* 0 until there is data */
	int wake;			  /* eventfd: a worker has news for the boss; -1: none */
	sem_t opened;			  /* each worker posts it when it has its memory */
	int go;				  /* eventfd: counts the workers that may start */
	int out_error;			  /* errno of standard output; 0: none */
	int pid;
	bool give_up; /* the run ends before any data */
};

/* run.c: does everything from the modes' memory to the summary. Returns 0 or -errno. */
int run_all(struct run *r);
void run_point_if_due(struct run *r, uint64_t now);
/* Notes the first data of the whole run and prints the point at zero. */
void run_starts(struct run *r, uint64_t t_ns);

/* worker.c */
void *worker_thread(void *worker); /* runs a worker that is not the main thread */
int worker_open(struct worker *w); /* pins the thread and opens the modes of its flows */
void worker_work(struct worker *w);
void worker_close(struct worker *w);
void worker_notify_boss(struct worker *w);
void worker_span_begins(struct worker *w, int who); /* RUSAGE_SELF or RUSAGE_THREAD */
void worker_span_ends(struct worker *w, int who);

/* flow.c: one step of a flow. Returns STEP_ON, STEP_WAIT, or 0 or less when the flow is done. */
int flow_next(struct flow *f);
/*
 * flow.c: a step or a drain of one direction, as struct mode describes them. They note whether the
 * direction waits, and for what. half_drain returns 0 also when its patience is over.
 */
int half_step(struct flow *f);
int half_drain(struct flow *f);
void half_wait_readable(struct flow *f);
/* flow.c, for --rate: sets f->allow to the bytes that are due. Returns 0, or STEP_WAIT. */
int pace_allow(struct flow *f);
uint64_t pace_due_ns(const struct flow *f, uint64_t message);

/* rr.c: requests and their responses. */
void rr_init(struct flow *f); /* allocates f->back */
int rr_open(struct flow *f);
int rr_move(struct flow *f);  /* a step in either direction */
int rr_drain(struct flow *f); /* in both directions */
bool rr_may_block(const struct options *o);

/* summary.c: JSON lines on standard output. */
void report_point(struct run *r, uint64_t t_ns);
void report_summary(struct run *r);
/* Prints the error of the first flow that failed, also on standard error. */
void report_error(struct run *r);

/* net.c: fills the fd of each flow, in order. */
int net_connect(struct flow *flows, unsigned int n);
int net_accept(struct flow *flows, unsigned int n);
/* Makes a sender wait until its peers have read everything. */
void net_linger(struct flow *flows, unsigned int n);

#endif
