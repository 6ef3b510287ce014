/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Splits the command lines of a plan into words without a shell. Blanks separate words; '...',
 * "..." and \ quote as in sh; nothing is expanded. A command that needs a shell is sh -c '...'.
 *
 * Also other programs: the one that a command line runs behind prefixes such as `taskset -c 1`, and
 * the power readings that they print. The host half checks what the laptop half then reads.
 */
#ifndef ZC_LIB_WORDS_H
#define ZC_LIB_WORDS_H

#include "lib/error.h"

#include <stddef.h>

struct words {
	char **word; /* NULL-terminated; owned */
	size_t n;
};

void words_add(struct words *w, const char *word); /* copies */
void words_addf(struct words *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int words_split(struct words *w, const char *text, struct error *err); /* appends; -EINVAL */
void words_free(struct words *w);

/* Joins words to a line that words_split splits into the same words. The caller frees. */
char *words_join(char *const word[]);
/* Returns the word for a command to paste, in quotes if a shell needs them. The caller frees. */
char *shell_word(const char *word);

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
