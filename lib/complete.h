/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Completion in a shell, from the tables behind --help. `zcost COMMAND --complete WORD...` prints
 * what can replace the last word, each on a line, with a tab and a description if there is one. No
 * line means: complete file names. The shells' functions are in docs/completions/.
 */
#ifndef ZC_COMPLETE_H
#define ZC_COMPLETE_H

#include "lib/str.h"

#include <argp.h>

/*
 * Adds lines for an argument that help calls `what`, such as TABLE. `option` is NULL for an
 * argument without option. `words` are the n words before the last one, and words[n] is the part of
 * the last one that the names replace. `of` is the argument of complete_run.
 */
typedef void complete_names(struct str *lines, const char *option, const char *what, char **words,
			    int n, const void *of);

/* Returns if argv[1] is not --complete. Else it prints the lines and ends the process. names may be
 * NULL. */
void complete_run(const struct argp *argp, int argc, char **argv, complete_names *names,
		  const void *of);

/* Adds a line. what may be NULL. */
void complete_add(struct str *lines, const char *word, const char *what);

/* Prints the lines that begin with `start`, each after `before`. */
void complete_print(const struct str *lines, const char *before, const char *start);

#endif
