// SPDX-License-Identifier: GPL-2.0-only
/* What a caption says about zero copy. */
#include "plot/chart.h"

#include "analyze/evidence/zerocopy.h"
#include "lib/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
	bool fell;	   /* a row of a side that asked for zero copy has evidence */
	bool half;	   /* a row lacks both the copied bytes and the zero-copy bytes */
	const char *known; /* the first side with evidence */
};

static void evidence_add_row(struct evidence_view *v, const struct table *t, size_t row)
{
	const char *side = table_text(t, row, "side");
	double total = table_real(t, row, "total"), zero_copy = table_real(t, row, "zero_copy");
	double share = total > 0 ? zero_copy / total : NAN;
	bool zero = row_is(t, row, "asked", "zero copy");
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
	v->asked_copy |= row_is(t, row, "asked", "copy");
	v->asked_drop |= row_is(t, row, "asked", "drop");
	v->fell |= zero && !isnan(share);
	v->half |= isnan(zero_copy) && isnan(table_real(t, row, "copied"));
	if (!v->known && !isnan(share))
		v->known = side;
}

static struct evidence_view evidence_of(const struct table *t, const char *variant,
					const char *only)
{
	struct evidence_view v = {.only = only, .best = NAN};
	long row;
	int i;

	for (row = row_find(t, 0, variant, only); row >= 0;
	     row = row_find(t, (size_t)row + 1, variant, only))
		evidence_add_row(&v, t, (size_t)row);
	for (i = 0; i < v.n; i++)
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

enum { SHARES = 4 };

/* What a caption says about a variant. Each HOLE in the text is one of the shares, in percent. */
struct words {
	struct str text;
	double share[SHARES];
	int n;
};

#define HOLE '\1'

/* Appends the shares of the sides with zero copy, "98 % zero copy on the receiver, 97 % on …". */
static void words_add_shares(struct words *w, const struct evidence_view *v)
{
	int i;

	for (i = 0; i < v->n && w->n < SHARES; i++) {
		if (!(v->side[i].share > 0))
			continue;
		str_printf(&w->text, "%s%c %%%s on the %s", w->text.len ? ", " : "", HOLE,
			   w->n ? "" : " zero copy", v->side[i].name);
		w->share[w->n++] = 100 * v->side[i].share;
	}
}

/* Appends the sides without zero copy. Returns whether a side copied that asked for zero copy. */
static bool words_add_copied(struct words *w, const struct evidence_view *v)
{
	bool any_fell = false;
	int i;

	for (i = 0; i < v->n; i++) {
		any_fell |= v->side[i].share < nearly_all && v->side[i].asked_zero;
		if (v->side[i].share <= 0)
			str_printf(&w->text, ", %s on the %s",
				   v->side[i].asked_zero ? "fell back to copying" : "not",
				   v->side[i].name);
	}
	return any_fell;
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

/* Variants with the same words. */
struct alike {
	char *words;
	enum rank rank;
	const char **variants;
	double least[SHARES], most[SHARES]; /* percent */
	int n;
};

struct said {
	struct alike *alike;
	int n, cap, variants; /* variants: in the chart */
};

static void said_add(struct said *all, const char *variant, enum rank rank, const struct words *w)
{
	struct alike *a;
	int i;

	for (i = 0; i < all->n && strcmp(all->alike[i].words, w->text.buf); i++)
		;
	if (i == all->n) {
		array_add(all->alike, all->n, all->cap,
			  (struct alike){.words = xstrdup(w->text.buf), .rank = rank});
		a = &all->alike[i];
		a->variants = xcalloc((size_t)all->variants, sizeof(*a->variants));
		memcpy(a->least, w->share, sizeof(a->least));
		memcpy(a->most, w->share, sizeof(a->most));
	}
	a = &all->alike[i];
	a->variants[a->n++] = variant;
	for (i = 0; i < w->n; i++) {
		a->least[i] = fmin(a->least[i], w->share[i]);
		a->most[i] = fmax(a->most[i], w->share[i]);
	}
}

/* Returns the place of the first variant with the same stem. */
static int alike_first(const struct alike *a, int i)
{
	int k = 0;

	while (!variant_has_stem_of(a->variants[k], a->variants[i]))
		k++;
	return k;
}

/* Appends "mmap+… (12)" for twelve variants that differ only in their settings. */
static void alike_add_stems(struct str *s, const struct alike *a)
{
	const char *separator = "";
	int i, k, n;

	for (i = 0; i < a->n; i++) {
		if (alike_first(a, i) != i)
			continue;
		for (k = n = 0; k < a->n; k++)
			n += alike_first(a, k) == i;
		if (n > 1)
			str_printf(s, "%s%.*s+… (%d)", separator, (int)strcspn(a->variants[i], "+"),
				   a->variants[i], n);
		else
			str_printf(s, "%s%s", separator, a->variants[i]);
		separator = ", ";
	}
}

static void alike_add_words(const struct drawing *d, struct str *s, const struct alike *a)
{
	enum { NAMED = 3 };
	const char *c;
	int i, share = 0;

	str_puts(s, s->len ? " · " : "");
	if (a->n > NAMED)
		alike_add_stems(s, a);
	for (i = 0; i < a->n && a->n <= NAMED; i++) {
		str_puts(s, i ? ", " : "");
		drawing_add_label(d, a->variants[i], s);
	}
	str_puts(s, ": ");
	for (c = a->words; *c; c++) {
		if (*c != HOLE) {
			str_putc(s, *c);
			continue;
		}
		copied_add_percent(s, a->least[share]);
		str_puts(s, a->least[share] < a->most[share] ? " to " : "");
		if (a->least[share] < a->most[share])
			copied_add_percent(s, a->most[share]);
		share++;
	}
}

/* Appends the words for a variant without zero copy. */
static enum rank copied_add_all(struct str *s, const struct evidence_view *v)
{
	if (v->fell) {
		str_puts(s, "fell back to copying every byte (not zero copy)");
		return FELL_BACK;
	}
	if (v->asked_zero) {
		str_puts(s, "no evidence of zero copy");
		return NO_EVIDENCE;
	}
	if (v->asked_copy && !v->half)
		str_puts(s, "plain copying, as asked");
	else
		str_printf(s, "every byte was copied%s%s", v->half || v->only ? " on the " : "",
			   v->half   ? v->known
			   : v->only ? v->only
				     : "");
	return COPIED;
}

/* Appends the words about one variant's data on all sides, or on the side `only`. */
static enum rank copied_add_words(struct words *w, const struct table *t, const char *variant,
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
		return copied_add_all(&w->text, &v);
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

static void said_add_variant(const struct drawing *d, struct said *all, int i, const char *side)
{
	const char *v = drawing_variant(d, i);
	struct words words = {0};
	enum rank rank = FAILED;

	if (drawing_all_failed(d, v))
		str_puts(&words.text, "no run succeeded");
	else
		rank = copied_add_words(&words, &d->zerocopy, v, side);
	if (!variant_is_silent(d, i, rank))
		said_add(all, v, rank, &words);
	str_free(&words.text);
}

void copied_caption(const struct drawing *d, struct figure *f, const char *side)
{
	struct said all = {0};
	struct str warnings = {0}, remarks = {0};
	enum rank rank;
	int i;

	while (drawing_variant(d, all.variants))
		all.variants++;
	for (i = 0; i < all.variants; i++)
		said_add_variant(d, &all, i, side);
	for (rank = 0; rank < RANKS; rank++)
		for (i = 0; i < all.n; i++)
			if (all.alike[i].rank == rank)
				alike_add_words(d, rank < NO_EVIDENCE ? &warnings : &remarks,
						&all.alike[i]);
	if (warnings.len)
		figure_doubt(f, "%s", warnings.buf);
	if (remarks.len)
		figure_remark(f, "%s", remarks.buf);
	for (i = 0; i < all.n; i++) {
		free(all.alike[i].words);
		free(all.alike[i].variants);
	}
	free(all.alike);
	str_free(&warnings);
	str_free(&remarks);
}
