/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Other programs: the one that a command line runs behind prefixes such as `taskset -c 1`, and the
 * power readings that they print. The host half checks what the laptop half then reads.
 */
#ifndef ZC_PROGRAM_H
#define ZC_PROGRAM_H

#include "lib/error.h"

#include <stddef.h>

/*
 * Returns the index of the word behind the prefix at `i` in a list of words that ends with NULL, or
 * `i` where this word runs no other program.
 */
size_t program_next(char *const word[], size_t i);

/*
 * Returns the program of a command line, without its folder, or NULL for an empty line. The caller
 * frees it.
 */
char *program_name(const char *command);

/*
 * Parses a line with one reading: "231.5", "231.5 W", "1.2 kW", "850 mW", "watts 231.5", "Watts:
 * 231.5 W". Returns -ENODATA if the line holds none, and -ERANGE if the reading is negative.
 */
int watts_of_line(const char *line, double *watts, struct error *err);

#endif
