// SPDX-License-Identifier: GPL-2.0-only
/*
 * The workload's own histograms: how large receives, batches and returns were (sizes), and the
 * percentiles of times (latency). A panel for each histogram of each side, a line for each variant.
 */
#include "plot/chart.h"

#include "analyze/scope/results.h"

#include <errno.h>

/* The histograms, in this order. */
static const struct histogram {
	const char *prefix; /* their names begin with this: percentiles of times, or percent by
			       powers of two */
	const char *label;
	bool time;
} histograms[] = {
	{"hist:latency_ns:", "latency of a request, µs", true},
	{"hist:notify_ns:", "time from a send to its notification, µs", true},
	{"recv_pct_log2:", "receives by bytes, %", false},
	{"frags_pct_log2:", "receives by pages or completions, %", false},
	{"recv_tokens_pct_log2:", "receives by devmem tokens, %", false},
	{"return_tokens_pct_log2:", "returns by devmem tokens, %", false},
	{"batch_pct_log2:", "notifications by sends, %", false},
	{"completions_pct_log2:", "io_uring waits by completions, %", false},
};

/* Percentiles stand at -log10 of the share above them. */
static const struct {
	const char *name, *label;
	double at;
} percentiles[] = {
	{"p50", "50 %", 0.30103}, {"p90", "90 %", 1},  {"p99", "99 %", 2},
	{"p999", "99.9 %", 3},	  {"max", "max", 3.7},
};

enum { MOST = 8 };

/* Smaller shares, in percent, at the ends would only widen the axis. */
#define LEAST_SHARE 1

/* Returns a figure of the histogram: "p50", or the number of a bucket. NULL: no run has it. */
static const struct sizes_row *sizes_find(const struct table *t, const char *variant,
					  const char *side, const struct histogram *h,
					  const char *figure)
{
	const struct sizes_row *rows = table_structs(t, struct sizes_row);

	for (long i = -1; (i = row_find(t, (size_t)(i + 1), variant, side)) >= 0;)
		if (str_starts(rows[i].name, h->prefix) &&
		    !strcmp(rows[i].name + strlen(h->prefix), figure))
			return &rows[i];
	return NULL;
}

static void sizes_put_percentiles(struct figure *f, const struct table *t, int panel, int bar,
				  const char *side, const struct histogram *h)
{
	int curve = figure_curve(f, panel, bar, h->prefix, false);
	const struct sizes_row *r;

	for (size_t i = 0; i < array_size(percentiles); i++) {
		r = sizes_find(t, f->bars.mark[bar].name, side, h, percentiles[i].name);
		if (r)
			figure_point(f, curve, percentiles[i].at, estimate_times(r->value, 1e-3));
	}
}

enum { BUCKETS = 64 };

static struct estimate sizes_share(const struct table *t, const char *variant, const char *side,
				   const struct histogram *h, int bucket)
{
	char number[16];
	const struct sizes_row *r;

	snprintf(number, sizeof(number), "%d", bucket);
	r = sizes_find(t, variant, side, h, number);
	return r ? r->value : estimate_plain(0);
}

/*
 * Puts the share of each power of two, from the bucket before the first that matters in any variant
 * to the one behind the last, so that each line begins and ends at 0. A bucket that no run has is
 * 0.
 */
static void sizes_put_buckets(struct figure *f, const struct table *t, int panel, const char *side,
			      const struct histogram *h)
{
	int b, curve, first = BUCKETS, last = -1;
	struct estimate share;
	bool any;

	for (b = 0; b < BUCKETS; b++)
		for (int i = 0; i < f->bars.n; i++) {
			share = sizes_share(t, f->bars.mark[i].name, side, h, b);
			if (fmax(share.value, share.hi) < LEAST_SHARE)
				continue;
			first = b < first ? b : first;
			last = b;
		}
	first -= first > 0;
	for (int i = 0; i < f->bars.n; i++) {
		for (b = 0, any = false; b < BUCKETS; b++)
			any |= sizes_share(t, f->bars.mark[i].name, side, h, b).value > 0;
		if (!any)
			continue;
		curve = figure_curve(f, panel, i, h->prefix, false);
		for (b = first; b <= last + 1 && b < BUCKETS; b++)
			figure_point(f, curve, ldexp(1, b),
				     sizes_share(t, f->bars.mark[i].name, side, h, b));
	}
}

