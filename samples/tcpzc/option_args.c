// SPDX-License-Identifier: GPL-2.0-only
#include "option_args.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint64_t option_parse_number(struct argp_state *state, const char *name, const char *arg,
			     uint64_t min, uint64_t max, bool suffixes)
{
	const char *known = suffixes ? "kMG" : "", *suffix;
	uint64_t v;
	char *end;

	errno = 0;
	v = strtoull(arg, &end, 10);
	if (end == arg || *arg == '-' || errno)
		argp_error(state, "--%s: '%s' is not a number", name, arg);
	suffix = *end ? strchr(known, *end == 'K' ? 'k' : *end) : NULL;
	if (*end && (!suffix || end[1]))
		argp_error(state, "--%s: '%s': a number%s", name, arg,
			   suffixes ? ", then k, M or G" : "");
	if (suffix) {
		int shift = 10 * (int)(suffix - known + 1);

		v = v > UINT64_MAX >> shift ? UINT64_MAX : v << shift;
	}
	if (v < min || v > max)
		argp_error(state, "--%s: %s is not within %llu to %llu", name, arg,
			   (unsigned long long)min, (unsigned long long)max);
	return v;
}

/* The machine has it, online or not; or nobody knows. */
static bool cpu_exists(unsigned long cpu)
{
	static const char folder[] = "/sys/devices/system/cpu";
	char path[sizeof(folder) + 32];

	snprintf(path, sizeof(path), "%s/cpu%lu", folder, cpu);
	return !access(path, F_OK) || access(folder, F_OK);
}

void option_parse_cpus(struct argp_state *state, const char *name, const char *arg, cpu_set_t *set)
{
	const char *p = arg;

	CPU_ZERO(set);
	for (;; p++) {
		char *end;
		unsigned long from = strtoul(p, &end, 10), to = from;
		bool number = isdigit((unsigned char)*p);

		if (number && *end == '-') {
			p = end + 1;
			number = isdigit((unsigned char)*p);
			to = strtoul(p, &end, 10);
		}
		if (!number || (*end && *end != ',') || to < from || to >= CPU_SETSIZE)
			argp_error(state, "--%s: '%s' is no list of CPUs like 1 or 0-3,8", name,
				   arg);
		for (; from <= to; from++) {
			if (!cpu_exists(from))
				argp_error(state, "--%s: there is no CPU %lu here, of %ld in all",
					   name, from, sysconf(_SC_NPROCESSORS_CONF));
			CPU_SET(from, set);
		}
		p = end;
		if (!*p)
			return;
	}
}

/* What may follow the number; `messages` only where they are asked for. */
static const struct unit {
	const char *name;
	double bytes;
	bool messages;
} units[] = {
	{"", 1, false},		 {"B/s", 1, false},  {"bit/s", 1.0 / 8, false},
	{"bit", 1.0 / 8, false}, {"msg/s", 1, true}, {"msg", 1, true},
};

double option_parse_rate(struct argp_state *state, const char *name, const char *arg,
			 bool *messages)
{
	static const char powers[] = "kMGT";
	const struct unit *u = units, *end = units + sizeof(units) / sizeof(units[0]);
	const char *power;
	double v;
	char *rest;

	v = strtod(arg, &rest);
	power = *rest ? strchr(powers, *rest == 'K' ? 'k' : *rest) : NULL;
	if (power)
		v *= pow(1000, (double)(power - powers) + 1), rest++;
	while (u < end && (strcmp(u->name, rest) || (u->messages && !messages)))
		u++;
	if (rest == arg || u == end || !isfinite(v) || v <= 0)
		argp_error(state, "--%s: '%s' is no rate like 100M, 10Gbit/s%s", name, arg,
			   messages ? " or 5000msg/s" : "");
	if (messages)
		*messages = u->messages;
	return v * u->bytes;
}

double option_parse_seconds(struct argp_state *state, const char *name, const char *arg)
{
	char *end;
	double v = strtod(arg, &end);

	if (end == arg || *end || !isfinite(v) || v <= 0 || v > 1e6)
		argp_error(state, "--%s: '%s' is not a number of seconds above 0", name, arg);
	return v;
}

const struct mode *option_parse_mode(struct argp_state *state, const char *name,
				     const struct mode *const *modes, const char *arg)
{
	const struct mode *m = mode_find(modes, arg);
	char known[512] = "";

	for (; !m && *modes; modes++) {
		strncat(known, " ", sizeof(known) - strlen(known) - 1);
		strncat(known, (*modes)->name, sizeof(known) - strlen(known) - 1);
	}
	if (!m)
		argp_error(state, "--%s: no mode '%s'; there are:%s", name, arg, known);
	return m;
}
