// SPDX-License-Identifier: GPL-2.0-only
#include "lib/command.h"

#include "lib/complete.h"
#include "lib/error.h"
#include "lib/manual.h"
#include "lib/table_layout.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

void args_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input)
{
	error_t code;

	complete_run(argp, argc, argv, NULL, NULL);
	if (argc == 2 && !strcmp(argv[1], "--man")) {
		manual_print(argp, argv[0], input);
		exit(fflush(stdout) ? EXIT_FAILED : EXIT_OK);
	}
	code = argp_parse(argp, argc, argv, flags, NULL, input);
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
	while ((line = fit_line(&what, HELP_WIDTH - 1 - (int)column, &len))) {
		if (!first)
			str_printf(s, "\n%*s", (int)column, "");
		str_add(s, line, len);
		first = false;
	}
	str_putc(s, '\n');
}
