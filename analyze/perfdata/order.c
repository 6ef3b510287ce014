// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/order.h"

#include "lib/alloc.h"
#include "lib/radix.h"

#include <stdlib.h>
#include <string.h>

static void collect(struct stack_order *so, const struct folds *f)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		so->n += f->list[i].stacks.n;
	so->stacks = xcalloc(so->n + 1, sizeof(*so->stacks));
	for (so->n = i = 0; i < f->n; i++) {
		const struct stacks *s = &f->list[i].stacks;

		if (s->n)
			memcpy(so->stacks + so->n, s->list, s->n * sizeof(*s->list));
		so->n += s->n;
	}
}

/* The version's 32 bits and the process's; UINT32_MAX, no version, comes first. */
static uint64_t space_key(const struct stack *s)
{
	return (uint64_t)(s->head.version + 1) << 32 | s->head.pid;
}

/* 16 bits for each of four lengths of the chain's root: what is equal there stands together. */
static uint64_t root_key(const struct stack *s)
{
	static const uint32_t lengths[] = {3, 6, 10, 15};
	uint64_t h = 0, key = 0;
	uint32_t i = 0, k;

	for (k = 0; k < array_size(lengths); k++) {
		for (; i < lengths[k] && i < s->head.nr; i++)
			h = stacks_mix(h ^ s->chain[s->head.nr - 1 - i], 0x9e3779b97f4a7c15ULL);
		key = key << 16 | h >> 48;
	}
	return key;
}

static int by_chain(const void *a, const void *b, void *arg)
{
	struct stack *const *stacks = arg;
	const struct stack *l = stacks[*(const uint32_t *)a], *r = stacks[*(const uint32_t *)b];
	uint32_t i;

	for (i = 1; i <= l->head.nr && i <= r->head.nr; i++) {
		uint64_t x = l->chain[l->head.nr - i], y = r->chain[r->head.nr - i];

		if (x != y)
			return x < y ? -1 : 1;
	}
	if (l->head.nr != r->head.nr)
		return l->head.nr < r->head.nr ? -1 : 1;
	if (l->head.ip != r->head.ip)
		return l->head.ip < r->head.ip ? -1 : 1;
	return l->head.mode < r->head.mode ? -1 : l->head.mode > r->head.mode;
}

/* Stacks of equal keys are told apart by all that they hold. */
static void sort_runs(struct stack_order *so, const struct radix_row *rows, const uint64_t *roots)
{
	size_t i, from = 0;

	for (i = 0; i < so->n; i++) {
		so->order[i] = (uint32_t)rows[i].value;
		if (i && rows[i].key == rows[from].key &&
		    roots[rows[i].value] == roots[rows[from].value])
			continue;
		qsort_r(so->order + from, i - from, sizeof(*so->order), by_chain, so->stacks);
		from = i;
	}
	qsort_r(so->order + from, so->n - from, sizeof(*so->order), by_chain, so->stacks);
}

void stack_order_make(struct stack_order *so, const struct folds *f)
{
	struct radix_row *rows;
	uint64_t *roots;
	size_t i;

	*so = (struct stack_order){0};
	collect(so, f);
	rows = xcalloc(so->n, sizeof(*rows));
	roots = xcalloc(so->n, sizeof(*roots));
	so->order = xcalloc(so->n, sizeof(*so->order));
	for (i = 0; i < so->n; i++)
		rows[i] = (struct radix_row){roots[i] = root_key(so->stacks[i]), i};
	radix_sort(rows, so->n);
	for (i = 0; i < so->n; i++)
		rows[i].key = space_key(so->stacks[rows[i].value]);
	radix_sort(rows, so->n);
	sort_runs(so, rows, roots);
	free(rows);
	free(roots);
}

void stack_order_free(struct stack_order *so)
{
	free(so->stacks);
	free(so->order);
	*so = (struct stack_order){0};
}
