// SPDX-License-Identifier: GPL-2.0-only
#include "collect/options.h"

#include "lib/alloc.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* --- --call-graph --- */

enum { STACK_MAX = 65528 }; /* perf's own limit */

static bool call_graph_has_size(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	return *text >= '1' && *text <= '9' && !*end && n >= 8 && n <= STACK_MAX;
}

int call_graph_check(const char *mode, struct error *err)
{
	if (!strcmp(mode, "fp") || !strcmp(mode, "lbr") || !strcmp(mode, "dwarf") ||
	    (!strncmp(mode, "dwarf,", 6) && call_graph_has_size(mode + 6)))
		return 0;
	return error_set(
		err, EINVAL,
		"unknown call graph mode '%s'; there are fp, dwarf, dwarf,SIZE with a SIZE of 8 to %d bytes, lbr",
		mode, STACK_MAX);
}

/* --- --power-command --- */

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
	return error_set(err, EINVAL,
			 "the command is missing; it must print watts, one reading a line");
}
