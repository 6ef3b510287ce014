// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/fold.h"

#include "analyze/perfdata/format.h"
#include "analyze/perfdata/sample.h"
#include "lib/alloc.h"

#include <stdlib.h>
#include <string.h>

enum { SCRATCH = (1 << 16) + sizeof(struct stack_head) }; /* a record's size has 16 bits */

void fold_init(struct fold *f, const struct recording *r, const struct perfdata_options *o)
{
	*f = (struct fold){.r = r, .o = o, .first_ns = UINT64_MAX};
	f->events = xcalloc(r->events.n + 1, sizeof(*f->events));
	f->scratch = xmalloc(SCRATCH);
	f->nslots = 1 << 12;
	f->slots = xcalloc(f->nslots, sizeof(*f->slots));
}

void fold_free(struct fold *f)
{
	intern_free(&f->stacks);
	map_free(&f->last_values);
	free(f->costs);
	free(f->slots);
	free(f->events);
	free(f->scratch);
}

static uint64_t cost_hash(const struct fold_cost *c)
{
	return hash_mix((uint64_t)c->stack << 32 ^ (uint64_t)c->comm << 16 ^ c->cpu) ^
	       hash_mix((uint64_t)c->tid << 32 ^ (uint64_t)c->event << 24 ^ c->pid);
}

static bool same_cost(const struct fold_cost *a, const struct fold_cost *b)
{
	return a->stack == b->stack && a->tid == b->tid && a->cpu == b->cpu && a->comm == b->comm &&
	       a->pid == b->pid && a->event == b->event;
}

static uint32_t *find_slot(const struct fold *f, const struct fold_cost *key)
{
	size_t i = cost_hash(key) & (f->nslots - 1);

	while (f->slots[i] && !same_cost(&f->costs[f->slots[i] - 1], key))
		i = (i + 1) & (f->nslots - 1);
	return &f->slots[i];
}

static void grow_slots(struct fold *f)
{
	uint32_t i;

	free(f->slots);
	f->nslots *= 4;
	f->slots = xcalloc(f->nslots, sizeof(*f->slots));
	for (i = 0; i < f->ncosts; i++)
		*find_slot(f, &f->costs[i]) = i + 1;
}

/* Adds samples and weight to the row with the same key. */
static void add_cost(struct fold *f, const struct fold_cost *c)
{
	uint32_t *slot;

	if (f->ncosts * 2 >= f->nslots)
		grow_slots(f);
	slot = find_slot(f, c);
	if (!*slot) {
		array_grow(f->costs, f->ncosts, f->costs_cap);
		f->costs[f->ncosts] = *c;
		*slot = (uint32_t)++f->ncosts;
		return;
	}
	f->costs[*slot - 1].samples += c->samples;
	f->costs[*slot - 1].weight += c->weight;
}

/* Copies the chain behind the head; true when a part of it is in user space. */
static bool copy_chain(uint64_t *to, const struct sample *s, bool swap)
{
	bool user = false;
	uint64_t i;

	memcpy(to, s->chain, s->nr * 8);
	for (i = 0; i < s->nr; i++) {
		if (swap)
			to[i] = __builtin_bswap64(to[i]);
		user |= to[i] == (uint64_t)PERF_CONTEXT_USER;
	}
	return user || (s->nr && to[0] < (uint64_t)PERF_CONTEXT_MAX);
}

static uint32_t stack_of(struct fold *f, const struct sample *s, uint32_t mode, uint64_t order)
{
	struct stack_head *head = (struct stack_head *)f->scratch;
	const struct side_timelines *spaces = &f->r->side.spaces;
	uint32_t none = UINT32_MAX, kernel, own;
	bool user = mode == PERF_RECORD_MISC_USER;

	*head = (struct stack_head){.ip = s->ip, .pid = KERNEL_PID, .mode = mode};
	if (s->nr)
		user |= copy_chain((uint64_t *)(head + 1), s, f->r->swap);
	kernel = sideband_at(spaces, KERNEL_PID, s->time, order, none);
	head->version = kernel;
	if (user) {
		head->pid = s->pid;
		own = sideband_at(spaces, s->pid, s->time, order, none);
		if (kernel == none || (own != none && own > kernel))
			head->version = own;
	}
	return intern_bytes(&f->stacks, head, sizeof(*head) + s->nr * 8);
}

static uint32_t comm_of(const struct fold *f, const struct sample *s, uint64_t order)
{
	return sideband_at(&f->r->side.comms, s->tid, s->time, order, UINT32_MAX);
}

