// SPDX-License-Identifier: GPL-2.0-only

#include "analyze/measures/basis.h"
#include "analyze/measures/scope.h"
#include "lib/str.h"

#include <errno.h>
#include <string.h>

/* The list of measures, in the order of --help. */
// clang-format off
#define MEASURES(row) \
	row(summary) \
	row(variants) \
	row(runs) \
	row(passes) \
	row(functions) \
	row(components) \
	row(groups) \
	row(callers) \
	row(callees) \
	row(hotspots) \
	row(contexts) \
	row(modules) \
	row(syscalls) \
	row(cpu) \
	row(roi) \
	row(scores) \
	row(rates) \
	row(zerocopy) \
	row(limits) \
	row(host) \
	row(topology) \
	row(counters) \
	row(power) \
	row(softnet) \
	row(tcp) \
	row(idle) \
	row(irq) \
	row(nic) \
	row(snmp) \
	row(sockstat) \
	row(sizes) \
	row(sched) \
	row(timeline)
// clang-format on

#define DECLARATION(name) extern const struct measure measure_##name;
#define ADDRESS(name)	  &measure_##name,

MEASURES(DECLARATION)
static const struct measure *const measures[] = {MEASURES(ADDRESS)};

const struct measure *measure_at(size_t i)
{
	return i < array_size(measures) ? measures[i] : NULL;
}

const struct measure *measure_find(const char *name)
{
	size_t i;

	for (i = 0; i < array_size(measures); i++)
		if (!strcmp(measures[i]->name, name))
			return measures[i];
	return NULL;
}

const struct measure *measure_by(const struct measure *m, const struct query *q)
{
	bool other = m->by && q->by && (!m->by_key || !strcmp(q->by, m->by_key));

	return other ? m->by : m;
}

static int measure_unknown(const char *name, struct error *err)
{
	struct str names = {0};
	size_t i;
	int rc;

	for (i = 0; i < array_size(measures); i++)
		str_printf(&names, "%s%s", i ? " " : "", measures[i]->name);
	rc = error_set(err, EINVAL, "no table '%s'; the tables are: %s", name, names.buf);
	str_free(&names);
	return rc;
}

int measure_run(const char *name, struct store *store, const struct query *q, struct table *t,
		struct error *err)
{
	const struct measure *named = measure_find(name), *m = named ? measure_by(named, q) : NULL;
	int rc;

	table_init(t, named ? named->name : name, m ? m->columns : NULL, m ? m->ncolumns : 0);
	if (!m)
		return measure_unknown(name, err);
	t->least = m->spare;
	if (!store && !m->options[SOURCE_PERF] && !m->options[SOURCE_TEXT] &&
	    !m->options[SOURCE_NUMBERS])
		return error_set(err, EINVAL,
				 "table '%s' is made from a capture, not from a bare file", name);
	rc = store && q->unit ? basis_require_unit(store, q, err) : 0;
	if (!rc)
		rc = m->run(store, q, t, err);
	if (rc || !store)
		return rc;
	scope_add_slice_notes(store, m->flags & MEASURE_COSTS, t);
	return store_failed(store, err); /* a failed statement must not look like missing data */
}
