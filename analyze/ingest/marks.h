/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers of a text that a program wrote in some locale: which of '.' and ',' is its decimal mark,
 * and which groups thousands. The text itself tells: "1.208.000.453", "0,373027705" and "12.5 %"
 * have one reading each, "1,234" has two. All of a text is looked at before its numbers are taken.
 */
#ifndef ZC_MARKS_H
#define ZC_MARKS_H

#include <stdbool.h>

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
