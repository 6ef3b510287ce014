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

struct resolver {
	struct recording *r;
	struct profile *p;
	struct spaces spaces;
	struct objects objects;
	uint8_t *contexts; /* by profile symbol */
	size_t ncontexts;
	/* the stack at hand, leaf first */
	uint32_t *symbols;
	uint8_t *modes;
	size_t n;
	struct resolved *out; /* by stack */
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

static void push(struct resolver *v, uint32_t mode, uint32_t pid, uint64_t addr)
{
	v->symbols[v->n] = symbol_at(v, mode, pid, addr);
	v->modes[v->n++] = (uint8_t)mode;
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
static bool push_chain(struct resolver *v, const struct stack_head *head, const uint64_t *chain,
		       size_t nr)
{
	uint32_t mode = PERF_RECORD_MISC_USER;
	bool first = true;
	size_t i;

	push(v, head->mode, head->pid, head->ip);
	for (i = 0; i < nr; i++) {
		if (chain[i] >= (uint64_t)PERF_CONTEXT_MAX) {
			mode = mode_of_marker(chain[i]);
			if (mode == UINT32_MAX) {
				v->n = 1;
				return false;
			}
		} else {
			if (!first || chain[i] != head->ip)
				push(v, mode, head->pid, chain[i]);
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
	enum context c = CTX_UNKNOWN;
	size_t i;

	if (v->modes[0] == PERF_RECORD_MISC_USER)
		return CTX_USER;
	for (i = 0; i < v->n && v->modes[i] == PERF_RECORD_MISC_KERNEL; i++) {
		c = context_of_symbol(v, v->symbols[i]);
		if (c != CTX_UNKNOWN)
			return c;
	}
	/* entered from user space, by no interrupt that we know */
	return i && i < v->n && v->modes[i] == PERF_RECORD_MISC_USER ? CTX_SYSCALL : CTX_UNKNOWN;
}

static void resolve_stack(struct resolver *v, const struct fold *f, uint32_t id)
{
	const char *bytes = intern_get(&f->stacks, id);
	const struct stack_head *head = (const struct stack_head *)bytes;
	size_t nr = (intern_len(&f->stacks, id) - sizeof(*head)) / 8, i;
	struct resolved *out = &v->out[id];
	uint32_t frame = PROFILE_NONE;

	spaces_advance(&v->spaces, head->version);
	v->n = 0;
	out->bad_chain = !push_chain(v, head, (const uint64_t *)(head + 1), nr);
	for (i = v->n; i-- > 0;)
		frame = profile_frame(v->p, frame, v->symbols[i]);
	out->frame = frame;
	out->context = (uint8_t)context_of_stack(v);
}

struct order {
	uint32_t version, stack;
};

static int by_version(const void *a, const void *b)
{
	const struct order *l = a, *r = b;

	if (l->version != r->version)
		return l->version < r->version ? -1 : 1;
	return l->stack < r->stack ? -1 : l->stack > r->stack;
}

static void resolve_stacks(struct resolver *v, const struct fold *f)
{
	struct order *order = xcalloc(f->stacks.n + 1, sizeof(*order));
	size_t i;

	for (i = 0; i < f->stacks.n; i++) {
		const struct stack_head *head = (const void *)intern_get(&f->stacks, (uint32_t)i);

		/* UINT32_MAX, "before any", comes first as 0 */
		order[i] = (struct order){head->version + 1, (uint32_t)i};
	}
	qsort(order, f->stacks.n, sizeof(*order), by_version);
	for (i = 0; i < f->stacks.n; i++)
		resolve_stack(v, f, order[i].stack);
	free(order);
}

/* The profile's number of each event. */
static uint32_t *add_events(struct recording *r, const struct fold *f)
{
	uint32_t *ids = xcalloc(r->events.n + 1, sizeof(*ids));
	size_t i;

	for (i = 0; i < r->events.n; i++) {
		const struct event *e = &r->events.list[i];
		bool is_time =
			e->type == PERF_TYPE_SOFTWARE && (e->config == PERF_COUNT_SW_CPU_CLOCK ||
							  e->config == PERF_COUNT_SW_TASK_CLOCK);
		struct profile_event *to;

		if (e->type == PERF_TYPE_SOFTWARE && e->config == PERF_COUNT_SW_DUMMY &&
		    !f->events[i].samples)
			continue; /* perf's own, for the side-band */
		ids[i] = profile_event(r->profile, e->name, is_time);
		to = &r->profile->events[ids[i]];
		to->samples += f->events[i].samples;
		to->weight += f->events[i].weight;
		to->weight2 += f->events[i].weight2;
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

static void add_costs(struct resolver *v, const struct fold *f)
{
	uint32_t *events = add_events(v->r, f);
	size_t i;

	for (i = 0; i < f->ncosts; i++) {
		const struct fold_cost *c = &f->costs[i];
		const struct resolved *at = &v->out[c->stack];
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
	free(events);
}

void resolve(struct recording *r, const struct fold *f, const struct perfdata_options *o)
{
	struct resolver v = {.r = r, .p = r->profile, .spaces.side = &r->side};
	size_t most = (1 << 16) / 8 + 1; /* a record's size has 16 bits */

	v.symbols = xcalloc(most, sizeof(*v.symbols));
	v.modes = xcalloc(most, sizeof(*v.modes));
	v.out = xcalloc(f->stacks.n + 1, sizeof(*v.out));
	objects_init(&v.objects, r, o);
	resolve_stacks(&v, f);
	add_costs(&v, f);
	objects_free(&v.objects);
	spaces_free(&v.spaces);
	free(v.symbols);
	free(v.modes);
	free(v.contexts);
	free(v.out);
}
