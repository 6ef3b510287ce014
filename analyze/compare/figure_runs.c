// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/compare/figure_runs.h"

#include <errno.h>
#include <math.h>

/* Rounds: 100 % that is computed in two ways must be a tie. */
static void figure_add_run(struct figure_runs *s, double x)
{
	if (isnan(x))
		return;
	array_add(s->x, s->n, s->cap, stats_significant(x));
}

double figure_runs_value(const struct figure_runs *s, enum estimator e)
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
	return array_find(side, f->side, f->n, !strcmp(side->side, name));
}

static void figures_add_side(struct figures *f, const char *name)
{
	struct side_figures *side;

	if (figures_find_side(f, name))
		return;
	side = array_new(f->side, f->n, f->cap);
	*side = (struct side_figures){.side = name, .copy_unit = "KiB"};
	for (int k = 0; k < FIGURES; k++)
		for (int e = 0; e < ENDS; e++)
			side->of[k][e].pooled = NAN;
}

/* Lists the sides of both ends in the captures' order, and a total of several sides. */
static int figures_list_sides(struct figures *f, const struct comparison *c, struct error *err)
{
	for (int e = 0; e < ENDS; e++) {
		autofree const char **names = NULL;
		int n;

		if (c->end[e].bare)
			return error_set(
				err, EINVAL,
				"%s is not a capture; files have only costs to compare (--table functions, components ...)",
				c->end[e].label);
		n = store_sides(c->end[e].store, &names, err);
		if (n < 0)
			return n;
		for (int i = 0; i < n; i++)
			if (!c->side[BASE])
				figures_add_side(f, names[i]);
			else if (!strcmp(c->side[e], names[i]))
				figures_add_side(f, c->side[BASE]);
	}
	if (f->n > 1)
		figures_add_side(f, SIDE_TOTAL);
	return 0;
}

/* Returns the kind of power that both ends have; wall power is never compared with package power.
 */
