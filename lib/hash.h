/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hash_bytes() mixes any bytes into 64 bits. `struct map` is an open-addressing map from any 64-bit
 * key to a 64-bit value. A zero-initialised map is empty.
 */
#ifndef ZC_HASH_H
#define ZC_HASH_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t hash_mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	return x ^ x >> 32;
}

uint64_t hash_bytes(const void *data, size_t len, uint64_t seed);

/*
 * Returns a larger table of open addressing and frees the old one. `n` is the old and `to` the new
 * number of slots, a power of two. A slot holds half of a hash in its upper half, or 0.
 */
uint64_t *slots_grow(uint64_t *slots, size_t n, size_t to);

struct map {
	struct map_slot *slots;
	size_t n, cap; /* cap is a power of two */
};

/* Returns the place of the value, which is 0 for a new key. It is valid until the next map_at(). */
uint64_t *map_at(struct map *m, uint64_t key);
/* Returns NULL if the key is absent. */
uint64_t *map_get(const struct map *m, uint64_t key);
void map_free(struct map *m);

/*
 * Returns how many of n rows of `size` bytes begin with a number up to `key`. They must be sorted
 * by that number.
 */
static inline size_t rows_up_to(const void *rows, size_t n, size_t size, uint64_t key)
{
	size_t low = 0, mid;

	while (low < n) {
		mid = low + (n - low) / 2;
		if (*(const uint64_t *)((const char *)rows + mid * size) <= key)
			low = mid + 1;
		else
			n = mid;
	}
	return low;
}

/* Rows that radix_sort() sorts, in time proportional to their number. */
struct radix_row {
	uint64_t key;
	uint64_t value;
};

/* Sorts by key, the smallest first. Rows of equal keys stay in their order. */
void radix_sort(struct radix_row *rows, size_t n);

#endif
