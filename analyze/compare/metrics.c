// SPDX-License-Identifier: GPL-2.0-only
/*
 * The figures of merit of both ends, side by side. Throughput, CPU, power and scores come from the
 * `roi` measure, run by run; copying and system calls from the runs that profiled or counted them.
 * A row whose figure neither end has is left out; one that a single end lacks has it empty.
 */
#include "analyze/compare/compare.h"

#include "analyze/compare/figures.h"
#include "lib/alloc.h"
#include "lib/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/*
 * better: +1 more is, -1 less is, 0 neither: a faster transfer may well use more CPU and power, the
 * cost and the scores judge that. gate: counts for --fail-on worse, unless it is modelled.
 */
static const struct metric {
	const char *name, *unit;
	int better;
	bool gate;
	enum figure figure;
} metrics[] = {
	{"throughput", "Gbit/s", +1, true, FIGURE_THROUGHPUT},
	{"cpu", "%", 0, false, FIGURE_CPU},
	{"ns_per_kib", "ns", -1, true, FIGURE_NS_PER_KIB},
	{"copy_ns_per_kib", "ns", -1, false, FIGURE_COPY},
	{"syscalls_per_mib", "1/MiB", -1, false, FIGURE_SYSCALLS},
	{"power", "W", 0, false, FIGURE_POWER},
	{"roi_c", "T^n/C", +1, true, FIGURE_ROI_C},
	{"roi_p", "T^n/P^m", +1, true, FIGURE_ROI_P},
};

static const struct column columns[] = {
	{"side", NULL, V_STR, 0, NULL},
	{"metric", NULL, V_STR, 0, NULL},
	{"unit", NULL, V_STR, 0, NULL},
	{"base", NULL, V_REAL, 3, "over the runs, by the estimator"},
	{"new", NULL, V_REAL, 3, NULL},
	{"change_pct", "%", V_REAL, 1, "100 x (new / base - 1)"},
	{"change_lo", "%", V_REAL, 1, "95 % interval: bootstrap over whole runs"},
	{"change_hi", "%", V_REAL, 1, NULL},
	{"p", NULL, V_REAL, 4, "exact Mann-Whitney, two-sided"},
	{"better", NULL, V_STR, 0, "more, less, or empty: neither"},
	{"verdict", NULL, V_STR, 0, "better, worse, ~ or too few runs; empty: not judged"},
	{"base_runs", NULL, V_INT, 0, NULL},
	{"new_runs", NULL, V_INT, 0, NULL},
};

static const char *direction(int better)
{
	return better > 0 ? "more" : better < 0 ? "less" : NULL;
}

static double percent(double ratio)
{
	return 100 * (ratio - 1);
}

/* NONE when an end lacks the figure: there is nothing to judge. */
static enum verdict judge(const struct comparison *c, const struct metric *m,
			  const struct sample *base, const struct sample *new, double b, double n,
			  double p)
{
	if (isnan(b) || isnan(n) || !m->better)
		return VERDICT_NONE;
	if (!verdict_possible(&c->rule, base->n, new->n, 1))
		return VERDICT_FEW;
	return verdict_of(&c->rule, m->better, b, n, p);
}

/*
 * The ratio and its bootstrap interval. A pooled value rests on all runs, its interval on those
 * that could be paired: it is moved to stand about the value.
 */
static struct estimate change_of(const struct comparison *c, const struct sample *base,
				 const struct sample *new, double b, double n)
{
	struct estimate e = stats_boot_ratio(c->estimator, base->x, base->n, new->x, new->n, 0.95);
	double ratio = b != 0 ? n / b : NAN, move = e.value != 0 ? ratio / e.value : 1;

	e.lo *= move;
	e.hi *= move;
	e.value = ratio;
	return e;
}

static bool modelled(const struct side_figures *side, const struct metric *m)
{
	return side->modelled && (m->figure == FIGURE_POWER || m->figure == FIGURE_ROI_P);
}

