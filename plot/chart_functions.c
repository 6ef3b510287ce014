// SPDX-License-Identifier: GPL-2.0-only
/* The functions that cost most on one side, base against new. */
#include "plot/chart.h"

#include "lib/alloc.h"
#include "lib/hash.h"
#include "lib/intern.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A function of a side, and its largest cost in any variant. */
struct function {
	const char *symbol, *dso;
	double most;
	uint32_t id;
};

struct functions {
	struct function *f;
	size_t n, cap;
	struct intern ids, variants; /* "symbol\ndso", and the names of variants */
	struct map rows;	     /* (id, variant) -> row of the table + 1 */
};

static void functions_free(struct functions *all)
{
	free(all->f);
	intern_free(&all->ids);
	intern_free(&all->variants);
	map_free(&all->rows);
}

static void functions_add_row(struct functions *all, const struct table *t, size_t row,
			      uint32_t variant)
{
	const char *symbol = table_text(t, row, "symbol"), *dso = table_text(t, row, "dso");
	double ns = table_real(t, row, "self_ns");
	char *key = xasprintf("%s\n%s", symbol, dso);
	uint32_t id = intern_str(&all->ids, key);

	free(key);
	if (id == all->n) {
		array_grow(all->f, all->n, all->cap);
		all->f[all->n++] = (struct function){symbol, dso, 0, id};
	}
	if (ns > all->f[id].most)
		all->f[id].most = ns;
	*map_at(&all->rows, (uint64_t)id << 32 | variant) = row + 1;
}

static int functions_by_cost(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->most != y->most)
		return x->most < y->most ? 1 : -1;
	return strcmp(x->symbol, y->symbol);
}

/* Adds the functions of the side. Rows without samples of the function itself do not count. */
static void functions_gather(const struct drawing *d, struct functions *all, const struct table *t,
			     const char *side)
{
	uint32_t *variants = xcalloc(t->rows + 1, sizeof(*variants)), id;
	const char *v;
	size_t row;
	int i;

	for (row = 0; row < t->rows; row++)
		variants[row] = strcmp(table_text(t, row, "side"), side) != 0
					? INTERN_NONE
					: intern_str(&all->variants, table_text(t, row, "variant"));
	for (i = 0; (v = drawing_variant(d, i)); i++) {
		id = intern_str(&all->variants, v);
		for (row = 0; row < t->rows; row++)
			if (variants[row] == id && table_real(t, row, "self_ns") > 0)
				functions_add_row(all, t, row, id);
	}
	if (all->n)
		qsort(all->f, all->n, sizeof(*all->f), functions_by_cost);
	free(variants);
}

/* Names a group by its function, with the object where two objects have a function of that name. */
static void functions_add_group(struct figure *f, const struct functions *all, size_t i, size_t n)
{
	const char *slash = strrchr(all->f[i].dso, '/');
	size_t k, same = 0;
	char *label;

	for (k = 0; k < n; k++)
		same += !strcmp(all->f[k].symbol, all->f[i].symbol);
	label = same > 1 || *all->f[i].symbol == '['
			? xasprintf("%s (%s)", all->f[i].symbol, slash ? slash + 1 : all->f[i].dso)
			: xstrdup(all->f[i].symbol);
	figure_group(f, label);
	free(label);
}

static void functions_put_bar(struct figure *f, const struct functions *all, const struct table *t,
			      const struct function *fn, const int place[2])
{
	const char *name = f->bars.mark[place[1]].name;
	uint32_t variant = intern_find(&all->variants, name, strlen(name));
	const uint64_t *row = map_get(&all->rows, (uint64_t)fn->id << 32 | variant);

	if (row)
		figure_put(f, place[0], place[1], FIGURE_WHOLE,
			   row_profiled(t, *row - 1, "self_ns"));
}

static void functions_put_words(const struct drawing *d, struct figure *f, const char *side,
				const char *unit)
{
	bool named = strcmp(drawing_role(d, side), side) != 0;
	char *whose = named			  ? xasprintf("%s's", side)
		      : !strcmp(side, "receiver") ? xstrdup("the receiver's")
		      : !strcmp(side, "sender")	  ? xstrdup("the sender's")
						  : xstrdup("the");

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
	free(whose);
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
	size_t row;

	if (only || row_find(t, 0, NULL, wanted) >= 0)
		return wanted;
	for (row = 0; row < t->rows; row++) {
		side = table_text(t, row, "side");
		if (*side && strcmp(drawing_role(d, side), "sender"))
			return side;
	}
	return wanted;
}

static int functions_draw(struct drawing *d, struct figure *f, struct error *err)
{
	struct functions all = {0};
	const struct table *t;
	const char *side;
	int place[2], rc = drawing_table(d, 0, &t, err);
	size_t i, n;

	if (rc)
		goto out;
	side = functions_side(d, t);
	functions_gather(d, &all, t, side);
	if (!all.n) {
		rc = error_set(
			err, ENODATA,
			"no profile of the %s with a known cost per unit of work; capture with the passes measure and profile, and --units",
			side);
		goto out;
	}
	drawing_bars_of(d, f, t, side, "self_ns", "Not profiled here",
			"Profiled, but its cost per unit of work is not known");
	n = drawing_most_groups(d, f) < all.n ? drawing_most_groups(d, f) : all.n;
	for (i = 0; i < n; i++) {
		functions_add_group(f, &all, i, n);
		place[0] = (int)i;
		for (place[1] = 0; place[1] < f->bars.n; place[1]++)
			functions_put_bar(f, &all, t, &all.f[i], place);
	}
	functions_put_words(d, f, side, row_unit(t, "self_ns"));
	drawing_foot(d, f, FROM_PROFILED);
out:
	functions_free(&all);
	return rc;
}

const struct chart chart_functions = {
	.name = "functions",
	.what = "the receiver's top functions, base against new",
	.sources = {"functions"},
	.options = {CHART_OPTIONS CHART_RUNS CHART_SAMPLES "side limit event"},
	.most = CHART_ROWS,
	.flags = CHART_OF_SIDES | CHART_OF_RECEIVER,
	.draw = functions_draw,
};

const struct chart chart_functions_sender = {
	.name = "functions_sender",
	.what = "the sender's top functions, base against new",
	.sources = {"functions"},
	.options = {CHART_OPTIONS CHART_RUNS CHART_SAMPLES "limit event"},
	.side = "sender",
	.most = CHART_ROWS,
	.flags = CHART_OF_SIDES,
	.draw = functions_draw,
};
