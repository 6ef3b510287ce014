// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/model/slice.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

enum { NS_DIGITS = 9 };

int time_point_parse(struct time_point *p, const char *text)
{
	bool relative = *text == '+';
	const char *at = text + relative;
	uint64_t seconds, ns = 0;
	int digits = 0;
	char *end;

	if (!isdigit((unsigned char)*at))
		return -EINVAL;
	errno = 0;
	seconds = strtoull(at, &end, 10);
	if (errno || seconds > UINT64_MAX / 2000000000)
		return -EINVAL;
	if (*end == '.')
		for (end++; isdigit((unsigned char)*end); end++)
			if (digits++ < NS_DIGITS)
				ns = ns * 10 + (uint64_t)(*end - '0');
	if (*end)
		return -EINVAL;
	for (; digits < NS_DIGITS; digits++)
		ns *= 10;
	*p = (struct time_point){seconds * 1000000000 + ns, true, relative};
	return 0;
}

bool slice_given(const struct time_slice *s)
{
	return s->from.given || s->to.given;
}

int slice_check(const struct time_slice *s, struct error *err)
{
	if (s->from.given && s->to.given && s->from.ns >= s->to.ns)
		return error_set(err, EINVAL, "--to is not after --from");
	if (s->to.given && !s->to.ns)
		return error_set(err, EINVAL, "--to 0 selects nothing");
	return 0;
}
