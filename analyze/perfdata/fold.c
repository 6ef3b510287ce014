// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every sample goes through this loop. Its tables are larger than the caches, so it works in
 * batches: it decodes and hashes all samples of a batch first, and then fetches step by step what
 * each needs. The waits for memory overlap.
 */
#include "analyze/perfdata/fold.h"

#include "analyze/perfdata/unwind.h"
#include "lib/workers.h"

#include <stdatomic.h>

/* Stands for all user addresses in no mapping. */
#define NOWHERE ((uint64_t)PERF_CONTEXT_MAX - 1)

enum {
	CHAIN_MAX = 1 << 16, /* the size of a record has 16 bits */
	ODD_SAMPLES = 1024,
	THREADS_DEEP = 8, /* limits the chain of processes whose pid was a thread's tid */
};

/* A sample on its way into the tables. */
struct fold_pending {
	struct stack_head head;
	struct chain_head callers;
	const uint8_t *chain; /* the callers, once they are known; may be unaligned */
	uint64_t *own;	      /* the chain, if it is a copy in the fold's room; or NULL */
	uint64_t hash; /* the hash of the callers; in the second half of a look-up, of the stack */
	uint32_t chain_id;
	struct fold_cost cost;
	struct cursor read; /* PERF_SAMPLE_READ: the values */
};

static void fold_init(struct fold *f, const struct recording *r, const struct perfdata_options *o)
{
	*f = (struct fold){.r = r, .o = o, .first_ns = UINT64_MAX};
	stacks_init(&f->stacks);
	f->events = xcalloc(r->events.n + 1, sizeof(*f->events));
	f->batch = xcalloc(FOLD_BATCH, sizeof(*f->batch));
	f->hides = !o->addresses && !history_may_map(&r->history, NOWHERE);
	f->seen = xcalloc(1, sizeof(*f->seen));
	f->room = xmalloc((size_t)FOLD_BATCH * CHAIN_MAX);
	f->kernel.line = sideband_get_timeline(&r->side.spaces, KERNEL_PID);
	f->unwinder = unwinder_new(r->unwinding);
}

/* Frees what only folding needs, after the last chunk. */
static void fold_finish(struct fold *f)
{
	stacks_finish(&f->stacks);
	fold_costs_finish(&f->costs);
	free(f->batch);
	free(f->seen);
	free(f->room);
	free(f->reader.buf);
}

void fold_free_stacks(struct fold *f)
{
	f->nstacks = f->stacks.n;
	stacks_free(&f->stacks);
}

static void fold_free(struct fold *f)
{
	stacks_free(&f->stacks);
	map_free(&f->last_values);
	fold_costs_free(&f->costs);
	free(f->events);
}

/* --- counting --- */

static void fold_add_cost(struct fold *f, const struct fold_cost *c)
{
	struct fold_cost *row = fold_costs_row(&f->costs, &f->stacks.list[c->stack], c);

	row->samples += c->samples;
	row->weight += c->weight;
}

static void fold_count_event(struct fold *f, const struct fold_cost *c)
{
	struct fold_event *e = &f->events[c->event];

	e->samples++;
	e->weight += c->weight;
	e->weight2 += (double)c->weight * (double)c->weight;
}

/* Returns the event of a counter value, or -1 if the file does not describe it. */
static long fold_value_event(const struct fold *f, uint32_t own, const struct sample_value *v)
{
	const struct events *ev = &f->r->events;
	const struct event *e = &ev->list[own];
	uint64_t *index;

	if (ev->n == 1 || !(e->read_format & (PERF_FORMAT_ID | PERF_FORMAT_GROUP)))
		return own;
	index = map_get(&ev->ids, v->id);
	return index && *index <= ev->n ? (long)*index - 1 : -1;
}

/*
 * Returns the increase of a counter since its last value. An inherited counter has one value per
 * thread. A decrease restarts the counter and counts nothing.
 */
static uint64_t fold_counter_gain(struct fold *f, const struct event *e,
				  const struct sample_value *v, uint32_t tid)
{
	uint64_t key = e->inherit ? v->id ^ (uint64_t)tid << 32 : v->id;
	uint64_t *last = map_at(&f->last_values, key), before = *last;

	*last = v->value;
	if (v->value >= before)
		return v->value - before;
	f->backwards++;
	return 0;
}

/*
 * Adds a sample with counter values, its own or its group's. Each event's weight is its counter's
 * increase. With `count` false, only the counters advance.
 */
