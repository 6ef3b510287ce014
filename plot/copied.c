// SPDX-License-Identifier: GPL-2.0-only
#include "plot/copied.h"

#include "lib/alloc.h"
#include "lib/str.h"
#include "plot/chart.h"
#include "plot/rows.h"

#include <math.h>
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
		if (share > 0)
			str_printf(s, ", %.0f %% on the %s", 100 * share, sides[i]);
		else
			str_printf(s, ", not on the %s", sides[i]);
	}
}

/* A share that is not whole must not be rounded to 100. */
static void put_share(struct str *s, const char *variant, double percent, const char *side,
		      bool part)
{
	str_printf(s, "%s%s: %.*f %% zero copy on the %s%s", s->len ? " · " : "", variant,
		   percent > 99 && percent < 100 ? 2 : 0, percent, side,
		   part ? ", the rest was copied" : "");
}

/* "a, b: WORDS" of all variants in this state but the base: a baseline copies by design. */
static void put_state(const struct drawing *d, struct str *s, enum copied state, const char *words)
{
	const char *v, *side;
	double percent;
	int i, n = 0;

	for (i = 1; (v = drawing_variant(d, i)); i++)
		if (copied_state(&d->zerocopy, v, &percent, &side) == state)
			str_printf(s, "%s%s", n++ ? ", " : s->len ? " · " : "", v);
	if (n)
		str_printf(s, ": %s", words);
}

void copied_caption(const struct drawing *d, struct figure *f)
{
	struct str s = {0};
	const char *v, *side;
	enum copied state;
	double percent;
	int i;

	put_state(d, &s, COPIED_ALL, "every byte was copied (not zero copy)");
	put_state(d, &s, COPIED_UNKNOWN, "no evidence of zero copy");
	for (i = 0; (v = drawing_variant(d, i)); i++) {
		state = copied_state(&d->zerocopy, v, &percent, &side);
		if (state == COPIED_PART || state == COPIED_NONE) {
			put_share(&s, v, percent, side, state == COPIED_PART);
			put_others(&s, &d->zerocopy, v, side);
		}
	}
	if (s.len)
		figure_caption(f, "%s", s.buf);
	str_free(&s);
}
