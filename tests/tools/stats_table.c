// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares the statistics with R's answers (stats.R). Each line of standard input is a question, a
 * parameter, a, b, the tolerance and the answers, separated by tabs, and lists by commas. Prints a
 * line per wrong answer and their number. Exits 1 if any answer is wrong.
 */
#include "lib/stats.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 128 };

struct list {
	double x[MOST];
	size_t n;
};

struct question {
	const char *name;
	struct list parameter, a, b;
};

static void put(struct list *l, double x)
{
	if (l->n < MOST)
		l->x[l->n++] = x;
}

static void put_estimate(struct list *l, struct estimate e)
{
	put(l, e.value);
	put(l, e.lo);
	put(l, e.hi);
}

static void put_welch(const struct question *q, struct list *out)
{
	struct stats_error e = stats_error_add(stats_error_of(EST_MEAN, q->a.x, q->a.n),
					       stats_error_of(EST_MEAN, q->b.x, q->b.n));
	double change = stats_mean(q->b.x, q->b.n) - stats_mean(q->a.x, q->a.n);
	double half = stats_error_half(e, q->parameter.x[0]);

	put_estimate(out,
		     (struct estimate){.value = change, .lo = change - half, .hi = change + half});
}

static void put_changes(const struct question *q, struct list *out)
{
	struct stats_change found[MOST / STATS_SEGMENT];
	size_t n = stats_changes(q->a.x, q->a.n, q->parameter.x[0], found);

	for (size_t i = 0; i < n; i++)
		put(out, (double)found[i].at);
}

/* Answers nothing to an unknown question. */
static void ask(const struct question *q, struct list *out)
{
	const double *a = q->a.x, *b = q->b.x, *p = q->parameter.x;
	size_t na = q->a.n, nb = q->b.n;
	const char *is = q->name;
	double test_p;

	if (!strcmp(is, "mann_whitney")) {
		put(out, stats_mann_whitney(a, na, b, nb));
	} else if (!strcmp(is, "test_shift")) {
		put_estimate(out, stats_test_shift(a, na, b, nb, 1 - p[0], &test_p));
	} else if (!strcmp(is, "test_ratio")) {
		put_estimate(out, stats_test_ratio(a, na, b, nb, 1 - p[0], &test_p));
	} else if (!strcmp(is, "welch")) {
		put_welch(q, out);
	} else if (!strcmp(is, "mean")) {
		put_estimate(out, stats_estimate(EST_MEAN, a, na, p[0]));
	} else if (!strcmp(is, "middle")) {
		put_estimate(out, stats_estimate(EST_MIDDLE, a, na, p[0]));
	} else if (!strcmp(is, "median")) {
		put_estimate(out, stats_estimate(EST_MEDIAN, a, na, p[0]));
		put(out, stats_estimate(EST_MEDIAN, a, na, p[0]).level);
	} else if (!strcmp(is, "quantile")) {
		put(out, stats_quantile(a, na, p[0]));
	} else if (!strcmp(is, "holm")) {
		*out = q->a;
		stats_holm(out->x, out->n);
	} else if (!strcmp(is, "proportion")) {
		put_estimate(out, stats_proportion((unsigned)p[0], (unsigned)p[1], 0.95));
	} else if (!strcmp(is, "sd")) {
		put(out, stats_sd(a, na));
	} else if (!strcmp(is, "normal")) {
		put(out, stats_normal_cdf(p[0]));
		put(out, stats_normal_quantile(out->x[0]));
	} else if (!strcmp(is, "student")) {
		put(out, stats_t_cdf(p[0], p[1]));
		put(out, stats_t_quantile(out->x[0], p[1]));
	} else if (!strcmp(is, "binomial")) {
		put(out, stats_binomial_cdf((long)p[0], (unsigned)p[1], p[2]));
	} else if (!strcmp(is, "changes")) {
		put_changes(q, out);
	} else if (!strcmp(is, "boot_ratio")) {
		put_estimate(out, stats_boot_ratio(EST_MEAN, a, na, b, nb, p[0]));
	}
}

static struct list read_list(char *text)
{
	struct list l = {.n = 0};
	char *word;

	while (text && (word = str_token(&text, ',')))
		put(&l, strtod(word, NULL));
	return l;
}

/* Returns the number of wrong answers, or -1 for an unknown question. */
static int check(const struct question *q, double tolerance, const struct list *answers)
{
	struct list out = {.n = 0};
	int wrong = 0;

	ask(q, &out);
	if (!out.n || out.n != answers->n)
		return -1;
	for (size_t i = 0; i < out.n; i++) {
		if (fabs(out.x[i] - answers->x[i]) <= tolerance * fmax(fabs(answers->x[i]), 1e-9))
			continue;
		printf("%s[%zu]: %.15g, R says %.15g\n", q->name, i, out.x[i], answers->x[i]);
		wrong++;
	}
	return wrong;
}

static int check_line(char *line)
{
	char *rest = line, *field[6];
	struct question q;
	struct list answers;

	for (int i = 0; i < 6; i++) {
		field[i] = str_token(&rest, '\t');
		if (!field[i])
			return -1;
	}
	q = (struct question){field[0], read_list(field[1]), read_list(field[2]),
			      read_list(field[3])};
	answers = read_list(field[5]);
	return check(&q, strtod(field[4], NULL), &answers);
}

int main(void)
{
	char *line = NULL;
	size_t cap = 0, asked = 0, wrong = 0;
	ssize_t len;

	while ((len = getline(&line, &cap, stdin)) > 0) {
		int bad;

		line[strcspn(line, "\n")] = '\0';
		bad = check_line(line);
		if (bad < 0)
			printf("not understood: %.60s\n", line);
		asked++;
		wrong += bad != 0;
	}
	free(line);
	printf("%zu questions, %zu wrong\n", asked, wrong);
	return wrong || !asked;
}
