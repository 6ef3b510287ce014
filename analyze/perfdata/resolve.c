// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stacks are taken in the order of the address space version they need, while the maps are
 * replayed once. An address becomes a symbol as in perf report: a return address is looked up as
 * it is, and an address nothing explains is a frame of its own.
 */
#include "analyze/perfdata/resolve.h"

#include "analyze/perfdata/context.h"
#include "analyze/perfdata/format.h"
#include "analyze/perfdata/objects.h"
#include "analyze/perfdata/space.h"
#include "lib/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_KNOWN_YET = 0xff };

struct resolved {
	uint32_t frame;
	uint8_t context;
	bool bad_chain;
};

/* An entry of a stack: what it was recorded as, and what came out of it. */
struct entry {
	uint64_t addr;
	uint32_t mode, symbol, frame;
};

struct entries {
	struct entry *list; /* leaf first */
	size_t n;
	uint32_t pid, version; /* whose address space */
};

struct resolver {
	struct recording *r;
	struct profile *p;
	struct spaces spaces;
	struct objects objects;
	uint8_t *contexts; /* by profile symbol */
	size_t ncontexts;
	struct entries now, last; /* the stack at hand, and the one before it */
};

static uint32_t symbol_at(struct resolver *v, uint32_t mode, uint32_t pid, uint64_t addr)
{
	switch (mode) {
	case PERF_RECORD_MISC_KERNEL:
		return objects_kernel(&v->objects, addr, spaces_ksymbol(&v->spaces, addr),
				      spaces_find(&v->spaces, KERNEL_PID, addr));
	case PERF_RECORD_MISC_USER:
		return objects_user(&v->objects, pid, addr, spaces_find(&v->spaces, pid, addr));
	default:
		return objects_other(&v->objects, mode, addr);
	}
}

static void push(struct entries *e, uint32_t mode, uint64_t addr)
{
	e->list[e->n++] = (struct entry){.addr = addr, .mode = mode};
}

/* The mode that a context marker in a chain switches to; UINT32_MAX: perf does not know it. */
static uint32_t mode_of_marker(uint64_t marker)
{
	switch (marker) {
	case (uint64_t)PERF_CONTEXT_HV:
		return PERF_RECORD_MISC_HYPERVISOR;
	case (uint64_t)PERF_CONTEXT_KERNEL:
		return PERF_RECORD_MISC_KERNEL;
	case (uint64_t)PERF_CONTEXT_USER:
		return PERF_RECORD_MISC_USER;
	}
	return UINT32_MAX;
}

/* Leaf first. False: the chain was damaged, and only the leaf is kept. */
static bool push_chain(struct entries *e, const struct stack *stack)
{
	const struct stack_head *head = &stack->head;
	const uint64_t *chain = stack->chain;
	uint32_t mode = PERF_RECORD_MISC_USER;
	bool first = true;
	size_t i;

	push(e, head->mode, head->ip);
	for (i = 0; i < head->nr; i++) {
		if (chain[i] >= (uint64_t)PERF_CONTEXT_MAX) {
			mode = mode_of_marker(chain[i]);
			if (mode == UINT32_MAX) {
				e->n = 1;
				return false;
			}
		} else {
			if (!first || chain[i] != head->ip)
				push(e, mode, chain[i]);
			first = false;
		}
	}
	return true;
}

static enum context context_of_symbol(struct resolver *v, uint32_t symbol)
{
	size_t old = v->ncontexts;

	if (symbol >= old) {
		v->ncontexts = v->p->symbols_cap;
		v->contexts = xrealloc(v->contexts, v->ncontexts);
		memset(v->contexts + old, NOT_KNOWN_YET, v->ncontexts - old);
	}
	if (v->contexts[symbol] == NOT_KNOWN_YET)
		v->contexts[symbol] =
			(uint8_t)context_of_function(profile_symbol_name(v->p, symbol));
	return v->contexts[symbol];
}

