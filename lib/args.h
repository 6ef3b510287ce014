/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers out of the arguments of options, all of the argument and finite; for what is none argp
 * ends the command with a usage error. `option` as it is typed: "--limit".
 */
#ifndef ZC_ARGS_H
#define ZC_ARGS_H

#include "lib/str.h"

#include <argp.h>

double arg_above_0(const struct argp_state *state, const char *option, const char *arg);
double arg_from_0(const struct argp_state *state, const char *option, const char *arg);
long arg_whole(const struct argp_state *state, const char *option, const char *arg, long least,
	       long most);

/* Reads the arguments into `input`. A usage error ends the command, and so does a lack of memory.
 */
void args_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input);

/*
 * A line of a list at the end of --help: "  NAME  what it is", words beyond argp's width below each
 * other. `column`: where `what` begins.
 */
void args_help_line(struct str *s, size_t column, const char *name, const char *what);

#endif
