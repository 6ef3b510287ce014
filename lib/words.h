/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Splits the command lines of a plan into words without a shell. Blanks separate words; '...',
 * "..." and \ quote as in sh; nothing is expanded. A command that needs a shell is sh -c '...'.
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

#endif
