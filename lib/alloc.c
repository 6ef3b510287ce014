// SPDX-License-Identifier: GPL-2.0-only
#include "lib/alloc.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

void alloc_fail(void)
{
	fprintf(stderr, "%s: out of memory\n", program_invocation_short_name);
	exit(1);
}

static void *alloc_checked(void *p)
{
	if (!p)
		alloc_fail();
	return p;
}

void *xmalloc(size_t size)
{
	return alloc_checked(malloc(size ? size : 1));
}

void *xcalloc(size_t n, size_t size)
{
	return alloc_checked(calloc(n ? n : 1, size ? size : 1));
}

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* since Linux 5.14; older kernels refuse it and fault pages in */
#endif

/*
 * The first read of a page from calloc() maps the shared zero page. The first write then replaces
 * it: that is a second fault, and it interrupts all other threads.
 */
void *xcalloc_touched(size_t n, size_t size)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *p = xcalloc(n, size);
	uintptr_t from = ((uintptr_t)p + page - 1) & ~(page - 1);
	uintptr_t to = ((uintptr_t)p + n * size) & ~(page - 1);

	if (n * size >= 64 * page)
		madvise((void *)from, to - from, MADV_POPULATE_WRITE);
	return p;
}

void *xrealloc(void *p, size_t size)
{
	return alloc_checked(realloc(p, size ? size : 1));
}

void *xmemdup(const void *p, size_t size)
{
	void *copy = xmalloc(size);

	if (size) /* with size 0, `p` may be NULL */
		memcpy(copy, p, size);
	return copy;
}

char *xstrdup(const char *s)
{
	return alloc_checked(strdup(s));
}

char *xstrndup(const char *s, size_t n)
{
	return alloc_checked(strndup(s, n));
}

char *xvasprintf(const char *fmt, va_list ap)
{
	char *s = NULL;

	return alloc_checked(vasprintf(&s, fmt, ap) < 0 ? NULL : s);
}

char *xasprintf(const char *fmt, ...)
{
	return xformat(fmt);
}

enum { BLOCK = 4096, BLOCK_MAX = 1 << 20 };

struct arena_block {
	struct arena_block *next;
	size_t size;
	char data[];
};

static void arena_add_block(struct arena *a, size_t size)
{
	struct arena_block *b;
	size_t usual = BLOCK;

	/* Small arenas stay small. Blocks of large arenas grow, so they stay few. */
	if (a->blocks && a->blocks->size >= BLOCK)
		usual = a->blocks->size < BLOCK_MAX ? a->blocks->size * 2 : BLOCK_MAX;
	if (size < usual)
		size = usual;
	b = xcalloc_touched(1, sizeof(*b) + size);
	b->size = size;
	b->next = a->blocks;
	a->blocks = b;
	a->at = b->data;
	a->end = b->data + size;
}

void *arena_alloc(struct arena *a, size_t size)
{
	void *p;

	size = (size + 7) & ~(size_t)7;
	if ((size_t)(a->end - a->at) < size || !a->at)
		arena_add_block(a, size);
	p = a->at;
	a->at += size;
	return p;
}

void *arena_dup(struct arena *a, const void *p, size_t size)
{
	return memcpy(arena_alloc(a, size), p, size);
}

char *arena_strdup(struct arena *a, const char *s)
{
	return s ? arena_dup(a, s, strlen(s) + 1) : NULL;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	char *text;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	text = arena_alloc(a, (size_t)n + 1);
	va_start(ap, fmt);
	vsnprintf(text, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return text;
}

const char *arena_add_word(struct arena *a, const char *list, const char *separator,
			   const char *word)
{
	if (!word || !*word ||
	    (list && strstr(arena_printf(a, "%s%s%s", separator, list, separator),
			    arena_printf(a, "%s%s%s", separator, word, separator))))
		return list;
	return list ? arena_printf(a, "%s%s%s", list, separator, word) : arena_strdup(a, word);
}

void arena_free(struct arena *a)
{
	struct arena_block *b;

	while ((b = a->blocks)) {
		a->blocks = b->next;
		free(b);
	}
	*a = (struct arena){0};
}
