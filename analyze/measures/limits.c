// SPDX-License-Identifier: GPL-2.0-only
/* limits: what limited each variant. A figure above its threshold is a limit. */
#include "analyze/measures/limits.h"

#include "analyze/measures/limits_figures.h"
#include "analyze/measures/zerocopy.h"
#include "lib/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct column limits_columns[] = {
	{"variant", .type = V_STR},
	{"limit", .type = V_STR,
	 .what = "cpu, softirq, quota, wire, cwnd, rwnd, sndbuf, application or none"},
	{"side", .type = V_STR, .what = "the side with the limit"},
	{"evidence", .type = V_STR, .shape = STAYS_WHOLE,
	 .what = "the figures that show the limit"},
	{"share", "%", V_REAL, .digits = 1,
	 .what = "part of the window, of wire: part of the link's speed"},
};

static void limits_put_row(struct table *t, const struct limits_side *side, const char *limit,
			   const char *evidence, double share)
{
	struct value *row = table_row(t);

	table_set(t, row, "variant", value_str(t, side->b->block.variant));
	table_set(t, row, "limit", value_str(t, limit));
	table_set(t, row, "evidence", value_str(t, evidence));
	table_set(t, row, "share", value_real(share));
	if (strcmp(limit, "none"))
		table_set(t, row, "side", value_str(t, side->b->block.side));
}

static bool limits_has(const struct limits_side *side, int i)
{
	return side->found[i].text && side->found[i].share >= limit_kinds[i].least;
}

/*
 * Adds the limits from `from` to `to` that were found, side by side, so that equal limits have
 * equal words. Returns whether there is one.
 */
static bool limits_put_found(struct table *t, const struct limits_variant *v, enum limit from,
			     enum limit to)
{
	const struct limit_found *f;
	bool any = false;
	int side, i;

	for (side = 0; side < v->n; side++)
		for (i = (int)from; i <= (int)to; i++) {
			f = &v->sides[side].found[i];
			if (!limits_has(&v->sides[side], i))
				continue;
			limits_put_row(t, &v->sides[side], limit_kinds[i].name, f->text, f->share);
			any = true;
		}
	return any;
}

/* Adds the row of a variant without a limit: the largest figures of each side. */
static void limits_put_none(struct table *t, const struct limits_variant *v)
{
	struct str s = {0};
	int side, i;

	for (side = 0; side < v->n; side++)
		for (i = 0; i < LIMITS; i++) {
			const struct limit_found *f = &v->sides[side].found[i];

			if (!f->text || f->share < 1)
				continue;
			str_printf(&s, "%s%s: %s", s.len ? "; " : "", v->sides[side].b->block.side,
				   f->text);
		}
	limits_put_row(t, v->sides, "none", s.len ? s.buf : "nothing was measured", NAN);
	str_free(&s);
}

/*
 * A queue below TCP and the application are the limit only where nothing else is: a busy CPU, for
 * example, makes the data wait, too.
 */
static void limits_put_variant(struct table *t, const struct limits_variant *v)
{
	if (!limits_put_found(t, v, LIMIT_CPU, LIMIT_SNDBUF) &&
	    !limits_put_found(t, v, LIMIT_QUEUE, LIMIT_APPLICATION))
		limits_put_none(t, v);
}

static bool limits_has_cpu_time(const struct limits_variant *v, const struct limits_side *side)
{
	if (v->own)
		return !isnan(figure_metric(v->s, side->b->runs, "workload_threads"));
	return side->found[LIMIT_CPU].text || side->found[LIMIT_SOFTIRQ].text;
}

static void limits_note_unmeasured(struct table *t, const struct limits_variant *v)
{
	bool sockets = false;
	int i;

	for (i = 0; i < v->n; i++) {
		const struct block *b = &v->sides[i].b->block;

		sockets |= v->sides[i].acked > 0;
		if (!limits_has_cpu_time(v, &v->sides[i]))
			note_add_block(&t->notes, b, limits_unmeasured,
				       v->own ? "busy threads (collector threads)"
					      : "busy CPUs (collector cpu)");
	}
	if (!sockets)
		note_add_of(&t->notes, v->sides->b->block.variant, NULL, limits_unmeasured,
			    "cwnd, rwnd, sndbuf and application (collector tcp)");
}

/* --- the workload alone --- */

/* Adds a note on the limits that figures of the workload do not show. */
static void limits_note_outside(struct table *t, const struct limits_variant *v, const bool *whole)
{
	struct str s = {0};
	int side, i;

	for (side = 0; side < v->n; side++)
		for (i = LIMIT_CPU; i <= LIMIT_SNDBUF; i++)
			if (whole[side * LIMITS + i] && !limits_has(&v->sides[side], i))
				str_printf(&s, "%s%s %s", s.len ? ", " : "",
					   v->sides[side].b->block.side, limit_kinds[i].name);
	if (s.len)
		note_add_of(&t->notes, v->sides->b->block.variant, NULL, limits_outside, s.buf);
	str_free(&s);
}