static void fold_add_values(struct fold *f, struct fold_pending *p, bool count)
{
	uint32_t own = p->cost.event;
	const struct event *e = &f->r->events.list[own];
	struct sample s = {.read = p->read};
	struct sample_value v;
	long event;

	for (unsigned int i = 0; sample_read_value(&s, e, i, &v); i++) {
		event = fold_value_event(f, own, &v);
		if (event < 0) {
			f->unknown_ids += count;
			continue;
		}
		p->cost.weight = fold_counter_gain(f, e, &v, p->cost.tid);
		p->cost.event = (uint32_t)event;
		if (!p->cost.weight || !count)
			continue;
		fold_count_event(f, &p->cost);
		fold_add_cost(f, &p->cost);
	}
}

/* --- chains --- */

/* Copies n addresses of the chain, once, to where they may be changed until the batch is counted.
 */
static uint64_t *fold_own_chain(struct fold *f, struct fold_pending *p, uint32_t n)
{
	if (!p->own) {
		p->own = f->room + f->room_used;
		if (n) /* a sample without a chain has none to copy */
			memcpy(p->own, p->chain, n * sizeof(*p->own));
		p->chain = (uint8_t *)p->own;
		f->room_used += n;
	}
	return (uint64_t *)p->chain;
}

static void fold_swap_chain(struct fold *f, struct fold_pending *p)
{
	uint64_t *own = fold_own_chain(f, p, p->head.nr);

	for (uint32_t i = 0; i < p->head.nr; i++)
		own[i] = __builtin_bswap64(own[i]);
}

static uint64_t chain_address(const uint8_t *chain, uint32_t i)
{
	uint64_t addr;

	memcpy(&addr, chain + 8 * (size_t)i, sizeof(addr));
	return addr;
}

/* Hashes the chain, two addresses at a time. Sets *user if a part of it is in user space. */
static uint64_t fold_hash_chain(const uint8_t *chain, uint32_t nr, bool *user)
{
	const uint64_t marker = (uint64_t)PERF_CONTEXT_USER;
	uint64_t h = nr, a, b, markers = 0;
	uint32_t i;

	for (i = 0; i + 1 < nr; i += 2) {
		a = chain_address(chain, i);
		b = chain_address(chain, i + 1);
		markers += (a == marker) + (b == marker);
		h = stacks_mix(h ^ a ^ 0x9e3779b97f4a7c15ULL, b ^ 0xd6e8feb86659fd93ULL);
	}
	if (i < nr) {
		a = chain_address(chain, i);
		markers += a == marker;
		h = stacks_mix(h ^ a, 0x9e3779b97f4a7c15ULL);
	}
	*user |= markers > 0;
	return h;
}

/* Without a marker in front of it, an address is in user space. */
static bool callers_begin_in_user(const struct fold_pending *p)
{
	if (p->callers.leaf != LEAF_NONE)
		return p->callers.leaf == LEAF_BARE ||
		       p->callers.leaf == (uint64_t)PERF_CONTEXT_USER;
	return p->callers.nr && chain_address(p->chain, 0) < (uint64_t)PERF_CONTEXT_MAX;
}

/* Returns the place of the first user address in the chain, or its end. */
static uint32_t chain_user_part(const uint8_t *chain, uint32_t nr)
{
	uint32_t i = 0;

	if (nr && chain_address(chain, 0) < (uint64_t)PERF_CONTEXT_MAX)
		return 0;
	while (i < nr && chain_address(chain, i) != (uint64_t)PERF_CONTEXT_USER)
		i++;
	return i < nr ? i + 1 : nr;
}

/*
 * With --call-graph lbr the processor recorded the calls in user space. They replace the callers
 * that the kernel found by frame pointers, but not the interrupted address. The room holds any
 * chain and branches of one record.
 */
static void fold_take_branches(struct fold *f, struct fold_pending *p, const struct event *e,
			       struct cursor rest)
{
	struct sample_rest r;
	uint64_t *own, from;
	uint32_t n;

	if (!(e->sample_type & PERF_SAMPLE_BRANCH_STACK) ||
	    !(e->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK))
		return;
	n = chain_user_part(p->chain, p->head.nr) + 1;
	if (n > p->head.nr || !sample_decode_rest(&r, e, &rest) || !r.nbranches)
		return;
	own = fold_own_chain(f, p, p->head.nr);
	for (uint64_t i = 0; i < r.nbranches; i++) {
		from = chain_address(r.branches, (uint32_t)(3 * i));
		own[n++] = rest.swap ? __builtin_bswap64(from) : from;
	}
	p->head.nr = n;
	f->room_used = (size_t)(own + n - f->room);
}

