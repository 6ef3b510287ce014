// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lying bars, the costliest first: functions of one side, system calls of all sides, and what the
 * counters count per unit of work, in percent of the base.
 */
#include "plot/chart.h"

#include "analyze/costs/costs.h"
#include "analyze/costs/tally.h"
#include "analyze/figures/figures.h"
#include "analyze/scope/results.h"
#include "lib/file.h"

#include <errno.h>

/* A row with a time of a function or of a system call. */
struct top_row {
	struct block block;
	const char *name, *object; /* object: tells names apart, or "" */
	double ns;		   /* NAN: not known */
	size_t row;
	int bar;
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

	return strcmp(x->block.side, y->block.side)
		       ?: strcmp(x->name, y->name)
		       ?: strcmp(x->object, y->object)
		       ?: x->bar - y->bar ?: ascending(x->row, y->row);
}

static int tops_by_cost(const void *a, const void *b)
{
	const struct top *x = a, *y = b;

	return descending(x->most, y->most) ?: top_rows_by_name(x->rows, y->rows);
}

/* Adds the variants with a time on this side (NULL: on any). A caption names the others. */
static void top_put_bars(const struct drawing *d, struct figure *f, const struct top_row *rows,
			 size_t n, const char *side, const char *without)
{
	freed(str_free) struct str absent = {0};
	const char *v;
	size_t i;

	for (int k = 0; (v = drawing_variant(d, k)); k++) {
		for (i = 0; i < n; i++)
			if (!isnan(rows[i].ns) && !strcmp(rows[i].block.variant, v) &&
			    (!side || !strcmp(rows[i].block.side, side)))
				break;
		if (i < n)
			drawing_bar(d, f, v);
		else if (!drawing_all_failed(d, v)) /* another remark says that */
			str_printf(&absent, "%s%s", absent.len ? ", " : "", drawing_label(d, f, v));
	}
	if (absent.len)
		figure_remark(f, "%s: %s", without, absent.buf);
}

/*
 * Returns the tops of the side (NULL: of all sides), the costliest first, and their number. Those
 * without a time do not count. Leaves the rows that count, and their number in *nrows.
 */
