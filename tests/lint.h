/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Facts about functions for gcc -fanalyzer and clang-tidy in `make lint`, which read one file at a time and do not see
 * the functions of the others.
 */
#include <argp.h>

#include "lib/error.h"

/* They never return 0. */
#define error_set(...) (error_set(__VA_ARGS__), -1)
#define error_sys(...) (error_sys(__VA_ARGS__), -1)

/* It does not return, because no command sets ARGP_NO_EXIT. */
void argp_error(const struct argp_state *state, const char *fmt, ...) __attribute__((noreturn));
