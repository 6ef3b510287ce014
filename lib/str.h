/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Growable byte string. `buf` is always NUL-terminated once anything was added, NULL before; `len`
 * does not count the NUL. The owner calls str_free, or takes `buf` with str_take.
 */
#ifndef ZC_STR_H
#define ZC_STR_H

#include <stdbool.h>
#include <stddef.h>

struct str {
	char *buf;
	size_t len, cap;
};

void str_add(struct str *s, const void *bytes, size_t n);
void str_puts(struct str *s, const char *text);
void str_putc(struct str *s, char c);
void str_printf(struct str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void str_reset(struct str *s); /* empty, keeps the memory */
char *str_take(struct str *s); /* the caller frees; never NULL */
void str_free(struct str *s);

bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);

/* A filter: the name itself, which may look like a glob ("[veth]"), or a glob; NULL lets all pass.
 */
bool str_matches(const char *pattern, const char *name);

/* Cuts leading and trailing ASCII space in place, returns the new start inside `s`. */
char *str_trim(char *s);

/* Replaces a character in place. */
void str_replace(char *s, char from, char to);

/* Splits off the part before the next `sep`; *rest moves past it, NULL at the end. */
char *str_token(char **rest, char sep);

#endif