static void count(struct fold *f, struct fold_cost *c, uint64_t weight)
{
	struct fold_event *e = &f->events[c->event];

	c->samples = 1;
	c->weight = weight;
	e->samples++;
	e->weight += weight;
	e->weight2 += (double)weight * (double)weight;
	add_cost(f, c);
}

/*
 * The sample carries counter values of its group: each event's weight is what its counter gained
 * since the values were last seen.
 */
static void count_values(struct fold *f, const struct sample *s, struct fold_cost *c)
{
	const struct event *e = &f->r->events.list[c->event];
	struct sample_value v;
	uint64_t *index, *last, weight;
	unsigned int i;

	for (i = 0; sample_read_value(s, e, i, &v); i++) {
		index = map_get(&f->r->events.ids, v.id);
		if (!index || *index > f->r->events.n) {
			f->unknown_ids++;
			continue;
		}
		last = map_at(&f->last_values, v.id);
		weight = v.value - *last;
		*last = v.value;
		c->event = (uint32_t)*index - 1;
		if (weight)
			count(f, c, weight);
	}
}

static bool left_out(struct fold *f, const struct event *e, const struct sample *s)
{
	const struct perfdata_options *o = f->o;

	if (o->cpus && s->cpu != UINT32_MAX && !cpuset_has(o->cpus, s->cpu))
		return true;
	if (!(e->sample_type & PERF_SAMPLE_TIME))
		return false;
	if ((o->from_ns || o->to_ns) && (s->time < o->from_ns || s->time >= o->to_ns)) {
		f->outside++;
		return true;
	}
	if (s->time < f->first_ns)
		f->first_ns = s->time;
	if (s->time > f->last_ns)
		f->last_ns = s->time;
	return false;
}

static void bad_sample(struct fold *f, uint64_t order)
{
	if (!f->bad_samples++ || order < f->bad_order)
		f->bad_order = order;
}

static void fold_sample(struct fold *f, struct chunk_sample *at)
{
	long event = sample_event(&f->r->events, at->body);
	const struct event *e;
	struct fold_cost c;
	struct sample s;

	if (event < 0) {
		f->unknown_ids++;
		return;
	}
	e = &f->r->events.list[event];
	if (!sample_decode(&s, e, &at->body)) {
		bad_sample(f, at->order);
		return;
	}
	if (left_out(f, e, &s))
		return;
	if (!f->r->timed)
		s.time = 0;
	c = (struct fold_cost){.event = (uint32_t)event, .cpu = s.cpu, .pid = s.pid, .tid = s.tid};
	c.stack = stack_of(f, &s, at->misc & PERF_RECORD_MISC_CPUMODE_MASK, at->order);
	c.comm = comm_of(f, &s, at->order);
	if (e->sample_type & PERF_SAMPLE_READ)
		count_values(f, &s, &c);
	else
		count(f, &c, s.period);
}

void fold_chunk(struct fold *f, const struct chunk *chunk)
{
	struct cursor c = cursor_of(chunk->data, chunk->len, f->r->swap);
	struct chunk_sample s;

	while (chunk_next(chunk, &c, &s))
		fold_sample(f, &s);
}

static void merge_costs(struct fold *to, const struct fold *from)
{
	uint32_t *stacks = xcalloc(from->stacks.n + 1, sizeof(*stacks));
	struct fold_cost c;
	size_t i;

	for (i = 0; i < from->stacks.n; i++)
		stacks[i] = intern_bytes(&to->stacks, intern_get(&from->stacks, (uint32_t)i),
					 intern_len(&from->stacks, (uint32_t)i));
	for (i = 0; i < from->ncosts; i++) {
		c = from->costs[i];
		c.stack = stacks[c.stack];
		add_cost(to, &c);
	}
	free(stacks);
}

void fold_merge(struct fold *to, struct fold *from)
{
	size_t i;

	merge_costs(to, from);
	for (i = 0; i < to->r->events.n; i++) {
		to->events[i].samples += from->events[i].samples;
		to->events[i].weight += from->events[i].weight;
		to->events[i].weight2 += from->events[i].weight2;
	}
	if (from->first_ns < to->first_ns)
		to->first_ns = from->first_ns;
	if (from->last_ns > to->last_ns)
		to->last_ns = from->last_ns;
	if (from->bad_samples)
		bad_sample(to, from->bad_order);
	to->bad_samples += from->bad_samples ? from->bad_samples - 1 : 0;
	to->unknown_ids += from->unknown_ids;
	to->outside += from->outside;
	fold_free(from);
}
