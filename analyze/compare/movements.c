// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/compare/diff.h"

#include <math.h>

enum { MOVEMENTS = 5 };

#define NOISE 1e-9 /* a cost below it is 0 */

static const struct column columns[] = {
	{"side", .type = V_STR},
	{"what", .type = V_STR},
	{"dso", .type = V_STR, .what = "of a function"},
	{"unit", .type = V_STR, .shape = STAYS_WHOLE, .what = "ns/KiB"},
	{"base_ns", "ns", V_REAL, .digits = 2},
	{"new_ns", "ns", V_REAL, .digits = 2},
	{"delta_ns", "ns", V_REAL, .digits = 2, .spread = SPREAD_HALF, .stem = "delta"},
	{"sampling_error", "ns", V_REAL, .digits = 2},
	{"p", .type = V_REAL, .digits = 4},
	{"verdict", .type = V_STR},
	{"real", .type = V_STR, .what = "yes, no, or not known"},
	{"words", .type = V_STR, .what = "the note"},
};

void movements_add(struct movements *m, const char *side, const struct diff *d, const char *unit)
{
	if (!d->possible && d->nruns[BASE] > 1 && d->nruns[NEW] > 1 && d->tests > m->untested)
		m->untested = d->tests;
	for (size_t i = 0; i < d->n; i++)
		array_add(m->list, m->n, m->cap, (struct movement){side, unit, &d->rows[i]});
}

static int movement_order(const void *a, const void *b)
{
	double x = fabs(((const struct movement *)a)->row->delta);
	double y = fabs(((const struct movement *)b)->row->delta);

	return descending(x, y);
}

/* Returns the row's error: half the interval, or the sampling error where an end has one run. */
static double movement_error(const struct diff_row *r)
{
	return isnan(r->delta_ci) ? r->delta_sampling : r->delta_ci;
}

static bool movement_is_beyond(const struct diff_row *r)
{
	return verdict_is_claim(r->verdict) ||
	       (r->verdict != VERDICT_SAME && r->verdict != VERDICT_DRIFT &&
		fabs(r->delta) > movement_error(r));
}

/* Returns whether the test finds a difference, and the interval of the pooled one agrees. */
static bool movement_is_real(const struct comparison *c, const struct diff_row *r)
{
	return r->p < c->rule.alpha && !(fabs(r->delta) <= r->delta_ci);
}

/* Appends whether the movement is real. */
static void movement_print_reality(struct str *s, const struct comparison *c,
				   const struct diff_row *r)
{
	static const char *const words[] = {
		[VERDICT_BETTER] = "real, better",
		[VERDICT_WORSE] = "real, worse",
		[VERDICT_COPIED] = "real, but it copied: no speed-up is claimed",
		[VERDICT_DRIFT] = "no more than a drift between runs that did not take turns",
		[VERDICT_OTHERS] = "not judged beside other programs",
		[VERDICT_NONE] = "too small a part to be tested",
	};

	if (r->verdict == VERDICT_SAME && movement_is_real(c, r))
		str_printf(s, "real, but no more than %g %% of it", 100 * c->rule.threshold);
	else if (r->verdict == VERDICT_SAME && r->p < c->rule.alpha)
		str_puts(s, "an outlier among the runs may explain it");
	else if (r->verdict == VERDICT_SAME)
		str_printf(s, "not distinguishable from chance%s",
			   fabs(r->delta) > r->delta_ci
				   ? " (p is corrected for all tested rows, +- is not)"
				   : "");
	else if (r->verdict == VERDICT_FEW)
		str_puts(s, isnan(movement_error(r)) ? "too few runs to tell"
			    : movement_is_beyond(r)  ? "beyond its error, but too few runs to tell"
						    : "within its error, and too few runs to tell");
	else
		str_puts(s, words[r->verdict]);
}

/* Returns whether several rows have this name, as "[unresolved]" of any DSO: it needs the DSO. */
static bool movement_is_ambiguous(const struct movements *m, const struct diff_row *r)
{
	if (!r->key2 || !*r->key2)
		return false;
	for (size_t i = 0; i < m->n; i++)
		if (m->list[i].row != r && !strcmp(m->list[i].row->key, r->key))
			return true;
	return *r->key == '[';
}

/*
 * Returns digits after the point, for two digits of the movement and one of its error, but no more
 * than five digits of the costs. A movement below NOISE is 0.
 */
