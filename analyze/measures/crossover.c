// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/crossover.h"

#include "lib/alloc.h"
#include "lib/stats.h"
#include "lib/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The logarithm of new / base at one value, positive where new is better. */
struct gain {
	double at; /* on the axis: the logarithm of the value if that is a log axis */
	double value;
	struct stats_error error;
	double p; /* of the exact Mann-Whitney test */
};

static struct stats_error log_error(const double *x, size_t n)
{
	double *logs = xcalloc(n + 1, sizeof(*logs));
	struct stats_error e;
	size_t i;

	for (i = 0; i < n; i++)
		logs[i] = log(x[i]);
	e = stats_error_of(EST_MEDIAN, logs, n);
	free(logs);
	return e;
}

static struct gain gain_of(const struct crossover_point *p, int better, bool log_axis)
{
	double a = stats_point(EST_MEDIAN, p->base, p->nbase);
	double b = stats_point(EST_MEDIAN, p->new, p->nnew);
	struct gain g = {.at = log_axis ? log(p->at) : p->at, .value = better * log(b / a)};

	g.error = stats_error_add(log_error(p->base, p->nbase), log_error(p->new, p->nnew));
	stats_test_ratio(p->base, p->nbase, p->new, p->nnew, 0.05, &g.p);
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

static void crossover_classify(struct crossover *c, const struct gain *g, size_t n)
{
	size_t i, at = 0;

	for (i = 0; i < n; i++) {
		c->better += g[i].p < 0.05 && g[i].value > 0;
		c->worse += g[i].p < 0.05 && g[i].value < 0;
		if (i && (g[i - 1].value > 0) != (g[i].value > 0)) {
			c->times++;
			at = i;
		}
	}
	if (c->times > 1)
		c->kind = CROSSOVER_OFTEN;
	else if (!c->times)
		c->kind = c->better == n  ? CROSSOVER_ALWAYS
			  : c->worse == n ? CROSSOVER_NEVER
					  : CROSSOVER_UNCLEAR;
	if (c->times != 1)
		return;
	c->kind = g[at].value > 0 ? CROSSOVER_BEGINS : CROSSOVER_ENDS;
	c->at = g[at - 1].at +
		(g[at].at - g[at - 1].at) * g[at - 1].value / (g[at - 1].value - g[at].value);
	c->lo = crossover_find_end(g, n, c->at, at, -1);
	c->hi = crossover_find_end(g, n, c->at, at, 1);
}

struct crossover crossover_find(const struct crossover_point *points, size_t n, int better,
				bool log_axis)
{
	struct crossover c = {.kind = CROSSOVER_NONE, .at = NAN, .lo = NAN, .hi = NAN};
	struct gain *g = xcalloc(n + 1, sizeof(*g));
	size_t i;

	for (i = 0; i < n; i++) {
		if (!points[i].nbase || !points[i].nnew)
			continue;
		g[c.n] = gain_of(&points[i], better, log_axis);
		c.n += !isnan(g[c.n].value);
	}
	if (c.n > 1)
		crossover_classify(&c, g, c.n);
	if (log_axis) {
		c.at = exp(c.at);
		c.lo = exp(c.lo);
		c.hi = exp(c.hi);
	}
	free(g);
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
	double step = digits[0] && (!digits[1] || digits[1] == 'B') ? 1024 : 1000;
	int i = -1;

	if (!*digits)
		return xasprintf("%.4g", x);
	while (i < 3 && x >= step) {
		x /= step;
		i++;
	}
	return xasprintf("%.*g%.*s", x < 1000 ? 3 : 4, x, i >= 0, factors + (i < 0 ? 0 : i));
}
