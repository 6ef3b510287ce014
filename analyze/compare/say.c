// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/compare/say.h"

#include "analyze/compare/movements.h"
#include "analyze/measures/syscalls.h"
#include "analyze/measures/basis.h"
#include "lib/alloc.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *cost_state(const struct diff_row *r)
{
	return r->seen[BASE] == r->seen[NEW] ? NULL : r->seen[NEW] ? "new" : "vanished";
}

int cost_list_read(struct cost_list *l, const struct comparison *c, const struct diff_spec *spec,
		   struct table *t, struct error *err)
{
	int ret = compare_side(c, &l->side, err);

	l->spec = spec;
	if (!ret)
		ret = diff_read_ends(&l->d, c, l->side, spec, t, err);
	if (ret)
		return ret;
	l->unit = spec->syscalls	? "KiB"
		  : l->d.unit		? l->d.unit
		  : !compare_is_bare(c) ? "KiB"
		  : c->query.unit	? c->query.unit
					: "packet";
	if (l->d.n)
		return 0;
	cost_list_free(l);
	return error_set(err, ENODATA, "neither %s nor %s has a sample of that in its %s",
			 c->end[BASE].label, c->end[NEW].label, l->side);
}

void cost_list_free(struct cost_list *l)
{
	diff_free(&l->d);
}

int cost_digits(const struct cost_list *l)
{
	double total = fmin(l->d.total[BASE], l->d.total[NEW]);
	int digits = 2;

	while (digits < 6 && total > 0 && total < pow(10, 3 - digits))
		digits++;
	return digits;
}

void cost_columns(struct table *t, int digits)
{
	size_t size = (size_t)t->ncolumns * sizeof(*t->columns);
	struct column *copy = arena_dup(&t->arena, t->columns, size);
	int i;

	for (i = 0; i < t->ncolumns; i++)
		if (copy[i].unit && !strcmp(copy[i].unit, "ns"))
			copy[i].digits = digits;
	t->columns = copy;
}

void cost_list_outcome(const struct cost_list *l, struct outcome *out)
{
	size_t i;

	snprintf(out->side, sizeof(out->side), "%s", l->side);
	snprintf(out->unit, sizeof(out->unit), "%s", l->unit);
	memcpy(out->runs, l->d.nruns, sizeof(out->runs));
	out->tests = l->d.tests;
	out->parts = l->spec->whole != NULL;
	memcpy(out->whole, l->d.total, sizeof(out->whole));
	for (i = 0; i < l->d.n; i++)
		outcome_count(out, l->d.rows[i].verdict);
}

static void say_movements(const struct cost_list *l, const struct comparison *c, struct table *t)
{
	struct movements m = {0};

	movements_add(&m, l->side, &l->d, l->unit);
	movements_say(&m, c, t, l->spec->key);
	movements_free(&m);
}

static void say_sum(struct table *t, const struct comparison *c, const struct cost_list *l)
{
	double base = l->d.total[BASE], new = l->d.total[NEW];
	int digits = cost_digits(l);
	char *sum = xasprintf("%.*f (%s) %+.*f = %.*f (%s)", digits, base, c->end[BASE].label,
			      digits, new - base, digits, new, c->end[NEW].label);

	note_add(&t->notes, compare_sum, sum, l->unit,
		 l->spec->whole ? "of all functions; groups may overlap and are a part of it"
				: "the rows add up to it");
	free(sum);
}

static void say_rule(struct table *t, const struct comparison *c, const struct diff *d)
{
	if (d->possible && d->tests) {
		note_add(&t->notes, compare_verdict_rows, d->nruns[BASE], d->nruns[NEW],
			 c->rule.alpha, d->tests, 100 * c->rule.threshold);
		note_add(&t->notes, compare_intervals_rows, 100 * d->level[0], 100 * d->level[1],
			 c->rule.alpha);
	} else {
		note_add(&t->notes, compare_too_few, d->nruns[BASE], d->nruns[NEW], d->tests,
			 verdict_runs_needed(&c->rule, d->tests));
	}
	note_add(&t->notes, compare_error);
}

static void say_copy(const struct cost_list *l, struct table *t)
{
	if (l->spec == &component_spec && diff_find(&l->d, "data copy", NULL))
		note_add(&t->notes, compare_copy_of_many, l->d.tests, work_word(l->unit));
}

static void say_zero(struct table *t, const struct diff *d)
{
	size_t i, n = 0;

	for (i = 0; i < d->n; i++)
		n += !d->rows[i].seen[BASE] || !d->rows[i].seen[NEW];
	if (n)
		note_add(&t->notes, compare_zero_samples, n);
}

void cost_list_say(const struct cost_list *l, const struct comparison *c, struct table *t)
{
	say_movements(l, c, t);
	say_sum(t, c, l);
	if (l->spec->syscalls)
		note_add(&t->notes, syscalls_times, SYSCALLS_TIMES);
	say_rule(t, c, &l->d);
	say_copy(l, t);
	if (l->spec->samples)
		say_zero(t, &l->d);
}
