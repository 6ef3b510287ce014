// SPDX-License-Identifier: GPL-2.0-only
/* The program: its options, all flows, an exit code. */
#include "files.h"
#include "nic_setup.h"
#include "run.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
	struct options opt;
	struct run r = {.opt = &opt};

	options_parse(&opt, argc, argv);
	if (opt.print_setup) {
		nic_setup_print(opt.nic ? opt.nic : "IF", opt.queue, opt.flows, opt.port);
		return EXIT_SUCCESS;
	}
	files_raise(&opt);
	return run_all(&r) ? EXIT_FAILURE : EXIT_SUCCESS;
}
