// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/texts/perf_report.h"
#include "analyze/costs/basis.h"
#include "analyze/costs/costs.h"
#include "lib/hash.h"
#include "lib/intern.h"
#include "lib/stats.h"
#include "lib/str.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The keys that the text supports. Every row has "symbol". */
static const char *const keys_known[] = {"comm", "dso", "symbol"};

struct flat_group {
	struct flat_row sum;
	bool counted; /* every row of the group has a sample count */
};

struct flat_groups {
	struct flat_group *g;
	size_t n, cap;
	struct map ids; /* interned id of the key -> index + 1 */
	struct intern names;
	bool merged; /* a group has several rows, so the order of the text is lost */
};

static bool flat_wants(const struct query *q, const char *key)
{
	char *copy = xstrdup(q->by ? q->by : ""), *rest = copy, *word;
	bool found = false;

	while ((word = str_token(&rest, ',')))
		found = found || !strcmp(str_trim(word), key);
	free(copy);
	return found;
}

static int flat_check_key(const struct flat *f, const char *key, struct error *err)
{
	size_t i;

	for (i = 0; i < array_size(keys_known); i++)
		if (!strcmp(key, keys_known[i]))
			break;
	if (!strcmp(key, "comm") && !f->has_comm)
		return error_set(
			err, EINVAL,
			"the perf report text has no Command column; run perf report with --sort comm,dso,symbol, or give the perf.data itself with --perf");
	if (!strcmp(key, "dso") && !f->has_dso)
		return error_set(
			err, EINVAL,
			"the perf report text has no Shared Object column; run perf report with --sort dso,symbol");
	if (i == array_size(keys_known))
		return error_set(
			err, EINVAL,
			"the text of perf report cannot be split by '%s'; give the perf.data itself with --perf",
			key);
	return 0;
}

int flat_check_samples(const struct flat *f, const struct query *q, struct error *err)
{
	if (q->cpus)
		return error_set(
			err, EINVAL,
			"--cpu: the text of perf report does not record CPUs; give the perf.data itself with --perf");
	return q->comm ? flat_check_key(f, "comm", err) : 0;
}

static int flat_check_query(const struct flat *f, const struct query *q, struct error *err)
{
	char *copy = xstrdup(q->by ? q->by : ""), *rest = copy, *word;
	int ret = 0;

	while (!ret && (word = str_token(&rest, ',')))
		if (*str_trim(word))
			ret = flat_check_key(f, str_trim(word), err);
	free(copy);
	if (!ret)
		ret = flat_check_samples(f, q, err);
	if (!ret && q->dso)
		ret = flat_check_key(f, "dso", err);
	return ret;
}

/*
 * Finds the basis in cycles or instructions: from the query, else from the count of the event that
 * perf printed.
 */
static int flat_amount_basis(const struct flat *f, const struct query *q, struct table *t,
			     double *per, struct error *err)
{
	struct basis_value v;
	int rc = basis_of_file(q, 1, &v, err);

	if (rc)
		return rc;
	basis_of_weights(q, f->event, f->event_count, &v);
	*per = v.ns;
	note_add(&t->notes, basis, v.text);
	return 0;
}

/*
 * Finds the ns per unit of work that the shares divide. NAN: the query does not give it. See
 * chapter 7 of the design.
 */
static int flat_basis(const struct query *q, double *ns, struct error *err)
{
	double units = q->work.units > 0 ? q->work.units : q->work.rate * q->work.seconds;
	double rate = q->work.rate > 0	    ? q->work.rate
		      : q->work.seconds > 0 ? q->work.units / q->work.seconds
					    : 0;

	*ns = NAN;
	if (q->basis == BASIS_BUSY || (q->basis == BASIS_DEFAULT && q->work.busy_ns > 0)) {
		if (!(q->work.busy_ns > 0 && units > 0))
			return error_set(
				err, EINVAL,
				"the basis busy needs --busy-ns and --units (or --rate and --seconds)");
		*ns = q->work.busy_ns / units;
	} else if (rate > 0) {
		*ns = 1e9 / rate;
	} else if (q->basis == BASIS_WALL) {
		return error_set(err, EINVAL,
				 "the basis wall needs --rate or --units and --seconds");
	}
	return 0;
}

static bool flat_passes(const char *pattern, const char *s)
{
	return !pattern || (s && str_matches(pattern, s));
}

