/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory. The x functions never return NULL: without memory they print one line and end the
 * process. Use them for small, bounded sizes. A size that an input file gives needs plain malloc()
 * and a check.
 */
#ifndef ZC_ALLOC_H
#define ZC_ALLOC_H

#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program, because it has no memory left. */
void alloc_fail(void) __attribute__((noreturn));

void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
/* As xcalloc. It maps all pages at once, for a large table that is filled in random order. */
void *xcalloc_touched(size_t n, size_t size);
void *xrealloc(void *p, size_t size);
void *xmemdup(const void *p, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));
/* Formats the arguments of a variadic function, behind its parameter `fmt`. The caller frees. */
#define xformat(fmt)                          \
	({                                    \
		va_list ap_;                  \
		char *text_;                  \
		va_start(ap_, fmt);           \
		text_ = xvasprintf(fmt, ap_); \
		va_end(ap_);                  \
		text_;                        \
	})

/* A variable that the function frees where its block ends: freed(str_free) struct str s = {0}; */
#define freed(function) __attribute__((cleanup(function)))

/* A pointer to memory that is freed where its block ends: autofree char *path = xstrdup(name); */
#define autofree freed(pointer_free)

static inline void pointer_free(void *at)
{
	void *p;

	memcpy(&p, at, sizeof(p));
	free(p);
}

/* Makes room for one more element in array `p`, of which `n` are in use and `cap` allocated. */
#define array_grow(p, n, cap)                                              \
	do {                                                               \
		if ((n) >= (cap)) {                                        \
			(cap) = (cap) ? (cap)*2 : 16;                      \
			(p) = xrealloc((p), (size_t)(cap) * sizeof(*(p))); \
		}                                                          \
	} while (0)

/* Appends a value to array `p`, of which `n` are in use and `cap` allocated. */
#define array_add(p, n, cap, ...)           \
	do {                                \
		array_grow(p, n, cap);      \
		(p)[(n)++] = (__VA_ARGS__); \
	} while (0)

/* Appends an element without a value, and is its address. */
#define array_new(p, n, cap)           \
	({                             \
		array_grow(p, n, cap); \
		&(p)[(n)++];           \
	})

#define array_size(a) (sizeof(a) / sizeof((a)[0]))

/*
 * Returns the address of the first of the n elements of array `p` that the condition holds for, or
 * NULL. The condition calls this address `e`: array_find(v, list, n, v->value > 0).
 */
#define array_find(e, p, n, ...)                                     \
	({                                                           \
		typeof((p) + 0) found_ = NULL, e;                    \
		for (long i_ = 0; i_ < (long)(n) && !found_; i_++) { \
			e = (p) + i_;                                \
			found_ = (__VA_ARGS__) ? e : NULL;           \
		}                                                    \
		found_;                                              \
	})

/*
 * Frees array `p`, after what each of its n elements owns. The calls name the address of the
 * element `e`: array_free(v, list, n, free(v->name), free(v->unit)).
 */
#define array_free(e, p, n, ...)                          \
	do {                                              \
		for (long i_ = 0; i_ < (long)(n); i_++) { \
			typeof((p) + 0) e = (p) + i_;     \
			__VA_ARGS__;                      \
		}                                         \
		free(p);                                  \
	} while (0)

/* Sorts the n elements of array `p`, which may be NULL if n is 0. qsort() may not get NULL. */
#define array_sort(p, n, compare)                                         \
	do {                                                              \
		if (n)                                                    \
			qsort((p), (size_t)(n), sizeof(*(p)), (compare)); \
	} while (0)

/*
 * Compare two numbers as qsort() asks, for the smallest or the largest first: return
 * descending(x->cost, y->cost) ?: strcmp(x->name, y->name). NAN equals all numbers.
 */
#define ascending(x, y)	 (((x) > (y)) - ((x) < (y)))
#define descending(x, y) ascending(y, x)

/* An arena frees all its memory at once: everything from it lives until arena_free(). */
struct arena {
	struct arena_block *blocks;
	char *at, *end;
};

void *arena_alloc(struct arena *a, size_t size); /* zeroed and aligned to 8 bytes */
void *arena_dup(struct arena *a, const void *p, size_t size);
char *arena_strdup(struct arena *a, const char *s); /* NULL for NULL */
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/*
 * Returns the list with the word added. NULL, an empty word, and one that the list has already
 * add nothing. A list that is NULL is empty.
 */
const char *arena_add_word(struct arena *a, const char *list, const char *separator,
			   const char *word);
void arena_free(struct arena *a);

#endif
