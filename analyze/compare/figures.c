// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/compare/figures.h"

#include "analyze/probes/power/table.h"
#include "analyze/scope/placement.h"
#include "analyze/costs/basis.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char total_name[] = "total";

/* Columns of the roi table. */
static const struct {
	enum figure figure;
	const char *column;
} roi_columns[] = {
	{FIGURE_THROUGHPUT, "throughput_gbps"},
	{FIGURE_CPU, "cpu_pct"},
	{FIGURE_POWER, "power_w"},
	{FIGURE_ROI_C, "roi_c"},
	{FIGURE_ROI_P, "roi_p"},
};

/* Rounds: 100 % that is computed in two ways must be a tie. */
static void figure_add_run(struct figure_runs *s, double x)
{
	if (isnan(x))
		return;
	array_grow(s->x, s->n, s->cap);
	s->x[s->n++] = stats_significant(x);
}

const struct figure_kind figure_kinds[FIGURES] = {
#define FIGURE(id, ...) {__VA_ARGS__},
#include "analyze/compare/figures.def"
#undef FIGURE
};

double figure_value(const struct figure_runs *s, enum estimator e)
{
	return isnan(s->pooled) ? stats_point(e, s->x, s->n) : s->pooled;
}

/* Returns the ends to read. A self-test splits the runs of BASE. */
static int figures_ends(const struct comparison *c)
{
	return c->splits ? NEW : ENDS;
}

static struct side_figures *figures_find_side(struct figures *f, const char *name)
{
	size_t i;

	for (i = 0; i < f->n; i++)
		if (!strcmp(f->side[i].side, name))
			return &f->side[i];
	return NULL;
}

static void figures_add_side(struct figures *f, const char *name)
{
	struct side_figures *side;
	int k, e;

	if (figures_find_side(f, name))
		return;
	array_grow(f->side, f->n, f->cap);
	side = &f->side[f->n];
	*side = (struct side_figures){.side = name};
	for (k = 0; k < FIGURES; k++)
		for (e = 0; e < ENDS; e++)
			side->of[k][e].pooled = NAN;
	diff_init(&side->components);
	f->n++;
}

/* Lists the sides of both ends in the captures' order, and a total of several sides. */
static int figures_list_sides(struct figures *f, const struct comparison *c, struct error *err)
{
	const char **names;
	int e, i, n;

	for (e = 0; e < ENDS; e++) {
		if (c->end[e].bare)
			return error_set(
				err, EINVAL,
				"%s is not a capture; files have only costs to compare (--table functions, components ...)",
				c->end[e].label);
		n = store_sides(c->end[e].store, &names, err);
		if (n < 0)
			return n;
		for (i = 0; i < n; i++)
			if (!c->side[BASE])
				figures_add_side(f, names[i]);
			else if (!strcmp(c->side[e], names[i]))
				figures_add_side(f, c->side[BASE]);
		free(names);
	}
	if (f->n > 1)
		figures_add_side(f, total_name);
	return 0;
}

/* Returns the side that this end calls `name`. */
static struct side_figures *figures_side_of_end(struct figures *f, const struct comparison *c,
						enum end e, const char *name)
{
	if (c->side[e] && !strcmp(c->side[e], name))
		name = c->side[BASE];
	return figures_find_side(f, name);
}

static void figures_add_roi(struct figures *f, const struct comparison *c, enum end e,
			    const struct table *t)
{
	struct side_figures *side;
	size_t row, k;

	for (row = 0; row < t->rows; row++) {
		side = figures_side_of_end(f, c, e, table_text(t, row, "side"));
		if (!side)
			continue;
		side->modelled |= !strcmp(table_text(t, row, "power_source"), "modelled");
		for (k = 0; k < array_size(roi_columns); k++)
			figure_add_run(&side->of[roi_columns[k].figure][e],
				       table_real(t, row, roi_columns[k].column));
	}
}

/* Returns the kind of power that both ends have; wall power is never compared with package power.
 */
