// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/scope/changes.h"

#include "analyze/scope/work.h"

#include <fnmatch.h>
#include <math.h>

static void changes_add_row(struct changes *c, const struct metric_row *m)
{
	size_t runs = (size_t)c->b->n;
	double *x = xcalloc(runs + 1, sizeof(*x));

	for (size_t i = 0; i < runs; i++)
		x[i] = NAN;
	array_add(c->row, c->n, c->cap,
		  (struct change_row){m->key.object ?: "", m->key.cpu, m->unit, x, NULL});
}

/*
 * Adds the metrics of one run. Most runs have the same metrics in the same order as the run before.
 * For others, `seen` maps the hash of a name and a CPU to its row.
 */
static void changes_add_run(struct changes *c, struct map *seen, const struct metric_row *m, int n,
			    int run)
{
	size_t row = 0;

	for (int i = 0; i < n; i++, row++) {
		const char *name = m[i].key.object ?: "";

		if (row >= c->n || c->row[row].name != name || c->row[row].cpu != m[i].key.cpu) {
			uint64_t *at = map_at(
				seen, hash_bytes(name, strlen(name), (uint64_t)m[i].key.cpu + 1));

			if (!*at) {
				changes_add_row(c, &m[i]);
				*at = c->n;
			}
			row = *at - 1;
		}
		c->row[row].x[run] = m[i].value;
	}
}

static int changes_by_name(const void *a, const void *b)
{
	const struct change_row *x = a, *y = b;
	return strverscmp(x->name, y->name) ?: ascending(x->cpu, y->cpu);
}

int changes_read(struct changes *c, const struct block_table *k, const char *metric,
		 enum metric_cpus cpus, struct error *err)
{
	const struct block_runs *b = k->b;
	freed(map_free) struct map seen = {0};
	struct metric_row *rows;
	int n = 0;

	*c = (struct changes){.b = b, .estimator = k->list.estimator};
	c->seconds = xcalloc((size_t)b->n + 1, sizeof(*c->seconds));
	c->mib = xcalloc((size_t)b->n + 1, sizeof(*c->mib));
	for (int i = 0; i < b->n && n >= 0; i++) {
		c->seconds[i] = figure_metric(k->s, &b->runs[i], "seconds");
		c->mib[i] = work_in_window(k->s, &b->runs[i], "rate_kib") / PER_MIB;
		n = store_metrics(k->s, b->runs[i].id, metric, cpus, &rows, err);
		if (n < 0)
			break;
		changes_add_run(c, &seen, rows, n, i);
		free(rows);
	}
	array_sort(c->row, c->n, changes_by_name);
	return n < 0 ? n : 0;
}

void changes_free(struct changes *c)
{
	array_free(e, c->row, c->n, free(e->x), free(e->seconds));
	free(c->seconds);
	free(c->mib);
	*c = (struct changes){0};
}

int changes_known(struct changes *c, const struct block_table *k, const char *metric,
		  struct error *err)
{
	freed(changes_free) struct changes known;
	int rc = changes_read(&known, k, metric, OF_SIDE, err);
	struct change_row *row;

	for (size_t i = 0; i < known.n && !rc; i++) {
		row = (struct change_row *)changes_find(c, known.row[i].name, NO_CPU);
		if (!row || row->seconds)
			continue;
		row->seconds = xmemdup(known.row[i].x, (size_t)c->b->n * sizeof(*row->seconds));
		for (int r = 0; r < c->b->n; r++)
			if (isnan(row->seconds[r]))
				row->seconds[r] = c->seconds[r];
	}
	return rc;
}

static double changes_figure(const struct changes *c, const struct change_row *row, int run,
			     enum change_as as)
{
	double x = row->x[run], window = c->seconds[run];
	double known = row->seconds ? row->seconds[run] : window;

	/*
	 * Divides two rates: mib covers the whole window, and x only the time when the counter was
	 * known.
	 */
	return as == AS_PER_SECOND ? x / known
	       : as == AS_PER_MIB  ? x / known / (c->mib[run] / window)
				   : x;
}

struct estimate changes_estimate(const struct changes *c, const struct change_row *row,
				 enum change_as as)
{
	autofree double *x = xcalloc((size_t)c->b->n + 1, sizeof(*x));
	size_t n = 0;

	for (int i = 0; i < c->b->n; i++) {
		x[n] = changes_figure(c, row, i, as);
		n += isfinite(x[n]) != 0;
	}
	return stats_estimate(c->estimator, x, n, 0.95);
}

bool change_happened(const struct changes *c, const struct change_row *row)
{
	return array_find(x, row->x, c->b->n, *x > 0);
}

const struct change_row *changes_find(const struct changes *c, const char *name, int cpu)
{
	return array_find(r, c->row, c->n, r->cpu == cpu && !strcmp(r->name, name));
}

