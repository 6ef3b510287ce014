/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The manual page of a command, made of the tables behind its --help. It is Markdown:
 * docs/man/roff.awk makes man(7) of it and of the examples in docs/man/COMMAND.md.
 */
#ifndef ZC_MANUAL_H
#define ZC_MANUAL_H

#include <argp.h>

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

#endif
