// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/ingest/power_kinds.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* THE TABLE of kinds; the first row that fits. */
static const struct {
	const char *source, *domain, *kind;
} kinds[] = {
	{"powercap", "psys*", "platform"},
	{"powercap", "*", "package"},
	{"perf", "psys*", "platform"},
	{"perf", "*", "package"},
	{"hwmon", "power_meter@*", "wall"},
	{"hwmon", "fam15h_power@*", "package"},
	{"hwmon", "*", "other"},
	{"ipmi", "*", "wall"},
};

/* Of the sources of one kind the first one makes its total: what was asked for by hand, then what
 * is nearest to the meter. */
static const char *const order[] = {"csv", "command", "ipmi", "hwmon", "powercap", "perf"};

static const char *const totals[] = {"wall", "platform", "package"};

const char *power_kind_of(const char *source, const char *domain)
{
	size_t i;

	for (i = 0; i < array_size(kinds); i++)
		if (!strcmp(kinds[i].source, source) && !fnmatch(kinds[i].domain, domain, 0))
			return kinds[i].kind;
	return "other";
}

bool power_kind_known(const char *kind)
{
	size_t i;

	for (i = 0; i < array_size(totals); i++)
		if (!strcmp(kind, totals[i]))
			return true;
	return !strcmp(kind, "other");
}

static bool power_name_is_taken(const struct ingest *in, const char *kind, const char *source,
				const char *domain)
{
	size_t i;

	for (i = 0; i < in->npower; i++)
		if (!strcmp(in->power[i].kind, kind) && !strcmp(in->power[i].source, source) &&
		    !strcmp(in->power[i].domain, domain))
			return true;
	return false;
}

/* Two meters' logs may have one name. */
void power_add(struct ingest *in, const char *kind, const char *source, const char *domain,
	       double watts, const char *how)
{
	char *name = xstrdup(domain);
	int k;

	for (k = 2; power_name_is_taken(in, kind, source, name); k++) {
		free(name);
		name = xasprintf("%s (%d)", domain, k);
	}
	array_grow(in->power, in->npower, in->power_cap);
	in->power[in->npower++] = (struct ingest_power){arena_strdup(&in->arena, kind),
							arena_strdup(&in->arena, source),
							arena_strdup(&in->arena, name), how, watts};
	free(name);
}

static void power_add_domain_metric(struct ingest *in, const struct ingest_power *p)
{
	char *name = xasprintf("power_w:%s/%s/%s", p->kind, p->source, p->domain);

	ingest_metric(in, name, "W", p->watts, p->how);
	free(name);
}

/* RAPL counts cores and the graphics within their package once more. */
static bool domain_is_part(const char *domain)
{
	const char *slash = strrchr(domain, '/'), *leaf = slash ? slash + 1 : domain;

	return str_starts(leaf, "core") || str_starts(leaf, "uncore");
}

static const char *power_find_source(const struct ingest *in, const char *kind)
{
	size_t o, i;

	for (o = 0; o < array_size(order); o++)
		for (i = 0; i < in->npower; i++)
			if (!strcmp(in->power[i].kind, kind) &&
			    !strcmp(in->power[i].source, order[o]))
				return order[o];
	return NULL;
}

static void power_add_total_metrics(struct ingest *in, const char *kind, double watts,
				    const char *how)
{
	char *name = xasprintf("power_w:%s", kind), *joules = xasprintf("energy_j:%s", kind);

	ingest_metric(in, name, "W", watts, how);
	ingest_metric(in, joules, "J", watts * (double)(in->run.end_ns - in->run.start_ns) / 1e9,
		      how);
	free(joules);
	free(name);
}

/* One domain that is missing makes the total missing: NAN goes through the sum. */
static void power_add_total(struct ingest *in, const char *kind)
{
	const char *source = power_find_source(in, kind), *how = NULL;
	struct str used = {0};
	double watts = 0;
	size_t i;

	for (i = 0; source && i < in->npower; i++) {
		const struct ingest_power *p = &in->power[i];

		if (strcmp(p->kind, kind) || strcmp(p->source, source) || domain_is_part(p->domain))
			continue;
		watts += p->watts;
		how = p->how;
		str_printf(&used, "%s%s", used.len ? " + " : "", p->domain);
	}
	if (used.len && isfinite(watts)) {
		power_add_total_metrics(in, kind, watts, how);
		note_add(&in->notes, power_kind_used, kind, used.buf, source);
	}
	str_free(&used);
}

void power_put(struct ingest *in)
{
	size_t i;

	for (i = 0; i < in->npower; i++)
		power_add_domain_metric(in, &in->power[i]);
	for (i = 0; i < array_size(totals); i++)
		power_add_total(in, totals[i]);
}