/* The nearest function to the leaf that says where it runs decides. */
static enum context context_of_stack(struct resolver *v)
{
	const struct entries *e = &v->now;
	enum context c = CTX_UNKNOWN;
	size_t i;

	if (e->list[0].mode == PERF_RECORD_MISC_USER)
		return CTX_USER;
	for (i = 0; i < e->n && e->list[i].mode == PERF_RECORD_MISC_KERNEL; i++) {
		c = context_of_symbol(v, e->list[i].symbol);
		if (c != CTX_UNKNOWN)
			return c;
	}
	/* entered from user space, by no interrupt that we know */
	return i && i < e->n && e->list[i].mode == PERF_RECORD_MISC_USER ? CTX_SYSCALL
									 : CTX_UNKNOWN;
}

/* How many entries, from the root, are as in the stack before: their frames are known. */
static size_t common_root(const struct resolver *v)
{
	const struct entries *a = &v->now, *b = &v->last;
	size_t most = a->n < b->n ? a->n : b->n, i;

	if (a->pid != b->pid || a->version != b->version)
		return 0;
	for (i = 0; i < most; i++) {
		struct entry *to = &a->list[a->n - 1 - i];
		const struct entry *from = &b->list[b->n - 1 - i];

		if (to->addr != from->addr || to->mode != from->mode)
			break;
		*to = *from;
	}
	return i;
}

static void resolve_stack(struct resolver *v, const struct stack *stack, struct resolved *out)
{
	struct entries *e = &v->now, swap;
	uint32_t frame = PROFILE_NONE;
	size_t i;

	spaces_advance(&v->spaces, stack->head.version);
	e->n = 0;
	e->pid = stack->head.pid;
	e->version = stack->head.version;
	out->bad_chain = !push_chain(e, stack);
	i = e->n - common_root(v);
	if (i < e->n)
		frame = e->list[i].frame;
	while (i-- > 0) {
		struct entry *at = &e->list[i];

		at->symbol = symbol_at(v, at->mode, e->pid, at->addr);
		at->frame = frame = profile_frame(v->p, frame, at->symbol);
	}
	out->frame = frame;
	out->context = (uint8_t)context_of_stack(v);
	swap = v->now;
	v->now = v->last;
	v->last = swap;
}

/*
 * By address space, and there by what is next to the root: neighbours have much in common, and
 * equal stacks of several threads' folds are neighbours.
 */
struct order {
	uint32_t version, pid, root, leaf, index;
};

static int by_root(const void *a, const void *b)
{
	const struct order *l = a, *r = b;

	if (l->version != r->version)
		return l->version < r->version ? -1 : 1;
	if (l->pid != r->pid)
		return l->pid < r->pid ? -1 : 1;
	if (l->root != r->root)
		return l->root < r->root ? -1 : 1;
	if (l->leaf != r->leaf)
		return l->leaf < r->leaf ? -1 : 1;
	return l->index < r->index ? -1 : l->index > r->index;
}

static struct order order_of(const struct stack *s, uint32_t index)
{
	struct order o = {.version = s->head.version + 1, /* UINT32_MAX comes first */
			  .pid = s->head.pid,
			  .leaf = (uint32_t)s->head.ip,
			  .index = index};
	uint32_t i;

	for (i = 1; i <= 4 && i <= s->head.nr; i++)
		o.root = o.root * 31 + (uint32_t)s->chain[s->head.nr - i];
	return o;
}

/* The stacks of all folds, one behind the other; *n: how many. The caller frees. */
static struct stack **all_stacks(const struct folds *f, size_t *n)
{
	struct stack **all;
	size_t i;

	for (*n = i = 0; i < f->n; i++)
		*n += f->list[i].stacks.n;
	all = xcalloc(*n + 1, sizeof(*all));
	for (*n = i = 0; i < f->n; i++) {
		const struct stacks *s = &f->list[i].stacks;

		if (s->n)
			memcpy(all + *n, s->list, s->n * sizeof(*all));
		*n += s->n;
	}
	return all;
}

