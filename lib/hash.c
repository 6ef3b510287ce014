// SPDX-License-Identifier: GPL-2.0-only
#include "lib/hash.h"

#include "lib/alloc.h"

#include <stdbool.h>

struct map_slot {
	uint64_t key, value;
	bool used;
};

uint64_t hash_bytes(const void *data, size_t len, uint64_t seed)
{
	const unsigned char *p = data;
	uint64_t h = seed ^ len * 0x9e3779b97f4a7c15ULL, word;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&word, p, 8);
		h = (h ^ hash_mix(word)) * 0x9e3779b97f4a7c15ULL;
	}
	word = 0;
	memcpy(&word, p, len);
	return hash_mix(h ^ word);
}

static struct map_slot *map_find_slot(const struct map *m, uint64_t key)
{
	size_t i = hash_mix(key) & (m->cap - 1);

	while (m->slots[i].used && m->slots[i].key != key)
		i = (i + 1) & (m->cap - 1);
	return &m->slots[i];
}

static void map_grow(struct map *m)
{
	struct map old = *m;

	m->cap = old.cap ? old.cap * 2 : 64;
	m->slots = xcalloc(m->cap, sizeof(*m->slots));
	for (size_t i = 0; i < old.cap; i++)
		if (old.slots[i].used)
			*map_find_slot(m, old.slots[i].key) = old.slots[i];
	free(old.slots);
}

uint64_t *map_at(struct map *m, uint64_t key)
{
	struct map_slot *slot;

	if (m->n * 3 >= m->cap * 2)
		map_grow(m);
	slot = map_find_slot(m, key);
	if (!slot->used) {
		*slot = (struct map_slot){.key = key, .used = true};
		m->n++;
	}
	return &slot->value;
}

uint64_t *map_get(const struct map *m, uint64_t key)
{
	struct map_slot *slot = m->cap ? map_find_slot(m, key) : NULL;

	return slot && slot->used ? &slot->value : NULL;
}

void map_free(struct map *m)
{
	free(m->slots);
	*m = (struct map){0};
}

uint64_t *slots_grow(uint64_t *slots, size_t n, size_t to)
{
	uint64_t *new = xcalloc_touched(to, sizeof(*new));
	size_t at;

	for (size_t i = 0; i < n; i++) {
		if (!slots[i])
			continue;
		for (at = (slots[i] >> 32) & (to - 1); new[at];)
			at = (at + 1) & (to - 1);
		new[at] = slots[i];
	}
	free(slots);
	return new;
}

/* --- sorting by a number --- */

enum { DIGIT_BITS = 8, DIGITS = 64 / DIGIT_BITS, VALUES = 1 << DIGIT_BITS };

static unsigned int radix_digit(uint64_t key, int which)
{
	return (key >> (which * DIGIT_BITS)) & (VALUES - 1);
}

static void radix_count_digits(const struct radix_row *rows, size_t n,
			       size_t counts[DIGITS][VALUES])
{
	memset(counts, 0, sizeof(counts[0]) * DIGITS);
	for (size_t i = 0; i < n; i++)
		for (int d = 0; d < DIGITS; d++)
			counts[d][radix_digit(rows[i].key, d)]++;
}

/* Turns the counts into the places where the rows of each value begin. */
static void radix_fill_places(size_t counts[VALUES])
{
	size_t at = 0, n;

	for (int v = 0; v < VALUES; v++) {
		n = counts[v];
		counts[v] = at;
		at += n;
	}
}

/* Returns how many rows at the front are in order, and belong in front of all others. */
static size_t radix_count_sorted(const struct radix_row *rows, size_t n)
{
	uint64_t least = UINT64_MAX;
	size_t front = n ? 1 : 0;

	while (front < n && rows[front - 1].key <= rows[front].key)
		front++;
	for (size_t i = front; i < n; i++)
		least = rows[i].key < least ? rows[i].key : least;
	while (front && rows[front - 1].key > least)
		front--;
	return front;
}

void radix_sort(struct radix_row *rows, size_t n)
{
	size_t sorted = radix_count_sorted(rows, n), i;
	autofree size_t(*counts)[VALUES] = xmalloc(sizeof(*counts) * DIGITS);
	autofree struct radix_row *other = xmalloc((n - sorted) * sizeof(*other));
	struct radix_row *from = rows += sorted, *to = other, *swap;

	n -= sorted;
	radix_count_digits(rows, n, counts);
	for (int d = 0; d < DIGITS; d++) {
		if (!n || counts[d][radix_digit(rows[0].key, d)] == n)
			continue; /* this digit is the same in all rows */
		radix_fill_places(counts[d]);
		for (i = 0; i < n; i++)
			to[counts[d][radix_digit(from[i].key, d)]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	if (from != rows)
		memcpy(rows, from, n * sizeof(*rows));
}
