/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line: arguments, numbers in them, lists in --help, manual pages and completion. */
#ifndef ZC_COMMAND_H
#define ZC_COMMAND_H

#include "lib/str.h"

#include <argp.h>

extern const char zcost_version[];

/*
 * Return the number in the argument of an option. The whole argument must be a finite number in the
 * range, otherwise argp ends the command with a usage error. `option` is the option as the user
 * types it, for example "--limit".
 */
double arg_above_0(const struct argp_state *state, const char *option, const char *arg);
double arg_from_0(const struct argp_state *state, const char *option, const char *arg);
long arg_whole(const struct argp_state *state, const char *option, const char *arg, long least,
	       long most);

/* As argp_error() for a text that may be long: a terminal gets it at its width. */
void arg_error(const struct argp_state *state, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));

/*
 * Parses the arguments into `input`. A usage error or a lack of memory ends the command. -h is
 * --help. The hidden options --man and --complete print the manual page or words for a shell, and
 * end it.
 */
void args_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input);

/*
 * Appends one entry of a list in --help: "  NAME  what it is". `what` begins at `column` and wraps
 * at the width of argp.
 */
void args_help_line(struct str *s, size_t column, const char *name, const char *what);

/*
 * --- the manual page, made of the tables behind --help ---
 *
 * It is Markdown: docs/man/roff.awk makes man(7) of it and of the examples in docs/man/COMMAND.md.
 */

/* Prints the heading that roff.awk turns into NAME. */
void manual_print_name(const char *name, const char *what);

/* Prints synopsis, description, options, and the lists at the end of --help. `input` is that of
 * argp_parse. */
void manual_print(const struct argp *argp, const char *name, void *input);

/*
 * Runs man with the page of the command, or with the page of that name, such as tcpzc or plan.ini,
 * from the folder man/ beside this program or from share/man. Returns if there is no such page or
 * no man.
 */
void manual_show(const char *name);

/*
 * --- completion in a shell, from the same tables (complete.c) ---
 *
 * `zcost COMMAND --complete WORD...` prints what can replace the last word, each on a line, with a
 * tab and a description if there is one. No line means: complete file names. The shells' functions
 * are in docs/completions/.
 */

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
