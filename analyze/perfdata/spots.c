// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/spots.h"

#include "analyze/perfdata/format.h"
#include "analyze/perfdata/spot_code.h"
#include "lib/alloc.h"

#include <stdlib.h>
#include <string.h>

enum {
	SHARE = 1000
}; /* functions that cost less than this part of an event's weight are left out */

static const struct spot none = {.symbol = PROFILE_NONE, .object = SPOT_NOWHERE};

/* Only where the table's symbol is what the address came to; a recorded name may have gone first.
 */
static struct spot in_table(const struct symtab_symbol *s, uint32_t symbol, uint32_t object,
			    uint64_t at)
{
	if (!s || __atomic_load_n(&s->id, __ATOMIC_RELAXED) != symbol + 1)
		return none;
	return (struct spot){symbol, object, s->start, s->end, at};
}

static struct spot in_kernel(const struct addresses *a, uint64_t addr, uint32_t symbol)
{
	const struct side_ksymbol *program = spaces_ksymbol(&a->spaces, addr);
	const struct side_map *map = spaces_find(&a->spaces, a->kernel, addr);
	const struct objects *ob = a->objects;
	struct spot spot;

	if (program)
		return (struct spot){symbol, SPOT_NOWHERE, program->start, program->end, addr};
	spot = in_table(kernel_symbols_find(ob->kernel, addr), symbol, SPOT_KERNEL,
			addr + ob->kernel->delta);
	if (spot.symbol != PROFILE_NONE || !map)
		return spot;
	return in_table(symtab_find(&ob->list[map->dso].table, addr - map->start), symbol,
			SPOT_NOWHERE, addr - map->start);
}

static struct spot in_user(const struct addresses *a, uint64_t addr, uint32_t symbol)
{
	const struct side_map *map = spaces_find(&a->spaces, a->user, addr);
	uint64_t at;

	if (!map)
		return none;
	at = addr - map->start + map->pgoff;
	return in_table(symtab_find(&a->objects->list[map->dso].table, at), symbol, map->dso, at);
}

struct spot spot_of(const struct addresses *a, uint32_t mode, uint64_t addr, uint32_t symbol)
{
	if (mode == PERF_RECORD_MISC_KERNEL)
		return in_kernel(a, addr, symbol);
	return mode == PERF_RECORD_MISC_USER ? in_user(a, addr, symbol) : none;
}

/* --- adding up --- */

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int by_place(const void *a, const void *b)
{
	const struct profile_spot *l = a, *r = b;
	int c = compare(l->event, r->event);

	c = c ? c : compare(l->symbol, r->symbol);
	return c ? c : compare(l->offset, r->offset);
}

static void add_fold(struct profile *p, const struct fold *f, const struct spot *spots)
{
	size_t i;

	for (i = 0; i < f->costs.n; i++) {
		const struct fold_cost *c = &f->costs.list[i];
		const struct spot *s = &spots[c->stack];

		if (s->symbol == PROFILE_NONE)
			continue;
		array_grow(p->spots, p->nspots, p->spots_cap);
		p->spots[p->nspots++] = (struct profile_spot){.event = c->event,
							      .symbol = s->symbol,
							      .line = PROFILE_NONE,
							      .offset = s->at - s->start,
							      .samples = c->samples,
							      .weight = c->weight};
	}
}

static void add_up(struct profile *p)
{
	size_t i, n = 0;

	if (p->nspots)
		qsort(p->spots, p->nspots, sizeof(*p->spots), by_place);
	for (i = 0; i < p->nspots; i++) {
		if (n && !by_place(&p->spots[n - 1], &p->spots[i])) {
			p->spots[n - 1].samples += p->spots[i].samples;
			p->spots[n - 1].weight += p->spots[i].weight;
		} else {
			p->spots[n++] = p->spots[i];
		}
	}
	p->nspots = n;
}

/* All of an event, by the recording's number. */
static uint64_t weight_of(const struct folds *f, uint32_t event)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < f->n; i++)
		sum += f->list[i].events[event].weight;
	return sum;
}

/* Rows [from, to) are one function's: drops them where it costs next to nothing. */
static size_t keep(struct profile *p, const struct folds *f, size_t from, size_t to, size_t n)
{
	uint64_t sum = 0;
	size_t i;

	for (i = from; i < to; i++)
		sum += p->spots[i].weight;
	if (sum < weight_of(f, p->spots[from].event) / SHARE)
		return n;
	memmove(&p->spots[n], &p->spots[from], (to - from) * sizeof(*p->spots));
	return n + to - from;
}

static void keep_costly(struct profile *p, const struct folds *f)
{
	size_t from, to, n = 0;

	for (from = 0; from < p->nspots; from = to) {
		for (to = from + 1; to < p->nspots; to++)
			if (p->spots[to].symbol != p->spots[from].symbol ||
			    p->spots[to].event != p->spots[from].event)
				break;
		n = keep(p, f, from, to, n);
	}
	p->nspots = n;
}

static size_t count_stacks(const struct folds *f)
{
	size_t n = 0, i;

	for (i = 0; i < f->n; i++)
		n += f->list[i].nstacks;
	return n;
}

void spots_add(struct objects *ob, const struct folds *f, const struct spot *spots)
{
	struct profile *p = ob->p;
	const struct spot *at = spots;
	size_t i;

	for (i = 0; i < f->n; at += f->list[i++].nstacks)
		add_fold(p, &f->list[i], at);
	add_up(p);
	keep_costly(p, f);
	if (ob->r->arch)
		p->arch = intern_str(&p->strings, ob->r->arch);
	spot_code_add(ob, spots, count_stacks(f));
}

void spots_number_symbols(struct profile *p, const uint32_t *ids)
{
	size_t i;

	for (i = 0; i < p->nspots; i++)
		p->spots[i].symbol = ids[p->spots[i].symbol];
	for (i = 0; i < p->ncodes; i++)
		p->codes[i].symbol = ids[p->codes[i].symbol];
}

void spots_number_events(const struct recording *r)
{
	struct profile *p = r->profile;
	size_t i;

	for (i = 0; i < p->nspots; i++) {
		const struct event *e = &r->events.list[p->spots[i].event];

		p->spots[i].event = profile_event(p, e->name, false);
	}
	if (p->nspots)
		qsort(p->spots, p->nspots, sizeof(*p->spots), by_place);
}
