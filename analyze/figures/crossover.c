// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/figures/figures.h"

#include <math.h>

/* The logarithm of new / base at one value, positive where new is better. */
struct gain {
	double at; /* on the axis: the logarithm of the value if that is a log axis */
	double value;
	struct stats_error error;
	struct crossover_point *point;
};

static struct stats_error log_error(const double *x, size_t n)
{
	autofree double *logs = xcalloc(n + 1, sizeof(*logs));

	for (size_t i = 0; i < n; i++)
		logs[i] = log(x[i]);
	return stats_error_of(EST_MEDIAN, logs, n);
}

static struct gain gain_of(struct crossover_point *p, int better, bool log_axis)
{
	double a = stats_point(EST_MEDIAN, p->base, p->nbase);
	double b = stats_point(EST_MEDIAN, p->new, p->nnew);
	struct gain g = {
		.at = log_axis ? log(p->at) : p->at, .value = better * log(b / a), .point = p};

	g.error = stats_error_add(log_error(p->base, p->nbase), log_error(p->new, p->nnew));
	return g;
}

/*
 * Returns how far the gain between `a` and `b`, at the share w of the way, is from 0 in units of
 * half its 95 % interval. Both ends have errors of their own, so their errors add up as squares
 * (Fieller's argument). 0 where the error is not known.
 */
static double gain_distance(const struct gain *a, const struct gain *b, double w)
{
	struct stats_error e =
		stats_error_add(stats_error_times(a->error, 1 - w), stats_error_times(b->error, w));
	double half = stats_error_half(e, 0.95);

	return half > 0 ? ((1 - w) * a->value + w * b->value) / half : 0;
}

enum { STEPS = 50 }; /* between two values */

/*
 * Finds where the gain, seen from a crossing between i - 1 and i, is first significant: upwards
 * (step 1) or downwards (step -1). Returns NAN where it never is.
 */
static double crossover_find_end(const struct gain *g, size_t n, double crossing, size_t i,
				 int step)
{
	long k = (long)(step > 0 ? i - 1 : i) * STEPS, last = (long)(n - 1) * STEPS;

	for (; k >= 0 && k <= last; k += step) {
		size_t left = k < last ? (size_t)(k / STEPS) : n - 2;
		double w = (double)(k - (long)left * STEPS) / STEPS;
		double at = (1 - w) * g[left].at + w * g[left + 1].at;

		if (step * (at - crossing) > 0 &&
		    fabs(gain_distance(&g[left], &g[left + 1], w)) > 1)
			return at;
	}
	return NAN;
}

static const struct verdict_rule rule = VERDICT_RULE;

/* Judges a value; p is corrected for `tests`. */
static enum verdict gain_judge(const struct gain *g, int better, double p, size_t tests)
{
	const struct crossover_point *x = g->point;
	double base = stats_point(EST_MEDIAN, x->base, x->nbase), raw;
	double new = stats_point(EST_MEDIAN, x->new, x->nnew);
	struct verdict_rule of = rule;
	struct estimate shift =
		stats_test_shift(x->base, x->nbase, x->new, x->nnew, rule.alpha, &raw);

	if (!verdict_possible(&rule, x->nbase, x->nnew, tests))
		return VERDICT_FEW;
	if (verdict_opposed(&shift, 0, new - base))
		return VERDICT_SAME;
	of.copied = x->copied;
	return verdict_beside_others(verdict_of(&of, better, base, new, p), x->others);
}

static void crossover_judge(struct crossover *c, const struct gain *g, int better)
{
	autofree double *p = xcalloc(c->n, sizeof(*p));

	for (size_t i = 0; i < c->n; i++)
		p[i] = stats_mann_whitney(g[i].point->base, g[i].point->nbase, g[i].point->new,
					  g[i].point->nnew);
	stats_holm(p, c->n);
	c->needed = verdict_runs_needed(&rule, c->n);
	for (size_t i = 0; i < c->n; i++) {
		enum verdict v = gain_judge(&g[i], better, p[i], c->n);

		g[i].point->verdict = v;
		c->better += v == VERDICT_BETTER;
		c->worse += v == VERDICT_WORSE;
		if (v != VERDICT_FEW)
			c->needed = 0;
	}
}

