/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Facts about functions for gcc -fanalyzer and clang-tidy in `make lint`, which read one file at a
 * time and do not see the functions of the others.
 */
#include <argp.h>

#include "lib/alloc.h"
#include "lib/error.h"

/* They never return 0. */
#define error_set(...) (error_set(__VA_ARGS__), -1)
#define error_sys(...) (error_sys(__VA_ARGS__), -1)

/* An array with room for one more element is not NULL. */
#undef array_grow
#define array_grow(p, n, cap)                                              \
	do {                                                               \
		if ((n) >= (cap)) {                                        \
			(cap) = (cap) ? (cap)*2 : 16;                      \
			(p) = xrealloc((p), (size_t)(cap) * sizeof(*(p))); \
		}                                                          \
		if (!(p))                                                  \
			__builtin_unreachable();                           \
	} while (0)

/* It does not return, because no command sets ARGP_NO_EXIT. */
void argp_error(const struct argp_state *state, const char *fmt, ...) __attribute__((noreturn));
