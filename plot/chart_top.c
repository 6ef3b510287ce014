// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lying bars, the costliest first: functions of one side, system calls of all sides, and what the
 * counters count per unit of work, in percent of the base.
 */
#include "plot/chart.h"

#include "lib/alloc.h"
#include "lib/file.h"
#include "plot/label.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A row with a time of a function or of a system call. */
struct top_row {
	const char *side, *name, *object;
	int bar;
	size_t row;
	double ns;
};

/* The rows of one function or system call of a side, and the largest sum of a variant. */
struct top {
	const struct top_row *rows;
	size_t n;
	double most;
	int place; /* the place of the side's role */
};

static int top_rows_by_name(const void *a, const void *b)
{
	const struct top_row *x = a, *y = b;
	int order = strcmp(x->side, y->side);

	order = order ? order : strcmp(x->name, y->name);
	order = order ? order : strcmp(x->object, y->object);
	order = order ? order : x->bar - y->bar;
	return order ? order : (x->row > y->row) - (x->row < y->row);
}

static int tops_by_cost(const void *a, const void *b)
{
	const struct top *x = a, *y = b;

	if (x->most != y->most)
		return x->most < y->most ? 1 : -1;
	return top_rows_by_name(x->rows, y->rows);
}

/*
 * Returns the tops of the side (NULL: of all sides), the costliest first, and their number. Those
 * without a time do not count. `object`: a column that tells names apart, or NULL.
 */
static struct top *tops_gather(const struct drawing *d, struct figure *f, const struct table *t,
			       const char *side, const char *ns, const char *name,
			       const char *object, size_t *n)
{
	struct top_row *rows = arena_alloc(&f->arena, (t->rows + 1) * sizeof(*rows)), *r;
	struct top *all = arena_alloc(&f->arena, (t->rows + 1) * sizeof(*all)), *last = NULL;
	size_t i, nrows = 0;
	double sum = 0;

	for (size_t row = 0; row < t->rows; row++) {
		r = &rows[nrows];
		*r = (struct top_row){table_text(t, row, "side"),
				      table_text(t, row, name),
				      object ? table_text(t, row, object) : "",
				      figure_find_mark(&f->bars, table_text(t, row, "variant")),
				      row,
				      table_real(t, row, ns)};
		nrows += r->bar >= 0 && !isnan(r->ns) && (!side || !strcmp(r->side, side));
	}
	qsort(rows, nrows, sizeof(*rows), top_rows_by_name);
	for (i = 0, *n = 0; i < nrows; i++) {
		r = &rows[i];
		if (!last || strcmp(last->rows->side, r->side) ||
		    strcmp(last->rows->name, r->name) || strcmp(last->rows->object, r->object)) {
			last = &all[(*n)++];
			*last = (struct top){r, 0, 0, drawing_side_place(d, r->side)};
		}
		sum = last->n++ && r[-1].bar == r->bar ? sum + r->ns : r->ns;
		last->most = fmax(last->most, sum);
	}
	qsort(all, *n, sizeof(*all), tops_by_cost);
	while (*n && !(all[*n - 1].most > 0))
		--*n;
	return all;
}

/* --- functions --- */

/* Puts the i-th of n functions. Its name has the object where two objects have a function of that
 * name. */
static void functions_put_group(struct figure *f, const struct table *t, const struct top *all,
				size_t i, size_t n)
{
	const struct top_row *r = all[i].rows;
	const char *label = r->name;
	size_t same = 0;
	int group;

	for (size_t k = 0; k < n; k++)
		same += !strcmp(all[k].rows->name, r->name);
	if (same > 1 || *label == '[')
		label = arena_printf(&f->arena, "%s (%s)", label, path_base_name(r->object));
	group = figure_group(f, label);
	for (size_t k = 0; k < all[i].n; k++)
		if (r[k].ns > 0) /* else only what it calls was hit */
			figure_put(f, group, r[k].bar, FIGURE_WHOLE,
				   row_profiled(t, r[k].row, "self_ns"));
}

static void functions_put_words(const struct drawing *d, struct figure *f, const char *side,
				const char *unit)
{
	const char *whose = drawing_whose(d, f, side);

	if (f->bars.n == 2)
		f->title = figure_text(f, "Where %s time goes: %s against %s", whose,
				       drawing_title(d, f, f->bars.mark[0].name),
				       drawing_title(d, f, f->bars.mark[1].name));
	else if (f->groups.n == 1)
		f->title = figure_text(f, "Where %s time goes: %s", whose, f->groups.mark[0].label);
	else
		f->title = figure_text(f, "Where %s time goes: the top %d functions", whose,
				       f->groups.n);
	if (f->groups.mark[0].name[0] == '[')
		figure_doubt(
			f,
			"The first row is code without a name: its symbols were not found at analysis");
	f->subtitle = figure_text(
		f, "CPU time in the function itself per %s moved; lower is better", unit);
	f->axis = figure_text(f, "ns per %s", unit);
	f->group_word = "symbol";
	f->absent = "no samples";
	f->lying = true;
}

