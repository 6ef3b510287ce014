/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Strings of other people that a person or a parser reads: names of functions and commands, notes
 * of plans, file names. What a terminal would obey, what hides or turns text, and what is not UTF-8
 * is written as the four characters \xHH, one group for each byte. A backslash in the string itself
 * stays alone: the escape is to be seen, not to be undone.
 */
#ifndef ZC_PRINTABLE_H
#define ZC_PRINTABLE_H

#include "lib/str.h"

#include <stdint.h>

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
