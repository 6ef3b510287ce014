/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * People's cells (table_people.h) on a narrow page: what the text on a terminal and the commit
 * message have in common. Names may be shortened, columns hidden; figures are never cut.
 */
#ifndef ZC_TABLE_FIT_H
#define ZC_TABLE_FIT_H

#include "lib/str.h"
#include "lib/table_people.h"

/* Characters that a line of the shown columns takes, with `gap` blanks between two of them. */
int fit_width(const struct people *p, int gap);

/* Makes the widest names narrower, to `least` at least, until a line has `width` characters. True:
 * it has. */
bool fit_names(struct people *p, int gap, int width, int least);

/* Hides columns of words that say the same in each row: "variant mmap, side receiver" in `once`. */
void fit_say_once(struct people *p, struct str *once);

/* The ends of a name around "..", `width` characters in all: the head is what one looks for. */
void fit_short(struct str *out, const char *s, int width);
void fit_put_short(FILE *out, const char *s, int width);

/*
 * The next line of a text, broken at blanks and newlines: its start, its bytes in *len; *rest moves
 * behind it. A word longer than `room` characters stands alone. NULL at the end.
 */
const char *fit_line(const char **rest, int room, size_t *len);

#endif
