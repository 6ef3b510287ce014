// SPDX-License-Identifier: GPL-2.0-only
/*
 * The round constants are by definition the first 32 bits of the fractional parts of the cube
 * roots of the first 64 primes (FIPS 180-4, 4.2.2).
 */
#include "lib/sha256.h"

#include <stdio.h>
#include <string.h>

static const uint32_t sha256_k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t sha256_ror(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

static void sha256_fill_schedule(uint32_t w[64], const uint8_t *p)
{
	int i;

	for (i = 0; i < 16; i++, p += 4)
		w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
	for (; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + (sha256_ror(a, 7) ^ sha256_ror(a, 18) ^ a >> 3) + w[i - 7] +
		       (sha256_ror(b, 17) ^ sha256_ror(b, 19) ^ b >> 10);
	}
}

static void sha256_add_block(uint32_t state[8], const uint8_t *block)
{
	uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
	uint32_t e = state[4], f = state[5], g = state[6], h = state[7], w[64];
	int i;

	sha256_fill_schedule(w, block);
	for (i = 0; i < 64; i++) {
		uint32_t sum1 = sha256_ror(e, 6) ^ sha256_ror(e, 11) ^ sha256_ror(e, 25);
		uint32_t sum0 = sha256_ror(a, 2) ^ sha256_ror(a, 13) ^ sha256_ror(a, 22);
		uint32_t t1 = h + sum1 + ((e & f) ^ (~e & g)) + sha256_k[i] + w[i];
		uint32_t t2 = sum0 + ((a & b) ^ (a & c) ^ (b & c));

		h = g, g = f, f = e, e = d + t1;
		d = c, c = b, b = a, a = t1 + t2;
	}
	state[0] += a, state[1] += b, state[2] += c, state[3] += d;
	state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

void sha256_plain_blocks(uint32_t state[8], const uint8_t *p, size_t blocks)
{
	for (; blocks; blocks--, p += 64)
		sha256_add_block(state, p);
}

void sha256_begin(struct sha256 *h)
{
	static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

	memcpy(h->state, first, sizeof(first));
	h->bytes = 0;
}

/* Adds whole blocks straight from the caller's bytes. `block` holds the incomplete block. */
void sha256_add(struct sha256 *h, const void *data, size_t len)
{
	void (*blocks)(uint32_t *, const uint8_t *, size_t) =
		sha256_cpu_has() ? sha256_cpu_blocks : sha256_plain_blocks;
	size_t have = h->bytes % 64, n = 64 - have < len ? 64 - have : len;
	const uint8_t *p = data;

	if (!len)
		return;
	h->bytes += len;
	if (have || n < 64) {
		memcpy(h->block + have, p, n);
		p += n;
		len -= n;
		if (have + n == 64)
			blocks(h->state, h->block, 1);
	}
	blocks(h->state, p, len / 64);
	memcpy(h->block, p + len / 64 * 64, len % 64);
}

void sha256_hex(struct sha256 *h, char hex[65])
{
	uint64_t bits = h->bytes * 8;
	uint8_t end[8];
	int i;

	for (i = 0; i < 8; i++)
		end[i] = (uint8_t)(bits >> (56 - 8 * i));
	sha256_add(h, "\x80", 1);
	while (h->bytes % 64 != 56)
		sha256_add(h, "", 1);
	sha256_add(h, end, sizeof(end));
	for (i = 0; i < 8; i++)
		snprintf(hex + 8 * i, 9, "%08x", h->state[i]);
}

/*
 * x86: sha256rnds2 wants the state in two registers: A B E F and C D G H. Any other CPU runs the
 * plain code.
 */

#ifdef __x86_64__

#include <cpuid.h>
#include <immintrin.h>

bool sha256_cpu_has(void)
{
	static int known; /* 1: yes, -1: no; racing threads find the same */
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
