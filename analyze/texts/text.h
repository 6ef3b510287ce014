/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text that people saved or pasted: from a terminal, a browser, a slide. Lines come out cleaned in
 * place (carriage returns, colours and <pre> tags gone, U+00A0 and its like turned into a space);
 * numbers are taken with a decimal point or comma.
 */
#ifndef ZC_TEXT_H
#define ZC_TEXT_H

#include "lib/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
	const char *name; /* of the file, for messages; "-" is said as "standard input" */
	char *at;	  /* the rest; NULL past the last line */
	unsigned line;	  /* of the line last returned, from 1 */
};

/* Refuses an empty text and one with NUL bytes; `data` is NUL-terminated and gets changed. */
int text_open(struct text *t, const char *name, char *data, size_t len, struct error *err);
/* Reads the file and has its text parsed into `to`; `parse` as perf_trace_parse and its like. */
int text_read_file(const char *path,
		   int (*parse)(const char *name, char *data, size_t len, void *to,
				struct error *err),
		   void *to, struct error *err);
char *text_next(struct text *t); /* NULL at the end; valid as long as the data */
const char *text_name(const struct text *t);

/* "12.5", "12,5", "1.": the number at *p, which moves past it; false leaves *p. Never negative. */
bool text_number(const char **p, double *value);
bool text_percent(const char **p, double *value); /* a number and '%' (a space between is fine) */
bool text_count(const char **p, uint64_t *value); /* digits with nothing grown on to them */

char *text_skip(const char *p); /* past spaces and tabs */

/*
 * Cuts `s` in place into fields: by tabs or by two spaces and more (`wide`), or by any white
 * space. At most `max`, the last one takes the rest. Returns their number.
 */
size_t text_fields(char *s, bool wide, char **fields, size_t max);

/*
 * Numbers of a text that a program wrote in some locale: which of '.' and ',' is its decimal mark,
 * and which groups thousands. The text itself tells: "1.208.000.453", "0,373027705" and "12.5 %"
 * have one reading each, "1,234" has two. All of a text is looked at before its numbers are taken.
 */

struct marks {
	char decimal;	      /* '.' or ','; 0: nothing told */
	unsigned line, other; /* the line that told first; one that tells otherwise, 0: none */
};

/* Groups apart by U+00A0, U+2009 or U+202F become groups apart by an apostrophe, in place. */
void marks_keep_groups(char *data);

void marks_learn(struct marks *m, const char *s, unsigned line);

/*
 * The number at *p, which moves past it; false leaves *p. `count`: it is a whole number, so that
 * "1,234" is one where nothing tells. Never negative.
 */
bool marks_number(const struct marks *m, const char **p, bool count, double *value);

#endif
