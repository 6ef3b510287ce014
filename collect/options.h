/* SPDX-License-Identifier: GPL-2.0-only */
/* Options of `zcost collect` that a plan of `zcost capture` has too: both check them here. */
#ifndef ZC_COLLECT_OPTIONS_H
#define ZC_COLLECT_OPTIONS_H

#include "lib/error.h"
#include "lib/str.h"

/* Completes the argument that help calls COLLECTOR, for complete_run(). */
void collect_complete(struct str *lines, const char *option, const char *what, char **words, int n,
		      const void *of);

/*
 * Checks how perf record shall find callers: fp, lbr, dwarf, or dwarf,SIZE with the bytes of stack
 * to save in each sample. Returns -EINVAL for anything else.
 */
int call_graph_check(const char *mode, struct error *err);

/*
 * Splits --power-command [KIND=]CMD. KIND names what the watts measure; the default is "wall".
 * *kind and *command point into `text` or to static names. Returns -EINVAL when there is no
 * command.
 */
int power_command_split(const char *text, const char **kind, const char **command,
			struct error *err);

/*
 * Checks that this process may run a command as the user of --user. Returns -EINVAL for a user that
 * this host does not know, -EPERM without root, and -ENOENT without setpriv.
 */
int user_check(const char *name, struct error *err);

#endif
