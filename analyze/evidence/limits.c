// SPDX-License-Identifier: GPL-2.0-only
/* limits: what limited each variant. A figure above its threshold is a limit. */
#include "analyze/evidence/limits.h"

#include "analyze/evidence/zerocopy.h"
#include "lib/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct column limits_columns[] = {
	{"variant", .type = V_STR},
	{"limit", .type = V_STR,
	 .what = "cpu, softirq, quota, wire, cwnd, rwnd, sndbuf, application or none"},
	{"side", .type = V_STR, .what = "the side that the limit stops"},
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

struct limits_place {
	double share;
	int side, kind;
};

/* Orders limits by their share, the largest first, and equal shares by side. */
static int limits_compare(const void *x, const void *y)
{
	const struct limits_place *a = x, *b = y;

	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	return a->side != b->side ? a->side - b->side : a->kind - b->kind;
}

/* Adds the limits from `from` to `to` that were found. Returns whether there is one. */
static bool limits_put_found(struct table *t, const struct limits_variant *v, enum limit from,
			     enum limit to)
{
	struct limits_place *place = xcalloc((size_t)v->n * LIMITS + 1, sizeof(*place));
	int n = 0;

	for (int side = 0; side < v->n; side++)
		for (int i = (int)from; i <= (int)to; i++)
			if (v->sides[side].found[i].text &&
			    v->sides[side].found[i].share >= limit_kinds[i].least)
				place[n++] = (struct limits_place){v->sides[side].found[i].share,
								   side, i};
	qsort(place, (size_t)n, sizeof(*place), limits_compare);
	for (int i = 0; i < n; i++) {
		const struct limits_side *of = &v->sides[place[i].side];

		limits_put_row(t, of, limit_kinds[place[i].kind].name,
			       of->found[place[i].kind].text, place[i].share);
	}
	free(place);
	return n > 0;
}

/* Adds the row of a variant without a limit: the largest figures of each side. */
static void limits_put_none(struct table *t, const struct limits_variant *v)
{
	freed(str_free) struct str s = {0};
	int side;

	for (side = 0; side < v->n; side++)
		for (int i = 0; i < LIMITS; i++) {
			const struct limit_found *f = &v->sides[side].found[i];

			if (!f->text || f->share < 1)
				continue;
			str_printf(&s, "%s%s: %s", s.len ? "; " : "", v->sides[side].b->block.side,
				   f->text);
		}
	limits_put_row(t, v->sides, "none", s.len ? s.buf : "nothing was measured", NAN);
}

static void limits_note_unmeasured(struct table *t, const struct limits_variant *v)
{
	bool sockets = false;

	for (int i = 0; i < v->n; i++) {
		const struct block *b = &v->sides[i].b->block;

		sockets |= v->sides[i].acked > 0;
		if (!v->sides[i].found[LIMIT_CPU].text && !v->sides[i].found[LIMIT_SOFTIRQ].text)
			note_add_block(&t->notes, b, limits_unmeasured,
				       "busy CPUs (collector cpu)");
	}
	if (!sockets)
		note_add_of(&t->notes, v->sides->b->block.variant, NULL, limits_unmeasured,
			    "cwnd, rwnd, sndbuf and application (collector tcp)");
}

/*
 * A queue below TCP and the application are the limit only where nothing else is: a busy CPU, for
 * example, makes the data wait, too.
 */
static int limits_add_variant(struct table *t, struct limits_variant *v, struct error *err)
{
	int rc = limits_read_figures(v, err);

	if (!rc && !limits_put_found(t, v, LIMIT_CPU, LIMIT_SNDBUF) &&
	    !limits_put_found(t, v, LIMIT_QUEUE, LIMIT_APPLICATION))
		limits_put_none(t, v);
	if (!rc)
		limits_note_unmeasured(t, v);
	limits_free_figures(v);
	return rc;
}

