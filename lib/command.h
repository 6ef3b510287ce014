/* SPDX-License-Identifier: GPL-2.0-only */
/* A row of the command table in zcost.c. */
#ifndef ZC_COMMAND_H
#define ZC_COMMAND_H

struct command {
	const char *name, *what;
	/* argv[0] is "zcost NAME"; returns an enum exit_code. */
	int (*run)(int argc, char **argv);
};

extern const char zcost_version[];

#endif
