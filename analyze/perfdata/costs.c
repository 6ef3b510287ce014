// SPDX-License-Identifier: GPL-2.0-only
/* What each stack costs while samples are folded, and afterwards as rows of the profile. */
#include "analyze/perfdata/resolve.h"

#include <stdio.h>

static uint64_t fold_cost_hash(const struct fold_cost *c)
{
	uint64_t w[3];

	memcpy(w, c, sizeof(w));
	return stacks_mix(stacks_mix(w[0], 0x9e3779b97f4a7c15ULL) ^ w[1],
			  w[2] ^ 0xd6e8feb86659fd93);
}

static bool fold_cost_same_key(const struct fold_cost *a, const struct fold_cost *b)
{
	return !memcmp(a, b, offsetof(struct fold_cost, samples));
}

static uint32_t fold_costs_find_row(struct fold_costs *c, const struct fold_cost *key)
{
	uint64_t hash = fold_cost_hash(key), *slot = NULL;
	uint32_t row;

	slots_make_room(&c->slots, c->n);
	while (slots_next(&c->slots, hash, &slot, &row))
		if (fold_cost_same_key(&c->list[row], key))
			return row + 1;
	array_add(c->list, c->n, c->cap, *key);
	c->list[c->n - 1].samples = c->list[c->n - 1].weight = 0;
	*slot = hash << 32 | c->n;
	return (uint32_t)c->n;
}

/* The row that the stack used last is usually the right one: its thread is back on its CPU. */
struct fold_cost *fold_costs_row(struct fold_costs *c, struct stack *stack,
				 const struct fold_cost *key)
{
	if (!stack->last_cost || !fold_cost_same_key(&c->list[stack->last_cost - 1], key))
		stack->last_cost = fold_costs_find_row(c, key);
	return &c->list[stack->last_cost - 1];
}

void fold_costs_finish(struct fold_costs *c)
{
	free(c->slots.of);
	c->slots = (struct row_slots){0};
}

void fold_costs_free(struct fold_costs *c)
{
	free(c->list);
	free(c->slots.of);
	*c = (struct fold_costs){0};
}

/* --- rows of the profile --- */

/*
 * Returns the profile's number of each event. Omits perf's own side-band event if it has no
 * samples.
 */
static uint32_t *rows_add_events(struct recording *r, const struct folds *f)
{
	uint32_t *ids = xcalloc(r->events.n + 1, sizeof(*ids));

	for (size_t i = 0; i < r->events.n; i++) {
		const struct event *e = &r->events.list[i];
		bool software = e->type == PERF_TYPE_SOFTWARE;
		struct fold_event sum = {0};
		struct profile_event *to;

		for (size_t k = 0; k < f->n; k++) {
			sum.samples += f->list[k].events[i].samples;
			sum.weight += f->list[k].events[i].weight;
			sum.weight2 += f->list[k].events[i].weight2;
			sum.exact |= f->list[k].events[i].exact;
		}
		if (software && e->config == PERF_COUNT_SW_DUMMY && !sum.samples)
			continue;
		ids[i] = profile_event(r->profile, e->name,
				       software && (e->config == PERF_COUNT_SW_CPU_CLOCK ||
						    e->config == PERF_COUNT_SW_TASK_CLOCK));
		to = &r->profile->events[ids[i]];
		to->samples += sum.samples;
		to->weight += sum.weight;
		to->weight2 += sum.weight2;
		to->exact |= sum.exact;
	}
	return ids;
}

/* As in perf, a thread without a name is shown by its number. */
static uint32_t fold_cost_comm(struct profile *p, const struct fold_cost *c)
{
	char text[16];

	if (c->comm != UINT32_MAX)
		return c->comm;
	snprintf(text, sizeof(text), ":%d", (int)c->tid);
	return intern_str(&p->strings, text);
}

static int row_compare_key(const void *a, const void *b)
{
	const struct profile_cost *l = a, *r = b;

	return ascending(l->event, r->event)
		       ?: ascending(l->cpu, r->cpu)
		       ?: ascending(l->pid, r->pid)
		       ?: ascending(l->tid, r->tid)
		       ?: ascending(l->comm, r->comm) ?: ascending(l->context, r->context);
}

/* Sorts the rows of one frame and adds up equal ones at `to`. Returns the place of the next row. */
static struct profile_cost *rows_sum_frame(struct profile_cost *rows, size_t n,
					   struct profile_cost *to)
{
	if (n > 1)
		qsort(rows, n, sizeof(*rows), row_compare_key);
	for (size_t i = 0; i < n; i++) {
		if (i && !row_compare_key(&to[-1], &rows[i])) {
			to[-1].samples += rows[i].samples;
			to[-1].weight += rows[i].weight;
		} else {
			*to++ = rows[i];
		}
	}
	return to;
}

struct row_placing {
	struct recording *r;
	const struct resolved *out; /* the results of the current fold's stacks */
	uint32_t *events;
	uint32_t *places; /* by frame: the place of its next row */
	struct profile_cost *rows;
};

static void rows_place_costs(struct row_placing *w, const struct fold *f)
{
	struct profile *p = w->r->profile;

	for (size_t i = 0; i < f->costs.n; i++) {
		const struct fold_cost *c = &f->costs.list[i];
		const struct resolved *at = &w->out[c->stack];

		w->rows[w->places[at->frame]++] =
			(struct profile_cost){.event = w->events[c->event],
					      .cpu = c->cpu,
					      .comm = fold_cost_comm(p, c),
					      .pid = c->pid,
					      .tid = c->tid,
					      .context = exact_context(c->place, at->context),
					      .frame = at->frame,
					      .samples = c->samples,
					      .weight = c->weight};
		if (at->bad_chain)
			p->health.bad_chains += c->samples;
	}
}

/* Returns the place of each frame's first row. */
static uint32_t *rows_count(const struct profile *p, const struct folds *f,
			    const struct resolved *out)
{
	uint32_t *counts = xcalloc(p->nframes + 1, sizeof(*counts)), at = 0, n;

	for (size_t i = 0; i < f->n; out += f->list[i++].nstacks)
		for (size_t k = 0; k < f->list[i].costs.n; k++)
			counts[out[f->list[i].costs.list[k].stack].frame]++;
	for (size_t i = 0; i <= p->nframes; i++) {
		n = counts[i];
		counts[i] = at;
		at += n;
	}
	return counts;
}

/*
 * Turns the costs of all folds into rows of the profile. A counting sort groups them by frame, and
 * the few rows of each frame are sorted and added up. The order of the rows does not depend on the
 * threads, and no table is needed.
 */
void rows_add(struct recording *r, struct folds *f, const struct resolved *out)
{
	struct profile *p = r->profile;
	struct row_placing w = {.r = r, .out = out, .events = rows_add_events(r, f)};
	struct profile_cost *to;
	size_t n = 0, from = 0;

	w.places = rows_count(p, f, out);
	n = w.places[p->nframes];
	to = w.rows = xcalloc(n, sizeof(*w.rows));
	for (size_t i = 0; i < f->n; i++) {
		rows_place_costs(&w, &f->list[i]);
		w.out += f->list[i].nstacks;
	}
	for (size_t i = 0; i < p->nframes; i++) {
		to = rows_sum_frame(w.rows + from, w.places[i] - from, to);
		from = w.places[i];
	}
	n = (size_t)(to - w.rows);
	profile_take_costs(p, xrealloc(w.rows, n * sizeof(*w.rows)), n);
	free(w.places);
	free(w.events);
}
