// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/perfdata/branch.h"

#include "lib/alloc.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 1 << 14 };

void branch_start(struct branch *b, struct branch_index *x)
{
	*b = (struct branch){0};
	if (!x->nslots) {
		x->nslots = FIRST_SLOTS;
		x->slots = xmalloc(x->nslots * sizeof(*x->slots));
	}
	memset(x->slots, 0, x->nslots * sizeof(*x->slots));
}

static uint32_t first_slot(const struct branch_index *x, uint32_t parent, uint32_t symbol)
{
	uint64_t h = ((uint64_t)parent << 32 | symbol) * 0x9e3779b97f4a7c15ULL;

	return (uint32_t)(h >> 32) & (x->nslots - 1);
}

static void grow(const struct branch *b, struct branch_index *x)
{
	uint32_t i, at;

	x->nslots *= 2;
	x->slots = xrealloc(x->slots, x->nslots * sizeof(*x->slots));
	memset(x->slots, 0, x->nslots * sizeof(*x->slots));
	for (i = 0; i < b->n; i++) {
		at = first_slot(x, b->frames[i].parent, b->frames[i].symbol);
		while (x->slots[at])
			at = (at + 1) & (x->nslots - 1);
		x->slots[at] = i + 1;
	}
}

uint32_t branch_frame(struct branch *b, struct branch_index *x, uint32_t parent, uint32_t symbol)
{
	const struct profile_frame *f;
	uint32_t at;

	if (b->n * 2 >= x->nslots)
		grow(b, x);
	at = first_slot(x, parent, symbol);
	for (; x->slots[at]; at = (at + 1) & (x->nslots - 1)) {
		f = &b->frames[x->slots[at] - 1];
		if (f->parent == parent && f->symbol == symbol)
			return x->slots[at] - 1;
	}
	array_grow(b->frames, b->n, b->cap);
	b->frames[b->n] = (struct profile_frame){parent, symbol};
	x->slots[at] = ++b->n;
	return b->n - 1;
}

void branch_graft(const struct branch *b, struct profile *p, uint32_t *ids)
{
	uint32_t i;

	for (i = 0; i < b->n; i++) {
		const struct profile_frame *f = &b->frames[i];

		ids[i] = profile_frame(p, f->parent == PROFILE_NONE ? PROFILE_NONE : ids[f->parent],
				       f->symbol);
	}
}

void branch_free(struct branch *b)
{
	free(b->frames);
	*b = (struct branch){0};
}

void branch_index_free(struct branch_index *x)
{
	free(x->slots);
	*x = (struct branch_index){0};
}
