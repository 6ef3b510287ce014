// SPDX-License-Identifier: GPL-2.0-only
#include "collect/options.h"

#include "lib/alloc.h"
#include "lib/program_text.h"

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

/* --- --units --- */

/* The adapters of zcost analyze. "none" means that no adapter reads the output. */
static const struct {
	const char *name;
	bool arg; /* NAME:ARG, and not NAME alone */
} adapters[] = {
	{"tcpzc", false}, {"iperf3", false}, {"pps", false}, {"regex", true}, {"none", false},
};

/* A wrong expression is refused here, before any run is made. */
static int units_check_regex(const char *arg, struct error *err)
{
	struct error why = {0};
	enum rate_of of;
	regex_t re;

	if (rate_regex_compile(&re, rate_regex_skip(arg, &of), &why))
		return error_set(err, EINVAL, "regex:%s: %s", arg, why.text);
	regfree(&re);
	return 0;
}

int units_check(const char *units, struct error *err)
{
	size_t len = strcspn(units, ":"), i;
	bool arg = units[len] && units[len + 1];

	for (i = 0; i < array_size(adapters); i++)
		if (strlen(adapters[i].name) == len && !strncmp(adapters[i].name, units, len) &&
		    (adapters[i].arg ? arg : !units[len]))
			return arg ? units_check_regex(units + len + 1, err) : 0;
	return error_set(err, EINVAL,
			 "no adapter '%s'; there are tcpzc, iperf3, pps, regex:RE and none", units);
}

/* --- --power-command --- */

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
	return error_set(err, EINVAL,
			 "the command is missing; it must print watts, one reading a line");
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
				"two commands of %s power: '%s' and '%s'; one of each kind may be given, as wall=CMD, platform=CMD, package=CMD and other=CMD",
				c.kind, list[i].command, c.command);
	if (!rc)
		list[(*n)++] = c;
	return rc;
}
