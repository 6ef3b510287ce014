/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the bytes of a foreign file: a window that shrinks from the front and never reads past its
 * end. The first short read sets `bad`, and every later read gives 0. So a parser checks `bad`
 * once, at its end. `swap` swaps the bytes of numbers, for a file of the other endianness.
 */
#ifndef ZC_CURSOR_H
#define ZC_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *at, *end;
	bool swap, bad;
};

static inline struct cursor cursor_of(const void *data, size_t len, bool swap)
{
	return (struct cursor){.at = data, .end = (const uint8_t *)data + len, .swap = swap};
}

static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->at);
}

/* Returns the next `n` bytes. If there are fewer, it sets `bad` and returns NULL. */
static inline const void *cursor_take(struct cursor *c, size_t n)
{
	const void *p = c->at;

	if (c->bad || n > cursor_left(c)) {
		c->bad = true;
		return NULL;
	}
	c->at += n;
	return p;
}

/* Returns a cursor over the next `n` bytes. If there are fewer, that cursor is empty and bad. */
static inline struct cursor cursor_sub(struct cursor *c, size_t n)
{
	const void *p = cursor_take(c, n);
	struct cursor sub = {.at = p, .end = p ? (const uint8_t *)p + n : NULL, .swap = c->swap};

	sub.bad = !p;
	return sub;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
	const uint8_t *p = cursor_take(c, 1);

	return p ? *p : 0;
}

/* Defines cursor_u16, cursor_u32 or cursor_u64. */
#define CURSOR_INTEGER(bits)                                          \
	static inline uint##bits##_t cursor_u##bits(struct cursor *c) \
	{                                                             \
		const void *p = cursor_take(c, (bits) / 8);           \
		uint##bits##_t v = 0;                                 \
                                                                      \
		if (p)                                                \
			memcpy(&v, p, sizeof(v));                     \
		return c->swap ? __builtin_bswap##bits(v) : v;        \
	}
CURSOR_INTEGER(16)
CURSOR_INTEGER(32)
CURSOR_INTEGER(64)

/* Reads a field of `field` bytes with a NUL-terminated string. Returns NULL without a NUL. */
static inline const char *cursor_str(struct cursor *c, size_t field)
{
	const char *p = cursor_take(c, field);

	if (p && !memchr(p, 0, field)) {
		c->bad = true;
		return NULL;
	}
	return p;
}

#endif
