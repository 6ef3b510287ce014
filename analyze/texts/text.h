/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads text that people saved or pasted from a terminal, a browser or a slide. The reader cleans
 * lines in place: it removes carriage returns, colors and <pre> tags, and turns U+00A0 and similar
 * characters into spaces. Numbers may have a decimal point or a decimal comma.
 */
#ifndef ZC_TEXT_H
#define ZC_TEXT_H

#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	const char *name; /* file name for messages, which print "-" as "standard input" */
	char *at;	  /* the unread text; NULL after the last line */
	unsigned line;	  /* number of the line last returned, from 1 */
	char *file;	  /* the contents of the file; NULL: the caller owns the text */
	struct error *err;
};

/*
 * Opens a text. `data` is NUL-terminated, and the reader changes it. If `data` is NULL, reads the
 * file `name` ("-" is standard input). Refuses an empty text and a text with NUL bytes. The caller
 * calls text_close, also after an error.
 */
int text_open(struct text *t, const char *name, char *data, size_t len, struct error *err);
void text_close(struct text *t);
char *text_next(struct text *t); /* returns NULL at the end; valid until text_close */
const char *text_name(const struct text *t);

/* Fills the error with the file, the line and `what`. Returns -EBADMSG. */
int text_bad(const struct text *t, const char *what);

/*
 * Parses a number such as "12.5", "12,5" or "1." at *p and moves *p past it. Returns false and
 * leaves *p if there is no number. The number is never negative.
 */
bool text_number(const char **p, double *value);
bool text_percent(const char **p, double *value); /* a number and '%' (a space between is fine) */
bool text_count(const char **p, uint64_t *value); /* digits that end at a word's end */

/* Parse a number that is the whole of `s`. */
bool text_is_number(const char *s, double *value);
bool text_is_count(const char *s, uint64_t *value);

char *text_skip(const char *p); /* skips spaces and tabs */

/*
 * Cuts `s` in place into at most `max` fields. Cuts at tabs or two spaces and more (`wide`), or at
 * any white space. The last field takes the rest. Returns the number of fields.
 */
size_t text_fields(char *s, bool wide, char **fields, size_t max);

/*
 * The marks of numbers in a text of unknown locale: which of '.' and ',' is the decimal mark, and
 * which groups thousands. The text decides: "1.208.000.453", "0,373027705" and "12.5 %" have one
 * reading each, but "1,234" has two. So the reader inspects the whole text before it parses
 * numbers.
 */

struct marks {
	char decimal;	      /* '.' or ','; 0 if no number decides */
	unsigned line, other; /* first line that decides; first line that contradicts, or 0 */
};

/* Replaces U+00A0, U+2009 and U+202F between groups of digits by an apostrophe, in place. */
void marks_keep_groups(char *data);

void marks_learn(struct marks *m, const char *s, unsigned line);

/*
 * Parses a number at *p and moves *p past it. Returns false and leaves *p if there is no number.
 * If `count` is true, the number is a whole number, and "1,234" is 1234 if the text does not
 * decide. The number is never negative.
 */
bool marks_number(const struct marks *m, const char **p, bool count, double *value);

#endif
