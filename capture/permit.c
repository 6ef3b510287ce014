// SPDX-License-Identifier: GPL-2.0-only
#include "capture/permit.h"

#include "lib/file.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Of linux/capability.h: older headers lack the last two. */
enum { SYS_ADMIN = 21, PERFMON = 38, BPF = 39 };

static uint64_t capabilities(void)
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

static int paranoid(void)
{
	char *text;
	int v;

	if (file_read("/proc/sys/kernel/perf_event_paranoid", &text, NULL, NULL))
		return 2;
	v = atoi(text);
	free(text);
	return v;
}

static bool has(uint64_t caps, int cap)
{
	return caps >> cap & 1;
}

int permit_check(const struct plan *p, struct error *err)
{
	uint64_t caps = capabilities();
	bool all = has(caps, SYS_ADMIN);
	int level = paranoid();

	if (p->passes & 1u << PASS_PROFILE && !all && !has(caps, PERFMON) && level > 0)
		return error_set(err, EPERM,
				 "the pass 'profile' samples whole CPUs, which needs root, or "
				 "CAP_PERFMON, or kernel.perf_event_paranoid at 0 or less (now "
				 "%d): use sudo, or leave the pass out: --pass measure",
				 level);
	if (p->passes & 1u << PASS_SYSCALLS && !all && !(has(caps, BPF) && has(caps, PERFMON)) &&
	    level > -1)
		return error_set(err, EPERM,
				 "the pass 'syscalls' loads a BPF program, which needs root, or "
				 "CAP_BPF and CAP_PERFMON: use sudo, or leave the pass out: "
				 "--pass measure");
	return 0;
}
