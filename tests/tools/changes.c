// SPDX-License-Identifier: GPL-2.0-only
/*
 * changes YEARS SERIES [SPREAD]
 *
 * How often change points are false, and how often a step is found. Each of YEARS simulated years
 * has daily captures without a change, and a look after each capture. Each of SERIES series per
 * step has 180 captures before the step. SPREAD is the standard deviation between captures in
 * percent (2).
 */
#include "lib/alloc.h"
#include "lib/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { YEAR = 365, BEFORE = 180 };

static const double budget = 0.05;

static double uniform(struct prng *r)
{
	return ((double)(prng_next(r) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(struct prng *r)
{
	return stats_normal_quantile(uniform(r));
}

/* A lognormal value: a tail to one side. */
static double skewed(struct prng *r)
{
	return exp(normal(r));
}

static double heavy(struct prng *r)
{
	return stats_t_quantile(uniform(r), 3);
}

static const struct noise {
	const char *name;
	double (*draw)(struct prng *r);
	double memory; /* correlation with the capture before */
} noises[] = {
	{"normal", normal, 0},
	{"lognormal", skewed, 0},
	{"Student's t, 3 df", heavy, 0},
	{"normal, autocorrelation 0.1", normal, 0.1},
	{"normal, autocorrelation 0.3", normal, 0.3},
};

static void fill(double *x, size_t n, const struct noise *noise, struct prng *r)
{
	double fresh = sqrt(1 - noise->memory * noise->memory);

	for (size_t i = 0; i < n; i++)
		x[i] = i ? noise->memory * x[i - 1] + fresh * noise->draw(r) : noise->draw(r);
}

static void print_false_alarms(unsigned years)
{
	struct stats_change found[YEAR / STATS_SEGMENT];
	double x[YEAR];
	struct prng r;

	printf("%-30s %8s %12s\n", "noise", "years", "with alarm");
	for (size_t k = 0; k < array_size(noises); k++) {
		unsigned alarms = 0;

		prng_seed(&r, k);
		for (unsigned y = 0; y < years; y++) {
			fill(x, YEAR, &noises[k], &r);
			alarms += stats_changes(x, YEAR, budget / YEAR, found) > 0;
		}
		printf("%-30s %8u %10.1f %%\n", noises[k].name, years,
		       100 * stats_proportion(alarms, years, 0.95).value);
		fflush(stdout);
	}
}

/* Prints the share of series with a change less than a segment away from the step. */
static void print_power(unsigned series, double spread)
{
	static const double steps[] = {1, 2, 5, 10};
	static const size_t after[] = {5, 10, 20, 40, 80, 160};
	struct stats_change found[YEAR / STATS_SEGMENT];
	double x[YEAR];
	struct prng r;

	printf("\n%-10s", "step");
	for (size_t a = 0; a < array_size(after); a++)
		printf(" %7zu", after[a]);
	printf("   captures after the step\n");
	for (size_t s = 0; s < array_size(steps); s++) {
		printf("%-8g %%", steps[s]);
		for (size_t a = 0; a < array_size(after); a++) {
			unsigned hits = 0;

			prng_seed(&r, 100 + s);
			for (unsigned i = 0; i < series; i++) {
				size_t n = BEFORE + after[a], changes, k;

				for (k = 0; k < n; k++)
					x[k] = 100 + spread * normal(&r) +
					       (k < BEFORE ? 0 : steps[s]);
				changes = stats_changes(x, n, budget / YEAR, found);
				for (k = 0; k < changes; k++)
					if (found[k].at + STATS_SEGMENT > BEFORE &&
					    found[k].at < BEFORE + STATS_SEGMENT)
						break;
				hits += k < changes;
			}
			printf(" %5.0f %%", 100.0 * hits / series);
			fflush(stdout);
		}
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: changes YEARS SERIES [SPREAD]\n");
		return 2;
	}
	print_false_alarms((unsigned)strtoul(argv[1], NULL, 10));
	print_power((unsigned)strtoul(argv[2], NULL, 10), argc > 3 ? strtod(argv[3], NULL) : 2);
	return 0;
}