/* Returns the side to draw. A capture without a receiver has one side of another name. */
static const char *functions_side(const struct drawing *d, const struct table *t)
{
	const char *only = drawing_only_side(d);
	const char *wanted = only ? only : drawing_side_with(d, "receiver"), *side;

	if (only || row_find(t, 0, NULL, wanted) >= 0)
		return wanted;
	for (size_t row = 0; row < t->rows; row++) {
		side = table_text(t, row, "side");
		if (*side && strcmp(drawing_role(d, side), "sender"))
			return side;
	}
	return wanted;
}

static int functions_draw(struct drawing *d, struct figure *f, const struct table *t,
			  struct error *err)
{
	const char *side;
	struct top *all;
	size_t shown, most;
	int rc = 0;

	side = functions_side(d, t);
	drawing_bars_of(d, f, t, side, "self_ns", "No profile with a cost per unit of work");
	all = tops_gather(d, f, t, side, "self_ns", "symbol", "dso", &shown);
	most = drawing_most_groups(d, f);
	shown = shown < most ? shown : most;
	for (size_t i = 0; i < shown; i++)
		functions_put_group(f, t, all, i, shown);
	if (shown) {
		functions_put_words(d, f, side, row_unit(t, "self_ns"));
		drawing_foot(d, f, FROM_PROFILED);
	} else {
		rc = error_set(
			err, ENODATA,
			"no profile of the %s with a known cost per unit of work; capture with the passes measure and profile, and --units",
			side);
	}
	return rc;
}

const struct chart chart_functions = {
	.name = "functions",
	.what = "the receiver's top functions, base against new",
	.sources = {"functions"},
	.options = {CHART_OPTIONS CHART_RUNS CHART_SAMPLES "side limit event"},
	.flags = CHART_OF_RECEIVER,
	.draw = functions_draw,
};

const struct chart chart_functions_sender = {
	.name = "functions_sender",
	.what = "the sender's top functions, base against new",
	.sources = {"functions"},
	.options = {CHART_OPTIONS CHART_RUNS CHART_SAMPLES "limit event"},
	.side = "sender",
	.draw = functions_draw,
};

/* --- system calls --- */

static int syscalls_by_side(const void *a, const void *b)
{
	const struct top *x = a, *y = b;
	int order = x->place - y->place;

	order = order ? order : strcmp(x->rows->side, y->rows->side);
	return order ? order : tops_by_cost(a, b);
}

/* Adds up the rows of all commands. The interval is that of the mean call, which a single call does
 * not have. */
static void syscalls_put_bar(struct figure *f, const struct table *t, const struct top *g,
			     int group, int bar)
{
	double ns = 0, variance = 0, calls = 0, ci, error;

	for (size_t i = 0; i < g->n; i++) {
		const struct top_row *r = &g->rows[i];

		if (r->bar != bar)
			continue;
		error = table_real(t, r->row, "calls") < 2
				? NAN
				: table_real(t, r->row, "stddev_pct") / 100;
		ns += r->ns;
		variance += pow(r->ns * error, 2);
		calls += table_real(t, r->row, "calls_per_mib");
	}
	ci = 1.96 * sqrt(variance);
	if (ns > 0)
		figure_put_noted(
			f, group, bar,
			(struct estimate){.value = ns, .lo = ci > ns ? 0 : ns - ci, .hi = ns + ci},
			arena_printf(&f->arena, "%.10g", calls));
	else if (!row_has_figure(t, f->bars.mark[bar].name, g->rows->side, "ns_per_kib"))
		figure_put_noted(f, group, bar, estimate_plain(NAN), "n/a");
}

static void syscalls_put_groups(struct figure *f, const struct table *t, const struct top *all,
				size_t n)
{
	bool one_side = !strcmp(all[0].rows->side, all[n - 1].rows->side);
	int group;

	for (size_t i = 0; i < n; i++) {
		group = figure_group(f,
				     one_side ? all[i].rows->name
					      : arena_printf(&f->arena, "%s: %s", all[i].rows->side,
							     all[i].rows->name));
		for (int b = 0; b < f->bars.n; b++)
			syscalls_put_bar(f, t, &all[i], group, b);
	}
}

static void syscalls_put_words(const struct drawing *d, struct figure *f, size_t shown, size_t n)
{
	bool many = figure_has_many(f);

	f->title = shown < n ? figure_text(f, "System calls: the %zu of %zu that take most time",
					   shown, n)
			     : "System calls: time per KiB and calls per MiB";
	f->subtitle = figure_text(
		f, "Time from entry to return, waiting included, per KiB moved%s; lower is better",
		many ? "" : "; beside it the calls per MiB moved");
	f->axis = many ? "ns per KiB" : "ns per KiB · calls per MiB";
	f->group_word = "syscall";
	f->note_word = "calls_per_mib";
	f->note_unit = "calls";
	f->absent = "no calls";
	f->lying = true;
	drawing_foot(d, f, FROM_COUNTED);
}

