// SPDX-License-Identifier: GPL-2.0-only
/*
 * The loop that every sample goes through. Its tables are larger than the caches, so samples are
 * taken in batches: first all are decoded and hashed, then step by step what each needs is fetched
 * for all of them, so that the waits for memory overlap.
 */
#include "analyze/perfdata/fold.h"

#include "analyze/perfdata/sample.h"
#include "lib/alloc.h"

#include <stdlib.h>
#include <string.h>

enum { CHAIN_MAX = 1 << 16 }; /* a record's size has 16 bits */

/* A sample on its way into the tables. */
struct fold_pending {
	struct stack_head head;
	const void *chain;
	uint64_t hash;
	struct fold_cost cost;
	struct cursor read; /* PERF_SAMPLE_READ: where its values are */
};

void fold_init(struct fold *f, const struct recording *r, const struct perfdata_options *o)
{
	*f = (struct fold){.r = r, .o = o, .first_ns = UINT64_MAX, .nslots = 1 << 12};
	stacks_init(&f->stacks);
	f->events = xcalloc(r->events.n + 1, sizeof(*f->events));
	f->slots = xcalloc(f->nslots, sizeof(*f->slots));
	f->batch = xcalloc(FOLD_BATCH, sizeof(*f->batch));
	if (r->swap)
		f->swapped = xmalloc((size_t)FOLD_BATCH * CHAIN_MAX);
	f->kernel = sideband_timeline(&r->side.spaces, KERNEL_PID);
}

void fold_free(struct fold *f)
{
	stacks_free(&f->stacks);
	map_free(&f->last_values);
	free(f->costs);
	free(f->slots);
	free(f->events);
	free(f->batch);
	free(f->swapped);
}

/* --- costs: samples and weight per stack, event, CPU and thread --- */

static uint64_t cost_hash(const struct fold_cost *c)
{
	uint64_t w[3];

	memcpy(w, c, sizeof(w));
	return stacks_mix(stacks_mix(w[0], 0x9e3779b97f4a7c15ULL) ^ w[1],
			  w[2] ^ 0xd6e8feb86659fd93);
}

static bool same_cost(const struct fold_cost *a, const struct fold_cost *b)
{
	return !memcmp(a, b, offsetof(struct fold_cost, samples));
}

static uint32_t *find_slot(const struct fold *f, const struct fold_cost *key, uint64_t hash)
{
	size_t i = hash & (f->nslots - 1);

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
		*find_slot(f, &f->costs[i], cost_hash(&f->costs[i])) = i + 1;
}

static void prefetch_cost_slot(const struct fold *f, uint64_t hash)
{
	__builtin_prefetch(&f->slots[hash & (f->nslots - 1)]);
}

static void prefetch_cost(const struct fold *f, uint64_t hash)
{
	uint32_t id = f->slots[hash & (f->nslots - 1)];

	if (id)
		__builtin_prefetch(&f->costs[id - 1], 1);
}

static void add_cost(struct fold *f, const struct fold_cost *c, uint64_t hash)
{
	uint32_t *slot;

	if (f->ncosts * 2 >= f->nslots)
		grow_slots(f);
	slot = find_slot(f, c, hash);
	if (!*slot) {
		array_grow(f->costs, f->ncosts, f->costs_cap);
		f->costs[f->ncosts] = *c;
		*slot = (uint32_t)++f->ncosts;
		return;
	}
	f->costs[*slot - 1].samples += c->samples;
	f->costs[*slot - 1].weight += c->weight;
}

static void count_event(struct fold *f, const struct fold_cost *c)
{
	struct fold_event *e = &f->events[c->event];

	e->samples++;
	e->weight += c->weight;
	e->weight2 += (double)c->weight * (double)c->weight;
}

/*
 * The sample carries counter values of its group: each event's weight is what its counter gained
 * since the values were last seen.
 */
static void count_values(struct fold *f, struct fold_pending *p)
{
	const struct event *e = &f->r->events.list[p->cost.event];
	struct sample s = {.read = p->read};
	struct sample_value v;
	uint64_t *index, *last;
	unsigned int i;

	for (i = 0; sample_read_value(&s, e, i, &v); i++) {
		index = map_get(&f->r->events.ids, v.id);
		if (!index || *index > f->r->events.n) {
			f->unknown_ids++;
			continue;
		}
		last = map_at(&f->last_values, v.id);
		p->cost.weight = v.value - *last;
		*last = v.value;
		p->cost.event = (uint32_t)*index - 1;
		if (!p->cost.weight)
			continue;
		count_event(f, &p->cost);
		add_cost(f, &p->cost, cost_hash(&p->cost));
	}
}

/* --- the batch --- */

