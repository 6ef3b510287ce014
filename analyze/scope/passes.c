// SPDX-License-Identifier: GPL-2.0-only
/*
 * The throughput of the workload in each pass, and its loss against the measure pass. Where the
 * workload counts no bytes, the loss is that of its packets or messages per second. The interval of
 * the loss is that of the exact test of the ratio of single runs. It is missing if the runs are too
 * few for the test.
 */
#include "analyze/scope/runs.h"
#include "analyze/scope/work.h"

#include <math.h>

const char *const stored_passes[PASSES] = {"measure", "profile", "syscalls", "trace", "all"};

// clang-format off
#define PASS_RATE(id, unit, units) {"rate_" units, units "/s"},
/* The rates of work that passes are compared by. The first that the runs have is used. */
static const struct {
	const char *metric, *unit;
} rates[] = {
	{"throughput", "Gbit/s"},
	WORK_UNITS(PASS_RATE)
};
// clang-format on

enum { RATES = array_size(rates) };

void pass_runs_free(struct pass_runs *p)
{
	free(p->runs);
	free(p->x);
}

/* Reads one rate of the runs. Returns false if none of the runs has it. */
static bool pass_read_rate(struct store *s, int rate, struct pass_runs *p)
{
	double x;

	for (int i = 0; i < p->n; i++) {
		x = figure_metric(s, &p->runs[i], rates[rate].metric);
		if (isfinite(x))
			p->x[p->nx++] = x;
	}
	return p->nx;
}

int passes_read_pass(struct store *s, const struct query *q, const struct block *b, int pass,
		     int *rate, struct pass_runs *p, struct error *err)
{
	struct run_filter f = {b->variant, stored_passes[pass], b->side, q->repeat, false};

	*p = (struct pass_runs){0};
	if (q->pass && strcmp(q->pass, f.pass))
		return 0;
	p->n = store_runs(s, &f, &p->runs, err);
	if (p->n < 0)
		return p->n;
	p->x = xcalloc((size_t)p->n + 1, sizeof(*p->x));
	while (!pass_read_rate(s, *rate, p) && pass == MEASURE_PASS && *rate < RATES - 1)
		(*rate)++;
	return 0;
}

struct estimate pass_cost(enum estimator e, const struct pass_runs *measure,
			  const struct pass_runs *pass)
{
	double p, was = stats_point(e, measure->x, measure->nx);
	double is = stats_point(e, pass->x, pass->nx);
	struct estimate ratio =
		stats_test_ratio(measure->x, measure->nx, pass->x, pass->nx, 0.05, &p);

	return (struct estimate){.value = was > 0 ? 100 * (1 - is / was) : NAN,
				 .lo = 100 * (1 - ratio.hi),
				 .hi = 100 * (1 - ratio.lo)};
}

/*
 * Returns whether a profile pass that did `ratio` times the work of the measure pass ran under
 * other conditions. Each cost is a share of one pass times the basis of the other. The pass that
 * did less work spent 1 - 1 / times of its time on something that the other pass did not: 9 % at
 * 1.1, a fifth at 1.25. Less than a tenth moves costs less than runs differ, so it counts for
 * nothing. A fifth changes the order of components, so it counts even if chance can explain it:
 * these very runs gave the costs. Between the two the difference must be certain.
 */
static bool conditions_differ(double ratio, const struct estimate *cost)
{
	double times = fmax(ratio, 1 / ratio);
	bool certain = cost->lo > 0 || cost->hi < 0;

	return isfinite(ratio) && times > (certain ? 1.1 : 1.25);
}

/* Returns how far the note's ratio is from 1, in either direction. */
static double conditions_distance(const struct note *n)
{
	return fabs(log(n->value[1].number));
}

void passes_sort_last_note(struct notes *list)
{
	struct note last = list->note[list->n - 1];
	size_t at = 0;

	while (note_is(&list->note[at], NOTE_passes_differ) && at < list->n - 1 &&
	       conditions_distance(&list->note[at]) >= conditions_distance(&last))
		at++;
	memmove(&list->note[at + 1], &list->note[at], (list->n - 1 - at) * sizeof(last));
	list->note[at] = last;
}

int passes_note_conditions(struct store *s, const struct query *q, const struct block *b, int pass,
			   struct table *t, struct error *err)
{
	freed(pass_runs_free) struct pass_runs measure = {0}, other = {0};
	enum estimator e;
	struct estimate cost;
	double is, was;
	int rate = 0, rc = scope_estimator(s, q, &e, err);

	if (q->pass || q->repeat)
		return rc;
	rc = rc ?: passes_read_pass(s, q, b, MEASURE_PASS, &rate, &measure, err);
	rc = rc ?: passes_read_pass(s, q, b, pass, &rate, &other, err);
	if (!rc && measure.nx && other.nx) {
		was = stats_point(e, measure.x, measure.nx);
		is = stats_point(e, other.x, other.nx);
		cost = pass_cost(e, &measure, &other);
		if (conditions_differ(is / was, &cost)) {
			note_add_block(&t->notes, b, passes_differ, stored_passes[pass], is / was,
				       is, was, rates[rate].unit,
				       pass == PROFILE_PASS ? "shares" : "times")
				->pass = stored_passes[pass];
			passes_sort_last_note(&t->notes);
		}
	}
	return rc;
}
