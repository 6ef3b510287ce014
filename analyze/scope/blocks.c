// SPDX-License-Identifier: GPL-2.0-only
/* Tables with rows for each block: their runs, notes and estimates. */
#include "analyze/scope/changes.h"
#include "analyze/scope/results.h"

#include <errno.h>
#include <math.h>

/* --- tables of rows for each variant and side --- */

const char *const power_kind_names[4] = {"wall", "platform", "package", NULL};

static int block_check_power(const char *kind, struct error *err)
{
	if (str_index(power_kind_names, array_size(power_kind_names), kind) >= 0)
		return 0;
	return error_set(err, EINVAL,
			 "no kind of power '%s'; the kinds are wall, platform and package", kind);
}

int block_list_read(struct block_list *list, struct store *s, const struct query *q,
		    enum purpose purpose, struct error *err)
{
	autofree struct block *blocks = NULL;
	int n, rc;

	*list = (struct block_list){0};
	rc = scope_estimator(s, q, &list->estimator, err);
	if (!rc && q->power_kind)
		rc = block_check_power(q->power_kind, err);
	if (rc)
		return rc;
	n = scope_blocks(s, q, &blocks, err);
	if (n < 0)
		return n;
	list->blocks = xcalloc((size_t)n + 1, sizeof(*list->blocks));
	for (int i = 0; i < n; i++) {
		struct block_runs *b = &list->blocks[list->n++];

		b->block = blocks[i];
		b->n = scope_runs(s, q, &blocks[i], purpose, &b->runs, err);
		if (b->n < 0) {
			rc = b->n;
			b->n = 0;
			break;
		}
	}
	return rc;
}

void block_runs_free(struct block_runs *b)
{
	free(b->runs);
}

void block_list_free(struct block_list *list)
{
	array_free(e, list->blocks, list->n, block_runs_free(e));
	*list = (struct block_list){0};
}

/* Adds a note on the estimator and, if the table has intervals, on its interval. */
static void scope_note_interval(const struct block_list *list, struct table *t)
{
	static const char *const intervals[] = {
		[EST_MEDIAN] =
			"median; its interval uses order statistics: 95 % with 6 or more runs, min..max with fewer",
		[EST_MIDDLE] =
			"mean of the runs but the first and the last; its interval is Student's, 95 %",
		[EST_MEAN] = "mean; its interval is Student's, 95 %",
	};
	bool interval = array_find(c, t->columns, t->ncolumns, c->spread == SPREAD_RANGE);
	const char *text = (interval ? intervals : estimator_names)[list->estimator];
	int most = 0;

	for (int i = 0; i < list->n && table_column(t, "run") < 0; i++)
		most = list->blocks[i].n > most ? list->blocks[i].n : most;
	if (!most || !t->rows)
		return;
	note_add(&t->notes, over_runs, most > 1 ? text : "the only run, so there is no interval");
}

char *block_collector_reason(struct store *s, const struct block_runs *b, const char *collector)
{
	for (int i = 0; i < b->n; i++) {
		autofree struct collector_row *rows = NULL;
		int n = store_collectors(s, b->runs[i].id, &rows, NULL);

		for (int k = 0; k < n; k++)
			if (!strcmp(rows[k].name, collector) && rows[k].why && *rows[k].why)
				return xstrdup(rows[k].why);
	}
	return NULL;
}

void block_list_notes(const struct block_list *list, struct store *s, struct table *t)
{
	const char *doubt = NULL;

	scope_note_interval(list, t);
	for (int i = 0; i < list->n; i++) {
		const struct block_runs *b = &list->blocks[i];

		doubt = doubt ? doubt : scope_doubt(b->runs, b->n);
		if (!b->n)
			note_add_block(&t->notes, &b->block, no_usable_run);
		scope_notes(s, b->runs, b->n, t);
	}
	if (doubt)
		note_add(&t->notes, no_measure_pass, doubt);
	scope_capture_notes(s, t);
}

void block_list_run_notes(const struct block_list *list, struct store *s, struct table *t)
{
	for (int i = 0; i < list->n; i++)
		scope_notes(s, list->blocks[i].runs, list->blocks[i].n, t);
	scope_capture_notes(s, t);
}

