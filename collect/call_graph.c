// SPDX-License-Identifier: GPL-2.0-only
#include "collect/call_graph.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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
	return error_set(err, EINVAL,
			 "unknown call graph mode '%s'; there are fp, dwarf, dwarf,SIZE with a "
			 "SIZE of 8 to %d bytes, lbr",
			 mode, STACK_MAX);
}