static int limits_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	struct limits_variant v = {.s = s};
	struct block_list list;
	int rc = block_list_read(&list, s, q, FOR_FIGURES, err), i = 0;

	v.estimator = list.estimator;
	v.sides = xcalloc((size_t)list.n + 1, sizeof(*v.sides));
	while (i < list.n && !rc) {
		const char *variant = list.blocks[i].block.variant;

		for (v.n = 0; i < list.n && !strcmp(list.blocks[i].block.variant, variant); i++)
			if (list.blocks[i].n)
				v.sides[v.n++] = (struct limits_side){.b = &list.blocks[i]};
		if (v.n)
			rc = limits_add_variant(t, &v, err);
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
	.options = {[SOURCE_CAPTURE] = "variant run estimator " OPT_SLICE},
	.whole = "what limits the workload may lie outside of it",
	.collectors = "cpu tcp nic throttle threads",
	.run = limits_run,
};

/* --- in words --- */

/* Appends "sender rwnd (waits for the receiver)": the limit of a row. */
static void limits_add_word(struct str *s, const struct table *t, size_t row)
{
	const char *side = table_text(t, row, "side"), *limit = table_text(t, row, "limit");

	if (!*side) {
		str_puts(s, "no known limit");
		return;
	}
	str_printf(s, "%s %s", side, limit);
	for (int i = 0; i < LIMITS; i++)
		if (limit_kinds[i].waits_for && !strcmp(limit_kinds[i].name, limit))
			str_printf(s, " (waits for %s)", limit_kinds[i].waits_for);
}

static int limits_compare_words(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

char *limits_words(const struct table *t, const char *variant, enum limits_order order)
{
	char **list = xcalloc(t->rows + 1, sizeof(*list));
	struct str s = {0};
	size_t k, n = 0;

	for (size_t i = 0; i < t->rows; i++) {
		if (strcmp(table_text(t, i, "variant"), variant))
			continue;
		str_reset(&s);
		limits_add_word(&s, t, i);
		for (k = 0; k < n && strcmp(list[k], s.buf); k++)
			;
		if (k == n) /* each limit once */
			list[n++] = xstrdup(s.buf);
	}
	str_reset(&s);
	if (order == LIMITS_BY_NAME)
		qsort(list, n, sizeof(*list), limits_compare_words);
	for (size_t i = 0; i < n; i++) {
		str_item(&s, !i, i + 1 == n, list[i]);
		free(list[i]);
	}
	free(list);
	if (n)
		return str_take(&s);
	str_free(&s);
	return NULL;
}

/* Returns the limit in the row. The busiest CPU of a side is one limit, in softirq or not. */
static const char *limits_row_limit(const struct table *t, size_t row)
{
	const char *limit = table_text(t, row, "limit");

	return strcmp(limit, limit_kinds[LIMIT_SOFTIRQ].name) ? limit : limit_kinds[LIMIT_CPU].name;
}

bool limits_differ(const struct table *limits, const char *variant, const struct table *others,
		   const char *other)
{
	bool any = false;

	for (size_t i = 0; i < limits->rows; i++)
		for (size_t k = 0; k < others->rows; k++) {
			if (strcmp(table_text(limits, i, "variant"), variant) ||
			    strcmp(table_text(others, k, "variant"), other))
				continue;
			if (!strcmp(table_text(limits, i, "side"), table_text(others, k, "side")) &&
			    !strcmp(limits_row_limit(limits, i), limits_row_limit(others, k)))
				return false;
			any = true;
		}
	return any;
}

int limits_read(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	struct query all = *q;

	all.side = NULL;
	table_init(t, "limits", limits_columns, (int)array_size(limits_columns));
	return limits_run(s, &all, t, err) ?: store_failed(s, err);
}

int limits_note(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	freed(table_free) struct table limits = {0};
	int rc = limits_read(s, q, &limits, err);
	const char *variant = "";
	char *words;

	for (size_t i = 0; i < limits.rows && !rc; i++) {
		if (!strcmp(table_text(&limits, i, "variant"), variant))
			continue;
		variant = table_text(&limits, i, "variant");
		words = limits_words(&limits, variant, LIMITS_BY_NAME);
		note_add_of(&t->notes, variant, NULL, limited_by, words);
		free(words);
	}
	return rc;
}
