// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a chart may claim: a caption says what was copied, a title states the changes that hold.
 * Where this is not sure, a title says what is drawn and no more.
 */
#include "plot/chart.h"

#include "analyze/measures/zerocopy.h"
#include "lib/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double nearly_all = 0.9, threshold = 0.02, significant = 0.05;

/* Returns the zero-copy share, 0 to 1, of one row of evidence; NaN where it has none. */
static double evidence_share(const struct table *t, size_t row)
{
	double total = table_real(t, row, "total"), zero_copy = table_real(t, row, "zero_copy");

	return total > 0 ? zero_copy / total : NAN;
}

static double copied_share(const struct table *t, const char *variant, const char *side)
{
	double least = NAN, share;
	long row;

	for (row = row_find(t, 0, variant, side); row >= 0;
	     row = row_find(t, (size_t)row + 1, variant, side)) {
		share = evidence_share(t, (size_t)row);
		if (!isnan(share) && !(share >= least))
			least = share;
	}
	return least;
}

/* Returns whether the variant asked for `what` on the side. `side` NULL: on any side. */
static bool variant_asked(const struct table *t, const char *variant, const char *side,
			  const char *what)
{
	long row;

	for (row = row_find(t, 0, variant, side); row >= 0;
	     row = row_find(t, (size_t)row + 1, variant, side))
		if (!strcmp(table_text(t, (size_t)row, "asked"), what))
			return true;
	return false;
}

enum copied copied_state(const struct table *zerocopy, const char *variant, double *percent,
			 const char **side)
{
	double best = NAN, share;
	long row;

	*side = "";
	for (row = row_find(zerocopy, 0, variant, NULL); row >= 0;
	     row = row_find(zerocopy, (size_t)row + 1, variant, NULL)) {
		const char *name = table_text(zerocopy, (size_t)row, "side");

		share = copied_share(zerocopy, variant, name);
		if (!isnan(share) && !(share <= best)) {
			best = share;
			*side = name;
		}
	}
	*percent = 100 * best;
	if (variant_asked(zerocopy, variant, NULL, "drop"))
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

/* Appends the other sides that copied. Returns true where such a side asked for zero copy. */
static bool copied_add_other_sides(struct str *s, const struct table *t, const char *variant,
				   const char *best)
{
	bool any_fell = false;
	double share;
	long row;

	for (row = row_find(t, 0, variant, NULL); row >= 0;
	     row = row_find(t, (size_t)row + 1, variant, NULL)) {
		const char *side = table_text(t, (size_t)row, "side");
		bool fell = variant_asked(t, variant, side, "zero copy");

		share = copied_share(t, variant, side);
		if (row_find(t, 0, variant, side) != row || !strcmp(side, best) || isnan(share) ||
		    share >= nearly_all)
			continue;
		str_puts(s, share > 0 ? ", " : fell ? ", fell back to copying" : ", not");
		if (share > 0)
			copied_add_percent(s, 100 * share);
		str_printf(s, "%s on the %s", share > 0 ? " %" : "", side);
		any_fell |= fell;
	}
	return any_fell;
}

/* Warnings come first, because a long line is cut at its end. */
enum rank {
	FELL_BACK,
	FELL_PARTLY,
	DROPPED,
	FAILED,
	NOT_ZERO_COPY,
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
	double least, most; /* percent; NAN: the words have none */
	int n;
};

struct said {
	struct alike *alike;
	int n, cap, variants; /* variants: in the chart */
};

static void said_add(struct said *all, const char *variant, enum rank rank, double percent,
		     const struct str *words)
{
	struct alike *a;
	int i;

	for (i = 0; i < all->n && strcmp(all->alike[i].words, words->buf); i++)
		;
	if (i == all->n) {
		array_grow(all->alike, all->n, all->cap);
		all->alike[all->n++] = (struct alike){
			xstrdup(words->buf),
			rank,
			xcalloc((size_t)all->variants, sizeof(*all->alike->variants)),
			NAN,
			NAN,
			0};
	}
	a = &all->alike[i];
	a->variants[a->n++] = variant;
	a->least = fmin(a->least, percent);
	a->most = fmax(a->most, percent);
}

/* Returns the length of the name without its settings: "mmap" of "mmap+mtu9000". */
static size_t stem_length(const char *name)
{
	return strcspn(name, "+");
}

/* Returns the place of the first variant with the same stem. */
static int alike_first(const struct alike *a, int i)
{
	size_t len = stem_length(a->variants[i]);
	int k = 0;

	while (stem_length(a->variants[k]) != len || memcmp(a->variants[k], a->variants[i], len))
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
			str_printf(s, "%s%.*s+… (%d)", separator, (int)stem_length(a->variants[i]),
				   a->variants[i], n);
		else
			str_printf(s, "%s%s", separator, a->variants[i]);
		separator = ", ";
	}
}

