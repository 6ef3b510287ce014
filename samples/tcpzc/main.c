// SPDX-License-Identifier: GPL-2.0-only
/* The program: options, limits, all flows, an exit code. */
#include "run.h"

#include "lib/spawn.h"

int main(int argc, char **argv)
{
	struct options opt;
	struct run r = {.opt = &opt};

	options_parse(&opt, argc, argv);
	spawn_raise_files(); /* a flow may open eight; flow_fail names a limit that is too low */
	return run_all(&r) ? EXIT_FAILURE : EXIT_SUCCESS;
}
