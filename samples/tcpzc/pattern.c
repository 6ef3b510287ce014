// SPDX-License-Identifier: GPL-2.0-only
/*
 * The data of --verify: a sequence of 64-bit little-endian words. Word i is a hash of i and the
 * stream's seed. So the check finds a byte that is lost, repeated, moved, changed, or from another
 * flow.
 */
#include "tcpzc.h"

#include <endian.h>
#include <string.h>

static uint64_t pattern_word(uint64_t seed, uint64_t i)
{
	i = (i + 1 + (seed << 40)) * 0x9e3779b97f4a7c15ULL;
	i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9ULL;
	i = (i ^ i >> 27) * 0x94d049bb133111ebULL;
	return htole64(i ^ i >> 31);
}

void pattern_fill(void *buf, uint64_t seed, uint64_t pos, size_t n)
{
	unsigned char *p = buf;

	while (n) {
		uint64_t word = pattern_word(seed, pos >> 3);
		size_t skip = pos & 7;
		size_t k = 8 - skip < n ? 8 - skip : n;

		memcpy(p, (unsigned char *)&word + skip, k);
		p += k;
		pos += k;
		n -= k;
	}
}

static size_t pattern_count_differing(const unsigned char *a, const unsigned char *b, size_t n,
				      uint64_t pos, uint64_t *first, size_t bad)
{
	size_t i, found = 0;

	for (i = 0; i < n; i++) {
		if (a[i] == b[i])
			continue;
		if (!bad && !found)
			*first = pos + i;
		found++;
	}
	return found;
}

size_t pattern_check(const void *buf, uint64_t seed, uint64_t pos, size_t n, uint64_t *first)
{
	const unsigned char *p = buf;
	size_t bad = 0;

	while (n) {
		uint64_t word = pattern_word(seed, pos >> 3);
		size_t skip = pos & 7;
		size_t k = 8 - skip < n ? 8 - skip : n;

		if (memcmp(p, (unsigned char *)&word + skip, k))
			bad += pattern_count_differing(p, (unsigned char *)&word + skip, k, pos,
						       first, bad);
		p += k;
		pos += k;
		n -= k;
	}
	return bad;
}
