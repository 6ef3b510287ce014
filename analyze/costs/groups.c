// SPDX-License-Identifier: GPL-2.0-only
/*
 * groups: the user's sets of functions, such as 'alloc=build_skb,__build_skb,kmem_cache_*'. Each
 * group counts as one function: self adds up its functions, and total counts a sample once if any
 * of them is in its call chain. Each group uses all samples, so groups may overlap. A note lists
 * the functions in two groups and their cost.
 */
#include "analyze/costs/costs.h"
#include "lib/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct cost_table by_group = {.keys = {BY_COMPONENT}, .nkeys = 1, .totals = true};
static const struct cost_table by_function = {.keys = {BY_SYMBOL, BY_MODULE}, .nkeys = 2};

static const struct column groups_columns[] = {
	{"group", .type = V_STR, .what = "name of the group"},
	{"samples", .type = V_INT, .what = "samples with one of its functions as the leaf"},
	{"self_share", "%", V_REAL, .digits = 2, .what = "share of the group's functions alone"},
	{"total_share", "%", V_REAL, .digits = 2,
	 .what = "share with any of them in the call chain"},
	COST_COLUMN("self"),
	COST_COLUMN("total"),
};

enum { GROUPS_MAX = 64, NAMED_MAX = 5 };

struct groups {
	struct components *of[GROUPS_MAX]; /* one table of rules for each group */
	size_t n;
};

static void groups_free(struct groups *g)
{
	while (g->n)
		components_free(g->of[--g->n]);
}

static int groups_read(struct groups *g, const struct query *q, struct error *err)
{
	size_t i;
	int rc = 0;

	if (!q->ngroups)
		return error_set(
			err, EINVAL,
			"no groups: give --group NAME=FUNCTION,FUNCTION,... once or more; names may be globs");
	for (i = 0; i < q->ngroups && !rc; i++) {
		if (g->n == GROUPS_MAX)
			return error_set(err, EINVAL, "more than %d groups", GROUPS_MAX);
		rc = components_group(&g->of[g->n], q->groups[i], err);
		g->n += !rc;
	}
	return rc;
}

/* --- rows --- */

/* Copies the columns of a table by component, and renames the key column to "group". */
static void groups_copy_columns(struct table *t, const struct table *from)
{
	struct column *list = arena_alloc(&t->arena, (size_t)from->ncolumns * sizeof(*list));
	int key = table_column(from, "component");

	memcpy(list, from->columns, (size_t)from->ncolumns * sizeof(*list));
	for (int i = 0; i < from->ncolumns; i++) {
		list[i].name = arena_strdup(&t->arena, list[i].name);
		if (list[i].unit)
			list[i].unit = arena_strdup(&t->arena, list[i].unit);
	}
	if (key >= 0)
		list[key].name = "group";
	t->columns = list;
	t->ncolumns = from->ncolumns;
}

/*
 * Returns whether the group's column has a meaning. Totals from a text have none: its rows call
 * each other, so a sum would count samples twice.
 */
static bool groups_is_known(const struct query *q, const struct column *c)
{
	return !q->bare.flat || strncmp(c->name, "total_", strlen("total_"));
}

static void groups_copy_runs(struct cost_runs *to, const struct cost_runs *from, size_t row)
{
	size_t size = from->n * sizeof(*from->ns), n = to->rows++;

	to->n = from->n;
	to->never_idle = from->never_idle;
	to->ns = xrealloc(to->ns, to->rows * size + 1);
	memcpy(&to->ns[n * to->n], &from->ns[row * from->n], size);
	to->error = xrealloc(to->error, to->rows * sizeof(*to->error));
	to->error[n] = from->error[row];
}

/* Copies the rows of `from`, and the costs of their runs in `runs` if the query needs them. */
static void groups_copy_rows(struct table *t, const struct table *from, const struct query *q,
			     const struct cost_runs *runs)
{
	int key = table_column(from, "component"), c;
	long shown = 0;
	size_t i;

	for (i = 0; i < from->rows && (!q->limit || shown < q->limit); i++) {
		struct value *row;

		if (!strcmp(table_cell(from, i, key)->str, component_none))
			continue;
		shown++;
		if (q->runs)
			groups_copy_runs(q->runs, runs, i);
		row = table_row(t);
		for (c = 0; c < from->ncolumns; c++)
			if (groups_is_known(q, &from->columns[c]))
				row[c] = value_copy(t, table_cell(from, i, c));
	}
}

