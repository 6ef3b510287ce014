// SPDX-License-Identifier: GPL-2.0-only
#include "lib/command.h"

#include "lib/error.h"
#include "lib/alloc.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char zcost_version[] = ZCOST_VERSION;

enum { HELP_WIDTH = 79 }; /* the width that argp uses without ARGP_HELP_FMT */

/* Returns NAN if the text is not a finite number. */
static double arg_parse_number(const char *arg)
{
	char *end;
	double x = strtod(arg, &end);

	return end == arg || *end || !isfinite(x) ? NAN : x;
}

double arg_above_0(const struct argp_state *state, const char *option, const char *arg)
{
	double x = arg_parse_number(arg);

	if (!(x > 0))
		argp_error(state, "%s '%s' is not a number above 0", option, arg);
	return x;
}

double arg_from_0(const struct argp_state *state, const char *option, const char *arg)
{
	double x = arg_parse_number(arg);

	if (!(x >= 0))
		argp_error(state, "%s '%s' is not a number of at least 0", option, arg);
	return x;
}

long arg_whole(const struct argp_state *state, const char *option, const char *arg, long least,
	       long most)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(arg, &end, 10);
	if (end == arg || *end || errno || n < least || n > most)
		argp_error(state, "%s '%s' is not a whole number from %ld to %ld", option, arg,
			   least, most);
	return n;
}

void arg_error(const struct argp_state *state, const char *fmt, ...)
{
	char *prefix = xasprintf("%s: ", state->name);
	char *text;
	va_list ap;

	va_start(ap, fmt);
	text = vasprintf(&text, fmt, ap) < 0 ? NULL : text;
	va_end(ap);
	message_print(prefix, text ? text : fmt);
	free(text);
	free(prefix);
	argp_state_help(state, stderr, ARGP_HELP_STD_ERR);
	exit(argp_err_exit_status); /* not reached: no command sets ARGP_NO_EXIT */
}

static error_t help_parse(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key != 'h')
		return ARGP_ERR_UNKNOWN;
	argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
	return 0;
}

/* argp has -? only. */
static const struct argp_option help_options[] = {{.key = 'h', .flags = OPTION_HIDDEN}, {0}};
static const struct argp help_argp = {.options = help_options, .parser = help_parse};

void args_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input)
{
	struct argp with_help = *argp;
	struct argp_child *children;
	size_t n = 0;
	error_t code;

	complete_run(argp, argc, argv, NULL, NULL);
	if (argc == 2 && !strcmp(argv[1], "--man")) {
		manual_print(argp, argv[0], input);
		exit(fflush(stdout) ? EXIT_FAILED : EXIT_OK);
	}
	while (argp->children && argp->children[n].argp)
		n++;
	children = xcalloc(n + 2, sizeof(*children));
	if (n)
		memcpy(children, argp->children, n * sizeof(*children));
	children[n].argp = &help_argp;
	with_help.children = children;
	code = argp_parse(&with_help, argc, argv, flags, NULL, input);
	free(children);
	if (!code)
		return;
	warn("%s: cannot read the arguments: %s", argv[0], strerror(code));
	exit(EXIT_FAILED);
}

void args_help_line(struct str *s, size_t column, const char *name, const char *what)
{
	const char *line;
	bool first = true;
	size_t len;

	str_printf(s, "  %-*s", (int)column - 2, name);
	while ((line = str_line(&what, HELP_WIDTH - 1 - (int)column, &len))) {
		if (!first)
			str_printf(s, "\n%*s", (int)column, "");
		str_add(s, line, len);
		first = false;
	}
	str_putc(s, '\n');
}
