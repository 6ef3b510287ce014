// SPDX-License-Identifier: GPL-2.0-only
#include "plot/copied.h"

#include "lib/alloc.h"
#include "lib/str.h"
#include "plot/chart.h"
#include "plot/rows.h"
#include "plot/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double nearly_all = 0.9;

/* Zero-copy share 0..1 of one row of evidence; NaN where it cannot say. */
static double share_of(const struct table *t, size_t row)
{
	double total = row_real(t, row, "total"), zero_copy = row_real(t, row, "zero_copy");

	return total > 0 ? zero_copy / total : NAN;
}

double copied_share(const struct table *t, const char *variant, const char *side)
{
	double least = NAN, share;
	long row;

	for (row = row_find(t, 0, variant, side); row >= 0;
	     row = row_find(t, (size_t)row + 1, variant, side)) {
		share = share_of(t, (size_t)row);
		if (!isnan(share) && !(share >= least))
			least = share;
	}
	return least;
}

enum copied copied_state(const struct table *zerocopy, const char *variant, double *percent,
			 const char **side)
{
	double best = NAN, share;
	long row;

	*side = "";
	for (row = row_find(zerocopy, 0, variant, NULL); row >= 0;
	     row = row_find(zerocopy, (size_t)row + 1, variant, NULL)) {
		const char *name = row_text(zerocopy, (size_t)row, "side");

		share = copied_share(zerocopy, variant, name);
		if (!isnan(share) && !(share <= best)) {
			best = share;
			*side = name;
		}
	}
	*percent = 100 * best;
	if (isnan(best))
		return COPIED_UNKNOWN;
	return best <= 0 ? COPIED_ALL : best < nearly_all ? COPIED_PART : COPIED_NONE;
}

/* A share that is not whole must not be rounded to 100, nor one that is there to 0. */
static void put_percent(struct str *s, double percent)
{
	if (percent > 99.99 && percent < 100)
		str_puts(s, "over 99.99");
	else if (percent > 0 && percent < 1)
		str_puts(s, "under 1");
	else
		str_printf(s, "%.*f", percent > 99 && percent < 100 ? 2 : 0, percent);
}

/* The other sides that had evidence and copied. */
static void put_others(struct str *s, const struct table *t, const char *variant, const char *best)
{
	static const char *const sides[] = {"receiver", "sender"};
	double share;
	size_t i;

	for (i = 0; i < array_size(sides); i++) {
		share = copied_share(t, variant, sides[i]);
		if (!strcmp(sides[i], best) || isnan(share) || share >= nearly_all)
			continue;
		str_puts(s, share > 0 ? ", " : ", not");
		if (share > 0)
			put_percent(s, 100 * share);
		str_printf(s, "%s on the %s", share > 0 ? " %" : "", sides[i]);
	}
}

/* Variants of which the same is said. */
struct alike {
	char *words;
	const char **variants;
	double least, most; /* percent; NAN: the words have none */
	int n;
};

struct said {
	struct alike *alike;
	int n, cap, variants; /* variants: in the chart */
};

static void add(struct said *all, const char *variant, double percent, const struct str *words)
{
	struct alike *a;
	int i;

	for (i = 0; i < all->n && strcmp(all->alike[i].words, words->buf); i++)
		;
	if (i == all->n) {
		array_grow(all->alike, all->n, all->cap);
		all->alike[all->n++] = (struct alike){
			xstrdup(words->buf),
			xcalloc((size_t)all->variants, sizeof(*all->alike->variants)), NAN, NAN, 0};
	}
	a = &all->alike[i];
	a->variants[a->n++] = variant;
	a->least = fmin(a->least, percent);
	a->most = fmax(a->most, percent);
}

/* What stands before the settings: "mmap" of "mmap+mtu9000". */
static size_t stem(const char *name)
{
	return strcspn(name, "+");
}

/* The place of the first of the same stem. */
static int first_alike(const struct alike *a, int i)
{
	size_t len = stem(a->variants[i]);
	int k = 0;

	while (stem(a->variants[k]) != len || memcmp(a->variants[k], a->variants[i], len))
		k++;
	return k;
}

/* "mmap+… (12)" for those that differ in their settings alone, where there are many. */
static void put_stems(struct str *s, const struct alike *a)
{
	const char *separator = "";
	int i, k, n;

	for (i = 0; i < a->n; i++) {
		if (first_alike(a, i) != i)
			continue;
		for (k = n = 0; k < a->n; k++)
			n += first_alike(a, k) == i;
		if (n > 1)
			str_printf(s, "%s%.*s+… (%d)", separator, (int)stem(a->variants[i]),
				   a->variants[i], n);
		else
			str_printf(s, "%s%s", separator, a->variants[i]);
		separator = ", ";
	}
}

static void put_alike(const struct drawing *d, struct str *s, const struct alike *a)
{
	enum { NAMED = 3 };
	int i;

	str_puts(s, s->len ? " · " : "");
	if (a->n > NAMED)
		put_stems(s, a);
	for (i = 0; i < a->n && a->n <= NAMED; i++) {
		str_puts(s, i ? ", " : "");
		shared_label(d, a->variants[i], s);
	}
	str_puts(s, ": ");
	if (!isnan(a->most)) {
		put_percent(s, a->least);
		str_puts(s, a->least < a->most ? " to " : "");
		if (a->least < a->most)
			put_percent(s, a->most);
		str_puts(s, " %");
	}
	str_puts(s, a->words);
}

/*
 * What is to be said of one variant; the base copies by design, which needs no words unless others
 * are of the same way.
 */
static void say(const struct drawing *d, struct said *all, int i)
{
	const char *v = drawing_variant(d, i), *side;
	bool told = i || shared_bases(d) > 1;
	struct str words = {0};
	double percent;

	switch (copied_state(&d->zerocopy, v, &percent, &side)) {
	case COPIED_ALL:
		str_puts(&words, told ? "every byte was copied (not zero copy)" : "");
		percent = NAN;
		break;
	case COPIED_UNKNOWN:
		str_puts(&words, told ? "no evidence of zero copy" : "");
		percent = NAN;
		break;
	case COPIED_PART:
		str_printf(&words, " zero copy on the %s, the rest was copied", side);
		put_others(&words, &d->zerocopy, v, side);
		break;
	case COPIED_NONE:
		str_printf(&words, " zero copy on the %s", side);
		put_others(&words, &d->zerocopy, v, side);
		break;
	}
	if (words.len)
		add(all, v, percent, &words);
	str_free(&words);
}

/* Warnings come first: a line that is cut, is cut at its end. */
void copied_caption(const struct drawing *d, struct figure *f)
{
	struct said all = {0};
	struct str s = {0};
	int i, warned;

	while (drawing_variant(d, all.variants))
		all.variants++;
	for (i = 0; i < all.variants; i++)
		say(d, &all, i);
	for (warned = 1; warned >= 0; warned--)
		for (i = 0; i < all.n; i++)
			if (isnan(all.alike[i].most) == (warned == 1))
				put_alike(d, &s, &all.alike[i]);
	if (s.len)
		figure_caption(f, "%s", s.buf);
	for (i = 0; i < all.n; i++) {
		free(all.alike[i].words);
		free(all.alike[i].variants);
	}
	free(all.alike);
	str_free(&s);
}
