// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/tally.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <stdlib.h>
#include <string.h>

static const char *const key_names[TALLY_KEYS] = {
	[BY_COMM] = "comm",	      [BY_PID] = "pid",	      [BY_TID] = "tid",
	[BY_THREAD] = "thread",	      [BY_CPU] = "cpu",	      [BY_CONTEXT] = "context",
	[BY_COMPONENT] = "component", [BY_SYMBOL] = "symbol", [BY_DSO] = "dso",
	[BY_MODULE] = "module",
};

const char *tally_key_name(enum tally_key key)
{
	return key_names[key];
}

int tally_key_find(const char *name)
{
	int i;

	for (i = 0; i < TALLY_KEYS; i++)
		if (!strcmp(key_names[i], name))
			return i;
	return -1;
}

void tally_init(struct tally *f, const struct tally_spec *spec, int nruns)
{
	*f = (struct tally){.spec = *spec, .nruns = nruns};
	f->run_weight = xcalloc((size_t)nruns + 1, sizeof(*f->run_weight));
}

void tally_free(struct tally *f)
{
	free(f->rows);
	free(f->run_weight);
	intern_free(&f->ids);
	intern_free(&f->strings);
	arena_free(&f->arena);
	*f = (struct tally){0};
}

bool tally_wanted(const char *pattern, const char *name)
{
	return str_matches(pattern, name);
}

struct tally_row *tally_row(struct tally *f, const char *const keys[])
{
	uint32_t id[TALLY_KEYS], row;
	size_t size;
	int i;

	for (i = 0; i < f->spec.nkeys; i++)
		id[i] = intern_str(&f->strings, keys[i]);
	row = intern_bytes(&f->ids, id, (size_t)f->spec.nkeys * sizeof(*id));
	if (row == f->n) {
		array_grow(f->rows, f->n, f->cap);
		size = (size_t)(f->nruns + 1) * sizeof(double);
		f->rows[f->n] = (struct tally_row){.run_self = arena_alloc(&f->arena, size),
						   .run_total = arena_alloc(&f->arena, size)};
		for (i = 0; i < f->spec.nkeys; i++)
			f->rows[f->n].key[i] = intern_get(&f->strings, id[i]);
		f->n++;
	}
	return &f->rows[row];
}

static int tally_by_cost(const void *a, const void *b)
{
	const struct tally_row *x = a, *y = b;
	int i, c;

	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	for (i = 0; i < TALLY_KEYS && x->key[i]; i++) {
		c = strcmp(x->key[i], y->key[i]);
		if (c)
			return c;
	}
	return 0;
}

void tally_sort(struct tally *f)
{
	if (f->n)
		qsort(f->rows, f->n, sizeof(*f->rows), tally_by_cost);
}
