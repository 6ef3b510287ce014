// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/compare/diff.h"

#include <errno.h>
#include <math.h>

void diff_set_runs(struct diff *d, enum end e, size_t n)
{
	d->nruns[e] = n;
	d->run_count[e] = arena_alloc(&d->arena, (n + 1) * sizeof(double));
	for (size_t i = 0; i < d->n; i++)
		d->rows[i].runs[e] = arena_alloc(&d->arena, (n + 1) * sizeof(double));
}

struct diff_row *diff_add_row(struct diff *d, const char *key, size_t id)
{
	struct diff_row *row;

	array_add(d->rows, d->n, d->cap, (struct diff_row){.key = key, .p = NAN, .id = id});
	row = &d->rows[d->n - 1];
	for (int e = 0; e < ENDS; e++)
		row->runs[e] = arena_alloc(&d->arena, (d->nruns[e] + 1) * sizeof(double));
	return row;
}

static struct diff_row *diff_row_for(struct diff *d, const char *key, const char *key2)
{
	uint32_t first = intern_str(&d->names, key);
	uint32_t second = intern_str(&d->names, key2 ? key2 : "");
	uint64_t *id = map_at(&d->ids, (uint64_t)first << 32 | second);
	struct diff_row *row;

	if (*id)
		return &d->rows[*id - 1];
	row = diff_add_row(d, intern_get(&d->names, first), 0);
	row->key2 = key2 ? intern_get(&d->names, second) : NULL;
	*id = d->n;
	return row;
}

const struct diff_row *diff_find(const struct diff *d, const char *key, const char *key2)
{
	return array_find(r, d->rows, d->n,
			  !strcmp(r->key, key) && (!key2 || (r->key2 && !strcmp(r->key2, key2))));
}

double diff_p(const struct diff_row *row)
{
	return row->verdict == VERDICT_NONE || row->verdict == VERDICT_FEW ? NAN : row->p;
}

struct diff_row *diff_add_cost(struct diff *d, enum end e, const struct diff_cost *cost)
{
	struct diff_row *row = diff_row_for(d, cost->key, cost->key2);

	row->sampling[e] = hypot(row->sampling[e], cost->sampling);
	row->samples[e] += cost->samples;
	row->cost[e] += cost->cost;
	row->count[e] += cost->count;
	row->seen[e] = true;
	if (!d->parts) {
		d->total[e] += cost->cost;
		d->samples[e] += cost->samples;
	}
	return row;
}

void diff_add_run(struct diff *d, enum end e, size_t run, const struct diff_cost *cost)
{
	diff_row_for(d, cost->key, cost->key2)->runs[e][run] += cost->cost;
	d->run_count[e][run] += cost->count;
}

int diff_set_unit(struct diff *d, const char *unit, struct error *err)
{
	if (!d->unit)
		d->unit = arena_strdup(&d->arena, unit);
	if (!strcmp(d->unit, unit))
		return 0;
	return error_set(err, EINVAL, "one end's costs are per %s, the other's per %s; give --unit",
			 d->unit, unit);
}

/* --- intervals --- */

/*
 * Returns how much more the row may cost than its few samples show, as an upper limit of 97.5 %.
 * Computes the limit once for all rows with the same number of samples.
 */
static double diff_limit(struct diff *d, const struct diff_row *row, enum end e)
{
	unsigned int samples = (unsigned)row->samples[e];
	uint64_t *known = map_at(&d->limits[e], samples);
	struct estimate share;
	double limit;

	if (!*known) {
		share = stats_proportion(samples, (unsigned)d->samples[e], 0.95);
		limit = share.hi - share.value;
		memcpy(known, &limit, sizeof(limit));
	}
	memcpy(&limit, known, sizeof(limit));
	return limit * d->total[e];
}

/* Sets the error of each end: the measure's, else that of the mean of the runs. */
static void diff_set_errors(struct diff *d, struct diff_row *row)
{
	for (int e = 0; e < ENDS; e++) {
		if (!d->has_errors[e])
			row->error[e] = stats_error_of(EST_MEAN, row->runs[e], d->nruns[e]);
		else if (!row->seen[e])
			row->error[e].se = NAN;
		if (!row->seen[e])
			row->sampling[e] = diff_limit(d, row, (enum end)e);
	}
}

