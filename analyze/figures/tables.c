// SPDX-License-Identifier: GPL-2.0-only

#include "analyze/costs/basis.h"
#include "analyze/evidence/zerocopy.h"
#include "analyze/figures/tables.h"
#include "analyze/scope/scope.h"
#include "analyze/scope/work.h"

#include <errno.h>

/* The list of measures, in the order of --help. */
// clang-format off
#define MEASURES(row) \
	row(summary) \
	row(variants) \
	row(runs) \
	row(notes) \
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
	row(why) \
	row(limits) \
	row(host) \
	row(topology) \
	row(counters) \
	row(power) \
	row(softnet) \
	row(drops) \
	row(batches) \
	row(path) \
	row(tcp) \
	row(idle) \
	row(irq) \
	row(virt) \
	row(nic) \
	row(queues) \
	row(pools) \
	row(snmp) \
	row(sockstat) \
	row(sizes) \
	row(sched) \
	row(waits) \
	row(latency) \
	row(timeline) \
	row(sweep)
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
	for (size_t i = 0; i < array_size(measures); i++)
		if (!strcmp(measures[i]->name, name))
			return measures[i];
	return NULL;
}

const struct measure *measure_by(const struct measure *m, const struct query *q)
{
	return m->by && q->by ? m->by : m;
}

static int measure_no_total(const char *name, struct error *err)
{
	freed(str_free) struct str names = {0};

	for (size_t i = 0; i < array_size(measures); i++)
		if (measures[i]->flags & MEASURE_TOTAL)
			str_printf(&names, "%s%s", names.len ? ", " : "", measures[i]->name);
	return error_set(err, EINVAL,
			 "--side total: table '%s' has no total of the sides; these have: %s", name,
			 names.buf);
}

/* Leaves the notes of the total. Warnings of the sides stay: the total is theirs. */
static int measure_keep_total(struct table *t, struct error *err)
{
	size_t n = 0;

	for (size_t i = 0; i < t->notes.n; i++) {
		const struct note *note = &t->notes.note[i];

		if (note->severity != SEVERITY_INFO || !note->side ||
		    !strcmp(note->side, SIDE_TOTAL))
			t->notes.note[n++] = *note;
	}
	t->notes.n = n;
	return t->rows ? 0
		       : error_set(
				 err, ENOENT,
				 "--side total: no variant has figures of several sides for a total");
}

static int measure_check_by(const struct measure *m, const struct query *q, const char *table,
			    struct error *err)
{
	if (!q->by || !m->keys || str_matches_any(m->keys, q->by))
		return 0;
	return error_set(err, EINVAL, "--by: table '%s' has no key '%s'; it has: %s", table, q->by,
			 m->keys);
}

static int measure_run_one(const struct measure *m, struct store *store, const struct query *q,
			   struct table *t, struct error *err)
{
	int rc = measure_check_by(m, q, t->name, err);

	if (rc)
		return rc;
	return store && m->block ? block_table_run(store, q, t, m, err) : m->run(store, q, t, err);
}

static int measure_run_sides(const struct measure *m, struct store *store, const struct query *q,
			     struct table *t, struct error *err)
{
	bool total = store && q->side && !strcmp(q->side, SIDE_TOTAL);
	struct query all = *q;
	int rc;

	if (store && !(m->flags & (MEASURE_FACTS | MEASURE_UNTITLED)))
		zero_copy_title(store, q, t);
	if (!total)
		return measure_run_one(m, store, q, t, err);
	if (!(m->flags & MEASURE_TOTAL))
		return measure_no_total(t->name, err);
	all.side = NULL;
	all.total = true;
	rc = measure_run_one(m, store, &all, t, err);
	return rc ? rc : measure_keep_total(t, err);
}

int measure_run(const char *name, struct store *store, const struct query *q, struct table *t,
		struct error *err)
{
	const struct measure *named = measure_find(name), *m = named ? measure_by(named, q) : NULL;
	freed(str_free) struct str packets = {0};
	autofree const char **variants = NULL;
	int rc;

	table_init(t, name, m ? m->columns : NULL, m ? m->ncolumns : 0);
	if (!m)
		return error_set(err, EINVAL, "no table '%s'", name);
	t->least = m->spare;
	if (!store && !m->options[SOURCE_PERF] && !m->options[SOURCE_TEXT] &&
	    !m->options[SOURCE_NUMBERS])
		return error_set(err, EINVAL,
				 "table '%s' is made from a capture, not from a bare file", name);
	rc = store && q->unit ? basis_require_unit(store, q, err) : 0;
	rc = rc ?: measure_run_sides(m, store, q, t, err);
	if (rc || !store)
		return rc;
	scope_add_slice_notes(store, m->flags & MEASURE_COSTS, t);
	if (!(m->flags & MEASURE_COSTS)) /* their basis says it */
		work_print_packets(&packets, store, q);
	if (packets.len)
		note_add(&t->notes, table_how, packets.buf);
	if (!t->rows && !store_variants(store, &variants, err))
		note_add(&t->notes, table_not_measured, "the capture has no run");
	return store_failed(store, err); /* a failed statement must not look like missing data */
}
