// SPDX-License-Identifier: GPL-2.0-only
/* The program: options, limits, all flows, an exit code. */
#include "run.h"

#include <stdlib.h>

/* The most files that a mode and its socket have open, and those of the rest of the program. */
enum { FILES_PER_FLOW = 8, FILES_OF_PROGRAM = 64 };

int main(int argc, char **argv)
{
	struct options opt;
	struct run r = {.opt = &opt};
	struct rlimit rl;
	rlim_t most;

	options_parse(&opt, argc, argv);
	/* Raises the soft limit on open files to the hard limit when the flows may need more. */
	most = (rlim_t)opt.flows * FILES_PER_FLOW * (opt.rr ? 2 : 1) + FILES_OF_PROGRAM;
	if (!getrlimit(RLIMIT_NOFILE, &rl) && rl.rlim_cur < most) {
		rl.rlim_cur = rl.rlim_max;
		setrlimit(RLIMIT_NOFILE, &rl); /* without it, flow_fail names the limit */
	}
	return run_all(&r) ? EXIT_FAILURE : EXIT_SUCCESS;
}
