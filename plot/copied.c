// SPDX-License-Identifier: GPL-2.0-only
/* What a caption says about zero copy. */
#include "plot/chart.h"

#include "analyze/evidence/zerocopy.h"

static const double nearly_all = 0.9;

enum { SIDES = 16 };

/* What table zerocopy says of a variant, on one side or on all. */
struct evidence_view {
	const char *only; /* the side; NULL: all */
	struct {
		const char *name;
		double share; /* 0 to 1, of the worst evidence; NaN: none */
		bool asked_zero;
	} side[SIDES];
	int n;
	double best; /* the highest share of the sides */
	bool asked_zero, asked_copy, asked_drop;
	bool fell; /* a row of a side that asked for zero copy has evidence */
};

static void evidence_add_row(struct evidence_view *v, const struct zerocopy_row *r)
{
	const char *side = r->block.side;
	double share = r->total > 0 ? r->zero_copy / r->total : NAN;
	bool zero = !strcmp(r->asked, asked_names[ASKED_ZERO_COPY]);
	int i;

	for (i = 0; i < v->n && strcmp(v->side[i].name, side); i++)
		;
	if (i == SIDES)
		return;
	if (i == v->n) {
		v->side[v->n].name = side;
		v->side[v->n++].share = NAN;
	}
	if (!isnan(share) && !(share >= v->side[i].share))
		v->side[i].share = share;
	v->side[i].asked_zero |= zero;
	v->asked_zero |= zero;
	v->asked_copy |= !strcmp(r->asked, asked_names[ASKED_COPY]);
	v->asked_drop |= !strcmp(r->asked, asked_names[ASKED_DROP]);
	v->fell |= zero && !isnan(share);
}

static struct evidence_view evidence_of(const struct table *t, const char *variant,
					const char *only)
{
	const struct zerocopy_row *rows = table_structs(t, struct zerocopy_row);
	struct evidence_view v = {.only = only, .best = NAN};

	for (long i = -1; (i = row_find(t, (size_t)(i + 1), variant, only)) >= 0;)
		evidence_add_row(&v, &rows[i]);
	for (int i = 0; i < v.n; i++)
		v.best = fmax(v.best, v.side[i].share);
	/* A side without evidence is judged by all sides. */
	return only && isnan(v.best) && !v.asked_zero ? evidence_of(t, variant, NULL) : v;
}

enum copied copied_state(const struct table *zerocopy, const char *variant, const char *only)
{
	double best = evidence_of(zerocopy, variant, only).best;

	if (evidence_of(zerocopy, variant, NULL).asked_drop)
		return COPIED_DROPPED;
	if (isnan(best))
		return COPIED_UNKNOWN;
	return best <= 0 ? COPIED_ALL : best < nearly_all ? COPIED_PART : COPIED_NONE;
}

/* Appends the percentage. 100 and 0 appear only when they are exact. */
static void copied_add_percent(struct str *s, double percent)
{
	if (percent > 99.99 && percent < 100)
		str_puts(s, "over 99.99");
	else if (percent > 0 && percent < 1)
		str_puts(s, "under 1");
	else
		str_printf(s, "%.*f", percent > 99 && percent < 100 ? 2 : 0, percent);
}

/* Warnings come first, because a long line is cut at its end. */
enum rank {
	FELL_BACK,
	FELL_PARTLY,
	DROPPED,
	FAILED,
	NO_EVIDENCE, /* from here on, no warning */
	COPIED,
	ZERO_COPY,
	RANKS,
};

enum { SHARES = 4 };
#define HOLE '\1'

/* What a caption says about the variants that are alike. Each HOLE in the text is one of the
 * shares. */
struct words {
	struct str text;
	enum rank rank;
	double least[SHARES], most[SHARES]; /* percent */
	int n;
};

/* Appends the shares of the sides with zero copy, "98 % zero copy on the receiver, 97 % on …". */
static void words_add_shares(struct words *w, const struct evidence_view *v)
{
	for (int i = 0; i < v->n && w->n < SHARES; i++) {
		if (!(v->side[i].share > 0))
			continue;
		str_printf(&w->text, "%s%c %%%s on the %s", w->text.len ? ", " : "", HOLE,
			   w->n ? "" : " zero copy", v->side[i].name);
		w->least[w->n] = w->most[w->n] = 100 * v->side[i].share;
		w->n++;
	}
}

/* Appends the sides without zero copy. Returns whether a side copied that asked for zero copy. */
static bool words_add_copied(struct words *w, const struct evidence_view *v)
{
	bool any_fell = false;

	for (int i = 0; i < v->n; i++) {
		any_fell |= v->side[i].share < nearly_all && v->side[i].asked_zero;
		if (v->side[i].share <= 0)
			str_printf(&w->text, ", %s on the %s",
				   v->side[i].asked_zero ? "fell back to copying" : "not",
				   v->side[i].name);
	}
	return any_fell;
}

/* Returns the side that asked for zero copy and copied most, or NULL. */
static const char *evidence_side_fell(const struct evidence_view *v)
{
	int worst = -1;

	for (int i = 0; i < v->n; i++)
		if (v->side[i].asked_zero && v->side[i].share < nearly_all &&
		    (worst < 0 || v->side[i].share < v->side[worst].share))
			worst = i;
	return worst < 0 ? NULL : v->side[worst].name;
}

