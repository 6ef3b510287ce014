// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/rates.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double multiple(char **p)
{
	static const char names[] = "kMG";
	const char *at = **p ? strchr(names, **p) : NULL;

	if (!at)
		return 1;
	++*p;
	return pow(1000, (double)(at - names + 1));
}

static bool one_rate(const char *text, double *rate)
{
	double bytes;
	char *end;

	*rate = strtod(text, &end);
	if (end == text)
		return false;
	*rate *= multiple(&end);
	if (str_starts(end, "bit/")) {
		text = end + 4;
		bytes = strtod(text, &end);
		if (end == text || !(bytes > 0))
			return false;
		*rate /= 8 * bytes;
	}
	return !*end && isfinite(*rate) && *rate > 0;
}

int rates_parse(const char *text, double rates[RATES_MAX], struct error *err)
{
	char *copy = xstrdup(text), *rest = copy, *word;
	int n = 0;

	while (n >= 0 && (word = str_token(&rest, ','))) {
		if (n == RATES_MAX)
			n = error_set(err, EINVAL, "at most %d rates", RATES_MAX);
		else if (!one_rate(word, &rates[n]))
			n = error_set(err, EINVAL,
				      "'%s' is no rate above 0, as 8165032, 8.1M or 100Gbit/1536",
				      word);
		else
			n++;
	}
	free(copy);
	return n;
}
