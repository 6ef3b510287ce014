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

static void ask_mann_whitney(const struct question *q, struct list *out)
{
	put(out, stats_mann_whitney(q->a.x, q->a.n, q->b.x, q->b.n));
}

static void ask_test_shift(const struct question *q, struct list *out)
{
	double p, alpha = 1 - q->parameter.x[0];

	put_estimate(out, stats_test_shift(q->a.x, q->a.n, q->b.x, q->b.n, alpha, &p));
}

static void ask_test_ratio(const struct question *q, struct list *out)
{
	double p, alpha = 1 - q->parameter.x[0];

	put_estimate(out, stats_test_ratio(q->a.x, q->a.n, q->b.x, q->b.n, alpha, &p));
}

static void ask_welch(const struct question *q, struct list *out)
{
	struct stats_error e = stats_error_add(stats_error_of(EST_MEAN, q->a.x, q->a.n),
					       stats_error_of(EST_MEAN, q->b.x, q->b.n));
	double change = stats_mean(q->b.x, q->b.n) - stats_mean(q->a.x, q->a.n);
	double half = stats_error_half(e, q->parameter.x[0]);

	put_estimate(out,
		     (struct estimate){.value = change, .lo = change - half, .hi = change + half});
}

static void ask_mean(const struct question *q, struct list *out)
{
	put_estimate(out, stats_estimate(EST_MEAN, q->a.x, q->a.n, q->parameter.x[0]));
}

static void ask_middle(const struct question *q, struct list *out)
{
	put_estimate(out, stats_estimate(EST_MIDDLE, q->a.x, q->a.n, q->parameter.x[0]));
}

static void ask_median(const struct question *q, struct list *out)
{
	struct estimate e = stats_estimate(EST_MEDIAN, q->a.x, q->a.n, q->parameter.x[0]);

	put_estimate(out, e);
	put(out, e.level);
}

static void ask_quantile(const struct question *q, struct list *out)
{
	put(out, stats_quantile(q->a.x, q->a.n, q->parameter.x[0]));
}

static void ask_holm(const struct question *q, struct list *out)
{
	*out = q->a;
	stats_holm(out->x, out->n);
}

static void ask_proportion(const struct question *q, struct list *out)
{
	put_estimate(out, stats_proportion((unsigned)q->parameter.x[0], (unsigned)q->parameter.x[1],
					   0.95));
}

static void ask_sd(const struct question *q, struct list *out)
{
	put(out, stats_sd(q->a.x, q->a.n));
}

static void ask_normal(const struct question *q, struct list *out)
{
	put(out, stats_normal_cdf(q->parameter.x[0]));
	put(out, stats_normal_quantile(out->x[0]));
}

static void ask_student(const struct question *q, struct list *out)
{
	put(out, stats_t_cdf(q->parameter.x[0], q->parameter.x[1]));
	put(out, stats_t_quantile(out->x[0], q->parameter.x[1]));
}

static void ask_binomial(const struct question *q, struct list *out)
{
	put(out, stats_binomial_cdf((long)q->parameter.x[0], (unsigned)q->parameter.x[1],
				    q->parameter.x[2]));
}

static void ask_boot_ratio(const struct question *q, struct list *out)
{
	put_estimate(out,
		     stats_boot_ratio(EST_MEAN, q->a.x, q->a.n, q->b.x, q->b.n, q->parameter.x[0]));
}

static const struct {
	const char *name;
	void (*ask)(const struct question *q, struct list *out);
} questions[] = {
	{"mann_whitney", ask_mann_whitney},
	{"test_shift", ask_test_shift},
	{"test_ratio", ask_test_ratio},
	{"welch", ask_welch},
	{"mean", ask_mean},
	{"middle", ask_middle},
	{"median", ask_median},
	{"quantile", ask_quantile},
	{"holm", ask_holm},
	{"proportion", ask_proportion},
	{"sd", ask_sd},
	{"normal", ask_normal},
	{"student", ask_student},
	{"binomial", ask_binomial},
	{"boot_ratio", ask_boot_ratio},
};

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
	size_t i, k;
	int wrong = 0;

	for (k = 0; k < array_size(questions); k++)
		if (!strcmp(questions[k].name, q->name))
			break;
	if (k == array_size(questions))
		return -1;
	questions[k].ask(q, &out);
	if (out.n != answers->n)
		return -1;
	for (i = 0; i < out.n; i++) {
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
	int i;

	for (i = 0; i < 6; i++) {
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