static struct flat_group *flat_group_of(struct flat_groups *gs, const struct flat_row *row,
					bool by_comm)
{
	struct str key = {0};
	uint64_t *id;

	str_printf(&key, "%s%c%s%c%s", row->symbol, 1, row->dso ? row->dso : "", 1,
		   by_comm && row->comm ? row->comm : "");
	id = map_at(&gs->ids, intern_str(&gs->names, key.buf));
	str_free(&key);
	if (*id) {
		gs->merged = true;
		return &gs->g[*id - 1];
	}
	array_grow(gs->g, gs->n, gs->cap);
	gs->g[gs->n] = (struct flat_group){.sum = *row, .counted = true};
	gs->g[gs->n].sum.samples = 0;
	gs->g[gs->n].sum.self = isnan(row->self) ? NAN : 0;
	gs->g[gs->n].sum.total = isnan(row->total) ? NAN : 0;
	*id = ++gs->n;
	return &gs->g[gs->n - 1];
}

static int flat_dearer(double x, double y)
{
	return isnan(x) || isnan(y) ? isnan(x) - isnan(y) : (x < y) - (x > y);
}

/* Sorts by self, then by total, then by the order in the text. */
static int flat_by_share(const void *a, const void *b)
{
	const struct flat_row *x = &((const struct flat_group *)a)->sum,
			      *y = &((const struct flat_group *)b)->sum;
	int c = flat_dearer(x->self, y->self);

	if (!c)
		c = flat_dearer(x->total, y->total);
	return c ? c : (x->line > y->line) - (x->line < y->line);
}

static void flat_gather(struct flat_groups *gs, const struct flat *f, const struct query *q)
{
	bool by_comm = flat_wants(q, "comm");
	size_t i;

	for (i = 0; i < f->n; i++) {
		const struct flat_row *row = &f->rows[i];
		struct flat_group *g;

		if (!flat_passes(q->symbol, row->symbol) || !flat_passes(q->comm, row->comm) ||
		    !flat_passes(q->dso, row->dso))
			continue;
		g = flat_group_of(gs, row, by_comm);
		g->sum.self += row->self;
		g->sum.total += row->total;
		g->counted = g->counted && row->samples >= 0;
		g->sum.samples += row->samples >= 0 ? row->samples : 0;
	}
}

/*
 * Returns half of the 95 % interval of a share, in percent. `samples` is the number of all
 * samples.
 */
static double flat_sampling_error(double share, double samples)
{
	double p = share > 100 ? 1 : share / 100;

	return samples > 0 ? 100 * STATS_Z95 * sqrt(p * (1 - p) / samples) : NAN;
}

static void flat_add_group(struct table *t, const struct flat_group *g, double basis,
			   double samples)
{
	struct value *row = table_row(t);
	double self = g->sum.self, total = g->sum.total;

	table_set(t, row, "comm", value_str(t, g->sum.comm));
	table_set(t, row, "symbol", value_str(t, g->sum.symbol));
	table_set(t, row, "dso", value_str(t, g->sum.dso));
	table_set(t, row, "samples", g->counted ? value_int(g->sum.samples) : value_none());
	table_set(t, row, "self_share", value_real(self));
	table_set(t, row, "total_share", value_real(total));
	table_set(t, row, "self_ns", value_real(self / 100 * basis));
	table_set(t, row, "total_ns", value_real(total / 100 * basis));
	table_set(t, row, "self_sampling_error",
		  value_real(flat_sampling_error(self, samples) / 100 * basis));
	table_set(t, row, "total_sampling_error",
		  value_real(flat_sampling_error(total, samples) / 100 * basis));
}

/*
 * Adds a note with the sum of the rows. The sum shows how much the text leaves out
 * (--percent-limit, a reduced listing).
 */
static void flat_note_sum(struct table *t, const struct flat_groups *gs, enum amount in,
			  double basis)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < gs->n; i++)
		sum += gs->g[i].sum.self;
	if (!gs->n || isnan(sum))
		return;
	if (isnan(basis))
		note_add(&t->notes, flat_sum, sum);
	else
		note_add(&t->notes, flat_sum_cost, sum, amount_name(in), sum / 100 * basis, basis,
			 amount_name(in));
}

void flat_note_tables(const struct flat *f, struct table *t)
{
	if (f->tables < 2)
		return;
	if (f->events && f->event && strcmp(f->events, f->event))
		note_add(&t->notes, text_tables_event, f->tables, f->event, f->events);
	else
		note_add(&t->notes, text_tables, f->tables);
}

void flat_note_cpus(const struct query *q, struct table *t)
{
	if (q->in == IN_NS && q->basis != BASIS_BUSY && !(q->work.busy_ns > 0) &&
	    (q->work.rate > 0 || (q->work.units > 0 && q->work.seconds > 0)))
		note_add(&t->notes, flat_one_cpu);
}

