// SPDX-License-Identifier: GPL-2.0-only
/*
 * x86: the state in two registers, as sha256rnds2 wants it: A B E F and C D G H. Any other CPU has
 * the plain code of sha256.c.
 */
#include "lib/sha256_blocks.h"

#ifdef __x86_64__

#include <cpuid.h>
#include <immintrin.h>

bool sha256_cpu_has(void)
{
	static int known; /* -1: no; threads that ask at once find the same */
	unsigned int a, b, c, d;
	int has = __atomic_load_n(&known, __ATOMIC_RELAXED);

	if (!has) {
		has = __get_cpuid(1, &a, &b, &c, &d) && c & bit_SSE4_1 &&
				      __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_SHA
			      ? 1
			      : -1;
		__atomic_store_n(&known, has, __ATOMIC_RELAXED);
	}
	return has > 0;
}

#define WITH_SHA __attribute__((target("sha,sse4.1")))

WITH_SHA static inline __m128i sha256_cpu_next_words(const __m128i w[4], int i)
{
	const __m128i *w0 = &w[i & 3], *w1 = &w[(i + 1) & 3], *w2 = &w[(i + 2) & 3],
		      *w3 = &w[(i + 3) & 3];
	__m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(*w0, *w1), _mm_alignr_epi8(*w3, *w2, 4));

	return _mm_sha256msg2_epu32(sum, *w3);
}

WITH_SHA static void sha256_cpu_add_block(__m128i *abef, __m128i *cdgh, const uint8_t *p)
{
	const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
	__m128i x = *abef, y = *cdgh, w[4], sum;
	int i;

	for (i = 0; i < 16; i++) { /* four rounds each */
		w[i & 3] = i < 4 ? _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)p + i),
						    big_endian)
				 : sha256_cpu_next_words(w, i);
		sum = _mm_add_epi32(w[i & 3], _mm_loadu_si128((const __m128i *)sha256_k + i));
		y = _mm_sha256rnds2_epu32(y, x, sum);
		x = _mm_sha256rnds2_epu32(x, y, _mm_shuffle_epi32(sum, 0x0e));
	}
	*abef = _mm_add_epi32(*abef, x);
	*cdgh = _mm_add_epi32(*cdgh, y);
}

WITH_SHA void sha256_cpu_blocks(uint32_t state[8], const uint8_t *p, size_t blocks)
{
	__m128i *half = (__m128i *)state;
	__m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128(half), 0xb1);
	__m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128(half + 1), 0x1b);
	__m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
	__m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xf0), feba, dchg;

	for (; blocks; blocks--, p += 64)
		sha256_cpu_add_block(&abef, &cdgh, p);
	feba = _mm_shuffle_epi32(abef, 0x1b);
	dchg = _mm_shuffle_epi32(cdgh, 0xb1);
	_mm_storeu_si128(half, _mm_blend_epi16(feba, dchg, 0xf0));
	_mm_storeu_si128(half + 1, _mm_alignr_epi8(dchg, feba, 8));
}

#else

bool sha256_cpu_has(void)
{
	return false;
}

void sha256_cpu_blocks(uint32_t state[8], const uint8_t *p, size_t blocks)
{
	(void)state;
	(void)p;
	(void)blocks;
}

#endif