/* Returns whether any variant has the histogram on the side. */
static bool sizes_has(const struct table *t, const char *side, const struct histogram *h)
{
	const struct sizes_row *rows = table_structs(t, struct sizes_row);

	for (const struct sizes_row *r = rows; r < rows + t->rows; r++)
		if (!strcmp(r->block.side, side) && str_starts(r->name, h->prefix))
			return true;
	return false;
}

static void sizes_put_panel(struct figure *f, const struct table *t, const char *side,
			    const struct histogram *h)
{
	int panel = figure_group(f, figure_text(f, "%s: %s", side, h->label));

	for (int b = 0; b < f->bars.n && h->time; b++)
		sizes_put_percentiles(f, t, panel, b, side, h);
	if (!h->time)
		sizes_put_buckets(f, t, panel, side, h);
	f->curves->log_y |= (uint32_t)h->time << panel;
}

static int sizes_put_panels(const struct drawing *d, struct figure *f, const struct table *t,
			    bool times)
{
	freed(figure_free) struct figure sides;
	int left_out = 0;

	figure_init(&sides, "sides");
	drawing_sides(d, &sides, t);
	for (size_t h = 0; h < array_size(histograms); h++) {
		for (int s = 0; s < sides.groups.n; s++) {
			const char *side = sides.groups.mark[s].name;

			if (histograms[h].time != times || !sizes_has(t, side, &histograms[h]))
				continue;
			if (f->groups.n < MOST)
				sizes_put_panel(f, t, side, &histograms[h]);
			else
				left_out++;
		}
	}
	return left_out;
}

/* Puts the percentiles, or 1, 2, 4 ... 512, 1k, 2k ... 512k, 1M. */
static void sizes_put_ticks(struct figure *f, bool times)
{
	static const char *const factors[] = {"", "k", "M", "G"};

	for (int b = 0; b < (int)array_size(percentiles) && times; b++)
		figure_tick(f, percentiles[b].at, percentiles[b].label);
	for (int b = 0; b < 10 * (int)array_size(factors) && !times; b++)
		figure_tick(f, ldexp(1, b), figure_text(f, "%d%s", 1 << b % 10, factors[b / 10]));
}

enum { KIND_SIZES, KIND_TIMES };

static int sizes_draw(struct drawing *d, struct figure *f, const struct table *t, struct error *err)
{
	bool times = d->chart->kind == KIND_TIMES;
	int left_out;

	figure_curves(f, times ? "percentile" : "size, powers of two", "histogram");
	f->curves->log_x = f->curves->own_x = !times;
	drawing_bars(d, f);
	sizes_put_ticks(f, times);
	left_out = sizes_put_panels(d, f, t, times);
	if (!f->groups.n)
		return error_set(err, ENODATA, "no workload reported %s",
				 times ? "the times of requests or notifications"
				       : "the sizes of its receives or batches");
	f->title = figure_text(f, times ? "Times by percentile"
					: "How large receives and batches were");
	f->subtitle =
		figure_text(f, "Counted by the workload over its whole run, warm-up included%s",
			    times ? "; lower is better" : "; at 64: 64 to 127");
	if (left_out)
		figure_remark(f, "No room for %d more panel%s; --side chooses a side", left_out,
			      left_out == 1 ? "" : "s");
	f->group_word = "panel";
	drawing_foot(d, f, FROM_MEASURED);
	return 0;
}

const struct chart chart_sizes = {
	.name = "sizes",
	.what = "how large receives, batches and returns were",
	.sources = {"sizes"},
	.options = {CHART_OPTIONS CHART_RUNS "workload-only side"},
	.most = FIGURE_BARS,
	.flags = CHART_OWN,
	.draw = sizes_draw,
};

const struct chart chart_latency = {
	.name = "latency",
	.what = "percentiles of the latency of requests and of notifications",
	.sources = {"sizes"},
	.options = {CHART_OPTIONS CHART_RUNS "workload-only side"},
	.most = FIGURE_BARS,
	.kind = KIND_TIMES,
	.draw = sizes_draw,
};
