// SPDX-License-Identifier: GPL-2.0-only
#include "limits.h"

#include <limits.h>
#include <linux/sock_diag.h>
#include <stdio.h>
#include <sys/resource.h>

/* A notification takes a struct sk_buff and the least head of one: below this. */
enum { NOTIFICATION = 1024, CAP_IPC_LOCK_BIT = 14 };

static unsigned long limits_read_number(const char *path)
{
	FILE *in = fopen(path, "r");
	unsigned long v = ULONG_MAX;

	if (in && fscanf(in, "%lu", &v) != 1)
		v = ULONG_MAX;
	if (in)
		fclose(in);
	return v;
}

static bool limits_may_lock_all(void)
{
	FILE *in = fopen("/proc/self/status", "r");
	unsigned long long caps = 0;
	char line[256];

	while (in && fgets(line, sizeof(line), in))
		if (sscanf(line, "CapEff: %llx", &caps) == 1)
			break;
	if (in)
		fclose(in);
	return caps >> CAP_IPC_LOCK_BIT & 1;
}

void limits_read(struct limits *l)
{
	struct rlimit rl;

	l->optmem_max = limits_read_number("/proc/sys/net/core/optmem_max");
	l->memlock = ULONG_MAX;
	if (!limits_may_lock_all() && !getrlimit(RLIMIT_MEMLOCK, &rl) &&
	    rl.rlim_cur != RLIM_INFINITY)
		l->memlock = rl.rlim_cur;
}

enum limit limits_hit(struct flow *f, const struct limits *l)
{
	uint32_t used[SK_MEMINFO_VARS] = {0};
	socklen_t len = sizeof(used);

	if (l->memlock == ULONG_MAX)
		return LIMIT_OPTMEM;
	if (CALL(f, GETSOCKOPT, getsockopt(f->fd, SOL_SOCKET, SO_MEMINFO, used, &len)))
		return LIMIT_MEMLOCK;
	return used[SK_MEMINFO_OPTMEM] + NOTIFICATION > l->optmem_max ? LIMIT_OPTMEM
								      : LIMIT_MEMLOCK;
}

const char *limits_text(const struct limits *l, enum limit which)
{
	static __thread char text[96];

	if (which == LIMIT_OPTMEM)
		snprintf(text, sizeof(text), "net.core.optmem_max is %lu", l->optmem_max);
	else
		snprintf(text, sizeof(text), "RLIMIT_MEMLOCK (ulimit -l) is %lu", l->memlock);
	return text;
}