static const char *figures_power_kind(const struct comparison *c, struct table *notes)
{
	const struct query q[ENDS] = {compare_query(c, BASE, NULL), compare_query(c, NEW, NULL)};
	const char *of[ENDS];
	int i, e;

	if (c->query.power_kind)
		return c->query.power_kind;
	for (i = 0; power_kind_names[i]; i++) {
		for (e = 0; e < ENDS; e++)
			if (!power_has_kind(c->end[e].store, &q[e], power_kind_names[i]))
				break;
		if (e < ENDS)
			continue;
		note_add(&notes->notes, compare_power_kind, power_kind_names[i]);
		return power_kind_names[i];
	}
	for (e = 0; e < ENDS; e++)
		of[e] = power_kind(c->end[e].store, &q[e]);
	if (of[BASE] && of[NEW])
		note_add(&notes->notes, compare_power_differs, c->end[BASE].label, of[BASE],
			 c->end[NEW].label, of[NEW]);
	return of[BASE] ? of[BASE] : of[NEW];
}

/* Reads the roi table of each measured run, all sides, with its notes on modelled power. */
static int figures_read_roi(struct figures *f, const struct comparison *c, enum end e,
			    const char *kind, struct table *notes, struct error *err)
{
	const char *side = compare_side_of(c, e, f->side[0].side);
	struct query q = compare_query(c, e, NULL);
	struct block b = {q.variant, side};
	struct run *runs;
	struct table t;
	int i, n = scope_runs(c->end[e].store, &q, &b, FOR_FIGURES, &runs, err), ret = 0;

	q.power_kind = kind;
	for (i = 0; i < n && !ret; i++) {
		q.pass = runs[i].pass;
		q.repeat = runs[i].repeat;
		ret = measure_run("roi", c->end[e].store, &q, &t, err);
		if (!ret) {
			figures_add_roi(f, c, e, &t);
			diff_carry_notes(notes, &t);
		}
		table_free(&t);
	}
	free(runs);
	return n < 0 ? n : ret;
}

static void figures_read_counters(struct side_figures *side, struct store *s, const struct run *r,
				  const struct query *q, enum end e)
{
	double kib = work_in_window(s, r, "rate_kib");
	const struct figure_kind *k;

	/* No part of a count of the CPUs is known to be the workload's. */
	for (k = figure_kinds; k < figure_kinds + FIGURES; k++)
		if (k->counter && (strcmp(k->scope, "cpus") || busy_of_cpus(q)))
			figure_add_run(&side->of[k - figure_kinds][e],
				       PER_MIB * figure_metric(s, r, k->counter) / kib);
}

/* The units of work. A run has figures for the units that its workload counts. */
static const struct {
	const char *unit, *rate;
	enum figure cost, speed; /* speed FIGURES: the throughput has it */
} works[] = {
	{"KiB", "rate_kib", FIGURE_NS_PER_KIB, FIGURES},
	{"packet", "rate_packets", FIGURE_NS_PER_PACKET, FIGURE_RATE_PACKETS},
	{"message", "rate_messages", FIGURE_NS_PER_MESSAGE, FIGURE_RATE_MESSAGES},
};

static void figures_read_work(struct side_figures *side, struct store *s, const struct run *r,
			      const char *unit, const struct query *q, enum end e)
{
	const char *asked = q->unit ? q->unit : "";
	double rate;
	size_t i;

	for (i = 0; i < array_size(works); i++) {
		if (!unit || (strcmp(unit, works[i].unit) && strcmp(asked, works[i].unit)))
			continue;
		rate = figure_metric(s, r, works[i].rate);
		figure_add_run(&side->of[works[i].cost][e],
			       figure_metric(s, r, busy_metric(q)) * 1e7 / rate);
		if (works[i].speed != FIGURES)
			figure_add_run(&side->of[works[i].speed][e], rate);
	}
}

static int figures_read_cost(struct side_figures *side, const struct comparison *c, enum end e,
			     struct error *err)
{
	struct store *s = c->end[e].store;
	struct query q = compare_query(c, e, side->side);
	struct block b = {q.variant, q.side};
	struct run *runs;
	int i, n = scope_runs(s, &q, &b, FOR_FIGURES, &runs, err);
	const char *unit = n > 0 ? work_unit(s, runs, n) : NULL;

	for (i = 0; i < n; i++) {
		side->part[e] += transfer_part(s, &runs[i]) / n;
		figures_read_work(side, s, &runs[i], unit, &q, e);
		figures_read_counters(side, s, &runs[i], &q, e);
	}
	free(runs);
	return n < 0 ? n : 0;
}