static void flush(struct fold *f)
{
	struct fold_pending *b = f->batch;
	size_t n = f->pending, i;

	for (i = 0; i < n; i++)
		stacks_prefetch_stack(&f->stacks, b[i].hash);
	for (i = 0; i < n; i++) {
		b[i].cost.stack = stacks_id(&f->stacks, b[i].hash, &b[i].head, b[i].chain);
		b[i].hash = cost_hash(&b[i].cost);
		prefetch_cost_slot(f, b[i].hash);
	}
	for (i = 0; i < n; i++)
		prefetch_cost(f, b[i].hash);
	for (i = 0; i < n; i++) {
		if (b[i].read.at) {
			count_values(f, &b[i]);
			continue;
		}
		count_event(f, &b[i].cost);
		add_cost(f, &b[i].cost, b[i].hash);
	}
	f->pending = 0;
}

static const void *swap_chain(struct fold *f, const struct sample *s)
{
	uint64_t *to = (uint64_t *)(f->swapped + f->pending * CHAIN_MAX), v, i;

	for (i = 0; i < s->nr; i++) {
		memcpy(&v, s->chain + 8 * i, sizeof(v));
		to[i] = __builtin_bswap64(v);
	}
	return to;
}

/* Hashes the chain; *user: a part of it is in user space. */
static uint64_t hash_chain(const void *chain, uint32_t nr, bool *user)
{
	const uint8_t *at = chain;
	uint64_t h = nr, w, first;
	uint32_t i;

	if (!nr)
		return 0;
	memcpy(&first, at, sizeof(first));
	*user |= first < (uint64_t)PERF_CONTEXT_MAX;
	for (i = 0; i < nr; i++, at += 8) {
		memcpy(&w, at, sizeof(w));
		*user |= w == (uint64_t)PERF_CONTEXT_USER;
		h = (h ^ w) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 29;
	}
	return h;
}

static const struct side_timeline *cached(struct fold_cached *cache, const struct side_timelines *t,
					  uint32_t key)
{
	struct fold_cached *c = &cache[key % FOLD_CACHE];

	if (c->key != key + 1 || !c->key) {
		c->key = key + 1;
		c->line = sideband_timeline(t, key);
	}
	return c->line;
}

/* The later of the kernel's and the process's last change: the state of both. */
static uint32_t version_of(struct fold *f, const struct sample *s, bool user, uint64_t order)
{
	uint32_t none = UINT32_MAX, own;
	uint32_t kernel = timeline_at(f->kernel, s->time, order, none);

	if (!user)
		return kernel;
	own = timeline_at(cached(f->spaces, &f->r->side.spaces, s->pid), s->time, order, none);
	return kernel == none || (own != none && own > kernel) ? own : kernel;
}

static void queue(struct fold *f, const struct sample *s, uint32_t event, uint32_t mode,
		  uint64_t order)
{
	struct fold_pending *p = &f->batch[f->pending];
	const struct event *e = &f->r->events.list[event];
	bool user = mode == PERF_RECORD_MISC_USER;
	uint64_t hash;

	p->chain = s->nr && f->swapped ? swap_chain(f, s) : s->chain;
	hash = hash_chain(p->chain, (uint32_t)s->nr, &user);
	p->head = (struct stack_head){.ip = s->ip,
				      .pid = user ? s->pid : KERNEL_PID,
				      .mode = mode,
				      .nr = (uint32_t)s->nr};
	p->head.version = version_of(f, s, user, order);
	p->hash = stacks_hash(&p->head, hash);
	stacks_prefetch_slot(&f->stacks, p->hash);
	p->cost = (struct fold_cost){.event = event,
				     .cpu = s->cpu,
				     .pid = s->pid,
				     .tid = s->tid,
				     .samples = 1,
				     .weight = s->period};
	p->cost.comm = timeline_at(cached(f->comms, &f->r->side.comms, s->tid), s->time, order,
				   UINT32_MAX);
	p->read = e->sample_type & PERF_SAMPLE_READ ? s->read : (struct cursor){0};
	if (++f->pending == FOLD_BATCH)
		flush(f);
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
	queue(f, &s, (uint32_t)event, at->misc & PERF_RECORD_MISC_CPUMODE_MASK, at->order);
}

void fold_chunk(struct fold *f, const struct chunk *chunk)
{
	struct cursor c = cursor_of(chunk->data, chunk->len, f->r->swap);
	struct chunk_sample s;

	while (chunk_next(chunk, &c, &s))
		fold_sample(f, &s);
	flush(f);
}

/* --- threads --- */

static void merge_costs(struct fold *to, const struct fold *from)
{
	uint32_t *ids = xcalloc(from->stacks.n + 1, sizeof(*ids));
	struct fold_cost c;
	bool user;
	size_t i;

	for (i = 0; i < from->stacks.n; i++) {
		const struct stack *s = from->stacks.list[i];

		ids[i] = stacks_id(&to->stacks,
				   stacks_hash(&s->head, hash_chain(s->chain, s->head.nr, &user)),
				   &s->head, s->chain);
	}
	for (i = 0; i < from->ncosts; i++) {
		c = from->costs[i];
		c.stack = ids[c.stack];
		add_cost(to, &c, cost_hash(&c));
	}
	free(ids);
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