int block_table_run(struct store *s, const struct query *q, struct table *t,
		    const struct measure *m, struct error *err)
{
	struct block_table k = {.s = s, .q = q, .t = t};
	int rc = block_list_read(&k.list, s, q, FOR_FIGURES, err);

	for (int i = 0; i < k.list.n && !rc; i++) {
		k.b = &k.list.blocks[i];
		rc = m->block(&k, err);
	}
	if (!rc && m->notes)
		m->notes(&k);
	if (!rc && m->how && !t->rows && !m->notes)
		changes_nothing(s, t, NULL);
	if (!rc && m->how && *m->how && t->rows)
		note_add(&t->notes, table_how, m->how);
	if (!rc)
		block_list_notes(&k.list, s, t);
	block_list_free(&k.list);
	return rc;
}

struct value *block_row(struct table *t, const struct block *b)
{
	struct value *row = table_row(t);

	table_set(t, row, "variant", value_str(t, b->variant));
	table_set(t, row, "side", value_str(t, b->side));
	return row;
}

int block_every_pass(struct store *s, const struct query *q, const struct block *block,
		     struct block_runs *b, struct error *err)
{
	struct run_filter every = {block->variant, q->pass, block->side, q->repeat, false};

	*b = (struct block_runs){.block = *block};
	b->n = store_runs(s, &every, &b->runs, err);
	return b->n < 0 ? b->n : 0;
}

const char *const frame_parts[FRAME_PARTS] = {"user", "system", "softirq", "irq"};

/* The metrics of the parts by ticks. */
static const char *const tick_parts[CPU_PARTS] = {
	[CPU_APP] = "cpu_user_pct",  [CPU_SYS] = "cpu_system_pct",  [CPU_SOFT] = "cpu_softirq_pct",
	[CPU_IRQ] = "cpu_irq_pct",   [CPU_STEAL] = "cpu_steal_pct", [CPU_IOWAIT] = "cpu_iowait_pct",
	[CPU_IDLE] = "cpu_idle_pct",
};

double busy_part(struct store *s, const struct query *q, const struct block_runs *b,
		 enum estimator e, enum cpu_part part, int cpu)
{
	const char *object = part < CPU_STEAL ? frame_parts[part] : NULL;
	const struct metric_key key[] = {{"frame_pct", object, cpu},
					 {tick_parts[part], NULL, cpu},
					 {"cpu_pct", NULL, cpu},
					 {"cpu_steal_pct", NULL, cpu}};
	freed(block_runs_free) struct block_runs every = {0};
	double x[array_size(key)];

	if (object && block_every_pass(s, q, &b->block, &every, NULL))
		every.n = 0;
	for (size_t i = 0; i < array_size(key); i++) {
		const struct block_runs *of = i ? b : &every;

		x[i] = scope_estimate(s, of->runs, of->n, e, figure_metric_of, &key[i]).value;
	}
	/* The frame's times include those that the hypervisor took. */
	return isnan(x[0]) ? x[1] : x[0] / 100 * (x[2] - (x[3] > 0 ? x[3] : 0));
}

void block_cpus_add(const struct block_table *k, const char *metric, struct cpuset *set)
{
	for (int r = 0; r < k->b->n; r++) {
		autofree struct metric_row *rows = NULL;
		int n = store_metrics(k->s, k->b->runs[r].id, metric, OF_EACH_CPU, &rows, NULL);

		for (int i = 0; i < n; i++)
			cpuset_add(set, (unsigned int)rows[i].key.cpu);
	}
}

struct estimate block_estimate(const struct block_table *k, figure_fn figure, const void *arg)
{
	return scope_estimate(k->s, k->b->runs, k->b->n, k->list.estimator, figure, arg);
}

struct value value_count(double n)
{
	return n == floor(n) && fabs(n) < 1e15 ? value_int((int64_t)n) : value_real(n);
}

void put_estimate(struct table *t, struct value *row, const char *column, const struct estimate *e)
{
	table_set(t, row, column,
		  e->n < 2 ? value_real(e->value) : value_estimate(t, e->value, e->lo, e->hi));
}

int block_list_total(const struct block_list *list, int i)
{
	const char *variant = list->blocks[i].block.variant;
	int n = 1;

	if (i + 1 < list->n && !strcmp(list->blocks[i + 1].block.variant, variant))
		return 0;
	while (n <= i && !strcmp(list->blocks[i - n].block.variant, variant))
		n++;
	return n > 1 ? n : 0;
}