/* Adds the cost of "data copy". A profile without a sample of it measured 0. */
static void figures_add_copy(struct side_figures *side, enum end e)
{
	const struct diff_row *row = diff_find(&side->components, COPY_COMPONENT, NULL);
	size_t i;

	side->copy_unit = work_word(side->components.unit ? side->components.unit : "KiB");
	side->of[FIGURE_COPY][e].pooled = row ? row->cost[e] : 0;
	for (i = 0; i < side->components.nruns[e]; i++)
		figure_add_run(&side->of[FIGURE_COPY][e], row ? row->runs[e][i] : 0);
}

static int figures_read_copy(struct side_figures *side, const struct comparison *c,
			     struct table *notes, struct error *err)
{
	int e, ret, have = 0;

	for (e = 0; e < figures_ends(c); e++) {
		struct error none = {0};

		ret = diff_read(&side->components, c, (enum end)e, side->side, &component_spec,
				notes, &none);
		if (ret && ret != -ENODATA)
			return error_set(err, -ret, "%s", none.text);
		have += !ret;
		if (!ret)
			figures_add_copy(side, (enum end)e);
	}
	if (have == ENDS) {
		diff_judge(&side->components, &c->rule);
		return 0;
	}
	diff_free(&side->components);
	return 0;
}

static int figures_read_syscalls(struct side_figures *side, const struct comparison *c, enum end e,
				 struct table *notes, struct error *err)
{
	struct error none = {0};
	struct diff d;
	size_t i;
	int ret;

	diff_init(&d);
	ret = diff_read(&d, c, e, side->side, &syscall_spec, notes, &none);
	for (i = 0; !ret && i < d.nruns[e]; i++)
		figure_add_run(&side->of[FIGURE_SYSCALLS][e], d.run_count[e][i]);
	diff_free(&d);
	return ret && ret != -ENODATA ? error_set(err, -ret, "%s", none.text) : 0;
}

/* Adds up the costs of all sides, run by run. */
static void figures_add_up(struct figures *f, struct side_figures *total, enum figure figure,
			   enum end e)
{
	size_t n = SIZE_MAX, i, k;
	double pooled = 0;

	for (i = 0; i < f->n; i++) {
		if (&f->side[i] == total)
			continue;
		/* NAN where a side has none */
		pooled += f->side[i].part[e] * f->side[i].of[figure][e].pooled;
		if (f->side[i].of[figure][e].n < n)
			n = f->side[i].of[figure][e].n;
	}
	total->of[figure][e].pooled = pooled;
	for (k = 0; k < n; k++) {
		double sum = 0;

		for (i = 0; i < f->n; i++)
			if (&f->side[i] != total)
				sum += f->side[i].part[e] * f->side[i].of[figure][e].x[k];
		figure_add_run(&total->of[figure][e], sum);
	}
}

static int figures_read_side(struct side_figures *side, const struct comparison *c,
			     struct table *notes, struct error *err)
{
	int e, ret = figures_read_copy(side, c, notes, err);

	for (e = 0; e < figures_ends(c) && !ret; e++) {
		ret = figures_read_cost(side, c, (enum end)e, err);
		if (!ret)
			ret = figures_read_syscalls(side, c, (enum end)e, notes, err);
	}
	return ret;
}

/* Returns whether sides share CPUs, and notes it: costs measured by CPU then have no sum. */
static bool figures_share_cpus(const struct figures *f, const struct comparison *c, enum end e,
			       struct table *notes)
{
	const struct query q = compare_query(c, e, NULL);
	const char **names = xcalloc(f->n, sizeof(*names));
	const char *unit = f->side[0].copy_unit ? f->side[0].copy_unit : "kib";
	char *cpus;
	size_t i;

	for (i = 0; i < f->n; i++)
		names[i] = f->side[i].side;
	cpus = shared_cpus_of(c->end[e].store, &q, names, (int)f->n);
	free(names);
	if (!cpus)
		return false;
	note_add_of(&notes->notes, c->end[e].label, NULL, compare_shared_cpus, cpus, unit, unit);
	free(cpus);
	return true;
}

/* The figures that add up to a total, and whether they are measured by CPU or by thread. */
static const struct {
	enum figure figure;
	bool of_cpus;
} added[] = {
	{FIGURE_NS_PER_KIB, true}, {FIGURE_NS_PER_PACKET, true}, {FIGURE_NS_PER_MESSAGE, true},
	{FIGURE_COPY, true},	   {FIGURE_SYSCALLS, false},
};

