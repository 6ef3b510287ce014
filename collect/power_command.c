// SPDX-License-Identifier: GPL-2.0-only
#include "collect/power_command.h"

#include "lib/alloc.h"
#include "lib/str.h"
#include "lib/watts.h"

#include <errno.h>
#include <string.h>

static const char *const kinds[POWER_KINDS] = {"wall", "platform", "package", "other"};

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

int power_command_add(struct power_command list[POWER_KINDS], size_t *n, const char *text,
		      struct error *err)
{
	struct power_command c;
	int rc = power_command_split(text, &c.kind, &c.command, err);
	size_t i;

	for (i = 0; !rc && i < *n; i++)
		if (!strcmp(list[i].kind, c.kind))
			return error_set(
				err, EINVAL,
				"two commands of %s power: '%s' and '%s'; one of each kind "
				"may be given, as wall=CMD, platform=CMD, package=CMD and "
				"other=CMD",
				c.kind, list[i].command, c.command);
	if (!rc)
		list[(*n)++] = c;
	return rc;
}

const struct power_program *power_command_program(struct power_shell *shell, const char *command)
{
	shell->argv[0] = (char *)"/bin/sh";
	shell->argv[1] = (char *)"-c";
	shell->argv[2] = (char *)command;
	shell->argv[3] = NULL;
	shell->program = (struct power_program){
		.name = command, .argv = shell->argv, .check = watts_of_line};
	return &shell->program;
}