/* Reads which limits there are. Returns 0 or -errno. */
static int limits_read_whole(struct limits_variant *v, bool *whole, bool *any, struct error *err)
{
	int rc, side, i;

	v->own = false;
	rc = limits_read_figures(v, err);
	for (side = 0; side < v->n; side++)
		for (i = LIMIT_CPU; i <= LIMIT_SNDBUF; i++)
			*any |= whole[side * LIMITS + i] = limits_has(&v->sides[side], i);
	limits_free_figures(v);
	return rc;
}

/* The last limits count only where nothing else limits the variant, also outside the workload. */
static int limits_add_own(struct table *t, struct limits_variant *v, struct error *err)
{
	bool *whole = xcalloc((size_t)v->n * LIMITS, sizeof(*whole)), any = false;
	int rc = limits_read_whole(v, whole, &any, err);

	v->own = true;
	if (!rc)
		rc = limits_read_figures(v, err);
	if (!rc && !limits_put_found(t, v, LIMIT_CPU, LIMIT_SNDBUF) &&
	    (any || !limits_put_found(t, v, LIMIT_QUEUE, LIMIT_APPLICATION)))
		limits_put_none(t, v);
	if (!rc) {
		limits_note_outside(t, v, whole);
		limits_note_unmeasured(t, v);
	}
	limits_free_figures(v);
	free(whole);
	return rc;
}

static int limits_add_variant(struct table *t, struct limits_variant *v, struct error *err)
{
	int rc = limits_read_figures(v, err);

	if (!rc) {
		limits_put_variant(t, v);
		limits_note_unmeasured(t, v);
	}
	limits_free_figures(v);
	return rc;
}

/* Collects the sides of the variant of block `from` that have a run. Returns the next block. */
static int limits_collect_sides(const struct block_list *list, int from, struct limits_variant *v)
{
	const char *variant = list->blocks[from].block.variant;
	int i;

	v->n = 0;
	for (i = from; i < list->n && !strcmp(list->blocks[i].block.variant, variant); i++)
		if (list->blocks[i].n)
			v->sides[v->n++] = (struct limits_side){.b = &list->blocks[i]};
	return i;
}

static int limits_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	struct limits_variant v = {.s = s};
	struct block_list list;
	int rc = block_list_read(&list, s, q, FOR_FIGURES, err), i = 0;

	v.estimator = list.estimator;
	v.sides = xcalloc((size_t)list.n + 1, sizeof(*v.sides));
	zero_copy_title(s, q, t);
	while (i < list.n && !rc) {
		i = limits_collect_sides(&list, i, &v);
		if (v.n)
			rc = (q->workload_only ? limits_add_own : limits_add_variant)(t, &v, err);
	}
	if (!rc)
		block_list_notes(&list, s, t);
	free(v.sides);
	block_list_free(&list);
	return rc;
}

const struct measure measure_limits = {
	.name = "limits",
	.what = "what limited each variant: CPU, softirq, quota, wire, windows, application",
	MEASURE_COLUMNS(limits_columns),
	.options = {[SOURCE_CAPTURE] = "variant run estimator workload-only " OPT_SLICE},
	.collectors = "cpu tcp nic throttle threads",
	.run = limits_run,
};

/* --- in words --- */

char *limits_words(const struct table *t, const char *variant)
{
	struct str s = {0};
	const char *side;
	size_t i, n = 0;
	char *several;

	for (i = 0; i < t->rows; i++) {
		if (strcmp(table_text(t, i, "variant"), variant))
			continue;
		side = table_text(t, i, "side");
		str_printf(&s, "%s%s%s%s", n++ ? ", " : "", side, *side ? " " : "",
			   *side ? table_text(t, i, "limit") : "nothing seen");
	}
	if (n < 2)
		return n ? str_take(&s) : NULL;
	several = xasprintf("several: %s", s.buf);
	str_free(&s);
	return several;
}

int limits_read(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	struct query all = *q;

	all.workload_only = false;
	all.side = NULL;
	return measure_run("limits", s, &all, t, err);
}

int limits_note(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	const char *last = NULL, *variant;
	struct str line = {0};
	struct table limit_rows;
	size_t i;
	int rc = limits_read(s, q, &limit_rows, err);

	for (i = 0; i < limit_rows.rows && !rc; i++) {
		char *words;

		variant = table_text(&limit_rows, i, "variant");
		if (last && !strcmp(last, variant))
			continue;
		last = variant;
		words = limits_words(&limit_rows, variant);
		str_printf(&line, "%s%s: %s", line.len ? "; " : "", variant, words);
		free(words);
	}
	if (line.len)
		note_add(&t->notes, limited_by, line.buf);
	str_free(&line);
	table_free(&limit_rows);
	return rc;
}
