// SPDX-License-Identifier: GPL-2.0-only
#include "lib/args.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* NaN: it is none. */
static double number(const char *arg)
{
	char *end;
	double x = strtod(arg, &end);

	return end == arg || *end || !isfinite(x) ? NAN : x;
}

double arg_above_0(const struct argp_state *state, const char *option, const char *arg)
{
	double x = number(arg);

	if (!(x > 0))
		argp_error(state, "%s '%s' is not a number above 0", option, arg);
	return x;
}

double arg_from_0(const struct argp_state *state, const char *option, const char *arg)
{
	double x = number(arg);

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
