// SPDX-License-Identifier: GPL-2.0-only
#include "collect/rights.h"

#include "lib/file.h"

#include <stdlib.h>
#include <string.h>

static uint64_t rights_capabilities(void)
{
	char *text, *at;
	uint64_t caps = 0;

	if (file_read("/proc/self/status", &text, NULL, NULL))
		return 0;
	at = strstr(text, "\nCapEff:");
	if (at)
		caps = strtoull(at + strlen("\nCapEff:"), NULL, 16);
	free(text);
	return caps;
}

static int rights_paranoid(void)
{
	char *text;
	int v;

	if (file_read("/proc/sys/kernel/perf_event_paranoid", &text, NULL, NULL))
		return 2;
	v = atoi(text);
	free(text);
	return v;
}

struct rights rights_of_this_process(void)
{
	return (struct rights){.caps = rights_capabilities(), .paranoid = rights_paranoid()};
}