static bool diff_has_few_runs(const struct diff *d)
{
	return d->nruns[BASE] < COST_LEAST_RUNS || d->nruns[NEW] < COST_LEAST_RUNS;
}

static double diff_delta_ci(struct diff *d, const struct diff_row *row)
{
	const struct stats_error *base = &row->error[BASE], *new = &row->error[NEW];

	if (diff_has_few_runs(d))
		return NAN;
	if (isnan(base->se))
		return hypot(stats_error_half(*new, 0.95), diff_limit(d, row, BASE));
	if (isnan(new->se))
		return hypot(stats_error_half(*base, 0.95), diff_limit(d, row, NEW));
	return stats_error_half(stats_error_add(*base, *new), 0.95);
}

static bool diff_is_tested(const struct diff *d, const struct diff_row *row)
{
	return row->cost[BASE] + row->cost[NEW] >= FAMILY_SHARE * (d->total[BASE] + d->total[NEW]);
}

static int diff_order_deltas(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;

	return descending(fabs(x->delta), fabs(y->delta)) ?: strcmp(x->key, y->key);
}

static void diff_correct(struct diff *d)
{
	autofree double *p = NULL;

	if (d->joint && d->nruns[BASE] + d->nruns[NEW] <= SPLIT_RUNS) {
		diff_correct_jointly(d);
		return;
	}
	p = xcalloc(d->n + 1, sizeof(*p));
	for (size_t i = 0; i < d->n; i++)
		p[i] = d->rows[i].p;
	stats_holm(p, d->n);
	for (size_t i = 0; i < d->n; i++)
		d->rows[i].p = p[i];
}

static void diff_test_row(struct diff *d, struct diff_row *row)
{
	for (int e = 0; e < ENDS; e++)
		for (size_t r = 0; r < d->nruns[e]; r++)
			row->runs[e][r] = stats_significant(row->runs[e][r]);
	row->delta = row->cost[NEW] - row->cost[BASE];
	if (!diff_is_tested(d, row)) {
		row->p = NAN;
		return;
	}
	d->tests++;
	row->p = stats_mann_whitney(row->runs[BASE], d->nruns[BASE], row->runs[NEW], d->nruns[NEW]);
}

static enum verdict diff_verdict(const struct diff *d, const struct verdict_rule *rule,
				 const struct diff_row *row)
{
	enum verdict v;

	if (!diff_is_tested(d, row))
		return VERDICT_NONE;
	if (!d->possible)
		return VERDICT_FEW;
	if (fabs(row->delta) <= row->delta_ci)
		return VERDICT_SAME;
	v = verdict_of(rule, -1, row->cost[BASE], row->cost[NEW], row->p);
	v = verdict_beside_others(v, fmax(d->others[BASE], d->others[NEW]));
	return verdict_after_drift(rule, v, row->delta, row->runs[BASE], d->nruns[BASE],
				   row->runs[NEW], d->nruns[NEW]);
}

void diff_judge_row(struct diff *d, const struct verdict_rule *rule, struct diff_row *row)
{
	diff_set_errors(d, row);
	row->delta_ci = diff_delta_ci(d, row);
	row->delta_sampling =
		diff_has_few_runs(d) ? hypot(row->sampling[BASE], row->sampling[NEW]) : NAN;
	row->verdict = diff_verdict(d, rule, row);
}

void diff_judge(struct diff *d, const struct verdict_rule *rule)
{
	d->tests = 0;
	for (size_t i = 0; i < d->n; i++)
		diff_test_row(d, &d->rows[i]);
	d->possible =
		verdict_possible(rule, d->nruns[BASE], d->nruns[NEW], d->joint ? 1 : d->tests);
	diff_correct(d);
	for (size_t i = 0; i < d->n; i++)
		diff_judge_row(d, rule, &d->rows[i]);
	array_sort(d->rows, d->n, diff_order_deltas);
	map_free(&d->ids); /* its numbers are those of the old order */
	map_free(&d->limits[BASE]);
	map_free(&d->limits[NEW]);
}

void diff_free(struct diff *d)
{
	free(d->rows);
	arena_free(&d->arena);
	intern_free(&d->names);
	map_free(&d->ids);
	*d = (struct diff){0};
}
