// SPDX-License-Identifier: GPL-2.0-only
#include "capture/permit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

/* Of linux/capability.h: older headers lack the last two. */
enum { SYS_ADMIN = 21, PERFMON = 38, BPF = 39 };

static bool has(uint64_t caps, int cap)
{
	return caps >> cap & 1;
}

/* How to get the rights, here and on a side's host. */
static const char *way_out(const char *where)
{
	return *where ? "log in as root, or start zcost there by sudo ('zcost = sudo -n zcost')"
		      : "use sudo";
}

int permit_check(const struct plan *p, const struct rights *r, const char *where, struct error *err)
{
	bool all = has(r->caps, SYS_ADMIN);

	if (p->passes & 1u << PASS_PROFILE && !all && !has(r->caps, PERFMON) && r->paranoid > 0)
		return error_set(err, EPERM,
				 "%sthe pass 'profile' samples whole CPUs, which needs root, or "
				 "CAP_PERFMON, or kernel.perf_event_paranoid at 0 or less (now "
				 "%d): %s, or leave the pass out: --pass measure",
				 where, r->paranoid, way_out(where));
	if (p->passes & 1u << PASS_SYSCALLS && !all &&
	    !(has(r->caps, BPF) && has(r->caps, PERFMON)) && r->paranoid > -1)
		return error_set(err, EPERM,
				 "%sthe pass 'syscalls' loads a BPF program, which needs root, or "
				 "CAP_BPF and CAP_PERFMON: %s, or leave the pass out: "
				 "--pass measure",
				 where, way_out(where));
	return 0;
}