static struct top *tops_gather(const struct drawing *d, struct figure *f, struct top_row *rows,
			       size_t *nrows, const char *side, size_t *n)
{
	struct top *all = arena_alloc(&f->arena, (*nrows + 1) * sizeof(*all)), *last = NULL;
	size_t i, kept = 0;
	double sum = 0;
	struct top_row *r;

	for (i = 0; i < *nrows; i++) {
		rows[i].bar = figure_find_mark(&f->bars, rows[i].block.variant);
		if (rows[i].bar >= 0 && !isnan(rows[i].ns) &&
		    (!side || !strcmp(rows[i].block.side, side)))
			rows[kept++] = rows[i];
	}
	*nrows = kept;
	qsort(rows, kept, sizeof(*rows), top_rows_by_name);
	for (i = 0, *n = 0; i < kept; i++) {
		r = &rows[i];
		if (!last || strcmp(last->rows->block.side, r->block.side) ||
		    strcmp(last->rows->name, r->name) || strcmp(last->rows->object, r->object)) {
			last = &all[(*n)++];
			*last = (struct top){r, 0, 0, drawing_side_place(d, r->block.side)};
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

static bool function_is_unresolved(const struct top_row *r)
{
	return !strcmp(r->name, tally_unresolved(r->object));
}

/*
 * Puts the i-th of n functions. Its name has the object where two objects have a function of that
 * name, or where the function has none.
 */
static void functions_put_group(struct figure *f, const struct cost_row *rows,
				const struct top *all, size_t i, size_t n)
{
	const struct top_row *r = all[i].rows;
	const char *label = r->name;
	size_t same = 0;
	int group;

	for (size_t k = 0; k < n; k++)
		same += !strcmp(all[k].rows->name, r->name);
	if (same > 1 || function_is_unresolved(r))
		label = arena_printf(&f->arena, "%s (%s)", label, path_base_name(r->object));
	group = figure_group(f, label);
	for (size_t k = 0; k < all[i].n; k++)
		if (r[k].ns > 0) /* else only what it calls was hit */
			figure_put(f, group, r[k].bar, FIGURE_WHOLE,
				   estimate_half(rows[r[k].row].self_ns));
}

static void functions_put_words(const struct drawing *d, struct figure *f, const char *side,
				const char *unit, const struct top_row *first)
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
	if (function_is_unresolved(first))
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
		side = row_block(t, row)->side;
		if (*side && strcmp(drawing_role(d, side), "sender"))
			return side;
	}
	return wanted;
}

static int functions_draw(struct drawing *d, struct figure *f, const struct table *t,
			  struct error *err)
{
	const struct cost_row *costs = table_structs(t, struct cost_row);
	struct top_row *rows = arena_alloc(&f->arena, (t->rows + 1) * sizeof(*rows));
	const char *side = functions_side(d, t);
	size_t shown, most, n = t->rows;
	struct top *all;

	for (size_t i = 0; i < n; i++)
		rows[i] = (struct top_row){costs[i].block,
					   costs[i].key[BY_SYMBOL],
					   costs[i].key[BY_DSO],
					   costs[i].self_ns.value,
					   i,
					   -1};
	top_put_bars(d, f, rows, n, side, "No profile with a cost per unit of work");
	all = tops_gather(d, f, rows, &n, side, &shown);
	most = drawing_most_groups(d, f);
	shown = shown < most ? shown : most;
	for (size_t i = 0; i < shown; i++)
		functions_put_group(f, costs, all, i, shown);
	if (!shown)
		return error_set(
			err, ENODATA,
			"no profile of the %s with a known cost per unit of work; capture with the passes measure and profile, and --units",
			side);
	functions_put_words(d, f, side, costs->unit ? costs->unit : "KiB", all->rows);
	drawing_foot(d, f, FROM_PROFILED);
	return 0;
}

const struct chart chart_functions = {
	.name = "functions",
	.what = "the receiver's top functions, base against new",
	.sources = {"functions"},
	.options = {CHART_OPTIONS CHART_RUNS CHART_SAMPLES "side limit event"},
	.flags = CHART_OF_RECEIVER | CHART_COSTS,
	.draw = functions_draw,
};

const struct chart chart_functions_sender = {
	.name = "functions_sender",
	.what = "the sender's top functions, base against new",
	.sources = {"functions"},
	.options = {CHART_OPTIONS CHART_RUNS CHART_SAMPLES "limit event"},
	.side = "sender",
	.flags = CHART_COSTS,
	.draw = functions_draw,
};

/* --- system calls --- */

static int syscalls_by_side(const void *a, const void *b)
{
	const struct top *x = a, *y = b;

	return x->place - y->place
		       ?: strcmp(x->rows->block.side, y->rows->block.side) ?: tops_by_cost(a, b);
}

/* Adds up the rows of all commands. The interval is that of the mean call, which a single call does
 * not have. `counted`: the variant has calls on this side. */
static void syscalls_put_bar(struct figure *f, const struct syscalls_row *calls,
			     const struct top *g, int group, int bar, bool counted)
{
	double ns = 0, variance = 0, count = 0, ci;

	for (const struct top_row *r = g->rows; r < g->rows + g->n; r++) {
		const struct syscalls_row *of = &calls[r->row];

		if (r->bar != bar)
			continue;
		ns += r->ns;
		variance += pow(r->ns * (of->calls < 2 ? NAN : of->stddev_pct / 100), 2);
		count += of->calls_per_work;
	}
	ci = 1.96 * sqrt(variance);
	if (ns > 0)
		figure_put_noted(
			f, group, bar,
			(struct estimate){.value = ns, .lo = ci > ns ? 0 : ns - ci, .hi = ns + ci},
			arena_printf(&f->arena, "%.10g", count));
	else if (!counted)
		figure_put_noted(f, group, bar, estimate_plain(NAN), "n/a");
}

/* Puts the first n system calls. `rows` are all that count. */
static void syscalls_put_groups(struct figure *f, const struct syscalls_row *calls,
				const struct top *all, size_t n, const struct top_row *rows,
				size_t nrows)
{
	bool one_side = !strcmp(all[0].rows->block.side, all[n - 1].rows->block.side), counted;
	const char *side;
	int group;

	for (size_t i = 0; i < n; i++) {
		side = all[i].rows->block.side;
		group = figure_group(
			f, one_side ? all[i].rows->name
				    : arena_printf(&f->arena, "%s: %s", side, all[i].rows->name));
		for (int b = 0; b < f->bars.n; b++) {
			counted = false;
			for (size_t k = 0; k < nrows && !counted; k++)
				counted = rows[k].bar == b && !strcmp(rows[k].block.side, side);
			syscalls_put_bar(f, calls, &all[i], group, b, counted);
		}
	}
}

static void syscalls_put_words(const struct drawing *d, struct figure *f, size_t shown, size_t n)
{
	const char *unit = work_kind_find(d->query.unit)->unit;
	const char *calls = strcmp(unit, "KiB") ? unit : "MiB";
	bool many = figure_has_many(f);

	f->title = shown < n ? figure_text(f, "System calls: the %zu of %zu that take most time",
					   shown, n)
			     : figure_text(f, "System calls: time per %s and calls per %s", unit,
					   calls);
	f->subtitle = figure_text(
		f,
		"Time from entry to return, waiting included, per %s moved%s%s%s; lower is better",
		unit, many ? "" : "; beside it the calls per ", many ? "" : calls,
		many ? "" : " moved");
	f->axis = many ? figure_text(f, "ns per %s", unit)
		       : figure_text(f, "ns per %s · calls per %s", unit, calls);
	f->group_word = "syscall";
	f->note_word = strcmp(unit, "KiB") ? figure_text(f, "calls_per_%s", unit) : "calls_per_mib";
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
	const struct syscalls_row *calls = table_structs(t, struct syscalls_row);
	struct top_row *rows = arena_alloc(&f->arena, (t->rows + 1) * sizeof(*rows));
	size_t n, shown, nrows = t->rows;
	struct top *all;

	for (size_t i = 0; i < nrows; i++)
		rows[i] = (struct top_row){
			calls[i].block, calls[i].syscall, "", calls[i].ns_per_work, i, -1};
	top_put_bars(d, f, rows, nrows, NULL, "No system calls with known work");
	all = tops_gather(d, f, rows, &nrows, NULL, &n);
	if (!n)
		return error_set(
			err, ENODATA,
			"no run counted system calls of a workload with known work; capture with the passes measure and syscalls, and --units");
	shown = syscalls_shown(d, f, all, n);
	qsort(all, shown, sizeof(*all), syscalls_by_side);
	syscalls_put_groups(f, calls, all, shown, rows, nrows);
	syscalls_put_words(d, f, shown, n);
	return 0;
}

const struct chart chart_syscalls = {
	.name = "syscalls",
	.what = "the top system calls of both sides: time per KiB, calls per MiB",
	.sources = {"syscalls"},
	.options = {CHART_OPTIONS "run workload-only side limit comm unit"},
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

/* Returns the value of a score, NaN where the variant has none. */
static struct estimate counters_value(const struct table *t, const char *variant,
				      const struct scores_row *of)
{
	const struct scores_row *rows = table_structs(t, struct scores_row);

	for (long i = -1; (i = row_find(t, (size_t)(i + 1), variant, of->block.side)) >= 0;)
		if (!strcmp(rows[i].score, of->score))
			return rows[i].value;
	return estimate_plain(NAN);
}

/* Puts the bars of the base's row. */
static void counters_put_group(struct figure *f, const struct table *t, const struct scores_row *r)
{
	int group = figure_group(f, arena_printf(&f->arena, "%s: %s", r->block.side, r->score));

	f->groups.mark[group].label = counters_label(f, r->block.side, r->score, r->unit);
	for (int bar = 0; bar < f->bars.n; bar++) {
		struct estimate e = counters_value(t, f->bars.mark[bar].name, r);

		if (!isnan(e.value))
			figure_put_noted(f, group, bar, estimate_times(e, 100 / r->value.value),
					 arena_printf(&f->arena, "%.10g", e.value));
	}
}

/*
 * Adds a group for each score of a side that the base has; a total only where --side asks for it.
 * Returns the number of those without room.
 */
static int counters_put_groups(const struct drawing *d, struct figure *f, const struct table *t)
{
	const struct scores_row *rows = table_structs(t, struct scores_row);
	size_t most = drawing_most_groups(d, f);
	int left_out = 0;

	for (const struct scores_row *r = rows; r < rows + t->rows; r++) {
		if (strcmp(r->block.variant, d->base) || !(r->value.value > 0) ||
		    (!strcmp(r->block.side, SIDE_TOTAL) && !d->side))
			continue;
		if ((size_t)f->groups.n < most)
			counters_put_group(f, t, r);
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