/* --- addresses in no mapping --- */

/*
 * All user addresses in no mapping become NOWHERE before stacks are counted. They are data, and
 * each value would make another stack. Most are so odd that no process has a mapping near them.
 * Samples are searched for these at once, as long as the last samples had some.
 */
static void fold_hide_odd_callers(struct fold *f, struct fold_pending *p)
{
	const struct history *h = &f->r->history;
	uint64_t addr;

	f->odd--;
	for (uint32_t i = 1 + chain_user_part(p->chain, p->head.nr); i < p->head.nr; i++) {
		addr = chain_address(p->chain, i);
		if (addr >= (uint64_t)PERF_CONTEXT_MAX)
			break;
		if (history_may_map(h, addr))
			continue;
		fold_own_chain(f, p, p->head.nr)[i] = NOWHERE;
		f->odd = ODD_SAMPLES;
	}
}

static bool fold_is_unmapped(struct fold *f, const struct fold_pending *p, uint64_t addr)
{
	return !history_find_again(&f->r->history, f->seen, p->callers.pid, addr,
				   p->callers.version);
}

/*
 * Hides the rest in a chain that is new. Returns false if there is none. A first address that is
 * not the leaf stays, because the leaf would then equal it (resolve.c).
 */
static bool fold_hide_unmapped(struct fold *f, struct fold_pending *p)
{
	const uint64_t leaf = p->callers.leaf;
	bool user = leaf <= LEAF_BARE || leaf == (uint64_t)PERF_CONTEXT_USER;
	bool first = leaf == LEAF_NONE, found = false;
	uint64_t *own = fold_own_chain(f, p, p->callers.nr);

	for (uint32_t i = 0; i < p->callers.nr; i++) {
		if (own[i] >= (uint64_t)PERF_CONTEXT_MAX) {
			user = own[i] == (uint64_t)PERF_CONTEXT_USER;
			continue;
		}
		if (user && !first && own[i] != NOWHERE && fold_is_unmapped(f, p, own[i])) {
			own[i] = NOWHERE;
			found = true;
		}
		first = false;
	}
	if (found)
		f->odd = ODD_SAMPLES;
	return found;
}

/* Returns the number of the chain. Only a new one is searched for addresses in no mapping. */
static uint32_t fold_chain_id(struct fold *f, struct fold_pending *p)
{
	uint32_t id = stacks_find_chain(&f->stacks, p->hash, &p->callers, p->chain);

	if (id != STACKS_NONE)
		return id;
	if (f->hides && p->callers.pid != KERNEL_PID && fold_hide_unmapped(f, p))
		p->hash = stacks_hash_chain(&p->callers,
					    fold_hash_chain(p->chain, p->callers.nr, &(bool){0}));
	return stacks_chain(&f->stacks, p->hash, &p->callers, p->chain);
}

/* Returns the number of the stack. Only the leaf of a new one may be in no mapping. */
static uint32_t fold_stack_id(struct fold *f, struct fold_pending *p)
{
	struct stack_head *h = &p->head;
	uint32_t id = stacks_find(&f->stacks, p->hash, h->ip, h->mode, p->chain_id);

	if (id != STACKS_NONE)
		return id;
	if (f->hides && (h->mode & STACK_MODE) == PERF_RECORD_MISC_USER &&
	    (p->callers.leaf != LEAF_NONE || !p->callers.nr) && fold_is_unmapped(f, p, h->ip)) {
		h->ip = NOWHERE;
		p->hash = stacks_hash(h->ip, h->mode, p->chain_id);
	}
	return stacks_id(&f->stacks, p->hash, h->ip, h->mode, p->chain_id);
}

/* --- the batch --- */

static void fold_flush_batch(struct fold *f)
{
	struct fold_pending *b = f->batch;
	size_t n = f->pending;

	for (size_t i = 0; i < n; i++)
		stacks_prefetch_chain(&f->stacks, b[i].hash);
	for (size_t i = 0; i < n; i++) {
		b[i].chain_id = fold_chain_id(f, &b[i]);
		b[i].hash = stacks_hash(b[i].head.ip, b[i].head.mode, b[i].chain_id);
		stacks_prefetch_slot(&f->stacks.slots, b[i].hash);
	}
	for (size_t i = 0; i < n; i++) {
		b[i].cost.stack = fold_stack_id(f, &b[i]);
		fold_costs_prefetch(&f->costs, &f->stacks.list[b[i].cost.stack]);
	}
	for (size_t i = 0; i < n; i++) {
		if (b[i].read.at) {
			fold_add_values(f, &b[i], true);
			continue;
		}
		fold_count_event(f, &b[i].cost);
		fold_add_cost(f, &b[i].cost);
	}
	f->pending = 0;
	f->room_used = 0;
}

