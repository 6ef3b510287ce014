/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Command lines of a plan are split into words here, without a shell: blanks separate, '...' and
 * "..." and \ quote as in sh; nothing is expanded. Who needs a shell writes sh -c '...'.
 */
#ifndef ZC_CAPTURE_WORDS_H
#define ZC_CAPTURE_WORDS_H

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

/* The reverse: one line that words_split takes apart again; the caller frees. */
char *words_join(char *const word[]);

#endif
