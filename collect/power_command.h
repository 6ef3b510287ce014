/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --power-command [KIND=]CMD: a shell command that prints watts, one reading a line; it prints one
 * and ends, and is run again, or goes on printing. KIND, else wall, says what they are the power
 * of; there may be one of each.
 */
#ifndef ZC_POWER_COMMAND_H
#define ZC_POWER_COMMAND_H

#include "collect/power_poll.h"
#include "lib/error.h"

enum { POWER_KINDS = 4 };

struct power_command {
	const char *kind;
	const char *command; /* for /bin/sh: prints watts */
};

/* *kind and *command point into `text` or to static names. -EINVAL: there is no command. */
int power_command_split(const char *text, const char **kind, const char **command,
			struct error *err);

/*
 * Adds `text` to the `n` there are. -EINVAL: there is no command, or one of that kind already:
 * whose watts would be those of the run?
 */
int power_command_add(struct power_command list[POWER_KINDS], size_t *n, const char *text,
		      struct error *err);

/* How one is started; good as long as this and the command are. */
struct power_shell {
	struct power_program program;
	char *argv[4];
};
const struct power_program *power_command_program(struct power_shell *shell, const char *command);

#endif
