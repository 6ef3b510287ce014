// SPDX-License-Identifier: GPL-2.0-only
/* The program: its options, all flows, an exit code. */
#include "run.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
	struct options opt;
	struct run r = {.opt = &opt};

	options_parse(&opt, argc, argv);
	return run_all(&r) ? EXIT_FAILURE : EXIT_SUCCESS;
}