static void alike_add_words(const struct drawing *d, struct str *s, const struct alike *a)
{
	enum { NAMED = 3 };
	int i;

	str_puts(s, s->len ? " · " : "");
	if (a->n > NAMED)
		alike_add_stems(s, a);
	for (i = 0; i < a->n && a->n <= NAMED; i++) {
		str_puts(s, i ? ", " : "");
		drawing_add_label(d, a->variants[i], s);
	}
	str_puts(s, ": ");
	if (!isnan(a->most)) {
		copied_add_percent(s, a->least);
		str_puts(s, a->least < a->most ? " to " : "");
		if (a->least < a->most)
			copied_add_percent(s, a->most);
		str_puts(s, " %");
	}
	str_puts(s, a->words);
}

/* Returns whether there is evidence about a side that asked for zero copy. */
static bool variant_fell_back(const struct table *t, const char *variant)
{
	long row;

	for (row = row_find(t, 0, variant, NULL); row >= 0;
	     row = row_find(t, (size_t)row + 1, variant, NULL))
		if (!strcmp(table_text(t, (size_t)row, "asked"), "zero copy") &&
		    !isnan(evidence_share(t, (size_t)row)))
			return true;
	return false;
}

/* Returns whether evidence lacks both the copied bytes and the zero-copy bytes. */
static bool variant_half_known(const struct table *t, const char *variant)
{
	long row;

	for (row = row_find(t, 0, variant, NULL); row >= 0;
	     row = row_find(t, (size_t)row + 1, variant, NULL))
		if (isnan(table_real(t, (size_t)row, "zero_copy")) &&
		    isnan(table_real(t, (size_t)row, "copied")))
			return true;
	return false;
}

/* Appends the words for a variant without zero copy on any side. */
static enum rank copied_add_all(struct str *s, const struct table *t, const char *variant,
				const char *side)
{
	if (variant_fell_back(t, variant)) {
		str_puts(s, "fell back to copying every byte (not zero copy)");
		return FELL_BACK;
	}
	if (variant_asked(t, variant, NULL, "zero copy")) {
		str_puts(s, "no evidence of zero copy");
		return NO_EVIDENCE;
	}
	if (variant_half_known(t, variant)) {
		str_printf(s, "every byte was copied on the %s", side);
		return COPIED;
	}
	if (variant_asked(t, variant, NULL, "copy")) {
		str_puts(s, "plain copying, as asked");
		return COPIED;
	}
	str_puts(s, "every byte was copied (not zero copy)");
	return NOT_ZERO_COPY;
}

/* Returns the side that dropped what it received. */
static const char *variant_dropper(const struct table *t, const char *variant)
{
	long row;

	for (row = row_find(t, 0, variant, NULL); row >= 0;
	     row = row_find(t, (size_t)row + 1, variant, NULL))
		if (!strcmp(table_text(t, (size_t)row, "asked"), "drop"))
			return table_text(t, (size_t)row, "side");
	return "";
}

