/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocation that cannot fail, for small bounded things: out of memory ends the process with one
 * line. Anything sized by an input file goes through the plain malloc family and is checked.
 */
#ifndef ZC_ALLOC_H
#define ZC_ALLOC_H

#include <stdarg.h>
#include <stddef.h>

void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
/* As xcalloc, for a large table filled at random: its pages are there at once, not fault by fault.
 */
void *xcalloc_touched(size_t n, size_t size);
void *xrealloc(void *p, size_t size);
void *xmemdup(const void *p, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

/*
 * Growable array: `p` a pointer to elements, `n` in use, `cap` allocated. Makes room for one more.
 */
#define array_grow(p, n, cap)                                              \
	do {                                                               \
		if ((n) >= (cap)) {                                        \
			(cap) = (cap) ? (cap)*2 : 16;                      \
			(p) = xrealloc((p), (size_t)(cap) * sizeof(*(p))); \
		}                                                          \
	} while (0)

#define array_size(a) (sizeof(a) / sizeof((a)[0]))

/* Memory freed by region: everything from one arena lives until arena_free. */

struct arena {
	struct arena_block *blocks;
	char *at, *end;
};

void *arena_alloc(struct arena *a, size_t size); /* zeroed, aligned to 8 */
void *arena_dup(struct arena *a, const void *p, size_t size);
char *arena_strdup(struct arena *a, const char *s);
void arena_free(struct arena *a);

#endif