/* A call of less than a thousandth of the longest bar could not be seen; --limit shows it. */
static size_t syscalls_shown(const struct drawing *d, const struct figure *f, const struct top *all,
			     size_t n)
{
	size_t most = drawing_most_groups(d, f);

	n = n < most ? n : most;
	while (d->query.limit <= 0 && all[n - 1].most < all[0].most / 1000)
		n--;
	return n;
}

static int syscalls_draw(struct drawing *d, struct figure *f, const struct table *t,
			 struct error *err)
{
	struct top *all;
	int rc = 0;
	size_t n, shown;

	drawing_bars_of(d, f, t, NULL, "ns_per_kib", "No system calls with known KiB");
	all = tops_gather(d, f, t, NULL, "ns_per_kib", "syscall", NULL, &n);
	if (n) {
		shown = syscalls_shown(d, f, all, n);
		qsort(all, shown, sizeof(*all), syscalls_by_side);
		syscalls_put_groups(f, t, all, shown);
		syscalls_put_words(d, f, shown, n);
	} else {
		rc = error_set(
			err, ENODATA,
			"no run counted system calls of a workload with known bytes; capture with the passes measure and syscalls, and --units");
	}
	return rc;
}

const struct chart chart_syscalls = {
	.name = "syscalls",
	.what = "the top system calls of both sides: time per KiB, calls per MiB",
	.sources = {"syscalls"},
	.options = {CHART_OPTIONS "run workload-only side limit comm"},
	.draw = syscalls_draw,
};

/* --- counters --- */

/* Labels a group "receiver: context switches, 1/MiB" for the score context_switches_per_mib. */
static const char *counters_label(struct figure *f, const char *side, const char *score,
				  const char *unit)
{
	const char *per = strstr(score, "_per_");
	int len = per ? (int)(per - score) : (int)strlen(score);
	char *name = arena_printf(&f->arena, "%.*s", len, score);

	str_replace(name, '_', ' ');
	return figure_text(f, "%s: %s, %s", side,
			   !strcmp(name, "ns")	? "CPU time"
			   : !strcmp(name, "j") ? "energy"
						: name,
			   unit);
}

/* Puts the bars of the base's row. */
static void counters_put_group(struct figure *f, const struct table *t, size_t row)
{
	const char *side = table_text(t, row, "side"), *score = table_text(t, row, "score");
	double base = table_real(t, row, "value");
	int group = figure_group(f, arena_printf(&f->arena, "%s: %s", side, score));

	f->groups.mark[group].label = counters_label(f, side, score, table_text(t, row, "unit"));
	for (int bar = 0; bar < f->bars.n; bar++) {
		long at = row_with(t, f->bars.mark[bar].name, side, "score", score);
		struct estimate e =
			at < 0 ? estimate_plain(NAN) : row_estimate(t, (size_t)at, "value");

		if (!isnan(e.value))
			figure_put_noted(f, group, bar, estimate_times(e, 100 / base),
					 arena_printf(&f->arena, "%.10g", e.value));
	}
}

/*
 * Adds a group for each score of a side that the base has; a total only where --side asks for it.
 * Returns the number of those without room.
 */
static int counters_put_groups(const struct drawing *d, struct figure *f, const struct table *t)
{
	size_t most = drawing_most_groups(d, f);
	int left_out = 0;

	for (size_t row = 0; row < t->rows; row++) {
		if (!row_is(t, row, "variant", d->base) || !(table_real(t, row, "value") > 0) ||
		    (row_is(t, row, "side", SIDE_TOTAL) && !d->side))
			continue;
		if ((size_t)f->groups.n < most)
			counters_put_group(f, t, row);
		else
			left_out++;
	}
	return left_out;
}

static int counters_draw(struct drawing *d, struct figure *f, const struct table *t,
			 struct error *err)
{
	enum { CUT = 300, LONG = 500 }; /* percent of the base */
	int left_out;

	drawing_bars(d, f);
	left_out = counters_put_groups(d, f, t);
	if (!f->groups.n)
		return error_set(err, ENODATA,
				 "%s has no score above 0; 'zcost report scores' says why",
				 d->base);
	f->title = figure_text(f, "Counters per unit of work, in percent of %s",
			       drawing_title(d, f, d->base));
	f->subtitle = figure_text(
		f, "%s the variant's own interval, in percent of the base's %s",
		figure_has_many(f) ? "Whiskers:" : "Beside each bar the figure itself; whiskers:",
		drawing_estimator(d));
	f->axis = "% of the base";
	f->group_word = "counter";
	f->note_word = "score";
	f->note_unit = "";
	f->lying = true;
	if (figure_part_exceeds(f, FIGURE_WHOLE, LONG)) /* no bar beside it could be read */
		f->cut = CUT;
	if (left_out)
		figure_remark(f, "No room for %d more; --limit and --side choose", left_out);
	drawing_foot(d, f, FROM_MEASURED);
	return 0;
}

const struct chart chart_counters = {
	.name = "counters",
	.what = "cycles, instructions, misses, switches and calls per unit of work, against the base",
	.sources = {"scores"},
	.options = {CHART_OPTIONS CHART_RUNS "workload-only side limit power-model power-kind"},
	.draw = counters_draw,
};
