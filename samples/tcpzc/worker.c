// SPDX-License-Identifier: GPL-2.0-only
/*
 * One thread and its flows. A flow alone on its thread may block in its mode's calls, as a simple
 * program does. Flows that share a thread take turns: each gets up to a few steps while it has
 * something to do, and poll(2) waits when none has.
 */
#include "run.h"
#include "turn.h"

#include <errno.h>
#include <string.h>

enum { TURN_STEPS = 16 }; /* of one flow, before the next one's turn */

static int worker_pin(struct worker *w)
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
	if (!sched_setaffinity(0, sizeof(set), &set))
		return 0;
	if (errno == EINVAL)
		return flow_wrong(w->flows[0],
				  "--cpu %d: offline, or not one of those this process may use",
				  cpu);
	return flow_fail(w->flows[0], errno, "--cpu %d", cpu);
}

static int worker_open_flow(struct flow *f)
{
	int rc = flow_open(f);

	return rc || !f->back ? rc : rr_open(f);
}

int worker_open(struct worker *w)
{
	unsigned int i;

	if (worker_pin(w))
		return -w->flows[0]->error;
	for (i = 0; i < w->n; i++)
		if (worker_open_flow(w->flows[i]))
			return -w->flows[i]->error;
	return 0;
}

void worker_close(struct worker *w)
{
	unsigned int i;

	for (i = 0; i < w->n; i++) {
		if (w->flows[i]->back)
			rr_close(w->flows[i]);
		flow_close(w->flows[i]);
	}
}

void worker_span_begins(struct worker *w, int who)
{
	unsigned int i;

	stop_count(w);
	memset(w->calls, 0, sizeof(w->calls));
	for (i = 0; i < w->n; i++) {
		struct flow *f = w->flows[i];

		memset(f->calls, 0, sizeof(f->calls));
		if (f->back)
			memset(f->back->calls, 0, sizeof(f->calls));
	}
	getrusage(who, &w->usage[0]);
}

void worker_span_ends(struct worker *w, int who)
{
	stop_count(w); /* a signal that comes during the call returns after it */
	getrusage(who, &w->usage[1]);
}

/* Flow's turn: true while it is not done. */
static bool worker_take_turn(struct flow *f)
{
	unsigned int k;
	int rc = STEP_ON;

	for (k = 0; rc == STEP_ON && (f->alone || k < TURN_STEPS); k++)
		rc = f->back ? rr_next(f) : flow_next(f);
	f->blocked = rc == STEP_WAIT;
	return rc > 0;
}

/* The flows that are not done come first in w->flows. */
static void worker_run_flows(struct worker *w)
{
	const unsigned int all = w->n;

	while (w->n) {
		bool all_blocked = true;
		unsigned int i;

		for (i = 0; i < w->n;) {
			struct flow *f = w->flows[i];

			if (!f->blocked && !worker_take_turn(f)) {
				flow_data_ends(f);
				w->flows[i] = w->flows[--w->n];
				w->flows[w->n] = f;
				continue;
			}
			all_blocked &= f->blocked;
			i++;
		}
		if (w->n)
			wait_for_any(w, all_blocked);
	}
	w->n = all;
}

static void worker_attach_flow(struct flow *f)
{
	struct flow *b = f->back;

	if (b && b->mode->attach && b->mode->attach(b))
		flow_copy_error(f, b);
	if (!f->error && f->mode->attach)
		f->mode->attach(f);
	if (f->error || f->tx)
		return;
	/* A receiver's data starts when its first byte is there. */
	half_wait_readable(f);
	f->blocked = true;
}

void worker_work(struct worker *w)
{
	const struct options *o = w->run->opt;
	unsigned int i;

	for (i = 0; i < w->n; i++)
		worker_attach_flow(w->flows[i]);
	if (!o->listen && o->seconds > 0 && w == w->run->boss)
		stop_after(w, o->seconds);
	worker_run_flows(w);
}
