// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/power.h"

#include "analyze/measures/shared_cpus.h"
#include "lib/alloc.h"
#include "lib/str.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const power_source_names[] = {
	[POWER_NONE] = NULL,	 [POWER_MEASURED] = "measured", [POWER_IMPORTED] = "imported",
	[POWER_GIVEN] = "given", [POWER_MODELLED] = "modelled",
};

const char *const power_kind_names[4] = {"wall", "platform", "package", NULL};

int power_kind_check(const char *name, struct error *err)
{
	int i;

	for (i = 0; power_kind_names[i]; i++)
		if (!strcmp(power_kind_names[i], name))
			return 0;
	return error_set(err, EINVAL, "no kind of power '%s'; there are wall, platform and package",
			 name);
}

bool power_has_kind(struct store *s, const struct query *q, const char *kind)
{
	char name[32];

	snprintf(name, sizeof(name), "power_w:%s", kind);
	return store_has_metric(s, name, q->variant);
}

const char *power_kind(struct store *s, const struct query *q)
{
	int i;

	if (q->power_kind)
		return q->power_kind;
	for (i = 0; power_kind_names[i]; i++)
		if (power_has_kind(s, q, power_kind_names[i]))
			return power_kind_names[i];
	return NULL;
}

void power_note_kinds(struct store *s, const struct query *q, struct table *t)
{
	const char *used = power_kind(s, q);
	struct str others = {0};
	int i;

	for (i = 0; used && power_kind_names[i]; i++)
		if (strcmp(power_kind_names[i], used) && power_has_kind(s, q, power_kind_names[i]))
			str_printf(&others, "%s%s", others.len ? ", " : "", power_kind_names[i]);
	if (others.len)
		note_add(&t->notes, power_kind, used, others.buf);
	str_free(&others);
}

static bool power_same_host(const struct run *a, const struct run *b)
{
	return a->host && b->host ? !strcmp(a->host, b->host) : a == b;
}

/* The meter stands at the host: any side of this repeat on it may hold its figure. */
static bool power_metered(struct store *s, const struct run *side, struct power *p)
{
	struct run_filter f = {side->variant, side->pass, NULL, side->repeat, false};
	const char *source;
	struct run *all;
	char name[32];
	bool found;
	int n, i;

	if (!p->kind)
		return false;
	snprintf(name, sizeof(name), "power_w:%s", p->kind);
	found = store_metric(s, side->id, name, &p->watts, &source);
	n = found ? 0 : store_runs(s, &f, &all, NULL);
	for (i = 0; i < n && !found; i++)
		found = power_same_host(&all[i], side) &&
			store_metric(s, all[i].id, name, &p->watts, &source);
	if (n > 0)
		free(all);
	if (found)
		p->source = !strcmp(source, "modelled")	  ? POWER_MODELLED
			    : !strcmp(source, "imported") ? POWER_IMPORTED
							  : POWER_MEASURED;
	return found;
}

/* A host's power by the model: idle once, and the use of the CPUs of the sides on it, each once. */
static bool power_modelled(struct store *s, const struct query *q, const struct run *const sides[],
			   int n, int first, struct power *p)
{
	double cpu = 0;
	int i;

	if (!(q->model_idle > 0) && !(q->model_per_cpu > 0))
		return false;
	for (i = first; i < n; i++)
		if (power_same_host(sides[i], sides[first]))
			cpu += cpu_pct_besides(s, sides, i);
	p->watts = q->model_idle + q->model_per_cpu * cpu / 100;
	p->source = POWER_MODELLED;
	p->kind = NULL;
	return !isnan(p->watts);
}

static bool is_shared(struct store *s, const struct run *const sides[], int n)
{
	struct run_filter f = {sides[0]->variant, sides[0]->pass, NULL, sides[0]->repeat, false};
	struct run *all;
	int count = store_runs(s, &f, &all, NULL), on_host = 0, i, k;

	for (i = 0; i < count; i++)
		for (k = 0; k < n; k++)
			if (power_same_host(&all[i], sides[k])) {
				on_host++;
				break;
			}
	if (count >= 0)
		free(all);
	return on_host > n;
}

static const struct power none = {NAN, POWER_NONE, NULL, false};

struct power power_of(struct store *s, const struct query *q, const struct run *const sides[],
		      int n)
{
	const char *kind = power_kind(s, q);
	struct power all = none, one;
	double watts = 0;
	int i, k;

	for (i = 0; i < n; i++) {
		for (k = 0; k < i && !power_same_host(sides[k], sides[i]); k++)
			;
		if (k < i)
			continue;
		one = none;
		one.kind = kind;
		if (!power_metered(s, sides[i], &one) && !power_modelled(s, q, sides, n, i, &one))
			return none;
		watts += one.watts;
		if (one.source > all.source) {
			all.source = one.source;
			all.kind = one.kind;
		}
	}
	if (!n)
		return all;
	all.watts = watts;
	all.shared = is_shared(s, sides, n);
	return all;
}