/* Appends the words for a variant without zero copy on a side, or on all sides. */
static enum rank words_add_all(struct words *w, const struct evidence_view *v,
			       const struct evidence_view *all)
{
	const char *fell = evidence_side_fell(all);

	if (v->fell) {
		str_puts(&w->text, "fell back to copying every byte (not zero copy)");
		return FELL_BACK;
	}
	if (v->asked_zero) {
		str_puts(&w->text, "no evidence of zero copy");
		return NO_EVIDENCE;
	}
	if (fell && v->only) { /* what the kernel copies for that side costs this one, too */
		str_printf(&w->text, "the %s fell back to copying (not zero copy)", fell);
		return FELL_BACK;
	}
	if (v->asked_copy)
		str_puts(&w->text, "plain copying, as asked");
	else
		str_printf(&w->text, "every byte was copied%s%s", v->only ? " on the " : "",
			   v->only ? v->only : "");
	return COPIED;
}

/* Appends the words about one variant's data on all sides, or on the side `only`. */
static enum rank words_add(struct words *w, const struct table *t, const char *variant,
			   const char *only)
{
	const struct evidence_view v = evidence_of(t, variant, only),
				   all = evidence_of(t, variant, NULL);
	enum copied state = copied_state(t, variant, only);

	if (state == COPIED_PART || state == COPIED_NONE) {
		words_add_shares(w, &v);
		str_puts(&w->text, state == COPIED_PART ? ", the rest was copied" : "");
		return words_add_copied(w, &v) ? FELL_PARTLY : ZERO_COPY;
	}
	if (state == COPIED_ALL)
		return words_add_all(w, &v, &all);
	if (state == COPIED_UNKNOWN) {
		str_puts(&w->text, "copied bytes not counted");
		return NO_EVIDENCE;
	}
	str_puts(&w->text, DROPPED_UNREAD);
	if (all.asked_zero) {
		words_add_shares(w, &all);
		words_add_copied(w, &all);
	}
	return DROPPED;
}

/*
 * A base needs no words where it copied as asked or has no evidence, unless the chart has several
 * bases. Where nobody knows what the variants asked for, the base has the words of the others.
 */
static bool variant_is_silent(const struct drawing *d, int i, enum rank rank)
{
	const struct evidence_view v = evidence_of(&d->zerocopy, drawing_variant(d, i), NULL);

	return !i && drawing_bases(d) <= 1 && !v.asked_zero &&
	       (rank == NO_EVIDENCE || (rank == COPIED && v.asked_copy));
}

/* The words on each variant of a chart. Variants that are alike share their words. */
struct said {
	struct words *words;
	int *of; /* the place of each variant's words; -1: none */
	int n, variants;
};

static void said_add(const struct drawing *d, struct said *all, int i, const char *side)
{
	const char *v = drawing_variant(d, i);
	struct words w = {.rank = FAILED}, *same;
	int k = 0;

	if (drawing_all_failed(d, v))
		str_puts(&w.text, "no run succeeded");
	else
		w.rank = words_add(&w, &d->zerocopy, v, side);
	while (k < all->n && strcmp(all->words[k].text.buf, w.text.buf))
		k++;
	all->of[i] = variant_is_silent(d, i, w.rank) ? -1 : k;
	if (all->of[i] < 0 || k < all->n)
		str_free(&w.text);
	else
		all->words[all->n++] = w;
	same = &all->words[k];
	for (k = 0; k < w.n && all->of[i] >= 0; k++) {
		same->least[k] = fmin(same->least[k], w.least[k]);
		same->most[k] = fmax(same->most[k], w.most[k]);
	}
}

/* Appends the names of the variants with these words, of many the first and the number. */
static void said_add_names(const struct drawing *d, struct str *s, const struct said *all,
			   int words)
{
	enum { NAMED = 3 };
	int n = 0, named = 0;

	for (int i = 0; i < all->variants; i++)
		n += all->of[i] == words;
	for (int i = 0; i < all->variants && named < (n > NAMED ? 1 : n); i++) {
		if (all->of[i] != words)
			continue;
		str_puts(s, named++ ? ", " : "");
		drawing_add_label(d, drawing_variant(d, i), s);
	}
	if (n > named)
		str_printf(s, " and %d more", n - named);
}

static void said_add_words(struct str *s, const struct words *w)
{
	int share = 0;

	for (const char *c = w->text.buf; *c; c++) {
		if (*c != HOLE) {
			str_putc(s, *c);
			continue;
		}
		copied_add_percent(s, w->least[share]);
		if (w->least[share] < w->most[share]) {
			str_puts(s, " to ");
			copied_add_percent(s, w->most[share]);
		}
		share++;
	}
}

void copied_caption(const struct drawing *d, struct figure *f, const char *side)
{
	struct str lists[2] = {0}, *s; /* warnings, remarks */
	struct said all = {0};

	while (drawing_variant(d, all.variants))
		all.variants++;
	all.words = xcalloc((size_t)all.variants + 1, sizeof(*all.words));
	all.of = xcalloc((size_t)all.variants + 1, sizeof(*all.of));
	for (int i = 0; i < all.variants; i++)
		said_add(d, &all, i, side);
	for (enum rank rank = 0; rank < RANKS; rank++)
		for (int i = 0; i < all.n; i++) {
			if (all.words[i].rank != rank)
				continue;
			s = &lists[rank >= NO_EVIDENCE];
			str_puts(s, s->len ? " · " : "");
			said_add_names(d, s, &all, i);
			str_puts(s, ": ");
			said_add_words(s, &all.words[i]);
		}
	if (lists[0].len)
		figure_doubt(f, "%s", lists[0].buf);
	if (lists[1].len)
		figure_remark(f, "%s", lists[1].buf);
	array_free(e, all.words, all.n, str_free(&e->text));
	free(all.of);
	str_free(&lists[0]);
	str_free(&lists[1]);
}
