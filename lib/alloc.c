// SPDX-License-Identifier: GPL-2.0-only
#include "lib/alloc.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void *alloc_checked(void *p)
{
	if (!p) {
		fputs("zcost: out of memory\n", stderr);
		exit(1);
	}
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
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; before that it is refused, and pages fault in */
#endif

/*
 * A page of calloc's that is read first is the shared zero page, and taken away again at its first
 * write: two faults, and all other threads interrupted for the second.
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

	if (size) /* of nothing, `p` may be NULL */
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
	va_list ap;
	char *s;

	va_start(ap, fmt);
	s = xvasprintf(fmt, ap);
	va_end(ap);
	return s;
}
