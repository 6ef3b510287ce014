// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/counters_ratios.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <stdio.h>
#include <string.h>

/* THE TABLE of ratios. Any other "<what>-misses" is taken by "<what>s" or "<what>". */
static const struct {
	const char *over, *under[2], *name, *unit;
	double scale;
} ratios[] = {
	{"instructions", {"cycles", "cpu-cycles"}, "ipc", "1/cycle", 1},
	{"cache-misses", {"cache-references"}, "cache_miss_pct", "%", 100},
	{"branch-misses", {"branches", "branch-instructions"}, "branch_miss_pct", "%", 100},
	{"stalled-cycles-frontend", {"cycles", "cpu-cycles"}, "frontend_stalled_pct", "%", 100},
	{"stalled-cycles-backend", {"cycles", "cpu-cycles"}, "backend_stalled_pct", "%", 100},
};

/* "cpu_core/instructions/k" is "cpu_core/", "instructions" and "/k"; "cycles:k" has ":k". */
struct ratio_parts {
	char before[48], name[64], after[32];
};

static bool ratio_take(char *to, size_t size, const char *from, size_t n)
{
	if (n >= size)
		return false;
	memcpy(to, from, n);
	to[n] = 0;
	return true;
}

static bool ratio_split(const char *event, struct ratio_parts *p)
{
	const char *slash = strchr(event, '/'), *name = slash ? slash + 1 : event;
	size_t n = strcspn(name, ":/");

	return n && ratio_take(p->before, sizeof(p->before), event, (size_t)(name - event)) &&
	       ratio_take(p->name, sizeof(p->name), name, n) &&
	       ratio_take(p->after, sizeof(p->after), name + n, strlen(name + n));
}

static bool ratio_counted(const struct ratio_parts *p, const char *name, double *value,
			  counter_value_fn value_of, const void *arg)
{
	char event[160];

	snprintf(event, sizeof(event), "%s%s%s", p->before, name, p->after);
	return value_of(arg, event, value) && *value > 0;
}

/* A name for people: "/" of a PMU stays, its closing one goes. */
static void name_ratio(struct counter_ratio *r, const struct ratio_parts *p, const char *name)
{
	snprintf(r->name, sizeof(r->name), "%s%s%s", p->before, name,
		 strcmp(p->after, "/") ? p->after : "");
}

static bool any_misses(struct counter_ratio *r, const struct ratio_parts *p, double value,
		       counter_value_fn value_of, const void *arg)
{
	size_t n = strlen(p->name) - strlen("-misses");
	char stem[72];
	double under;

	snprintf(stem, sizeof(stem), "%.*ss", (int)n, p->name);
	if (!ratio_counted(p, stem, &under, value_of, arg)) {
		stem[n] = 0;
		if (!ratio_counted(p, stem, &under, value_of, arg))
			return false;
	}
	snprintf(stem, sizeof(stem), "%.*s_miss_pct", (int)(n < 60 ? n : 60), p->name);
	name_ratio(r, p, stem);
	r->unit = "%";
	r->value = 100 * value / under;
	return true;
}

bool counter_ratio(struct counter_ratio *r, const char *event, double value,
		   counter_value_fn value_of, const void *arg)
{
	struct ratio_parts p;
	double under;
	size_t i, k;

	if (!ratio_split(event, &p))
		return false;
	for (i = 0; i < array_size(ratios); i++) {
		if (strcmp(ratios[i].over, p.name))
			continue;
		for (k = 0; k < array_size(ratios[i].under) && ratios[i].under[k]; k++) {
			if (!ratio_counted(&p, ratios[i].under[k], &under, value_of, arg))
				continue;
			name_ratio(r, &p, ratios[i].name);
			r->unit = ratios[i].unit;
			r->value = ratios[i].scale * value / under;
			return true;
		}
		return false;
	}
	return str_ends(p.name, "-misses") && any_misses(r, &p, value, value_of, arg);
}