/* Returns the value of a timeline at (time, order). It mostly is that of the last sample. */
static uint32_t fold_value_at(struct fold_cached *c, uint64_t time, uint64_t order)
{
	uint32_t n;

	if (time > c->after && time < c->before)
		return c->value;
	n = timeline_count(c->line, time, order);
	c->after = n ? c->line->changes[n - 1].time : 0;
	c->before = c->line && n < c->line->n ? c->line->changes[n].time : UINT64_MAX;
	return c->value = n ? c->line->changes[n - 1].value : UINT32_MAX;
}

static struct fold_cached *fold_find_timeline(struct fold_cached *cache,
					      const struct side_timelines *t, uint32_t key)
{
	struct fold_cached *c = &cache[key % FOLD_CACHE];

	if (c->key != key + 1 || !c->key)
		*c = (struct fold_cached){.key = key + 1, .line = sideband_get_timeline(t, key)};
	return c;
}

/*
 * Returns the space in which to look up a process's addresses. That is the process's own space. If
 * only the start of a thread with this number is known, it is the space of the thread's process at
 * that time, and so on.
 */
static struct side_space fold_find_space(struct fold *f, uint32_t pid, uint64_t time,
					 uint64_t order)
{
	const struct sideband *side = &f->r->side;
	struct side_space at = {.pid = pid};
	const struct side_row *row;

	for (int deep = 0; deep < THREADS_DEEP; deep++) {
		at.version = fold_value_at(fold_find_timeline(f->spaces, &side->spaces, at.pid),
					   time, order);
		if (at.version == UINT32_MAX || !(at.version & SIDE_THREAD))
			return at;
		row = &side->list[at.version & ~SIDE_THREAD];
		at.pid = row->pid;
		time = row->time;
		order = row->order;
	}
	return (struct side_space){pid, UINT32_MAX};
}

/* Returns the later of the kernel's and the process's last change, which includes both. */
static struct side_space fold_find_version(struct fold *f, const struct sample *s, bool user,
					   uint64_t order)
{
	uint32_t none = UINT32_MAX;
	uint32_t kernel = fold_value_at(&f->kernel, s->time, order);
	struct side_space own;

	if (!user)
		return (struct side_space){KERNEL_PID, kernel};
	own = fold_find_space(f, s->pid, s->time, order);
	if (own.version == none || (kernel != none && kernel > own.version))
		own.version = kernel;
	return own;
}

static void fold_queue_sample(struct fold *f, const struct sample *s, uint32_t event,
			      const struct chunk_sample *at)
{
	const uint32_t mode = at->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	struct fold_pending *p = &f->batch[f->pending];
	const struct event *e = &f->r->events.list[event];
	struct side_space space;
	uint64_t hash;
	bool user;

	p->chain = s->chain;
	p->own = NULL;
	p->head = (struct stack_head){.ip = s->ip, .mode = mode, .nr = (uint32_t)s->nr};
	if (f->r->swap)
		fold_swap_chain(f, p);
	fold_take_branches(f, p, e, at->body);
	if (f->odd)
		fold_hide_odd_callers(f, p);
	p->cost = (struct fold_cost){.event = event,
				     .cpu = s->cpu,
				     .pid = s->pid,
				     .tid = s->tid,
				     .samples = 1,
				     .weight = s->period};
	if (f->due) { /* the place depends on whether there are user addresses */
		user = mode == PERF_RECORD_MISC_USER;
		fold_hash_chain(p->chain, p->head.nr, &user);
		p->head.pid = user ? s->pid : KERNEL_PID;
		exact_place_sample(&p->cost, &p->head, f->o->exact, f->due);
	}
	if (f->r->times > 0)
		p->cost.weight = (uint64_t)((double)p->cost.weight * f->r->times + 0.5);
	p->callers = stacks_split(&p->head, &p->chain);
	user = (p->head.mode & STACK_MODE) == PERF_RECORD_MISC_USER || callers_begin_in_user(p);
	hash = fold_hash_chain(p->chain, p->callers.nr, &user);
	space = fold_find_version(f, s, user, at->order);
	p->callers.pid = space.pid;
	p->callers.version = space.version;
	p->hash = stacks_hash_chain(&p->callers, hash);
	stacks_prefetch_slot(&f->stacks.chain_slots, p->hash);
	p->cost.comm = fold_value_at(fold_find_timeline(f->comms, &f->r->side.comms, p->cost.tid),
				     s->time, at->order);
	p->read = e->sample_type & PERF_SAMPLE_READ ? s->read : (struct cursor){0};
	if (++f->pending == FOLD_BATCH)
		fold_flush_batch(f);
}