static const char *figures_power_kind(const struct comparison *c, struct table *notes)
{
	const struct query q[ENDS] = {compare_query(c, BASE, NULL), compare_query(c, NEW, NULL)};
	const char *of[ENDS];
	int e;

	if (c->query.power_kind)
		return c->query.power_kind;
	for (int i = 0; power_kind_names[i]; i++) {
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

/* Adds the cost of "data copy". A profile without a sample of it measured 0. */
static void figures_add_copy(struct side_figures *side, enum end e)
{
	const struct diff_row *row = diff_find(&side->components, COPY_COMPONENT, NULL);
	const char *unit = side->components.unit ?: "KiB";
	size_t i = 0;

	while (i + 1 < WORK_KINDS && strcmp(work_kinds[i].unit, unit))
		i++;
	side->copy_unit = work_kinds[i].unit; /* it outlives the diff */
	side->of[FIGURE_COPY][e].pooled = row ? row->cost[e] : 0;
	for (i = 0; i < side->components.nruns[e]; i++)
		figure_add_run(&side->of[FIGURE_COPY][e], row ? row->runs[e][i] : 0);
}

static int figures_read_copy(struct side_figures *side, const struct comparison *c,
			     struct table *notes, struct error *err)
{
	int ret, have = 0;

	for (int e = 0; e < figures_ends(c); e++) {
		struct error none = {0};

		ret = diff_read(&side->components, c, (enum end)e, side->side, &components_spec,
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

/* Adds up the cost of copying of all sides, run by run. */
static void figures_add_copies(struct figures *f, struct side_figures *total, enum end e)
{
	struct figure_runs *sum = &total->of[FIGURE_COPY][e];
	const struct side_figures *side;
	size_t n = SIZE_MAX;
	double x;

	total->copy_unit = f->side[0].copy_unit;
	sum->pooled = 0;
	for (side = f->side; side < total; side++) {
		/* NAN where a side has none */
		sum->pooled += side->part[e] * side->of[FIGURE_COPY][e].pooled;
		if (side->of[FIGURE_COPY][e].n < n)
			n = side->of[FIGURE_COPY][e].n;
	}
	for (size_t k = 0; k < n; k++) {
		for (side = f->side, x = 0; side < total; side++)
			x += side->part[e] * side->of[FIGURE_COPY][e].x[k];
		figure_add_run(sum, x);
	}
}

/* Takes the value as that of a side at an end. */
static void figures_take(struct figures *f, const struct comparison *c, enum end e,
			 const struct figure_value *v, struct table *notes)
{
	bool wanted = !c->side[e] || !strcmp(c->side[e], v->side);
	struct side_figures *side = figures_find_side(f, c->side[e] ? c->side[BASE] : v->side);
	const struct block_runs *b = v->sides;
	const char *unit = work_word(f->side->copy_unit);

	if (!wanted || !side)
		return;
	for (size_t i = 0; i < v->n; i++)
		figure_add_run(&side->of[v->id][e], v->x[i]);
	side->of[v->id][e].others = figure_others(c->end[e].store, &c->query, v);
	if (v->id == FIGURE_CPU && v->nsides == 1)
		compare_note_others(c, e, v->side, side->of[v->id][e].others, notes);
	side->modelled[v->id] |= v->source == POWER_MODELLED;
	if (v->twice && !side->shares_cpus[e]) /* costs measured by CPU then have no total */
		note_add_of(&notes->notes, c->end[e].label, NULL, compare_shared_cpus, v->twice,
			    unit, unit);
	side->shares_cpus[e] |= v->twice != NULL;
	for (int r = 0; r < b->n && v->nsides == 1 && v->id == FIGURE_THROUGHPUT; r++)
		side->part[e] += transfer_part(c->end[e].store, &b->runs[r]) / b->n;
}

/* Reads the figures of an end, of all sides, with the warnings and losses of their runs. */
static int figures_read_end(struct figures *f, const struct comparison *c, enum end e,
			    const char *kind, struct table *notes, struct error *err)
{
	struct query q = compare_query(c, e, NULL);
	freed(table_free) struct table warnings = {0};
	freed(figure_list_free) struct figure_list l = {0};
	int ret;

	q.power_kind = kind;
	ret = q.unit ? basis_require_unit(c->end[e].store, &q, err) : 0;
	ret = ret
		      ?: figure_list_read(&l, c->end[e].store, &q,
					  c->every_figure ? ~0u : IN_COMPARE, IN_TOTAL, err);
	for (size_t i = 0; i < l.n && !ret; i++)
		figures_take(f, c, e, &l.list[i], notes);
	if (!ret) {
		figure_list_notes(&l, &warnings);
		block_list_run_notes(&l.blocks[FOR_SYSCALLS], l.s, &warnings);
		if (power_is_modelled(&q))
			note_add(&warnings.notes, power_modelled, q.model_idle, q.model_per_cpu);
		diff_carry_notes(notes, &warnings);
	}
	return ret;
}

int figures_read(struct figures *f, const struct comparison *c, struct table *notes,
		 struct error *err)
{
	struct side_figures *total;
	const char *kind;
	int ret;

	*f = (struct figures){0};
	ret = figures_list_sides(f, c, err);
	total = f->n ? figures_find_side(f, SIDE_TOTAL) : NULL;
	for (size_t i = 0; i < f->n && !ret; i++)
		if (&f->side[i] != total)
			ret = figures_read_copy(&f->side[i], c, notes, err);
	kind = ret ? NULL : figures_power_kind(c, notes);
	for (int e = 0; e < figures_ends(c) && !ret && f->n; e++) {
		ret = figures_read_end(f, c, (enum end)e, kind, notes, err);
		if (!ret && total && !total->shares_cpus[e])
			figures_add_copies(f, total, (enum end)e);
	}
	if (ret)
		figures_free(f);
	return ret;
}

/* --- the family --- */

/* Returns whether --unit asks for another unit of work, whose cost the side has. */
static bool figure_is_unasked(const struct side_figures *side, const char *unit, enum figure_id f)
{
	const struct figure_kind *k = figure_kinds;

	if (!unit || !figure_kinds[f].work)
		return false;
	for (; k < figure_kinds + FIGURES; k++)
		if (k->primary == PRIMARY_SIDES && !strcmp(k->work, unit) &&
		    side->of[k - figure_kinds][BASE].n)
			return strcmp(figure_kinds[f].work, unit) != 0;
	return false;
}

bool figure_is_withheld(const struct figure_runs ends[ENDS])
{
	double others = fmax(ends[BASE].others, ends[NEW].others);

	return verdict_beside_others(VERDICT_BETTER, others) == VERDICT_OTHERS;
}

bool figure_is_covered(const struct side_figures *side, enum figure_id f)
{
	enum figure_id whole = figure_kinds[f].whole;

	return whole && !figure_is_withheld(side->of[whole]);
}

/* Returns whether the figure is primary at the side, whose only side is the last. */
static bool figure_is_primary(const struct side_figures *side, const struct comparison *c,
			      enum figure_id f, bool last, bool *seen)
{
	enum figure_primary primary = figure_kinds[f].primary;
	bool once = primary == PRIMARY_ONCE;

	if (primary == SECONDARY || (primary == PRIMARY_TOTAL && !last) || (once && *seen) ||
	    side->modelled[f] || figure_is_unasked(side, c->query.unit, f) ||
	    figure_is_covered(side, f))
		return false;
	for (int e = 0; e < figures_ends(c); e++)
		if (!side->of[f][e].n)
			return false;
	*seen |= once;
	return true;
}

size_t figures_primary(const struct figures *f, const struct comparison *c,
		       struct shown_figure **list)
{
	bool seen = false;
	size_t i = c->total && f->n ? f->n - 1 : 0, n = 0;

	*list = xcalloc(f->n * FIGURES + 1, sizeof(**list));
	for (; i < f->n; i++)
		for (enum figure_id k = 0; k < FIGURES; k++)
			if (figure_is_primary(&f->side[i], c, k, i + 1 == f->n, &seen))
				(*list)[n++] = (struct shown_figure){&f->side[i], k};
	return n;
}

void figures_free(struct figures *f)
{
	for (size_t i = 0; i < f->n; i++) {
		for (int k = 0; k < FIGURES; k++)
			for (int e = 0; e < ENDS; e++)
				free(f->side[i].of[k][e].x);
		diff_free(&f->side[i].components);
	}
	free(f->side);
	free(f->rows);
	free(f->moved);
	*f = (struct figures){0};
}
