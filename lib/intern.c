// SPDX-License-Identifier: GPL-2.0-only
#include "lib/intern.h"

#include "lib/hash.h"

struct intern_item {
	const char *data;
	size_t len;
	uint64_t hash;
};

/* Returns the slot of the bytes, or the free slot for them. */
static uint32_t *intern_find_slot(const struct intern *in, const void *data, size_t len,
				  uint64_t hash)
{
	size_t i = hash & (in->cap - 1);

	for (; in->slots[i]; i = (i + 1) & (in->cap - 1)) {
		const struct intern_item *it = &in->items[in->slots[i] - 1];

		if (it->hash == hash && it->len == len && !memcmp(it->data, data, len))
			break;
	}
	return &in->slots[i];
}

static void intern_grow(struct intern *in)
{
	in->cap = in->cap ? in->cap * 2 : 256;
	free(in->slots);
	in->slots = xcalloc(in->cap, sizeof(*in->slots));
	for (size_t i = 0; i < in->n; i++) {
		const struct intern_item *it = &in->items[i];

		*intern_find_slot(in, it->data, it->len, it->hash) = (uint32_t)i + 1;
	}
}

static const char *intern_copy(struct arena *a, const void *data, size_t len)
{
	char *p = arena_alloc(a, len + 1);

	if (len)
		memcpy(p, data, len);
	return p;
}

uint32_t intern_bytes(struct intern *in, const void *data, size_t len)
{
	uint64_t hash = hash_bytes(data, len, 0);
	uint32_t *slot;

	if (in->n * 2 >= in->cap)
		intern_grow(in);
	slot = intern_find_slot(in, data, len, hash);
	if (!*slot) {
		array_add(in->items, in->n, in->items_cap,
			  (struct intern_item){intern_copy(&in->arena, data, len), len, hash});
		*slot = (uint32_t)in->n;
	}
	return *slot - 1;
}

uint32_t intern_str(struct intern *in, const char *s)
{
	return intern_bytes(in, s, strlen(s));
}

uint32_t intern_find(const struct intern *in, const void *data, size_t len)
{
	return in->cap ? *intern_find_slot(in, data, len, hash_bytes(data, len, 0)) - 1
		       : INTERN_NONE;
}

const char *intern_get(const struct intern *in, uint32_t id)
{
	return in->items[id].data;
}

void intern_free(struct intern *in)
{
	arena_free(&in->arena);
	free(in->items);
	free(in->slots);
	*in = (struct intern){0};
}