static bool fold_leaves_out(struct fold *f, const struct event *e, const struct sample *s)
{
	const struct perfdata_options *o = f->o;

	if (o->cpus && s->cpu != UINT32_MAX && !cpuset_has(o->cpus, s->cpu))
		return true;
	if (!(e->sample_type & PERF_SAMPLE_TIME))
		return false;
	f->due = exact_has_due(o->exact, e) ? exact_find(o->exact, s) : NULL;
	if ((exact_has_due(o->exact, e) && !f->due) ||
	    ((o->from_ns || o->to_ns) && (s->time < o->from_ns || s->time >= o->to_ns))) {
		f->outside++;
		return true;
	}
	if (s->time < f->first_ns)
		f->first_ns = s->time;
	if (s->time > f->last_ns)
		f->last_ns = s->time;
	return false;
}

/* Skips a sample. The samples before it must be counted first. */
static void fold_skip_values(struct fold *f, const struct event *e, uint32_t event,
			     const struct sample *s)
{
	struct fold_pending p = {.cost = {.event = event, .tid = s->tid}, .read = s->read};

	if (!(e->sample_type & PERF_SAMPLE_READ))
		return;
	fold_flush_batch(f);
	fold_add_values(f, &p, false);
}

static void fold_note_bad_sample(struct fold *f, uint64_t order)
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
		fold_note_bad_sample(f, at->order);
		return;
	}
	if (fold_leaves_out(f, e, &s)) {
		fold_skip_values(f, e, (uint32_t)event, &s);
		return;
	}
	if (!f->r->timed)
		s.time = 0;
	if (f->unwinder) /* appends the frames of the stack in the sample to its chain */
		unwinder_chain(f->unwinder, (unsigned int)f->pending, &s, e, at->body,
			       fold_find_space(f, s.pid, s.time, at->order));
	fold_queue_sample(f, &s, (uint32_t)event, at);
}

static void fold_chunk(struct fold *f, const struct chunk *chunk)
{
	struct chunk_sample s;

	if (!chunk_read(&f->reader, chunk, f->r->swap))
		fold_note_bad_sample(f, chunk->order); /* the file has shrunk since pass one */
	while (chunk_next(&f->reader, &s))
		fold_sample(f, &s);
	fold_flush_batch(f);
}

/* --- threads --- */

enum { CHUNKS_PER_THREAD = 64 }; /* a thread that gets less work costs more than it saves */

struct fold_pass {
	struct folds *folds;
	const struct recording *r;
	atomic_size_t next; /* the first free chunk */
};

static void fold_worker(void *arg, size_t number)
{
	struct fold_pass *p = arg;
	size_t i;

	while ((i = atomic_fetch_add(&p->next, 1)) < p->r->nchunks)
		fold_chunk(&p->folds->list[number], &p->r->chunks[i]);
	fold_finish(&p->folds->list[number]);
}

/* Counter values are differences between samples. */
static bool fold_needs_order(const struct recording *r)
{
	for (size_t i = 0; i < r->events.n; i++)
		if (r->events.list[i].sample_type & PERF_SAMPLE_READ)
			return true;
	return false;
}

void folds_run(struct folds *f, const struct recording *r, const struct perfdata_options *o)
{
	struct fold_pass p = {.folds = f, .r = r};

	f->n = fold_needs_order(r) ? 1 : workers_count(o->threads, r->nchunks, CHUNKS_PER_THREAD);
	f->list = xcalloc(f->n, sizeof(*f->list));
	for (size_t i = 0; i < f->n; i++)
		fold_init(&f->list[i], r, o);
	workers_run(f->n, fold_worker, &p);
}

void folds_free(struct folds *f)
{
	array_free(e, f->list, f->n, fold_free(e));
}
