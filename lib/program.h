/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The program that a command line runs behind prefixes such as `taskset -c 1` and `sh -c`. The host
 * half looks whether there is such a program, and the laptop half names it.
 */
#ifndef ZC_PROGRAM_H
#define ZC_PROGRAM_H

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

#endif
