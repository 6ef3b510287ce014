// SPDX-License-Identifier: GPL-2.0-only
#include "lib/radix.h"

#include "lib/alloc.h"

#include <stdlib.h>
#include <string.h>

enum { DIGIT_BITS = 8, DIGITS = 64 / DIGIT_BITS, VALUES = 1 << DIGIT_BITS };

static unsigned int radix_digit(uint64_t key, int which)
{
	return (key >> (which * DIGIT_BITS)) & (VALUES - 1);
}

static void radix_count_digits(const struct radix_row *rows, size_t n,
			       size_t counts[DIGITS][VALUES])
{
	size_t i;
	int d;

	memset(counts, 0, sizeof(counts[0]) * DIGITS);
	for (i = 0; i < n; i++)
		for (d = 0; d < DIGITS; d++)
			counts[d][radix_digit(rows[i].key, d)]++;
}

/* Turns the counts into the places where the rows of each value begin. */
static void radix_fill_places(size_t counts[VALUES])
{
	size_t at = 0, n;
	int v;

	for (v = 0; v < VALUES; v++) {
		n = counts[v];
		counts[v] = at;
		at += n;
	}
}

void radix_sort(struct radix_row *rows, size_t n)
{
	struct radix_row *from = rows, *to = xmalloc(n * sizeof(*to)), *swap, *other = to;
	size_t(*counts)[VALUES] = xmalloc(sizeof(*counts) * DIGITS), i;
	int d;

	radix_count_digits(rows, n, counts);
	for (d = 0; d < DIGITS; d++) {
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
	free(other);
	free(counts);
}
