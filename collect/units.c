// SPDX-License-Identifier: GPL-2.0-only
#include "collect/units.h"

#include "lib/alloc.h"
#include "lib/rate_regex.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* As zcost analyze has them; "none" is nobody. */
static const struct {
	const char *name;
	bool arg; /* NAME:ARG, and not NAME alone */
} adapters[] = {
	{"tcpzc", false}, {"iperf3", false}, {"pps", false}, {"regex", true}, {"none", false},
};

/* Here and not when the output is read: the runs would have been made by then. */
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
