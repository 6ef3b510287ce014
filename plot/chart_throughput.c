// SPDX-License-Identifier: GPL-2.0-only
/* One bar per variant: what arrived at the receiver. With more sides, a bar of each, and the total.
 */
#include "plot/chart.h"

#include "analyze/evidence/limits.h"
#include "lib/alloc.h"
#include "plot/label.h"
#include "plot/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns the receiver's row; where there is no receiver, the first row of the variant. */
static long throughput_row(const struct drawing *d, const struct table *t, const char *variant)
{
	long row = row_find(t, 0, variant, drawing_side_with(d, "receiver"));

	return row >= 0 ? row : row_find(t, 0, variant, NULL);
}

/* What work is counted in, and its cost. The chart draws the first one that any variant has. */
static const struct speed {
	const char *column, *cost, *unit, *axis, *subtitle, *of_sides;
} speeds[] = {
	{"throughput_gbps", "ns_per_kib", "KiB", "Gbit/s",
	 "What arrived at the receiver's application; higher is better",
	 "What each side's application moved; total: what passed the sides once; higher is better"},
	{"rate_packets", "ns_per_packet", "packet", "packets per second",
	 "Packets that the workload counted, no bytes; higher is better",
	 "Packets that each side counted, no bytes; higher is better"},
	{"rate_messages", "ns_per_message", "message", "messages per second",
	 "Messages that the workload counted, no bytes; higher is better",
	 "Messages that each side counted, no bytes; higher is better"},
};

static const struct speed *throughput_speed(const struct drawing *d, const struct table *t)
{
	const char *v;
	size_t k;
	long row;
	int i;

	for (k = 0; k < array_size(speeds); k++)
		for (i = 0; (v = drawing_variant(d, i)); i++) {
			row = throughput_row(d, t, v);
			if (row >= 0 && !isnan(table_real(t, (size_t)row, speeds[k].column)))
				return &speeds[k];
		}
	return speeds;
}

/* Draws the row's throughput, if there is a row with the column. */
static void throughput_put_bar(struct figure *f, const struct table *t, long row,
			       const struct speed *speed, int group, int bar)
{
	struct estimate e = {.value = NAN};

	if (row >= 0)
		e = row_estimate(t, (size_t)row, speed->column);
	if (!isnan(e.value))
		figure_put(f, group, bar, FIGURE_WHOLE, e);
}

static void throughput_put_variants(struct drawing *d, struct figure *f, const struct table *t,
				    const struct speed *speed)
{
	const char *v;
	int i;

	figure_group(f, "");
	drawing_bars(d, f);
	for (i = 0; (v = drawing_variant(d, i)); i++)
		throughput_put_bar(f, t, throughput_row(d, t, v), speed, 0, i);
}

/* Of bytes, table roi has the total: what passed all sides once. */
static int throughput_put_sides(struct drawing *d, struct figure *f, const struct table *t,
				const struct speed *speed, struct error *err)
{
	int g, b, rc = speed == speeds ? drawing_table(d, 2, &t, err) : 0;

	if (rc)
		return rc;
	drawing_sides(d, f, t);
	drawing_bars(d, f);
	for (g = 0; g < f->groups.n; g++)
		for (b = 0; b < f->bars.n; b++)
			throughput_put_bar(
				f, t, row_find(t, 0, drawing_variant(d, b), f->groups.mark[g].name),
				speed, g, b);
	return 0;
}

enum { LIMIT_SIZE = 20, LIMIT_NAME = 240 }; /* pixels */

/*
 * Prints "a, b by sender cpu", or "7 of 12 by sender cpu": the variants that have the i-th one's
 * limit. Returns their number.
 */
static int throughput_print_limit(const struct drawing *d, struct figure *f, struct str *s,
				  char *const *words, int i, int n)
{
	enum { NAMED = 3 };
	int k, same = 0, left;

	for (k = 0; k < n; k++)
		same += words[k] && !strcmp(words[k], words[i]);
	left = same;
	if (same > NAMED && same < n)
		str_printf(s, "%d of %d by ", same, n);
	for (k = i; k < n && same <= NAMED && same < n; k++)
		if (words[k] && !strcmp(words[k], words[i]))
			str_printf(s, "%s%s%s", k > i ? ", " : "",
				   label_fit(&f->arena, drawing_label(d, f, drawing_variant(d, k)),
					     LIMIT_SIZE, LIMIT_NAME),
				   --left ? "" : " by ");
	str_puts(s, words[i]);
	return same;
}

/* Says each limit once. Where the words have no room, a table has them. */
static void throughput_remark_limits(const struct drawing *d, struct figure *f, char *const *words,
				     int n)
{
	enum { ROOM = 80 }; /* characters beside the other remarks */
	int i, k, limits = 0, same = 0;
	struct str s = {0};

	for (i = 0; i < n; i++) {
		for (k = 0; k < i && words[i]; k++)
			if (words[k] && !strcmp(words[k], words[i]))
				break;
		if (!words[i] || k < i)
			continue;
		str_puts(&s, limits++ ? "; " : "");
		same = throughput_print_limit(d, f, &s, words, i, n);
	}
	if (limits > 1 && s.len > ROOM)
		figure_remark(f, "%d different limits: zcost report limits", limits);
	else if (limits)
		figure_remark(f, "limited%s%s", same < n ? ": " : " by ", s.buf);
	str_free(&s);
}

/* Returns whether the bar's variant and its base have different bottlenecks. */
static bool throughput_limits_differ(const struct drawing *d, const struct table *limits, int b)
{
	return limits_differ(limits, drawing_variant(d, drawing_base_of(d, b)), limits,
			     drawing_variant(d, b));
}

