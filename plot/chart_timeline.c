// SPDX-License-Identifier: GPL-2.0-only
/*
 * Figures over time, a panel for each: all runs pale, their median strong, the window a grey
 * area.
 *
 * A panel has at most BINS points. Where a run has more readings, its pale line goes through the
 * lowest and the highest reading of each bin, so that no peak is lost, and the strong line through
 * the means. The table has a row for each part of a long series, with its range.
 */
#include "plot/chart.h"

#include "analyze/scope/results.h"

#include <errno.h>
#include <float.h>

/* What is drawn, in this order. once: the sides measure the same, and the first one is drawn.
 * alone: only with --workload-only. */
// clang-format off
#define GAUGES(row) \
	row("throughput", "throughput, Gbit/s", true, false) \
	row("workload_cpu_pct", "CPU use of the workload, % of one CPU", false, true) \
	row("cpu_pct", "CPU use, % of one CPU", false, false) \
	row("power_w:wall", "wall power, W", false, false) \
	row("power_w:platform", "platform power, W", false, false) \
	row("power_w:package", "package power, W", false, false) \
	row("tcp_retransmits_per_s", "retransmits/s", false, false) \
	row("tcp_socket_cwnd", "cwnd sum, segments", false, false) \
	row("tcp_socket_rtt_us", "rtt, µs", false, false) \
	row("softnet_squeezed_per_s", "squeezes/s", false, false)
// clang-format on

#define GAUGE_ROW(name, label, once, alone)  {name, label, once, alone},
#define GAUGE_NAME(name, label, once, alone) name " "

static const struct {
	const char *name, *label;
	bool once, alone;
} gauges[] = {GAUGES(GAUGE_ROW)};

enum { BINS = 300, PANELS = 6 };

enum { READINGS = 3 }; /* fewer make no line to look at */

struct timed {
	double t, value;
	double low, high; /* the range of the readings */
	int n;		  /* readings behind the value */
};

/* One figure of one run, by time. */
struct run_line {
	const char *variant, *side;
	int gauge, run;
	double seconds; /* the window */
	struct timed *p;
	size_t n, cap;
};

struct timeline {
	struct run_line *lines;
	size_t n, cap;
	double thinned_s; /* the longest bin of several readings; 0: every reading is drawn */
};

static int gauge_of(const char *name, bool alone)
{
	for (size_t i = 0; i < array_size(gauges); i++)
		if (!strcmp(gauges[i].name, name) && (alone || !gauges[i].alone))
			return (int)i;
	return -1;
}

static struct run_line *timeline_line(struct timeline *l, const struct timeline_row *r, int gauge)
{
	struct run_line new = {.variant = r->block.variant,
			       .side = r->block.side,
			       .gauge = gauge,
			       .run = (int)r->run,
			       .seconds = r->seconds};
	struct run_line *last = l->n ? &l->lines[l->n - 1] : NULL;

	if (last && last->gauge == gauge && last->run == new.run &&
	    !strcmp(last->variant, new.variant) && !strcmp(last->side, new.side))
		return last;
	array_add(l->lines, l->n, l->cap, new);
	return &l->lines[l->n - 1];
}

/* Readings long before or after the window only show the start and the end of programs. */
static bool timed_is_near(const struct run_line *l, double t)
{
	double margin = fmax(0.5, 0.1 * l->seconds);

	return t >= -margin && t <= l->seconds + margin;
}

static void timeline_read(struct timeline *l, const struct table *t, bool alone)
{
	const struct timeline_row *rows = table_structs(t, struct timeline_row);

	for (const struct timeline_row *r = rows; r < rows + t->rows; r++) {
		int gauge = gauge_of(r->name, alone);
		const struct estimate v = r->value;
		struct run_line *line;

		if (gauge < 0)
			continue;
		line = timeline_line(l, r, gauge);
		if (timed_is_near(line, r->t_s))
			array_add(line->p, line->n, line->cap,
				  (struct timed){r->t_s, v.value, isnan(v.lo) ? v.value : v.lo,
						 isnan(v.lo) ? v.value : v.hi, 1});
	}
}

static void timeline_free(struct timeline *l)
{
	array_free(e, l->lines, l->n, free(e->p));
}

/* --- bins: readings of several runs are not taken at the same times --- */

struct bins {
	double width;
	long first, n;
	bool thin; /* a run has more readings than there are bins */
};

/* Returns the median distance of the line's readings. */
static double line_step(const struct run_line *l)
{
	autofree double *steps = xcalloc(l->n + 1, sizeof(*steps));

	for (size_t i = 1; i < l->n; i++)
		steps[i - 1] = l->p[i].t - l->p[i - 1].t;
	return l->n > 1 ? stats_point(EST_MEDIAN, steps, l->n - 1) : 0;
}

