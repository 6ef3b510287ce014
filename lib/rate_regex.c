// SPDX-License-Identifier: GPL-2.0-only
#include "lib/rate_regex.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <errno.h>
#include <string.h>

static const char *const rate_prefixes[] = {
	[RATE_MESSAGES] = "messages=",
	[RATE_BYTES] = "bytes=",
	[RATE_PACKETS] = "packets=",
};

const char *rate_regex_skip(const char *text, enum rate_of *of)
{
	size_t i;

	*of = RATE_MESSAGES;
	for (i = 0; i < array_size(rate_prefixes); i++) {
		if (!str_starts(text, rate_prefixes[i]))
			continue;
		*of = (enum rate_of)i;
		return text + strlen(rate_prefixes[i]);
	}
	return text;
}

int rate_regex_compile(regex_t *re, const char *pattern, struct error *err)
{
	int rc = regcomp(re, pattern, REG_EXTENDED);
	char why[128];

	if (rc) {
		regerror(rc, re, why, sizeof(why));
		return error_set(err, EINVAL, "'%s' is not an extended regular expression: %s",
				 pattern, why);
	}
	if (re->re_nsub)
		return 0;
	regfree(re);
	return error_set(err, EINVAL, "'%s' has no (group) around the number to take", pattern);
}