/* Appends the words about one variant's data. */
static enum rank copied_add_words(struct str *s, const struct table *t, const char *variant,
				  double *percent)
{
	const char *side;
	enum copied state = copied_state(t, variant, percent, &side);

	if (state == COPIED_PART || state == COPIED_NONE) {
		str_printf(s, " zero copy on the %s%s", side,
			   state == COPIED_PART ? ", the rest was copied" : "");
		return copied_add_other_sides(s, t, variant, side) ? FELL_PARTLY : ZERO_COPY;
	}
	*percent = NAN;
	if (state == COPIED_ALL)
		return copied_add_all(s, t, variant, side);
	if (state == COPIED_UNKNOWN) {
		str_puts(s, "no evidence of zero copy");
		return NO_EVIDENCE;
	}
	str_puts(s, DROPPED_UNREAD);
	if (variant_asked(t, variant, NULL, "zero copy"))
		copied_add_other_sides(s, t, variant, variant_dropper(t, variant));
	return DROPPED;
}

/*
 * A base needs no words where it copied as asked or has no evidence, unless the chart has several
 * bases.
 */
static bool variant_is_silent(const struct drawing *d, int i, enum rank rank)
{
	return !i && drawing_bases(d) <= 1 && rank >= NOT_ZERO_COPY && rank <= COPIED &&
	       !variant_asked(&d->zerocopy, drawing_variant(d, i), NULL, "zero copy");
}

static void said_add_variant(const struct drawing *d, struct said *all, int i)
{
	const char *v = drawing_variant(d, i);
	struct str words = {0};
	double percent;
	enum rank rank = FAILED;

	if (drawing_all_failed(d, v)) {
		percent = NAN;
		str_puts(&words, "no run succeeded");
	} else {
		rank = copied_add_words(&words, &d->zerocopy, v, &percent);
	}

	if (!variant_is_silent(d, i, rank))
		said_add(all, v, rank, percent, &words);
	str_free(&words);
}

void copied_caption(const struct drawing *d, struct figure *f)
{
	struct said all = {0};
	struct str warnings = {0}, remarks = {0};
	enum rank rank;
	int i;

	while (drawing_variant(d, all.variants))
		all.variants++;
	for (i = 0; i < all.variants; i++)
		said_add_variant(d, &all, i);
	for (rank = 0; rank < RANKS; rank++)
		for (i = 0; i < all.n; i++)
			if (all.alike[i].rank == rank)
				alike_add_words(d, rank < NO_EVIDENCE ? &warnings : &remarks,
						&all.alike[i]);
	if (warnings.len)
		figure_caption(f, "%s", warnings.buf);
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

static bool intervals_are_apart(struct estimate a, struct estimate b)
{
	return a.lo <= a.value && a.value <= a.hi && b.lo <= b.value && b.value <= b.hi &&
	       (a.hi < b.lo || b.hi < a.lo);
}

/* Returns whether the exact test of this many runs can be significant at all. */
static bool runs_are_enough(size_t a, size_t b)
{
	return a && b && stats_mann_whitney_min(a, b) < significant;
}

double claim(const struct drawing *d, const char *variant, struct estimate base,
	     struct estimate new, enum drawn_from from, int gain)
{
	double ratio = new.value / base.value, percent;
	const char *side;

	if (!(base.value > 0) || !(new.value >= 0) || !intervals_are_apart(base, new))
		return 0;
	if ((from == FROM_MEASURED || from == FROM_COUNTED) && !runs_are_enough(base.n, new.n))
		return 0;
	if (fabs(ratio - 1) < threshold)
		return 0;
	if ((ratio - 1) * gain > 0 &&
	    copied_state(&d->zerocopy, variant, &percent, &side) != COPIED_NONE)
		return 0;
	return ratio > 0 ? ratio : 0;
}

int claim_places(double v)
{
	return v >= 100 ? 0 : v >= 10 ? 1 : 2;
}

const char *claim_times(struct figure *f, double ratio)
{
	char *text = ratio < 1e-4    ? xstrdup("under 0.0001×")
		     : ratio < 0.095 ? xasprintf("%.2g×", ratio)
				     : xasprintf("%.*f×",
						 ratio < 1.995	? 2
						 : ratio < 9.95 ? 1
								: 0,
						 ratio);
	const char *kept = arena_strdup(&f->arena, text);

	free(text);
	return kept;
}
