/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Strings. struct str is a growable byte string. `buf` is NULL while nothing was added, and
 * NUL-terminated afterwards. `len` does not count the NUL. The owner calls str_free(), or takes
 * `buf` with str_take().
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
/* Adds an item of a list in words: "a, b and c". */
void str_item(struct str *s, bool first, bool last, const char *item);
void str_reset(struct str *s); /* empties it but does not free the memory */
char *str_take(struct str *s); /* never NULL; the caller frees */
void str_free(struct str *s);

bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);
/* Says whether it has letters, digits and characters of `more` only, and one at least. */
bool str_is_name(const char *s, const char *more);

/* Returns whether `pattern` is NULL, equals the name, or is a glob that matches the name. A name
 * may itself look like a glob ("[veth]"). */
bool str_matches(const char *pattern, const char *name);

/* Returns whether one of the patterns, which blanks separate, matches the name. */
bool str_matches_any(const char *patterns, const char *name);

/* Returns the index of the text in a list of n, or -1. NULL in the list is no text. */
int str_index(const char *const *list, size_t n, const char *s);

/* Cuts leading and trailing ASCII space in place and returns the new start inside `s`. */
char *str_trim(char *s);

/* Appends XML character data. */
void str_put_xml(struct str *out, const char *s);

void str_replace(char *s, char from, char to);

/* Returns the part before the next `sep` and moves *rest behind `sep`, to NULL at the end. */
char *str_token(char **rest, char sep);
/*
 * Visits the parts of a text between the separators, in a copy that it frees: each_part (word,
 * text, ' ') puts(word). Needs lib/alloc.h.
 */
#define each_part(part, text, sep)                                                               \
	for (char *copy_ __attribute__((cleanup(pointer_free))) = xstrdup(text), *rest_ = copy_; \
	     ((part) = str_token(&rest_, sep));)

/* Returns the last line that is not blank, trimmed, or NULL. Changes `text`. */
char *str_last_line(char *text);

/*
 * Returns "did you mean WORD? ", or "" if `typed` is neither the start of a word of the list nor a
 * word with a typing error. Spaces and commas separate the words;
 * NULL has none. The thread's next call replaces
 * the text.
 */
const char *did_you_mean(const char *words, const char *typed);

/*
 * Breaks a text at blanks and newlines. Returns the start of the next line and its bytes in *len,
 * and moves *rest behind it. A word longer than `room` characters is one line. Returns NULL at the
 * end.
 */
const char *str_line(const char **rest, int room, size_t *len);
/* Breaks a text so, and indents all lines but the first by `margin`. The caller frees the text. */
char *str_wrap(const char *text, int room, int margin);

/* Returns the number of characters in the first `bytes` bytes: the bytes that begin one. */
int str_chars(const char *s, size_t bytes);

/* Returns the length of the UTF-8 sequence at `s` and its code point. Returns 0 if it is not UTF-8.
 */
int utf8_decode(const char *s, uint32_t *code);

enum { PRINTABLE_LINE, PRINTABLE_CELL };

/*
 * Makes a foreign string (a function, a command, a file name) safe for a terminal and for a parser.
 * It writes each byte of a control character, of a character that hides or turns text, and of bytes
 * that are not UTF-8 as \xHH. It does not double a backslash, because nobody decodes the text
 * again. Returns `s`, or the escaped text in `scratch`, which is valid until the next use of
 * `scratch`. In a LINE a tab, a newline and a carriage return become blanks. In a CELL a tab and a
 * newline stay, because each table format writes them in its own way.
 */
const char *printable(struct str *scratch, const char *s, int kind);

#endif
