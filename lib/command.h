/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line: arguments, numbers in them, and lists in --help. */
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
 * --help. The hidden options --man and --complete print the manual page (lib/manual.h) or words for
 * a shell (lib/complete.h) and end it.
 */
void args_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input);

/*
 * Appends one entry of a list in --help: "  NAME  what it is". `what` begins at `column` and wraps
 * at the width of argp.
 */
void args_help_line(struct str *s, size_t column, const char *name, const char *what);

#endif