static void throughput_warn_limits(const struct drawing *d, struct figure *f, int b)
{
	figure_doubt(
		f,
		"Different limits: %s and %s do not have the same bottleneck, so throughput does not compare the two methods",
		label_fit(&f->arena, drawing_label(d, f, drawing_variant(d, drawing_base_of(d, b))),
			  LIMIT_SIZE, LIMIT_NAME),
		label_fit(&f->arena, drawing_label(d, f, drawing_variant(d, b)), LIMIT_SIZE,
			  LIMIT_NAME));
}

/* Reads the limits of each variant. The same limits in another order get equal words. */
static int throughput_read_limits(const struct drawing *d, const struct table *limits, char **words)
{
	char *key[CHART_ROWS];
	const char *v;
	int n, k;

	for (n = 0; n < CHART_ROWS && (v = drawing_variant(d, n)); n++) {
		key[n] = limits_words(limits, v, LIMITS_BY_NAME);
		for (k = 0; k < n && key[n] && !(key[k] && !strcmp(key[k], key[n])); k++)
			;
		words[n] = k < n && key[n] ? xstrdup(words[k])
					   : limits_words(limits, v, LIMITS_BY_SHARE);
	}
	for (k = 0; k < n; k++)
		free(key[k]);
	return n;
}

/* Claims the largest change among the variants that share a limit with their base. Returns whether
 * there is one. */
static bool throughput_claim(struct drawing *d, struct figure *f, const struct table *limits,
			     const struct speed *speed)
{
	struct estimate base, new;
	double best = 0, ratio;
	int b, last = f->groups.n - 1;
	const char *side = last < 0 ? "" : f->groups.mark[last].name;

	if (!*side)
		side = drawing_side_with(d, "receiver");
	for (b = 1; b < f->bars.n; b++) {
		int from = drawing_base_of(d, b);

		if (throughput_limits_differ(d, limits, b) ||
		    !figure_get(f, last, from, FIGURE_WHOLE, &base) ||
		    !figure_get(f, last, b, FIGURE_WHOLE, &new))
			continue;
		ratio = drawing_claim(
			d, b,
			&(struct drawn_change){"metrics", side,
					       speed == speeds ? "throughput" : speed->column,
					       base.value, new.value});
		if (ratio <= 0 || fabs(log(ratio)) <= best)
			continue;
		best = fabs(log(ratio));
		f->title = figure_text(f, "%s: %s the throughput of %s",
				       drawing_title(d, f, drawing_variant(d, b)),
				       claim_times(f, ratio),
				       drawing_title(d, f, drawing_variant(d, from)));
	}
	return best > 0;
}

/* Claims the largest change of cost among the variants with other limits than their base. Returns
 * the bar of that variant, or of the first such variant, or 0. */
static int throughput_claim_cost(struct drawing *d, struct figure *f, const struct table *limits,
				 const struct table *t, const struct speed *speed, bool claimed)
{
	double best = 0, ratio;
	int b, warned = 0;

	for (b = 1; b < f->bars.n; b++) {
		const char *new = drawing_variant(d, b);
		const char *base = drawing_variant(d, drawing_base_of(d, b));
		long was = throughput_row(d, t, base), is = throughput_row(d, t, new);

		if (!throughput_limits_differ(d, limits, b))
			continue;
		warned = warned ? warned : b;
		if (claimed || was < 0 || is < 0)
			continue;
		ratio = drawing_claim(
			d, b,
			&(struct drawn_change){"metrics", table_text(t, (size_t)is, "side"),
					       speed->cost, table_real(t, (size_t)was, speed->cost),
					       table_real(t, (size_t)is, speed->cost)});
		if (ratio <= 0 || fabs(log(ratio)) <= best)
			continue;
		best = fabs(log(ratio));
		warned = b;
		f->title =
			figure_text(f, "%s: %s the ns per %s of %s on the %s",
				    drawing_title(d, f, new), claim_times(f, ratio), speed->unit,
				    drawing_title(d, f, base), table_text(t, (size_t)is, "side"));
	}
	return warned;
}

static int throughput_draw(struct drawing *d, struct figure *f, struct error *err)
{
	const struct speed *speed;
	const struct table *t, *limits;
	bool by_side = d->facts.nsides > 2, alone = d->query.workload_only;
	int rc = drawing_table(d, 0, &t, err), warned, i, n;
	char *words[CHART_ROWS];

	d->query.workload_only = false; /* what limits the workload may lie outside of it */
	if (!rc)
		rc = drawing_table(d, 1, &limits, err);
	d->query.workload_only = alone;
	if (rc)
		return rc;
	f->title = figure_text(f, "Throughput by variant");
	speed = throughput_speed(d, t);
	f->subtitle = by_side ? speed->of_sides : speed->subtitle;
	n = throughput_read_limits(d, limits, words);
	throughput_remark_limits(d, f, words, n);
	for (i = 0; i < n; i++)
		free(words[i]);
	f->axis = speed->axis;
	if (by_side)
		rc = throughput_put_sides(d, f, t, speed, err);
	else
		throughput_put_variants(d, f, t, speed);
	warned = throughput_claim_cost(d, f, limits, t, speed,
				       throughput_claim(d, f, limits, speed));
	if (warned)
		throughput_warn_limits(d, f, warned);
	drawing_foot(d, f, FROM_MEASURED);
	return rc;
}

const struct chart chart_throughput = {
	.name = "throughput",
	.what = "throughput of each variant",
	.sources = {"summary", "limits", "roi"},
	.options = {CHART_OPTIONS CHART_RUNS "workload-only "},
	.most = CHART_ROWS,
	.flags = CHART_SUFFERS,
	.draw = throughput_draw,
};
