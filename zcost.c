// SPDX-License-Identifier: GPL-2.0-only
/* The command table and nothing else. */
#include "lib/alloc.h"
#include "lib/command.h"
#include "lib/error.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>

/* Each is defined in the folder it belongs to; a new command is a prototype and a row. */
#ifndef OFFLINE
int cmd_collect(int argc, char **argv);
int cmd_capture(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
#endif
int cmd_analyze(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_history(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_push(int argc, char **argv);
int cmd_pack(int argc, char **argv);
int cmd_unpack(int argc, char **argv);

struct subcommand {
	const char *name, *what;
	/* Takes argv[0] "zcost NAME" and returns an enum exit_code. */
	int (*run)(int argc, char **argv);
};

static const struct subcommand commands[] = {
#ifndef OFFLINE
	{"collect", "run one workload on this host and measure it", cmd_collect},
	{"capture", "measure the variants of a plan, again and again, into a folder", cmd_capture},
	{"doctor", "what this host can measure and run, and what to change", cmd_doctor},
#endif
	{"analyze", "make or renew the store of a capture", cmd_analyze},
	{"report", "print a table of a capture or of a perf file", cmd_report},
	{"plot", "draw the charts of a capture, ready for a slide", cmd_plot},
	{"compare", "what changed from one variant to another, and whether it is real",
	 cmd_compare},
	{"history", "follow figures over many captures, and find their changes", cmd_history},
	{"export", "what other tools read: pprof, folded stacks, SQL, CSV", cmd_export},
	{"push", "send profiles to Pyroscope or OpenTelemetry, tables to ClickHouse", cmd_push},
	{"pack", "write a capture into one file, with checksums", cmd_pack},
	{"unpack", "make a capture folder from a packed file", cmd_unpack},
	{NULL, NULL, NULL},
};

static void usage(FILE *out)
{
	fprintf(out, "usage: zcost COMMAND [OPTION...]\n\n");
	for (size_t i = 0; commands[i].name; i++)
		fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].what);
	fprintf(out,
		"\n'zcost COMMAND --help' lists the options of a command, 'zcost help COMMAND' shows its manual page.\n'zcost --version' prints %s.\n",
		zcost_version);
}

/* The page of zcost itself. The other pages come from the commands. */
static int print_page(void)
{
	manual_print_name("zcost", "measure what a network transfer costs");
	printf("## Synopsis\n\n    zcost COMMAND [OPTION...]\n    zcost help [COMMAND|PAGE]\n\n## Commands\n\n");
	for (size_t i = 0; commands[i].name; i++)
		printf("- `zcost %s`: %s\n", commands[i].name, commands[i].what);
	return EXIT_OK;
}

/* Completes the name of a command, and behind `help` that of a manual page. */
static int complete_commands(const char *start, bool pages)
{
	freed(str_free) struct str lines = {0};

	for (size_t i = 0; commands[i].name; i++)
		complete_add(&lines, commands[i].name, commands[i].what);
	if (pages) {
		complete_add(&lines, "plan.ini", "the keys of a plan");
		complete_add(&lines, "tcpzc", "the workload generator");
		complete_add(&lines, "zcost-store", "the tables of a store");
	} else {
		complete_add(&lines, "help", "show the manual page of a command");
	}
	complete_print(&lines, "", start);
	return EXIT_OK;
}

static const struct subcommand *find(const char *name)
{
	for (size_t i = 0; commands[i].name; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static int refuse(const char *name)
{
	freed(str_free) struct str names = {0};

	for (size_t i = 0; commands[i].name; i++)
		str_printf(&names, "%s ", commands[i].name);
	if (*name == '-')
		fprintf(stderr,
			"zcost: '%s': options come after the command: zcost COMMAND [OPTION...]\n",
			name);
	else if (str_matches_any("collect capture doctor", name)) /* a build with OFFLINE=1 */
		fprintf(stderr,
			"zcost: this is the laptop's half of zcost (package zcost-offline, or built with OFFLINE=1), without '%s'; on the test host install the package zcost, or build with 'make'\n",
			name);
	else
		fprintf(stderr, "zcost: unknown command '%s'; %s'zcost --help' lists them\n", name,
			did_you_mean(names.buf, name));
	return EXIT_USAGE;
}

/* A full disk or a closed pipe must not pass for success. */
static int checked_stdout(int code)
{
	errno = 0; /* that of a write long ago is lost */
	if (!fflush(stdout) && !ferror(stdout))
		return code;
	fprintf(stderr, "zcost: standard output: %s\n",
		errno ? strerror(errno) : "an earlier write failed");
	return code ? code : EXIT_FAILED;
}

int main(int argc, char **argv)
{
	const struct subcommand *cmd;
	char help[] = "--help", complete[] = "--complete", *name;
	int code;

	argp_err_exit_status = EXIT_USAGE;
	signal(SIGCHLD, SIG_DFL); /* a caller that ignores it would have our children reaped */
	signal(SIGXFSZ,
	       SIG_IGN); /* at the limit for file sizes, write() fails with EFBIG instead */
	json_set_alloc_funcs(xmalloc, free); /* or a lack of memory drops members of an object */
	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--man"))
		return checked_stdout(print_page());
	if (!strcmp(argv[1], "--complete") && (argc < 4 || !strcmp(argv[2], "help")))
		return checked_stdout(complete_commands(argc > 2 ? argv[argc - 1] : "",
							argc > 3 && !strcmp(argv[2], "help")));
	if (!strcmp(argv[1], "--complete")) {
		argv[1] = argv[2]; /* zcost COMMAND --complete WORD... */
		argv[2] = complete;
	}
	if (!strcmp(argv[1], "help") && argc > 2) {
		manual_show(argv[2]);
		argv[1] = argv[2]; /* there is no page to show, or no man */
		argv[2] = help;
	} else if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
		   !strcmp(argv[1], "help")) {
		usage(stdout);
		return checked_stdout(EXIT_OK);
	}
	if (!strcmp(argv[1], "--version")) {
		/* `zcost capture` reads the first line of a remote zcost; the others are indented.
		 */
		printf("zcost %s\n  features: %s\n  libraries: %s\n", zcost_version, FEATURES,
		       LIBRARIES);
		return checked_stdout(EXIT_OK);
	}
	cmd = find(argv[1]);
	if (!cmd && argv[2] == help) {
		fprintf(stderr,
			"zcost: '%s' is neither an installed manual page nor a command; 'zcost --help' lists the commands\n",
			argv[1]);
		return EXIT_USAGE;
	}
	if (!cmd)
		return refuse(argv[1]);
	if (argc == 3 && !strcmp(argv[2], "--man")) {
		name = xasprintf("zcost-%s", cmd->name);
		manual_print_name(name, cmd->what);
		free(name);
	}
	name = xasprintf("zcost %s", cmd->name);
	argv[1] = name;
	code = cmd->run(argc - 1, argv + 1);
	return checked_stdout(code);
}
