// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/compare/say.h"

#include "analyze/compare/movements.h"
#include "analyze/measures/syscalls_rows.h"
#include "analyze/measures/work.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
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

	table_note(t, "sum: %.*f (%s) %+.*f = %.*f (%s) ns per %s; %s", digits, base,
		   c->end[BASE].label, digits, new - base, digits, new, c->end[NEW].label, l->unit,
		   l->spec->whole ? "of all functions; groups may overlap, and are a part of it"
				  : "the rows add up to it");
}

static void say_rule(struct table *t, const struct comparison *c, const struct diff *d)
{
	if (d->possible && d->tests) {
		table_note(t,
			   "verdict: exact Mann-Whitney over %zu and %zu runs, p < %g after Holm's "
			   "correction over the %zu rows of at least 1 %% of the total (others are "
			   "not tested), and a change above %g %%",
			   d->nruns[BASE], d->nruns[NEW], c->rule.alpha, d->tests,
			   100 * c->rule.threshold);
		table_note(t,
			   "[..]: the tested rows' intervals, %.4g to %.4g %%, each at the level "
			   "that Holm's correction tests its row at: it holds 0 unless p < %g",
			   100 * d->level[0], 100 * d->level[1], c->rule.alpha);
	} else {
		table_note(t,
			   "too few runs: %zu and %zu can give no verdict on %zu rows of at least "
			   "1 %% of the total; %zu a side could",
			   d->nruns[BASE], d->nruns[NEW], d->tests,
			   verdict_runs_needed(&c->rule, d->tests));
	}
	table_note(t,
		   "+-: half of a 95 %% interval of what is not tested, the wider of sampling "
		   "error and, with two runs and more on each side, of that between runs (Welch)");
}

static void say_copy(const struct cost_list *l, struct table *t)
{
	if (l->spec == &component_spec && diff_find(&l->d, "data copy", NULL))
		table_note(t,
			   "'data copy' is judged here as one of %zu row%s (Holm's correction); "
			   "copy_ns_per_%s of --table metrics is the same cost judged alone: "
			   "its p is no higher there, %sand its verdict may differ",
			   l->d.tests, l->d.tests == 1 ? "" : "s", work_word(l->unit),
			   l->d.possible ? "" : "it takes fewer runs, ");
}

static void say_zero(struct table *t, const struct diff *d)
{
	size_t i, n = 0;

	for (i = 0; i < d->n; i++)
		n += !d->rows[i].seen[BASE] || !d->rows[i].seen[NEW];
	if (n)
		table_note(t,
			   "0 in a profile that has no sample of a function is measured: its "
			   "sampling error is 3/n of the total (%zu such row%s)",
			   n, n == 1 ? "" : "s");
}

void cost_list_say(const struct cost_list *l, const struct comparison *c, struct table *t)
{
	say_movements(l, c, t);
	say_sum(t, c, l);
	if (l->spec->syscalls)
		table_note(t, SYSCALLS_TIMES);
	say_rule(t, c, &l->d);
	say_copy(l, t);
	if (l->spec->samples)
		say_zero(t, &l->d);
}
