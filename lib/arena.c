// SPDX-License-Identifier: GPL-2.0-only
#include "lib/arena.h"

#include "lib/alloc.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 64 * 1024, BLOCK_MAX = 1 << 20 };

struct arena_block {
	struct arena_block *next;
	size_t size;
	char data[];
};

static void arena_add_block(struct arena *a, size_t size)
{
	struct arena_block *b;
	size_t usual = BLOCK;

	/* small arenas stay small, large ones are not made of thousands of blocks */
	if (a->blocks && a->blocks->size >= BLOCK)
		usual = a->blocks->size < BLOCK_MAX ? a->blocks->size * 2 : BLOCK_MAX;
	if (size < usual)
		size = usual;
	b = xcalloc_touched(1, sizeof(*b) + size);
	b->size = size;
	b->next = a->blocks;
	a->blocks = b;
	a->at = b->data;
	a->end = b->data + size;
}

void *arena_alloc(struct arena *a, size_t size)
{
	void *p;

	size = (size + 7) & ~(size_t)7;
	if ((size_t)(a->end - a->at) < size || !a->at)
		arena_add_block(a, size);
	p = a->at;
	a->at += size;
	return p;
}

void *arena_dup(struct arena *a, const void *p, size_t size)
{
	return memcpy(arena_alloc(a, size), p, size);
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_dup(a, s, strlen(s) + 1);
}

void arena_free(struct arena *a)
{
	struct arena_block *b;

	while ((b = a->blocks)) {
		a->blocks = b->next;
		free(b);
	}
	*a = (struct arena){0};
}
