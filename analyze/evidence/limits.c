// SPDX-License-Identifier: GPL-2.0-only
/* limits: what limited each variant. A figure above its threshold is a limit. */
#include "analyze/evidence/limits.h"

#include "analyze/evidence/zerocopy.h"

#include <math.h>

static const struct column limits_columns[] = {
	{"variant", .type = V_STR},
	{"limit", .type = V_STR,
	 .what = "cpu, softirq, quota, wire, cwnd, rwnd, sndbuf, application or none"},
	{"side", .type = V_STR, .what = "the side that the limit stops"},
	{"share", "%", V_REAL, .digits = 1,
	 .what = "part of the window, of wire: part of the link's speed"},
	{"evidence", .type = V_STR, .what = "the figures that show the limit"},
};

static void limits_add_row(struct limits *l, const struct limits_side *side, enum limit kind,
			   const char *evidence, double share)
{
	const struct limit_row row = {.variant = side->b->block.variant,
				      .side = kind == LIMIT_NONE ? "" : side->b->block.side,
				      .kind = kind,
				      .evidence = arena_strdup(&l->arena, evidence),
				      .share = share};

	array_add(l->row, l->n, l->cap, row);
}

struct limits_place {
	double share;
	int side, kind;
};

/* Orders limits by their share, the largest first, and equal shares by side. */
static int limits_compare(const void *x, const void *y)
{
	const struct limits_place *a = x, *b = y;

	return descending(a->share, b->share)
		       ?: ascending(a->side, b->side) ?: ascending(a->kind, b->kind);
}

/* Adds the limits from `from` to `to` that were found. Returns whether there is one. */
static bool limits_add_found(struct limits *l, const struct limits_variant *v, enum limit from,
			     enum limit to)
{
	autofree struct limits_place *place = xcalloc((size_t)v->n * LIMITS + 1, sizeof(*place));
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

		limits_add_row(l, of, (enum limit)place[i].kind, of->found[place[i].kind].text,
			       place[i].share);
	}
	return n > 0;
}

/* Adds the row of a variant without a limit: the largest figures of each side. */
static void limits_add_none(struct limits *l, const struct limits_variant *v)
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
	limits_add_row(l, v->sides, LIMIT_NONE, s.len ? s.buf : "nothing was measured", NAN);
	l->row[l->n - 1].unmeasured = !s.len;
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
static int limits_add_variant(struct limits *l, struct table *t, struct limits_variant *v,
			      struct error *err)
{
	int rc = limits_read_figures(v, err);

	if (!rc && !limits_add_found(l, v, LIMIT_CPU, LIMIT_SNDBUF) &&
	    !limits_add_found(l, v, LIMIT_QUEUE, LIMIT_APPLICATION))
		limits_add_none(l, v);
	if (!rc)
		limits_note_unmeasured(t, v);
	limits_free_figures(v);
	return rc;
}

static void limits_put_rows(const struct limits *l, struct table *t)
{
	for (const struct limit_row *r = l->row; r < l->row + l->n; r++) {
		struct value *row = table_row(t);

		table_set(t, row, "variant", value_str(t, r->variant));
		table_set(t, row, "limit", value_str(t, limit_kinds[r->kind].name));
		table_set(t, row, "side", value_str(t, *r->side ? r->side : NULL));
		table_set(t, row, "evidence", value_str(t, r->evidence));
		table_set(t, row, "share", value_real(r->share));
	}
}

/* Finds the limits, and fills the table with them. */
static int limits_find(struct store *s, const struct query *q, struct limits *l, struct table *t,
		       struct error *err)
{
	struct limits_variant v = {.s = s, .q = q};
	freed(block_list_free) struct block_list list;
	int rc = block_list_read(&list, s, q, FOR_FIGURES, err), i = 0;

	v.estimator = list.estimator;
	v.sides = xcalloc((size_t)list.n + 1, sizeof(*v.sides));
	while (i < list.n && !rc) {
		const char *variant = list.blocks[i].block.variant;

		for (v.n = 0; i < list.n && !strcmp(list.blocks[i].block.variant, variant); i++)
			if (list.blocks[i].n)
				v.sides[v.n++] = (struct limits_side){.b = &list.blocks[i]};
		if (v.n)
			rc = limits_add_variant(l, t, &v, err);
	}
	if (!rc) {
		limits_put_rows(l, t);
		block_list_notes(&list, s, t);
	}
	free(v.sides);
	return rc;
}

void limits_free(struct limits *l)
{
	free(l->row);
	arena_free(&l->arena);
	*l = (struct limits){0};
}

int limits_read(struct store *s, const struct query *q, struct limits *l, struct error *err)
{
	freed(table_free) struct table unused = {0};
	struct query all = *q;

	all.side = NULL;
	return limits_find(s, &all, l, &unused, err) ?: store_failed(s, err);
}

static int limits_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	freed(limits_free) struct limits l = {0};

	return limits_find(s, q, &l, t, err);
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
static void limits_add_word(struct str *s, const struct limit_row *r)
{
	const struct limit_kind *kind = &limit_kinds[r->kind];

	if (r->kind == LIMIT_NONE)
		str_puts(s, r->unmeasured ? "no measured limit" : "no known limit");
	else
		str_printf(s, "%s %s", r->side, kind->name);
	if (kind->waits_for)
		str_printf(s, " (waits for %s)", kind->waits_for);
}

static int limits_compare_words(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

char *limits_words(const struct limits *l, const char *variant, enum limits_order order)
{
	autofree char **list = xcalloc(l->n + 1, sizeof(*list));
	freed(str_free) struct str s = {0};
	size_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		if (strcmp(l->row[i].variant, variant))
			continue;
		str_reset(&s);
		limits_add_word(&s, &l->row[i]);
		if (str_index((const char *const *)list, n, s.buf) < 0) /* each limit once */
			list[n++] = xstrdup(s.buf);
	}
	str_reset(&s);
	if (order == LIMITS_BY_NAME)
		qsort(list, n, sizeof(*list), limits_compare_words);
	for (size_t i = 0; i < n; i++) {
		str_item(&s, !i, i + 1 == n, list[i]);
		free(list[i]);
	}
	return n ? str_take(&s) : NULL;
}

/* Returns the name of the row's limit. The busiest CPU of a side is one limit, in softirq or not.
 */
static const char *limits_row_name(const struct limit_row *r)
{
	return limit_kinds[r->kind == LIMIT_SOFTIRQ ? LIMIT_CPU : r->kind].name;
}

bool limits_differ(const struct limits *l, const char *variant, const struct limits *others,
		   const char *other)
{
	bool any = false;

	for (const struct limit_row *a = l->row; a < l->row + l->n; a++)
		for (const struct limit_row *b = others->row; b < others->row + others->n; b++) {
			if (strcmp(a->variant, variant) || strcmp(b->variant, other))
				continue;
			if (!strcmp(a->side, b->side) &&
			    !strcmp(limits_row_name(a), limits_row_name(b)))
				return false;
			any = true;
		}
	return any;
}

int limits_note(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	freed(limits_free) struct limits l = {0};
	int rc = limits_read(s, q, &l, err);
	const char *variant = "";
	char *words;

	for (size_t i = 0; i < l.n && !rc; i++) {
		if (!strcmp(l.row[i].variant, variant))
			continue;
		variant = l.row[i].variant;
		words = limits_words(&l, variant, LIMITS_BY_NAME);
		note_add_of(&t->notes, variant, NULL, limited_by, words);
		free(words);
	}
	return rc;
}
