/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Growable byte string. `buf` is always NUL-terminated once anything was added, NULL before; `len`
 * does not count the NUL. The owner calls str_free, or takes `buf` with str_take.
 */
#ifndef ZC_STR_H
#define ZC_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/*
 * Strings of other people that a person or a parser reads: names of functions and commands, notes
 * of plans, file names. What a terminal would obey, what hides or turns text, and what is not UTF-8
 * is written as the four characters \xHH, one group for each byte. A backslash in the string itself
 * stays alone: the escape is to be seen, not to be undone.
 */

/* Returns the length of the UTF-8 sequence at `s` and its code point; 0 where it is not UTF-8. */
int utf8_decode(const char *s, uint32_t *code);

enum { PRINTABLE_LINE, PRINTABLE_CELL };

/*
 * Returns `s`, or the escaped text in `scratch`, valid until its next use. A tab, a newline and a
 * carriage return become blanks in a LINE. In a CELL tab and newline stay: tsv, csv and json each
 * write them in their own way.
 */
const char *printable(struct str *scratch, const char *s, int kind);

#endif
