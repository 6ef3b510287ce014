// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/order.h"

#include "lib/alloc.h"
#include "lib/radix.h"

#include <stdlib.h>
#include <string.h>

/* Takes the lists of the folds over: fills in `stacks`, and gives the keys; the caller frees. */
static struct stack_key *collect(struct stack_order *so, struct folds *f)
{
	struct stack_key *keys;
	size_t i;

	for (i = 0; i < f->n; i++)
		so->n += f->list[i].stacks.n;
	so->stacks = xcalloc(so->n + 1, sizeof(*so->stacks));
	keys = xcalloc(so->n + 1, sizeof(*keys));
	for (so->n = i = 0; i < f->n; i++) {
		struct stacks *s = &f->list[i].stacks;

		if (s->n) {
			memcpy(so->stacks + so->n, s->list, s->n * sizeof(*s->list));
			memcpy(keys + so->n, s->keys, s->n * sizeof(*keys));
		}
		so->n += s->n;
		stacks_unlist(s);
	}
	return keys;
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

static void sort_run(struct stack_order *so, size_t from, size_t to)
{
	if (to - from > 1)
		qsort_r(so->order + from, to - from, sizeof(*so->order), by_chain, so->stacks);
}

/* Stacks of equal keys are told apart by all that they hold. */
static void sort_runs(struct stack_order *so, const struct stack_key *keys)
{
	const struct stack_key *run = NULL, *key;
	size_t i, from = 0;

	for (i = 0; i < so->n; i++) {
		key = &keys[so->order[i]];
		if (run && key->space == run->space && key->root == run->root)
			continue;
		sort_run(so, from, i);
		run = key;
		from = i;
	}
	sort_run(so, from, so->n);
}

void stack_order_make(struct stack_order *so, struct folds *f)
{
	struct stack_key *keys;
	struct radix_row *rows;
	size_t i;

	*so = (struct stack_order){0};
	keys = collect(so, f);
	rows = xcalloc(so->n, sizeof(*rows));
	so->order = xcalloc(so->n, sizeof(*so->order));
	for (i = 0; i < so->n; i++)
		rows[i] = (struct radix_row){keys[i].root, i};
	radix_sort(rows, so->n);
	for (i = 0; i < so->n; i++)
		rows[i].key = keys[rows[i].value].space;
	radix_sort(rows, so->n);
	for (i = 0; i < so->n; i++)
		so->order[i] = (uint32_t)rows[i].value;
	free(rows);
	sort_runs(so, keys);
	free(keys);
}

void stack_order_free(struct stack_order *so)
{
	free(so->stacks);
	free(so->order);
	*so = (struct stack_order){0};
}
