// SPDX-License-Identifier: GPL-2.0-only
#include "lib/cpuset.h"

#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/str.h"

#include <ctype.h>
#include <errno.h>

void cpuset_add(struct cpuset *set, unsigned int cpu)
{
	if (cpu < CPUSET_MAX)
		set->bits[cpu / 64] |= 1ULL << cpu % 64;
}

bool cpuset_has(const struct cpuset *set, unsigned int cpu)
{
	return cpu < CPUSET_MAX && set->bits[cpu / 64] >> cpu % 64 & 1;
}

unsigned int cpuset_count(const struct cpuset *set)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < CPUSET_MAX / 64; i++)
		n += (unsigned int)__builtin_popcountll(set->bits[i]);
	return n;
}

/* Parses the number at *p and moves *p behind it. Returns -1 for none or for one too large. */
static long cpuset_parse_number(const char **p)
{
	char *end;
	long n;

	if (!isdigit((unsigned char)**p))
		return -1;
	n = strtol(*p, &end, 10);
	*p = end;
	return n < CPUSET_MAX ? n : -1;
}

int cpuset_parse(struct cpuset *set, const char *text, struct error *err)
{
	const char *p = text;

	memset(set, 0, sizeof(*set));
	do {
		long first = cpuset_parse_number(&p), last = first;

		if (first >= 0 && *p == '-') {
			p++;
			last = cpuset_parse_number(&p);
		}
		if (first < 0 || last < first)
			break;
		for (; first <= last; first++)
			cpuset_add(set, (unsigned int)first);
		if (!*p || !strcmp(p, "\n"))
			return 0;
	} while (*p++ == ',');
	return error_set(err, EINVAL, "'%s' is not a set of CPUs; write it as 0-3,8", text);
}

int cpuset_online(struct cpuset *set, struct error *err)
{
	autofree char *text = NULL;

	return file_read("/sys/devices/system/cpu/online", &text, NULL, err)
		       ?: cpuset_parse(set, text, err);
}

char *cpuset_format(const struct cpuset *set)
{
	struct str s = {0};
	unsigned int end;

	for (unsigned int cpu = 0; cpu < CPUSET_MAX; cpu = end + 1) {
		end = cpu;
		if (!cpuset_has(set, cpu))
			continue;
		while (cpuset_has(set, end + 1))
			end++;
		str_printf(&s, "%s%u", s.len ? "," : "", cpu);
		if (end > cpu)
			str_printf(&s, "-%u", end);
	}
	return str_take(&s);
}