static bool line_is_of(const struct run_line *l, int gauge, const char *variant, const char *side)
{
	return l->gauge == gauge && !strcmp(l->side, side) &&
	       (!variant || !strcmp(l->variant, variant));
}

static struct bins timeline_bins(const struct timeline *l, int gauge, const char *variant,
				 const char *side)
{
	double from = DBL_MAX, to = -DBL_MAX, step = 0;
	struct bins b = {0};

	for (size_t i = 0; i < l->n; i++) {
		const struct run_line *line = &l->lines[i];

		if (!line->n || !line_is_of(line, gauge, variant, side))
			continue;
		from = fmin(from, line->p[0].t);
		to = fmax(to, line->p[line->n - 1].t);
		step = fmax(step, line_step(line));
	}
	if (from > to)
		return b;
	b.thin = step > 0 && (to - from) / BINS > step;
	b.width = fmax(step, fmax((to - from) / BINS, 1e-6));
	b.first = lround(from / b.width);
	b.n = lround(to / b.width) - b.first + 1;
	return b;
}

static void bin_add(struct timed *bin, const struct timed *p)
{
	bin->low = bin->n ? fmin(bin->low, p->low) : p->low;
	bin->high = bin->n ? fmax(bin->high, p->high) : p->high;
	bin->t += p->t;
	bin->value += p->value;
	bin->n++;
}

/*
 * Computes the mean of the line's readings in each bin: their time and value. NAN: no reading. A
 * part of a series counts as one reading, because the parts have equal lengths.
 */
static void line_bin(const struct run_line *l, const struct bins *b, struct timed *out)
{
	for (long k = 0; k < b->n; k++)
		out[k] = (struct timed){0};
	for (size_t i = 0; i < l->n; i++)
		bin_add(&out[lround(l->p[i].t / b->width) - b->first], &l->p[i]);
	for (long k = 0; k < b->n; k++) {
		out[k].t = out[k].n ? out[k].t / out[k].n : NAN;
		out[k].value = out[k].n ? out[k].value / out[k].n : NAN;
	}
}

static void panel_put_run(struct figure *f, int panel, int bar, const struct run_line *l,
			  const struct timed *p, const struct bins *b)
{
	int curve = figure_curve(f, panel, bar, figure_text(f, "%d", l->run), true);

	for (size_t i = 0; i < l->n && !b->thin; i++)
		figure_point(f, curve, l->p[i].t, estimate_plain(l->p[i].value));
	for (long k = 0; k < b->n && b->thin; k++) {
		if (p[k].n)
			figure_point(f, curve, p[k].t, estimate_plain(p[k].low));
		if (p[k].low < p[k].high)
			figure_point(f, curve, p[k].t, estimate_plain(p[k].high));
	}
}

/* Puts the median of the runs in each bin that at least half of them have. */
static void panel_put_median(struct figure *f, int panel, int bar, const struct timed *p, long n,
			     size_t runs)
{
	double *values = xcalloc(runs, sizeof(*values)), t;
	int curve = figure_curve(f, panel, bar, "median", false);
	size_t r, found;

	for (long k = 0; k < n; k++) {
		t = 0;
		for (r = 0, found = 0; r < runs; r++) {
			const struct timed *of_run = &p[r * (size_t)n + (size_t)k];

			if (isnan(of_run->value))
				continue;
			values[found++] = of_run->value;
			t += of_run->t;
		}
		if (found && 2 * found >= runs)
			figure_point(f, curve, t / (double)found,
				     estimate_plain(stats_point(EST_MEDIAN, values, found)));
	}
	free(values);
}

static void panel_put_variant(struct timeline *l, struct figure *f, int panel, int bar, int gauge,
			      const char *side)
{
	const char *variant = f->bars.mark[bar].name;
	struct bins b = timeline_bins(l, gauge, variant, side);
	autofree struct timed *p = NULL;
	size_t runs = 0, cap = 0;

	for (size_t i = 0; i < l->n && b.n; i++) {
		if (!l->lines[i].n || !line_is_of(&l->lines[i], gauge, variant, side))
			continue;
		while ((runs + 1) * (size_t)b.n > cap)
			p = xrealloc(p, (cap = 2 * cap + (size_t)b.n) * sizeof(*p));
		line_bin(&l->lines[i], &b, p + runs * (size_t)b.n);
		panel_put_run(f, panel, bar, &l->lines[i], p + runs * (size_t)b.n, &b);
		runs++;
	}
	if (runs)
		panel_put_median(f, panel, bar, p, b.n, runs);
	if (b.thin)
		l->thinned_s = fmax(l->thinned_s, b.width);
}

/* --- which panels --- */

/* What the readings of a figure on a side are like. */
struct readings {
	double from, to; /* their range */
	size_t most;	 /* in a run */
};

