// SPDX-License-Identifier: GPL-2.0-only
#include "files.h"

#include <stdio.h>
#include <sys/resource.h>

/* The most that a mode has of its own and its socket; and what a program has besides. */
enum { OF_A_FLOW = 8, BESIDES = 64 };

void files_raise(const struct options *opt)
{
	rlim_t most = (rlim_t)opt->flows * OF_A_FLOW * (opt->rr ? 2 : 1) + BESIDES;
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) || rl.rlim_cur >= most)
		return;
	rl.rlim_cur = rl.rlim_max;
	setrlimit(RLIMIT_NOFILE, &rl); /* refused: then it stays a limit, see below */
}

const char *files_limit(void)
{
	static __thread char text[128];
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl))
		return "";
	snprintf(text, sizeof(text),
		 " (RLIMIT_NOFILE (ulimit -n) is %llu: raise it, or take fewer --flows)",
		 (unsigned long long)rl.rlim_cur);
	return text;
}