static enum verdict put_metric(struct table *t, const struct comparison *c, const struct metric *m,
			       const struct side_figures *side)
{
	const struct sample *base = &side->of[m->figure][BASE], *new = &side->of[m->figure][NEW];
	double b = sample_value(base, c->estimator), n = sample_value(new, c->estimator);
	double p = stats_mann_whitney(base->x, base->n, new->x, new->n);
	struct estimate change = change_of(c, base, new, b, n);
	enum verdict v = judge(c, m, base, new, b, n, p);
	struct value *row = table_row(t);
	char *unit = xasprintf("%s%s", m->unit, modelled(side, m) ? ", modelled" : "");

	table_set(t, row, "side", value_str(t, side->side));
	table_set(t, row, "metric", value_str(t, m->name));
	table_set(t, row, "unit", value_str(t, unit));
	table_set(t, row, "base", value_real(b));
	table_set(t, row, "new", value_real(n));
	table_set(t, row, "change_pct", value_real(percent(change.value)));
	table_set(t, row, "change_lo", value_real(percent(change.lo)));
	table_set(t, row, "change_hi", value_real(percent(change.hi)));
	table_set(t, row, "p", v == VERDICT_FEW ? value_none() : value_real(p));
	table_set(t, row, "better", value_str(t, direction(m->better)));
	table_set(t, row, "verdict", value_str(t, verdict_name(v)));
	table_set(t, row, "base_runs", value_int(base->n));
	table_set(t, row, "new_runs", value_int(new->n));
	free(unit);
	return v;
}

static void say_rules(struct table *t, const struct comparison *c)
{
	table_note(
		t,
		"base, new: %s over the runs; interval: bootstrap over whole runs, %d rounds, seed "
		"%#llx",
		estimator_names[c->estimator], STATS_ROUNDS, (unsigned long long)STATS_SEED);
	table_note(
		t,
		"verdict: exact Mann-Whitney p < %g and a change above %g %%; too few runs: fewer "
		"than %zu a side can give no verdict",
		c->rule.alpha, 100 * c->rule.threshold, verdict_runs_needed(&c->rule, 1));
}

static void put_side(struct table *t, const struct comparison *c, const struct side_figures *side,
		     unsigned *worse)
{
	enum verdict v;
	size_t i;

	for (i = 0; i < array_size(metrics); i++) {
		const struct sample *ends = side->of[metrics[i].figure];

		if (!ends[BASE].n && !ends[NEW].n)
			continue;
		v = put_metric(t, c, &metrics[i], side);
		*worse += v == VERDICT_WORSE && metrics[i].gate && !modelled(side, &metrics[i]);
	}
}

/* --- the largest movements, in words --- */

enum { MOVEMENTS = 5 };

struct movement {
	const char *side, *unit;
	const struct diff_row *row;
};

static int by_size(const void *a, const void *b)
{
	double x = fabs(((const struct movement *)a)->row->delta);
	double y = fabs(((const struct movement *)b)->row->delta);

	return (x < y) - (x > y);
}

static size_t list_movements(const struct figures *f, struct movement **list)
{
	size_t n = 0, cap = 0, i, k;

	*list = NULL;
	for (i = 0; i < f->n; i++) {
		for (k = 0; k < f->side[i].components.n; k++) {
			array_grow(*list, n, cap);
			(*list)[n++] =
				(struct movement){f->side[i].side, f->side[i].components.unit,
						  &f->side[i].components.rows[k]};
		}
	}
	if (n)
		qsort(*list, n, sizeof(**list), by_size);
	return n;
}

/* What is within the error of its measurement is no movement. */
static void say_movements(struct table *t, const struct figures *f)
{
	struct movement *list;
	size_t n = list_movements(f, &list), i, said = 0;

	for (i = 0; i < n && said < MOVEMENTS; i++) {
		const struct diff_row *r = list[i].row;

		if (!(fabs(r->delta) > r->delta_ci))
			continue;
		table_note(t, "%s %s %+.1f +-%.1f ns/%s (%.1f to %.1f)", list[i].side, r->key,
			   r->delta, r->delta_ci, list[i].unit, r->cost[BASE], r->cost[NEW]);
		said++;
	}
	if (!n)
		table_note(t, "no profile of both: the components' movements are not known");
	else if (!said)
		table_note(t, "no component moved by more than the error of its measurement");
	free(list);
}

int compare_metrics(const struct comparison *c, struct table *t, unsigned *worse, struct error *err)
{
	struct figures f;
	size_t i;
	int ret;

	table_init(t, "compare metrics", columns, array_size(columns));
	table_title(t, "%s against %s", c->end[NEW].label, c->end[BASE].label);
	ret = figures_read(&f, c, t, err);
	if (ret)
		return ret;
	for (i = 0; i < f.n; i++)
		put_side(t, c, &f.side[i], worse);
	if (!t->rows)
		ret = error_set(err, ENODATA, "neither %s nor %s has a figure to compare%s%s",
				c->end[BASE].label, c->end[NEW].label, c->side ? " of the " : "",
				c->side ? c->side : "");
	say_movements(t, &f);
	say_rules(t, c);
	figures_free(&f);
	return ret;
}