static int movement_digits(const struct diff_row *r)
{
	double cost = fmax(fabs(r->cost[BASE]), fabs(r->cost[NEW])), least = fabs(r->delta);
	int digits = 1;

	if (least < NOISE * cost)
		least = INFINITY;
	if (movement_error(r) > NOISE * cost)
		least = fmin(least, 10 * movement_error(r));
	while (digits < 6 && least < pow(10, 1 - digits) && cost < pow(10, 4 - digits))
		digits++;
	return digits;
}

static char *movement_words(const struct movements *all, const struct comparison *c,
			    const struct movement *m)
{
	const struct diff_row *r = m->row;
	int digits = movement_digits(r);
	struct str s = {0};

	str_printf(&s, "%s%s%s", m->side, *m->side ? " " : "", r->key);
	if (movement_is_ambiguous(all, r))
		str_printf(&s, " of %s", r->key2);
	str_printf(&s, " %+.*f ns/%s (%.*f to %.*f)", digits, r->delta, m->unit, digits,
		   r->cost[BASE], digits, r->cost[NEW]);
	if (!isnan(movement_error(r)))
		str_printf(&s, ", %s%.*f", isnan(r->delta_ci) ? "sampling error " : "+-", digits,
			   movement_error(r));
	if (!isnan(diff_p(r)))
		str_printf(&s, ", p = %.2g", r->p);
	str_puts(&s, ": ");
	movement_print_reality(&s, c, r);
	return str_take(&s);
}

static void movement_add_row(struct table *t, const struct comparison *c, const struct movement *m,
			     const char *words)
{
	const struct diff_row *r = m->row;
	struct value *row = table_row(t);

	table_set(t, row, "side", value_str(t, m->side));
	table_set(t, row, "what", value_str(t, r->key));
	table_set(t, row, "dso", value_str(t, r->key2));
	table_set(t, row, "unit", value_str(t, arena_printf(&t->arena, "ns/%s", m->unit)));
	table_set(t, row, "base_ns", value_real(r->cost[BASE]));
	table_set(t, row, "new_ns", value_real(r->cost[NEW]));
	table_set(t, row, "delta_ns", value_half(t, r->delta, r->delta_ci));
	table_set(t, row, "sampling_error", value_real(r->delta_sampling));
	table_set(t, row, "p", value_real(diff_p(r)));
	table_set(t, row, "verdict", value_str(t, verdict_name(r->verdict)));
	table_set(t, row, "real",
		  value_str(t, isnan(diff_p(r)) || r->verdict == VERDICT_DRIFT ||
					       r->verdict == VERDICT_OTHERS
				       ? "not known"
			       : movement_is_real(c, r) ? "yes"
							: "no"));
	table_set(t, row, "words", value_str(t, words));
}

/* Adds the note above the movements. Returns whether the movements follow as notes. */
static bool movements_note_first(const struct movements *m, const struct comparison *c,
				 struct table *t, const char *thing, size_t n)
{
	bool beyond = false, known = false, moved = false;
	char *why = NULL;

	for (size_t i = 0; i < n; i++) {
		beyond |= movement_is_beyond(m->list[i].row);
		known |= !isnan(movement_error(m->list[i].row));
		moved |= m->list[i].row->delta != 0;
	}
	if (moved && !known)
		why = arena_printf(
			&t->arena,
			"one run or two on a side give no error, so any change of a %s may be chance; the largest movements:",
			thing);
	else if (!beyond && m->untested)
		why = arena_printf(
			&t->arena,
			"too few runs to test %zu %s%s at once (that takes %zu a side); the largest movements:",
			m->untested, thing, m->untested == 1 ? "" : "s",
			verdict_runs_needed(&c->rule, m->untested));
	if (why)
		note_add(&t->notes, movement, why);
	return why || beyond;
}

size_t movements_add_notes(struct movements *m, const struct comparison *c, struct table *t,
			   const char *thing)
{
	struct table *detail = table_detail(t, "movements", columns, array_size(columns));
	size_t i, n = m->n < MOVEMENTS ? m->n : MOVEMENTS;
	bool say;

	array_sort(m->list, m->n, movement_order);
	say = movements_note_first(m, c, t, thing, n);
	for (i = 0; i < n && m->list[i].row->delta != 0; i++) {
		autofree char *words = movement_words(m, c, &m->list[i]);

		movement_add_row(detail, c, &m->list[i], words);
		if (say)
			note_add(&t->notes, movement, words);
	}
	if (m->n && !say)
		note_add(
			&t->notes, movement,
			arena_printf(
				&t->arena,
				"no %s passed the test: p < %g after Holm's correction, a change above %g %%, an interval that leaves 0 out, and no drift",
				thing, c->rule.alpha, 100 * c->rule.threshold));
	return i;
}