bool block_runs_same_repeat(const struct block_runs *sides, int n, const struct run *first,
			    const struct run *runs[])
{
	runs[0] = first;
	for (int i = 1; i < n; i++) {
		runs[i] = NULL;
		for (const struct run *r = sides[i].runs; r < sides[i].runs + sides[i].n; r++)
			if (!runs[i] && r->repeat == first->repeat && !strcmp(r->pass, first->pass))
				runs[i] = r;
		if (!runs[i])
			return false;
	}
	return true;
}

static int metric_rows_compare(const void *a, const void *b)
{
	const struct metric_row *x = a, *y = b;

	return strverscmp(x->key.name, y->key.name)
		       ?: strverscmp(x->key.object ?: "", y->key.object ?: "")
		       ?: ascending(x->key.cpu, y->key.cpu);
}

/* Begins the search at `from`: most runs have the same keys in the same order. Returns the place
 * behind the key. */
static size_t metric_keys_add_one(struct metric_keys *list, const struct metric_row *m, size_t from)
{
	for (size_t i = 0; i < list->n; i++) {
		size_t at = from + i < list->n ? from + i : from + i - list->n;

		if (!metric_rows_compare(&list->m[at], m))
			return at + 1;
	}
	array_add(list->m, list->n, list->cap, *m);
	return list->n;
}

int metric_keys_add(struct metric_keys *list, struct store *s, const struct block_runs *b,
		    const char *name, enum metric_cpus cpus, struct error *err)
{
	size_t at = 0;

	for (int i = 0; i < b->n; i++) {
		autofree struct metric_row *rows = NULL;
		int n = store_metrics(s, b->runs[i].id, name, cpus, &rows, err);

		for (int k = 0; k < n; k++)
			at = metric_keys_add_one(list, &rows[k], at < list->n ? at : 0);
		if (n < 0)
			return n;
	}
	array_sort(list->m, list->n, metric_rows_compare);
	return 0;
}

void metric_keys_free(struct metric_keys *list)
{
	free(list->m);
}

/* --- figures that a table cannot give --- */

void absences_add(struct absences *a, const char *score, const char *variant, const char *side,
		  const char *reason)
{
	struct absence *at = NULL;

	for (size_t i = a->first; i < a->n && !at; i++)
		if (!strcmp(a->list[i].reason ?: "", reason ?: ""))
			at = &a->list[i];
	if (!at) {
		at = array_new(a->list, a->n, a->cap);
		*at = (struct absence){.score = score, .reason = reason ? xstrdup(reason) : NULL};
	}
	str_printf(&at->blocks, "%s%s %s", at->nblocks++ ? ", " : "", variant, side);
}

void absences_next(struct absences *a, size_t blocks)
{
	for (; a->first < a->n; a->first++)
		if (a->list[a->first].nblocks == blocks)
			str_reset(&a->list[a->first].blocks);
}

/* Returns whether two scores are absent in the same blocks for the same reason. */
static bool absence_is_like(const struct absence *a, const struct absence *b)
{
	return !strcmp(a->reason ?: "", b->reason ?: "") &&
	       !strcmp(a->blocks.buf ?: "", b->blocks.buf ?: "");
}

void absences_add_notes(const struct absences *a, struct table *t)
{
	freed(str_free) struct str names = {0};
	size_t k, n;

	for (size_t i = 0; i < a->n; i++) {
		const struct absence *at = &a->list[i];

		for (k = 0; k < i && !absence_is_like(&a->list[k], at); k++)
			;
		if (k < i)
			continue;
		str_reset(&names);
		for (n = 0, k = i; k < a->n; k++)
			if (absence_is_like(&a->list[k], at))
				str_printf(&names, "%s%s", n++ ? ", " : "", a->list[k].score);
		if (at->reason)
			note_add(&t->notes, score_absent, names.buf, n > 1 ? "are" : "is",
				 at->blocks.len ? " for " : "",
				 at->blocks.len ? at->blocks.buf : "", at->reason);
		else
			note_add(&t->notes, score_absent_datagrams, names.buf, n > 1 ? "are" : "is",
				 at->blocks.len ? " for " : "",
				 at->blocks.len ? at->blocks.buf : "");
	}
}

void absences_free(struct absences *a)
{
	array_free(e, a->list, a->n, free(e->reason), str_free(&e->blocks));
	*a = (struct absences){0};
}
