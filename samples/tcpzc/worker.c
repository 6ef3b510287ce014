// SPDX-License-Identifier: GPL-2.0-only
/*
 * One thread and its flows. A flow alone on its thread may block in its mode's calls, as a simple
 * program does. Flows that share a thread take turns: each gets up to a few steps while it has
 * something to do, and poll(2) waits when none has.
 */
#include "run.h"

#include <errno.h>
#include <stdlib.h>

enum { TURN_STEPS = 16 }; /* of one flow, before the next one's turn */

static int pin(struct worker *w)
{
	const struct options *o = w->run->opt;
	int cpu = 0, nth;
	cpu_set_t set;

	if (!o->pinned)
		return 0;
	for (nth = (int)w->index % CPU_COUNT(&o->cpus);; cpu++)
		if (CPU_ISSET((size_t)cpu, &o->cpus) && !nth--)
			break;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		return flow_fail(w->flows[0], errno, "--cpu %d", cpu);
	return 0;
}

int worker_open(struct worker *w)
{
	unsigned int i;

	if (pin(w))
		return -w->flows[0]->error;
	for (i = 0; i < w->n; i++)
		if (w->flows[i]->mode->open(w->flows[i]))
			return -w->flows[i]->error;
	return 0;
}

void worker_close(struct worker *w)
{
	unsigned int i;

	for (i = 0; i < w->n; i++)
		w->flows[i]->mode->close(w->flows[i]);
}

void worker_span_begins(struct worker *w, int who)
{
	unsigned int i, k;

	for (k = 0; k < CALL_COUNT; k++)
		w->calls[k] = 0;
	for (i = 0; i < w->n; i++)
		for (k = 0; k < CALL_COUNT; k++)
			w->flows[i]->calls[k] = 0;
	stop_count(w);
	for (k = 0; k < CALL_COUNT; k++)
		w->calls[k] = 0;
	getrusage(who, &w->usage[0]);
}

void worker_span_ends(struct worker *w, int who)
{
	getrusage(who, &w->usage[1]);
	stop_count(w);
}

static bool ended(const struct flow *f)
{
	return stop_requested || f->error || (f->tx && !flow_left(f, f->bytes));
}

/* Takes back what the kernel still has of a flow that ended, with patience. */
static int drain(struct flow *f)
{
	uint64_t now;
	int rc;

	if (!f->mode->drain)
		return 0;
	if (!f->drain_ns)
		f->drain_ns = now_ns();
	rc = f->mode->drain(f);
	now = now_ns();
	if (rc == STEP_ON)
		f->drain_ns = now;
	return rc == STEP_WAIT && now - f->drain_ns >= DRAIN_PATIENCE_MS * 1000000ULL ? 0 : rc;
}

/* What the flow does next: STEP_ON, STEP_WAIT, 0 or -errno: it is done. */
static int step(struct flow *f)
{
	int rc;

	f->wait_fd = f->fd;
	f->wait_events = f->tx ? POLLOUT : POLLIN;
	if (f->draining || ended(f)) {
		f->draining = true;
		return drain(f);
	}
	if (!f->start_ns)
		flow_data_starts(f);
	rc = f->mode->step(f);
	flow_tick(f);
	f->draining = rc <= 0;
	return f->draining ? STEP_ON : rc;
}

/* Flow i's turn: true while it is not done. */
static bool turn(struct worker *w, unsigned int i)
{
	struct flow *f = w->flows[i];
	unsigned int k;
	int rc = STEP_ON;

	for (k = 0; rc == STEP_ON && (f->alone || k < TURN_STEPS); k++)
		rc = step(f);
	w->waiting[i] = rc == STEP_WAIT;
	return rc > 0;
}

/* Until poll says that a flow of those waiting can go on; or not at all. */
static void wait_for_any(struct worker *w, bool at_all)
{
	int timeout = at_all ? -1 : 0;
	unsigned int i;

	for (i = 0; i < w->n; i++) {
		const struct flow *f = w->flows[i];

		w->fds[i].fd = w->waiting[i] ? f->wait_fd : -1;
		w->fds[i].events = f->wait_events;
		w->fds[i].revents = 0;
		if (at_all && f->draining)
			timeout = DRAIN_PATIENCE_MS;
	}
	if (CALL(w, POLL, poll(w->fds, w->n, timeout)) < 0 && errno != EINTR)
		flow_fail(w->flows[0], errno, "poll");
	for (i = 0; i < w->n; i++)
		if (w->fds[i].revents || stop_requested || w->flows[i]->draining)
			w->waiting[i] = false;
}

/* The flows that are not done come first in w->flows. */
static void run_flows(struct worker *w)
{
	const unsigned int all = w->n;

	while (w->n) {
		bool all_wait = true;
		unsigned int i;

		for (i = 0; i < w->n;) {
			struct flow *f = w->flows[i];

			if (!w->waiting[i] && !turn(w, i)) {
				flow_data_ends(f);
				w->n--;
				w->flows[i] = w->flows[w->n];
				w->waiting[i] = w->waiting[w->n];
				w->flows[w->n] = f;
				continue;
			}
			all_wait &= w->waiting[i++];
		}
		if (w->n)
			wait_for_any(w, all_wait);
	}
	w->n = all;
}

void worker_work(struct worker *w)
{
	const struct options *o = w->run->opt;
	unsigned int i;

	for (i = 0; i < w->n; i++) {
		struct flow *f = w->flows[i];

		/* A receiver's data starts when its first byte is there. */
		f->wait_fd = f->fd;
		f->wait_events = POLLIN;
		w->waiting[i] = !f->tx;
		if (f->mode->attach && f->mode->attach(f))
			w->waiting[i] = false; /* ends at once, with its error */
	}
	if (!o->listen && o->seconds > 0 && w == w->run->boss)
		stop_after(w, o->seconds);
	run_flows(w);
}