static void flat_note_source(struct table *t, const struct flat *f, double samples)
{
	if (f->event && samples > 0)
		note_add(&t->notes, flat_event, f->event, samples,
			 f->samples_rounded ? " (rounded by perf)" : "");
	if (!(samples > 0))
		note_add(&t->notes, flat_no_samples);
	flat_note_tables(f, t);
	if (f->unmarked)
		note_add(&t->notes, flat_unmarked, f->unmarked);
	if (f->lost > 0) {
		note_add(&t->notes, flat_lost, (long long)f->lost);
		t->lossy = true;
	}
}

static double flat_all_samples(const struct flat *f)
{
	double sum = 0;
	size_t i;

	if (!isnan(f->samples) && !f->samples_rounded)
		return f->samples;
	for (i = 0; i < f->n && f->rows[i].samples >= 0; i++)
		sum += (double)f->rows[i].samples;
	if (f->n && i == f->n &&
	    !f->has_total) /* with children, the sample counts cover only self */
		return sum;
	return f->samples;
}

int functions_from_flat(const struct flat *f, const struct query *q, struct table *t,
			struct error *err)
{
	struct flat_groups gs = {0};
	double basis, samples = flat_all_samples(f);
	size_t i, limit;
	int ret = flat_check_query(f, q, err);

	if (!ret && !f->has_symbol)
		ret = error_set(
			err, EINVAL,
			"the perf report text has no Symbol column; run perf report with --sort symbol or dso,symbol");
	if (!ret)
		ret = q->in != IN_NS ? flat_amount_basis(f, q, t, &basis, err)
				     : flat_basis(q, &basis, err);
	if (ret)
		return ret;
	flat_gather(&gs, f, q);
	if (gs.merged)
		qsort(gs.g, gs.n, sizeof(*gs.g), flat_by_share);
	limit = q->limit > 0 && !q->all && (size_t)q->limit < gs.n ? (size_t)q->limit : gs.n;
	for (i = 0; i < limit; i++)
		flat_add_group(t, &gs.g[i], basis, samples);
	if (limit < gs.n)
		note_add(&t->notes, more_rows, gs.n - limit);
	flat_note_sum(t, &gs, q->in, basis);
	flat_note_source(t, f, samples);
	flat_note_cpus(q, t);
	basis_note_event(t, basis, q->in, f->event);
	amount_columns(t, q->in);
	free(gs.g);
	map_free(&gs.ids);
	intern_free(&gs.names);
	return 0;
}

/* --- the table of a capture or a perf.data --- */

static const struct cost_table functions = {
	.keys = {BY_SYMBOL, BY_DSO}, .nkeys = 2, .totals = true, .limit = 30};

#define FUNCTION_COLUMNS                                                                         \
	{"symbol", .type = V_STR, .what = "the function"},                                       \
		{"dso", .type = V_STR, .what = "kernel, module or library with the function"},   \
		{"samples", .type = V_INT, .what = "samples with the function as the leaf"},     \
		{"self_share", "%", V_REAL, .digits = 2, .what = "share of the function alone"}, \
		{"total_share", "%", V_REAL, .digits = 2,                                        \
		 .what = "share of the function and its callees"},                               \
		COST_COLUMN("self"), COST_COLUMN("total")
#define FLAT_COLUMNS                                                                            \
	FUNCTION_COLUMNS, {"self_sampling_error", "ns", V_REAL, .digits = 1, .optional = true}, \
	{                                                                                       \
		"total_sampling_error", "ns", V_REAL, .digits = 1, .optional = true             \
	}

static const struct column functions_columns[] = {FUNCTION_COLUMNS};
static const struct column flat_columns[] = {FLAT_COLUMNS};
static const struct column by_comm[] = {{"comm", .type = V_STR}, FLAT_COLUMNS};

static int functions_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	bool comm = q->by && strstr(q->by, "comm");

	if (!q->bare.flat)
		return cost_table_run(&functions, s, q, t, err);
	t->columns = comm ? by_comm : flat_columns;
	t->ncolumns = comm ? (int)array_size(by_comm) : (int)array_size(flat_columns);
	return functions_from_flat(q->bare.flat, q, t, err);
}

const struct measure measure_functions = {
	.name = "functions",
	.what = "cost of each function: self, and total with its callees",
	MEASURE_COLUMNS(functions_columns),
	COST_OPTIONS(""),
	.spare = "samples total_share dso self_share",
	.flags = MEASURE_COSTS,
	.collectors = "perf cpu workload",
	.run = functions_run,
};