static struct readings timeline_readings(const struct timeline *l, int gauge, const char *side)
{
	struct readings r = {DBL_MAX, -DBL_MAX, 0};

	for (size_t i = 0; i < l->n; i++) {
		const struct run_line *line = &l->lines[i];

		if (!line_is_of(line, gauge, NULL, side))
			continue;
		r.most = line->n > r.most ? line->n : r.most;
		for (size_t k = 0; k < line->n; k++) {
			r.from = fmin(r.from, line->p[k].low);
			r.to = fmax(r.to, line->p[k].high);
		}
	}
	return r;
}

struct panels {
	struct panel {
		int gauge;
		const char *side;
	} of[PANELS];
	int n;
	struct str others; /* the figures that have no panel, and why */
};

static void panels_add(struct panels *p, const char *side, int gauge, const struct readings *r)
{
	const char *why = r->from == r->to     ? "constant"
			  : r->most < READINGS ? "fewer than 3 readings a run"
			  : p->n == PANELS     ? "no room"
					       : NULL;
	int len = (int)strcspn(gauges[gauge].label, ",");

	if (!r->most)
		return;
	if (!why) {
		p->of[p->n++] = (struct panel){gauge, side};
		return;
	}
	str_printf(&p->others, "%s%s %.*s (%s", p->others.len ? ", " : "", side, len,
		   gauges[gauge].label, why);
	if (r->from == r->to)
		str_printf(&p->others, " %.3g", r->from);
	str_putc(&p->others, ')');
}

static void panels_find(struct panels *p, const struct timeline *l, const struct figure *sides)
{
	struct readings r;

	for (int g = 0; g < (int)array_size(gauges); g++) {
		for (int s = 0; s < sides->groups.n; s++) {
			const char *side = sides->groups.mark[s].name;

			r = timeline_readings(l, g, side);
			panels_add(p, side, g, &r);
			if (r.most && gauges[g].once)
				break;
		}
	}
}

static void timeline_put_panels(struct timeline *l, struct figure *f, const struct panels *p)
{
	for (int i = 0; i < p->n; i++) {
		figure_group(f,
			     figure_text(f, "%s: %s", p->of[i].side, gauges[p->of[i].gauge].label));
		for (int b = 0; b < f->bars.n; b++)
			panel_put_variant(l, f, i, b, p->of[i].gauge, p->of[i].side);
	}
}

static void timeline_put_words(const struct drawing *d, struct figure *f, const struct timeline *l,
			       const struct panels *p)
{
	f->title = figure_text(
		f, "Over time: %.*s%s", (int)strcspn(gauges[p->of[0].gauge].label, ","),
		gauges[p->of[0].gauge].label, p->n > 1 ? " and what moved with it" : "");
	f->subtitle = figure_text(f, "%s; the grey area is the window",
				  d->facts.measured.most == 1
					  ? "Each line is the only run"
					  : "Pale: each run; strong: the median of the runs");
	if (l->thinned_s > 0)
		figure_remark(
			f,
			"Pale: the lowest and the highest reading of every %.3g s; strong: the means",
			l->thinned_s);
	f->group_word = "panel";
	drawing_foot(d, f, FROM_EACH_RUN);
	if (p->others.len)
		f->foot = figure_text(f, "%s · not drawn: %s", f->foot, p->others.buf);
}

static void timeline_shade_window(struct figure *f, const struct timeline *l)
{
	f->curves->shade[1] = DBL_MAX;
	for (size_t i = 0; i < l->n; i++)
		f->curves->shade[1] = fmin(f->curves->shade[1], l->lines[i].seconds);
}

static int timeline_draw(struct drawing *d, struct figure *f, const struct table *t,
			 struct error *err)
{
	freed(timeline_free) struct timeline l = {0};
	struct panels p = {0};
	freed(figure_free) struct figure sides;
	int rc = 0;

	timeline_read(&l, t, d->query.workload_only);
	figure_init(&sides, "sides");
	drawing_sides(d, &sides, t);
	panels_find(&p, &l, &sides);
	figure_curves(f, "seconds since the window began", "run");
	drawing_bars(d, f);
	timeline_put_panels(&l, f, &p);
	if (f->curves->n) {
		timeline_shade_window(f, &l);
		timeline_put_words(d, f, &l, &p);
	} else {
		rc = error_set(err, ENODATA, "no figure changes over time%s%s",
			       p.others.len ? ": " : "", p.others.len ? p.others.buf : "");
	}
	str_free(&p.others);
	return rc;
}

const struct chart chart_timeline = {
	.name = "timeline",
	.what = "throughput, CPU, power, retransmits, cwnd, rtt and squeezes over time",
	.sources = {"timeline"},
	.drawn = GAUGES(GAUGE_NAME),
	.options = {CHART_OPTIONS "run workload-only side name"},
	.most = FIGURE_BARS,
	.draw = timeline_draw,
};
