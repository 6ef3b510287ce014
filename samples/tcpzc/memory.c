// SPDX-License-Identifier: GPL-2.0-only
/* Buffers that pages can be pinned of, and the limits that pinning runs into. */
#include "huge.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { SMALL = 64 << 10 /* not worth a huge page */ };

void *memory_get(struct flow *f, size_t size)
{
	void *p;

	if (f->opt->huge_pages && size >= SMALL)
		return huge_get(f, size);
	p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1,
		 0);

	if (p == MAP_FAILED) {
		flow_fail(f, errno, "%zu bytes of memory", size);
		return NULL;
	}
	memset(p, 'z', size); /* pages of its own, not the zero page */
	return p;
}

void memory_put(struct flow *f, void *p, size_t size)
{
	if (p && !huge_put(f, p))
		munmap(p, size);
}

const char *memory_limits(void)
{
	static __thread char text[128];
	FILE *in = fopen("/proc/sys/net/core/optmem_max", "r");
	unsigned long optmem;
	struct rlimit rl;
	int n = 0;

	if (in && fscanf(in, "%lu", &optmem) == 1)
		n = snprintf(text, sizeof(text), "net.core.optmem_max is %lu", optmem);
	if (in)
		fclose(in);
	if (!getrlimit(RLIMIT_MEMLOCK, &rl) && rl.rlim_cur != RLIM_INFINITY)
		snprintf(text + n, sizeof(text) - (size_t)n, "%sRLIMIT_MEMLOCK (ulimit -l) is %llu",
			 n ? ", " : "", (unsigned long long)rl.rlim_cur);
	return text;
}