/* Sets the total rates to those of the transfer. A receiver is the first side. */
static void figures_add_rates(struct figures *f, struct side_figures *total, enum end e)
{
	const struct side_figures *first = &f->side[0];
	const struct figure_runs *from;
	size_t i, k;

	for (i = 0; i < array_size(works); i++) {
		if (works[i].speed == FIGURES)
			continue;
		from = &first->of[works[i].speed][e];
		for (k = 0; k < from->n; k++)
			figure_add_run(&total->of[works[i].speed][e], from->x[k] / first->part[e]);
	}
}

static void figures_add_total(struct figures *f, const struct comparison *c,
			      struct side_figures *total, enum end e, struct table *notes)
{
	bool shared = busy_of_cpus(&c->query) && figures_share_cpus(f, c, e, notes);
	size_t k;

	total->copy_unit = f->side[0].copy_unit;
	figures_add_rates(f, total, e);
	for (k = 0; k < array_size(added); k++)
		if (!shared || !added[k].of_cpus)
			figures_add_up(f, total, added[k].figure, e);
}

int figures_read(struct figures *f, const struct comparison *c, struct table *notes,
		 struct error *err)
{
	struct side_figures *total;
	const char *kind;
	size_t i;
	int e, ret;

	*f = (struct figures){0};
	ret = figures_list_sides(f, c, err);
	kind = ret ? NULL : figures_power_kind(c, notes);
	for (e = 0; e < figures_ends(c) && !ret && f->n; e++)
		ret = figures_read_roi(f, c, (enum end)e, kind, notes, err);
	total = f->n ? figures_find_side(f, total_name) : NULL;
	for (i = 0; i < f->n && !ret; i++)
		if (&f->side[i] != total)
			ret = figures_read_side(&f->side[i], c, notes, err);
	for (e = 0; e < figures_ends(c) && total && f->n > 1 && !ret; e++)
		figures_add_total(f, c, total, (enum end)e, notes);
	if (ret)
		figures_free(f);
	return ret;
}

/* --- the family --- */

bool figure_is_modelled(const struct side_figures *side, enum figure f)
{
	return side->modelled && (f == FIGURE_POWER || f == FIGURE_ROI_P);
}

/* Returns whether --unit asks for another unit of work, whose cost and rate the side has. */
static bool figure_is_unasked(const struct side_figures *side, const char *unit, enum figure f)
{
	size_t i, asked = array_size(works);

	for (i = 0; i < array_size(works) && unit; i++)
		if (!strcmp(unit, works[i].unit) && side->of[works[i].cost][BASE].n)
			asked = i;
	for (i = 0; i < array_size(works) && asked < array_size(works); i++)
		if (works[i].cost == f || works[i].speed == f ||
		    (works[i].speed == FIGURES && f == FIGURE_THROUGHPUT))
			return i != asked;
	return false;
}

/* Returns whether the figure is primary at the side, whose only side is the last. */
static bool figure_is_primary(const struct side_figures *side, const struct comparison *c,
			      enum figure f, bool last, bool *seen)
{
	enum primary primary = figure_kinds[f].primary;
	bool once = primary == PRIMARY_ONCE;
	int e;

	if (primary == SECONDARY || (primary == PRIMARY_TOTAL && !last) || (once && *seen) ||
	    figure_is_modelled(side, f) || figure_is_unasked(side, c->query.unit, f))
		return false;
	for (e = 0; e < figures_ends(c); e++)
		if (!side->of[f][e].n)
			return false;
	*seen |= once;
	return true;
}

size_t figures_primary(const struct figures *f, const struct comparison *c,
		       struct primary_figure **list)
{
	bool seen = false;
	size_t i = c->total && f->n ? f->n - 1 : 0, n = 0;
	enum figure k;

	*list = xcalloc(f->n * FIGURES + 1, sizeof(**list));
	for (; i < f->n; i++)
		for (k = 0; k < FIGURES; k++)
			if (figure_is_primary(&f->side[i], c, k, i + 1 == f->n, &seen))
				(*list)[n++] = (struct primary_figure){&f->side[i], k};
	return n;
}

void figures_free(struct figures *f)
{
	size_t i;
	int k, e;

	for (i = 0; i < f->n; i++) {
		for (k = 0; k < FIGURES; k++)
			for (e = 0; e < ENDS; e++)
				free(f->side[i].of[k][e].x);
		diff_free(&f->side[i].components);
	}
	free(f->side);
	*f = (struct figures){0};
}
