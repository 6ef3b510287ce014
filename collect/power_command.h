/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --power-command [KIND=]CMD: a shell command that prints watts, one reading a line; it prints one
 * and ends, and is run again, or goes on printing. KIND, else wall, says what they are the power
 * of.
 */
#ifndef ZC_POWER_COMMAND_H
#define ZC_POWER_COMMAND_H

#include "collect/power_poll.h"
#include "lib/error.h"

/* *kind and *command point into `text` or to static names. -EINVAL: there is no command. */
int power_command_split(const char *text, const char **kind, const char **command,
			struct error *err);

/* There is one: it is good until the next call. */
const struct power_program *power_command_program(const char *command);

#endif
