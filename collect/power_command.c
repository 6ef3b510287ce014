// SPDX-License-Identifier: GPL-2.0-only
#include "collect/power_command.h"

#include "lib/alloc.h"
#include "lib/str.h"
#include "lib/watts.h"

#include <errno.h>
#include <string.h>

static const char *const kinds[] = {"wall", "platform", "package", "other"};

int power_command_split(const char *text, const char **kind, const char **command,
			struct error *err)
{
	size_t i, n;

	*kind = kinds[0];
	*command = text;
	for (i = 0; i < array_size(kinds); i++) {
		n = strlen(kinds[i]);
		if (strncmp(text, kinds[i], n) || text[n] != '=')
			continue;
		*kind = kinds[i];
		*command = text + n + 1;
	}
	if ((*command)[strspn(*command, " \t")])
		return 0;
	return error_set(err, EINVAL, "no command given; it is to print watts, one reading a line");
}

const struct power_program *power_command_program(const char *command)
{
	static char *argv[] = {"/bin/sh", "-c", NULL, NULL};
	static struct power_program program;

	argv[2] = (char *)command;
	program = (struct power_program){.name = command, .argv = argv, .check = watts_of_line};
	return &program;
}