/* Places the crossing between the values `from` and `to`, if the lines cross once there. */
static void crossover_place(struct crossover *c, const struct gain *g, size_t from, size_t to)
{
	size_t at = 0, times = 0;

	for (size_t i = from + 1; i <= to; i++)
		if ((g[i - 1].value > 0) != (g[i].value > 0)) {
			times++;
			at = i;
		}
	if (times != 1)
		return;
	c->at = g[at - 1].at +
		(g[at].at - g[at - 1].at) * g[at - 1].value / (g[at - 1].value - g[at].value);
	c->lo = crossover_find_end(g, c->n, c->at, at, -1);
	c->hi = crossover_find_end(g, c->n, c->at, at, 1);
}

static void crossover_classify(struct crossover *c, const struct gain *g)
{
	size_t last = c->n, times = 0, from = 0, to = 0;

	for (size_t i = 0; i < c->n; i++) {
		if (g[i].point->verdict != VERDICT_BETTER && g[i].point->verdict != VERDICT_WORSE)
			continue;
		if (last < c->n && g[last].point->verdict != g[i].point->verdict) {
			times++;
			from = last;
			to = i;
		}
		last = i;
	}
	c->kind = times > 1	      ? CROSSOVER_OFTEN
		  : c->better == c->n ? CROSSOVER_ALWAYS
		  : c->worse == c->n  ? CROSSOVER_NEVER
		  : !times	      ? CROSSOVER_UNCLEAR
		  : g[to].value > 0   ? CROSSOVER_BEGINS
				      : CROSSOVER_ENDS;
	if (times == 1)
		crossover_place(c, g, from, to);
}

struct crossover crossover_find(struct crossover_point *points, size_t n, int better, bool log_axis)
{
	struct crossover c = {.kind = CROSSOVER_NONE, .at = NAN, .lo = NAN, .hi = NAN};
	autofree struct gain *g = xcalloc(n + 1, sizeof(*g));

	for (size_t i = 0; i < n; i++) {
		points[i].verdict = VERDICT_NONE;
		if (!points[i].nbase || !points[i].nnew)
			continue;
		g[c.n] = gain_of(&points[i], better, log_axis);
		c.n += !isnan(g[c.n].value);
	}
	if (c.n)
		crossover_judge(&c, g, better);
	if (c.n > 1)
		crossover_classify(&c, g);
	if (log_axis) {
		c.at = exp(c.at);
		c.lo = exp(c.lo);
		c.hi = exp(c.hi);
	}
	return c;
}

/* --- values of settings --- */

bool setting_number(const char *text, double *number, const char **rest)
{
	static const char factors[] = "kMGT";
	const char *factor;
	char *end;

	*number = strtod(text, &end);
	*rest = end;
	if (end == text)
		return false;
	factor = *end ? strchr(factors, *end == 'K' ? 'k' : *end) : NULL;
	if (factor) {
		*rest = end + 1;
		*number *= pow(!**rest || !strcmp(*rest, "B") || !strcmp(*rest, "iB") ? 1024 : 1000,
			       (double)(factor - factors + 1));
	}
	return true;
}

char *setting_text(double x, const char *like)
{
	static const char factors[] = "kMGT";
	const char *digits = like + strcspn(like, "kKMGT");
	double step =
		digits[0] && (!digits[1] || digits[1] == 'B' || digits[1] == 'i') ? 1024 : 1000;
	int i = -1;

	if (!*digits)
		return xasprintf(x < 1000 ? "%.4g" : "%.0f", x);
	while (i < 3 && x >= step) {
		x /= step;
		i++;
	}
	return xasprintf("%.*g%.*s", x < 1000 ? 3 : 4, x, i >= 0, factors + (i < 0 ? 0 : i));
}