/* Gives where each stack went, in the order of all_stacks; then the folds' stacks are freed. */
static struct resolved *resolve_stacks(struct resolver *v, struct folds *f)
{
	size_t n, i;
	struct stack **stacks = all_stacks(f, &n);
	struct order *order = xcalloc(n + 1, sizeof(*order));
	struct resolved *out = xcalloc(n + 1, sizeof(*out));

	for (i = 0; i < n; i++)
		order[i] = order_of(stacks[i], (uint32_t)i);
	qsort(order, n, sizeof(*order), by_root);
	for (i = 0; i < n; i++)
		resolve_stack(v, stacks[order[i].index], &out[order[i].index]);
	free(order);
	free(stacks);
	for (i = 0; i < f->n; i++)
		fold_free_stacks(&f->list[i]);
	return out;
}

static void add_event(struct profile_event *to, const struct event *from,
		      const struct fold_event *e)
{
	to->samples += e->samples;
	to->weight += e->weight;
	to->weight2 += e->weight2;
	if (from->freq && !(from->sample_type & PERF_SAMPLE_READ))
		periods_flag(&e->periods, to);
}

/* The profile's number of each event; perf's own, for the side-band, is left out when empty. */
static uint32_t *add_events(struct recording *r, const struct folds *f)
{
	uint32_t *ids = xcalloc(r->events.n + 1, sizeof(*ids));
	size_t i, k;

	for (i = 0; i < r->events.n; i++) {
		const struct event *e = &r->events.list[i];
		struct fold_event sum = {0};
		bool software = e->type == PERF_TYPE_SOFTWARE;

		for (k = 0; k < f->n; k++) {
			sum.samples += f->list[k].events[i].samples;
			sum.weight += f->list[k].events[i].weight;
			sum.weight2 += f->list[k].events[i].weight2;
			periods_join(&sum.periods, &f->list[k].events[i].periods);
		}
		if (software && e->config == PERF_COUNT_SW_DUMMY && !sum.samples)
			continue;
		ids[i] = profile_event(r->profile, e->name,
				       software && (e->config == PERF_COUNT_SW_CPU_CLOCK ||
						    e->config == PERF_COUNT_SW_TASK_CLOCK));
		add_event(&r->profile->events[ids[i]], e, &sum);
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

static void add_costs(struct resolver *v, const struct fold *f, const struct resolved *out,
		      const uint32_t *events)
{
	size_t i;

	for (i = 0; i < f->ncosts; i++) {
		const struct fold_cost *c = &f->costs[i];
		const struct resolved *at = &out[c->stack];
		struct profile_cost cost = {.event = events[c->event],
					    .cpu = c->cpu,
					    .comm = comm_string(v->p, c),
					    .pid = c->pid,
					    .tid = c->tid,
					    .context = at->context,
					    .frame = at->frame,
					    .samples = c->samples,
					    .weight = c->weight};

		profile_add(v->p, &cost);
		if (at->bad_chain)
			v->p->health.bad_chains += c->samples;
	}
}

static void add_all_costs(struct resolver *v, struct folds *f, const struct resolved *out)
{
	uint32_t *events = add_events(v->r, f);
	size_t i, base = 0;

	for (i = 0; i < f->n; i++) {
		add_costs(v, &f->list[i], out + base, events);
		base += f->list[i].nstacks;
	}
	free(events);
}

void resolve(struct recording *r, struct folds *f, struct kernel_symbols *kernel,
	     const struct perfdata_options *o)
{
	struct resolver v = {.r = r, .p = r->profile, .spaces.side = &r->side};
	size_t most = (1 << 16) / 8 + 1; /* a record's size has 16 bits */
	struct resolved *out;

	v.now.list = xcalloc(most, sizeof(*v.now.list));
	v.last.list = xcalloc(most, sizeof(*v.last.list));
	objects_init(&v.objects, r, kernel, o);
	out = resolve_stacks(&v, f);
	objects_free(&v.objects);
	spaces_free(&v.spaces);
	add_all_costs(&v, f, out);
	free(v.now.list);
	free(v.last.list);
	free(v.contexts);
	free(out);
}
