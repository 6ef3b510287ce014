// SPDX-License-Identifier: GPL-2.0-only
/*
 * The costs of all folds become the profile's rows: put together by frame first, by counting, then
 * each frame's few are sorted and added up. So the rows stand in one order whatever thread found
 * them, and no table has to find them.
 */
#include "analyze/perfdata/rows.h"

#include "lib/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_event(struct profile_event *to, const struct event *from,
		      const struct fold_event *e, const struct periods *periods)
{
	to->samples += e->samples;
	to->weight += e->weight;
	to->weight2 += e->weight2;
	if (from->freq && !(from->sample_type & PERF_SAMPLE_READ))
		periods_flag(periods, to);
}

/* The profile's number of each event; perf's own, for the side-band, is left out when empty. */
static uint32_t *add_events(struct recording *r, const struct folds *f)
{
	uint32_t *ids = xcalloc(r->events.n + 1, sizeof(*ids));
	size_t i, k;

	for (i = 0; i < r->events.n; i++) {
		const struct event *e = &r->events.list[i];
		struct fold_event sum = {0};
		struct periods periods = {0};
		bool software = e->type == PERF_TYPE_SOFTWARE;

		for (k = 0; k < f->n; k++) {
			sum.samples += f->list[k].events[i].samples;
			sum.weight += f->list[k].events[i].weight;
			sum.weight2 += f->list[k].events[i].weight2;
			if (f->list[k].events[i].periods)
				periods_join(&periods, f->list[k].events[i].periods);
		}
		if (software && e->config == PERF_COUNT_SW_DUMMY && !sum.samples)
			continue;
		ids[i] = profile_event(r->profile, e->name,
				       software && (e->config == PERF_COUNT_SW_CPU_CLOCK ||
						    e->config == PERF_COUNT_SW_TASK_CLOCK));
		add_event(&r->profile->events[ids[i]], e, &sum, &periods);
	}
	return ids;
}

/* A thread that nothing named is shown by its number, as perf does. */
static uint32_t comm_string(struct profile *p, const struct fold_cost *c)
{
	char text[16];

	if (c->comm != UINT32_MAX)
		return c->comm;
	snprintf(text, sizeof(text), ":%d", (int)c->tid);
	return intern_str(&p->strings, text);
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_key(const void *a, const void *b)
{
	const struct profile_cost *l = a, *r = b;
	int c = compare(l->event, r->event);

	c = c ? c : compare(l->cpu, r->cpu);
	c = c ? c : compare(l->pid, r->pid);
	c = c ? c : compare(l->tid, r->tid);
	c = c ? c : compare(l->comm, r->comm);
	return c ? c : compare(l->context, r->context);
}

/* Sorts the rows of one frame and adds up equal ones at `to`; gives where the next belong. */
static struct profile_cost *settle(struct profile_cost *rows, size_t n, struct profile_cost *to)
{
	size_t i;

	if (n > 1)
		qsort(rows, n, sizeof(*rows), by_key);
	for (i = 0; i < n; i++) {
		if (i && !by_key(&to[-1], &rows[i])) {
			to[-1].samples += rows[i].samples;
			to[-1].weight += rows[i].weight;
		} else {
			*to++ = rows[i];
		}
	}
	return to;
}

struct placing {
	struct recording *r;
	const struct resolved *out; /* of the fold at hand's stacks */
	uint32_t *events;
	uint32_t *places; /* by frame: where its next row goes */
	struct profile_cost *rows;
};

static void place_costs(struct placing *w, const struct fold *f)
{
	struct profile *p = w->r->profile;
	size_t i;

	for (i = 0; i < f->costs.n; i++) {
		const struct fold_cost *c = &f->costs.list[i];
		const struct resolved *at = &w->out[c->stack];

		w->rows[w->places[at->frame]++] =
			(struct profile_cost){.event = w->events[c->event],
					      .cpu = c->cpu,
					      .comm = comm_string(p, c),
					      .pid = c->pid,
					      .tid = c->tid,
					      .context = at->context,
					      .frame = at->frame,
					      .samples = c->samples,
					      .weight = c->weight};
		if (at->bad_chain)
			p->health.bad_chains += c->samples;
	}
}

/* How many rows each frame has; then, where each frame's rows end. */
static uint32_t *count_rows(const struct profile *p, const struct folds *f,
			    const struct resolved *out)
{
	uint32_t *counts = xcalloc(p->nframes + 1, sizeof(*counts)), at = 0, n;
	size_t i, k;

	for (i = 0; i < f->n; out += f->list[i++].nstacks)
		for (k = 0; k < f->list[i].costs.n; k++)
			counts[out[f->list[i].costs.list[k].stack].frame]++;
	for (i = 0; i <= p->nframes; i++) {
		n = counts[i];
		counts[i] = at;
		at += n;
	}
	return counts;
}

void rows_add(struct recording *r, struct folds *f, const struct resolved *out)
{
	struct profile *p = r->profile;
	struct placing w = {.r = r, .out = out, .events = add_events(r, f)};
	struct profile_cost *to;
	size_t i, n = 0, from = 0;

	w.places = count_rows(p, f, out);
	n = w.places[p->nframes];
	to = w.rows = xcalloc(n, sizeof(*w.rows));
	for (i = 0; i < f->n; i++) {
		place_costs(&w, &f->list[i]);
		w.out += f->list[i].nstacks;
	}
	for (i = 0; i < p->nframes; i++) {
		to = settle(w.rows + from, w.places[i] - from, to);
		from = w.places[i];
	}
	n = (size_t)(to - w.rows);
	profile_take_costs(p, xrealloc(w.rows, n * sizeof(*w.rows)), n);
	free(w.places);
	free(w.events);
}