static int groups_add_group(struct store *s, const struct query *q, const struct components *rules,
			    struct table *t, struct error *err)
{
	struct query own = *q;
	struct cost_runs runs = {.n = q->runs ? q->runs->n : 0};
	struct table part;
	size_t before = t->rows;
	int rc;

	own.runs = q->runs ? &runs : NULL;
	own.rules = rules;
	own.all = true; /* the limit applies to groups, not to the rows inside a group */
	table_init(&part, "groups", NULL, 0);
	rc = cost_table_run(&by_group, s, &own, &part, err);
	if (!rc && !t->ncolumns)
		groups_copy_columns(t, &part);
	if (!rc)
		groups_copy_rows(t, &part, q, &runs);
	if (!rc && t->rows == before)
		note_add(&t->notes, group_empty, components_name(rules, 0));
	cost_runs_free(&runs);
	table_free(&part);
	return rc;
}

/* --- functions in two groups --- */

static bool groups_has_function(const struct components *rules, const struct function *f)
{
	return components_of(rules, f) != component_none;
}

static double groups_real_at(const struct table *t, size_t row, const char *column)
{
	const struct value *v = table_cell(t, row, table_column(t, column));

	return v->type == V_REAL ? v->real : 0;
}

/* Adds a note such as "alloc and skb overlap: build_skb, __build_skb; 17.85 % of self". */
static void groups_note_overlap(struct table *t, const struct table *functions,
				const struct components *a, const struct components *b)
{
	int symbol = table_column(functions, "symbol"), module = table_column(functions, "module");
	struct str names = {0};
	double share = 0;
	size_t i, n = 0;

	for (i = 0; i < functions->rows; i++) {
		struct function f = {.symbol = table_cell(functions, i, symbol)->str,
				     .module = table_cell(functions, i, module)->str};

		if (!f.symbol || !groups_has_function(a, &f) || !groups_has_function(b, &f))
			continue;
		share += groups_real_at(functions, i, "self_share");
		if (n++ < NAMED_MAX)
			str_printf(&names, "%s%s", names.len ? ", " : "", f.symbol);
	}
	if (n > NAMED_MAX)
		str_printf(&names, " and %zu more", n - NAMED_MAX);
	if (n)
		note_add(&t->notes, groups_overlap, components_name(a, 0), components_name(b, 0),
			 names.buf, share);
	str_free(&names);
}

/*
 * Adds the notes. They are the notes of a table with all functions once, so its sums apply to all
 * groups.
 */
static int groups_add_notes(struct store *s, const struct query *q, const struct groups *g,
			    struct table *t, struct error *err)
{
	struct query all = *q;
	struct table functions;
	size_t i, k;
	int rc;

	all.all = true;
	all.runs = NULL;
	table_init(&functions, "groups", NULL, 0);
	rc = cost_table_run(&by_function, s, &all, &functions, err);
	for (i = 0; i < g->n && !rc; i++)
		for (k = i + 1; k < g->n; k++)
			groups_note_overlap(t, &functions, g->of[i], g->of[k]);
	for (i = 0; i < functions.notes.n && !rc; i++)
		notes_copy(&t->notes, &functions.notes.note[i]);
	if (!rc && functions.title)
		table_title(t, "%s", functions.title);
	t->lossy |= functions.lossy;
	table_free(&functions);
	return rc;
}

static int groups_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	struct groups g = {.n = 0};
	int rc = groups_read(&g, q, err);
	size_t i;

	t->ncolumns = 0; /* the columns of the first group */
	for (i = 0; i < g.n && !rc; i++)
		rc = groups_add_group(s, q, g.of[i], t, err);
	if (!rc)
		rc = groups_add_notes(s, q, &g, t, err);
	groups_free(&g);
	return rc;
}

const struct measure measure_groups = {
	.name = "groups",
	.what = "cost of your own groups of functions: --group 'alloc=build_skb,kmem_cache_*'",
	MEASURE_COLUMNS(groups_columns),
	COST_OPTIONS("group"),
	.spare = "samples total_share self_share",
	.flags = MEASURE_COSTS,
	.run = groups_run,
};