char *changes_state(const struct changes *states, const char *object, const char *key,
		    bool is_switch)
{
	autofree char *name = xasprintf("%s/%s", object, key);
	const struct change_row *row = changes_find(states, name, NO_CPU);
	struct str s = {0};
	double last = NAN;

	for (int r = 0; row && r < states->b->n; r++) {
		if (isnan(row->x[r]) || row->x[r] == last)
			continue;
		last = row->x[r];
		if (s.len)
			str_putc(&s, '|');
		if (is_switch)
			str_puts(&s, last != 0 ? "on" : "off");
		else
			str_printf(&s, "%.0f", last);
	}
	return s.len ? str_take(&s) : NULL;
}

void changes_fill_cpus(struct changes *c)
{
	const struct change_row *all = NULL;

	for (size_t i = 0; i < c->n; i++) {
		struct change_row *row = &c->row[i];

		if (row->cpu == NO_CPU)
			all = row;
		if (!all || strcmp(all->name, row->name) != 0)
			continue;
		for (int r = 0; r < c->b->n; r++)
			if (isnan(row->x[r]) && !isnan(all->x[r]))
				row->x[r] = 0;
	}
}

static int change_compare_rate(const void *a, const void *b)
{
	const struct change_rate *x = a, *y = b;

	return descending(x->rate, y->rate)
		       ?: ascending(x->row->cpu, y->row->cpu)
		       ?: strverscmp(x->row->name, y->row->name);
}

struct change_rate *changes_rank(const struct changes *c)
{
	struct change_rate *list = xcalloc(c->n + 1, sizeof(*list));

	for (size_t i = 0; i < c->n; i++) {
		double rate = 0;

		if (change_happened(c, &c->row[i])) /* most counters do not */
			rate = changes_estimate(c, &c->row[i], AS_PER_SECOND).value;
		list[i] = (struct change_rate){&c->row[i], isnan(rate) ? -INFINITY : rate};
	}
	array_sort(list, c->n, change_compare_rate);
	return list;
}

bool changes_wanted(const struct changes *c, const struct change_row *row, const struct query *q)
{
	bool wanted = q->all;

	if (q->by || q->cpus)
		return row->cpu != NO_CPU &&
		       (!q->cpus || cpuset_has(q->cpus, (unsigned int)row->cpu));
	for (size_t i = 0; i < c->n && !wanted; i++)
		wanted = !strcmp(c->row[i].name, row->name) && change_happened(c, &c->row[i]);
	return wanted && row->cpu == NO_CPU;
}

void changes_put_cpus(const struct change_rate *ranked, size_t n, const char *name, struct table *t,
		      struct value *cells)
{
	enum { CPUS_SHOWN = 3 };
	const struct change_rate *most[CPUS_SHOWN];
	size_t shown = 0;
	freed(str_free) struct str s = {0};
	double all = 0;

	for (size_t i = 0; i < n && ranked[i].rate > 0; i++) {
		if (ranked[i].row->cpu == NO_CPU || strcmp(ranked[i].row->name, name) != 0)
			continue;
		all += ranked[i].rate;
		if (shown < CPUS_SHOWN)
			most[shown++] = &ranked[i];
	}
	for (size_t i = 0; i < shown; i++)
		str_printf(&s, "%s%d: %.0f %%", i ? ", " : "", most[i]->row->cpu,
			   100 * most[i]->rate / all);
	table_set(t, cells, "cpus", value_str(t, s.buf));
}

void changes_put(const struct changes *c, const struct change_row *row, struct table *t,
		 struct value *cells)
{
	struct estimate e = changes_estimate(c, row, AS_COUNT);

	table_set(t, cells, "count", value_real(e.value));
	table_set(t, cells, "runs", value_int((int64_t)e.n));
	e = changes_estimate(c, row, AS_PER_SECOND);
	put_estimate(t, cells, "per_s", &e);
	e = changes_estimate(c, row, AS_PER_MIB);
	table_set(t, cells, "per_mib", value_real(e.value));
}

void changes_nothing(struct store *s, struct table *t, const char *nothing)
{
	const struct run_filter every = {0};
	const char *why = scope_slice_absent(s, t->name);
	autofree struct run *runs = NULL;
	int n = store_runs(s, &every, &runs, NULL);

	for (int i = 0; i < n && !why; i++)
		if (store_has_collector(s, runs[i].id, t->name))
			why = nothing ?: "the runs that measured this found nothing to count";
	note_add(&t->notes, table_not_measured,
		 why ? why : "no run measured this; see 'zcost report runs'");
}

void changes_note(struct block_table *k)
{
	if (!k->found)
		changes_nothing(k->s, k->t, NULL);
	else if (!k->q->all)
		note_add(&k->t->notes, counters_changed_only,
			 k->t->rows ? "only counters that changed" : "no counter changed");
}

const char *counter_kind_of(const struct counter_kind *list, size_t n, const char *name, int flags)
{
	for (size_t i = 0; i < n; i++)
		if (!fnmatch(list[i].pattern, name, flags))
			return list[i].kind;
	return NULL;
}
