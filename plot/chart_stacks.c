// SPDX-License-Identifier: GPL-2.0-only
/*
 * A stack for each side and variant: CPU use by kind, idle time by state, and the cost of a unit of
 * work by component.
 */
#include "plot/chart.h"

#include "analyze/costs/costs.h"
#include "analyze/figures/figures.h"
#include "analyze/scope/results.h"
#include "plot/palette.h"

#include <errno.h>

/* --- CPU use --- */

/*
 * The parts of busy time; idle and iowait are not busy. User time is that of all programs on these
 * CPUs, not only of the workload.
 */
static const struct {
	enum cpu_part of;
	const char *label, *colour;
} cpu_parts[] = {
	{CPU_APP, "user", "user time"},	  {CPU_SYS, "system", "system"},
	{CPU_SOFT, "softirq", "softirq"}, {CPU_IRQ, "hardirq", "hardirq"},
	{CPU_STEAL, "stolen", "stolen"},
};

static bool cpu_has_part(const struct table *t, enum cpu_part part)
{
	const struct cpu_row *rows = table_structs(t, struct cpu_row);

	return array_find(r, rows, t->rows, !isnan(r->part[part]));
}

/* Puts the parts of a bar. Returns whether they add up to the whole. Medians of noisy runs do not.
 */
static bool cpu_put_bar(struct figure *f, const struct table *t, int group, int bar)
{
	long at = row_find(t, 0, f->bars.mark[bar].name, f->groups.mark[group].name);
	const struct cpu_row *row = table_structs(t, struct cpu_row) + at;
	struct estimate whole;
	double sum = 0;
	int part = 0;

	if (at < 0)
		return true;
	for (size_t i = 0; i < array_size(cpu_parts); i++) {
		double share = row->part[cpu_parts[i].of];

		if (!cpu_has_part(t, cpu_parts[i].of))
			continue;
		if (!isnan(share))
			figure_put(f, group, bar, part, estimate_plain(share));
		part++;
		sum += share;
	}
	whole = estimate_of_runs(row->busy_pct, row->runs);
	if (!isnan(whole.value))
		figure_put(f, group, bar, FIGURE_WHOLE, whole);
	return isnan(whole.value) || !(fabs(sum - whole.value) > 0.005 * whole.value);
}

/* Draws the workload alone. Table roi has its CPU use with the interval, and the total. */
static int cpu_draw_workload(struct drawing *d, struct figure *f, struct error *err)
{
	const struct table *t;
	int rc = drawing_table(d, 1, &t, err);

	if (rc)
		return rc;
	f->title = "CPU use of the workload";
	f->subtitle =
		"CPU time of its processes, on any CPU; 100 % = one CPU; lower is better at the same throughput";
	f->axis = "% of one CPU";
	drawing_put_sides(d, f, t, FIGURE_CPU, false);
	drawing_foot(d, f, FROM_MEASURED);
	return 0;
}

static int cpu_draw(struct drawing *d, struct figure *f, const struct table *t, struct error *err)
{
	bool add_up = true;

	if (d->query.workload_only)
		return cpu_draw_workload(d, f, err);
	f->title = "CPU use: user, system and softirq";
	f->subtitle =
		"All CPUs of a side added up, with all programs on them; 100 % = one CPU; lower is better at the same throughput";
	f->axis = "% of one CPU";
	drawing_sides(d, f, t);
	for (size_t i = 0; i < array_size(cpu_parts); i++)
		if (cpu_has_part(t, cpu_parts[i].of))
			figure_part(f, cpu_parts[i].label, palette_part(cpu_parts[i].colour));
	for (int g = 0; g < f->groups.n; g++)
		for (int b = 0; b < f->bars.n; b++)
			add_up &= cpu_put_bar(f, t, g, b);
	drawing_foot(d, f, FROM_MEASURED);
	if (!add_up)
		f->foot = figure_text(
			f, "Each part is a %s, so the parts do not add up to the whole · %s",
			drawing_estimator(d), f->foot);
	return 0;
}

const struct chart chart_cpu = {
	.name = "cpu",
	.what = "CPU use of both sides, stacked: user, system, softirq",
	.sources = {"cpu", "roi"},
	.options = {CHART_OPTIONS CHART_RUNS "workload-only side"},
	.draw = cpu_draw,
};

/* --- idle time --- */

/* From the shallowest state on; colours of CPU time and components that no state means. */
static const uint32_t idle_colours[] = {0x88ccee, 0x44aa99, 0x117733, 0x332288, 0xddcc77,
					0xcc6677, 0x882255, 0xaa4499, 0x999933, 0x661100};

static void idle_add_parts(struct figure *f, const struct table *t)
{
	const struct idle_row *rows = table_structs(t, struct idle_row);

	for (const struct idle_row *r = rows; r < rows + t->rows; r++)
		if (!strcmp(r->cpu, IDLE_ALL) && !strcmp(r->source, IDLE_CPUIDLE) &&
		    figure_find_mark(&f->parts, r->state) < 0 && r->time_pct.value > 0)
			figure_part(f, r->state,
				    idle_colours[f->parts.n % (int)array_size(idle_colours)]);
	figure_part(f, "idle outside the states", 0xbbbbbb);
}

/* Returns the time of a bar's CPUs in a state, by /proc/stat or cpuidle. */
static struct estimate idle_time(const struct figure *f, const struct table *t, int group, int bar,
				 const char *source, const char *state)
{
	const char *variant = f->bars.mark[bar].name, *side = f->groups.mark[group].name;
	const struct idle_row *rows = table_structs(t, struct idle_row), *r;

	for (long i = -1; (i = row_find(t, (size_t)(i + 1), variant, side)) >= 0;) {
		r = &rows[i];
		if (!strcmp(r->cpu, IDLE_ALL) && !strcmp(r->source, source) &&
		    !strcmp(r->state, state))
			return r->time_pct;
	}
	return estimate_plain(NAN);
}

/* Returns a - b, or 0 where they differ by the rounding of sums alone. */
static double idle_difference(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fabs(a) ? 0 : a - b;
}

/*
 * Returns the time that was idle or iowait. Time that is not busy has the interval of busy time the
 * other way round.
 */
static struct estimate idle_rest(const struct figure *f, const struct table *t, int group, int bar)
{
	struct estimate busy = idle_time(f, t, group, bar, IDLE_STAT, "busy");
	struct estimate rest = idle_time(f, t, group, bar, IDLE_STAT, "idle");

	rest.value += idle_time(f, t, group, bar, IDLE_STAT, "iowait").value;
	rest.lo = rest.value + idle_difference(busy.value, busy.hi);
	rest.hi = rest.value + idle_difference(busy.value, busy.lo);
	rest.lo = rest.lo < 0 ? 0 : rest.lo;
	return rest;
}

static void idle_put_bar(struct figure *f, const struct table *t, int group, int bar)
{
	struct estimate rest = idle_rest(f, t, group, bar), most = {0}, e;
	double known = 0;
	int part;

	if (isnan(rest.value))
		return;
	for (part = 0; part < f->parts.n - 1; part++) {
		e = idle_time(f, t, group, bar, IDLE_CPUIDLE, f->parts.mark[part].name);
		e.value = isnan(e.value) ? 0 : e.value; /* never in this state */
		most = e.value > most.value ? e : most;
		known += e.value;
		e.lo = e.hi = NAN; /* the whole bar has the whisker */
		figure_put(f, group, bar, part, e);
	}
	figure_put(f, group, bar, part, estimate_plain(fmax(0, rest.value - known)));
	if (known > rest.value) { /* cpuidle counts a little more than /proc/stat */
		rest = most;
		rest.value = known;
		if (known > most.value)
			rest.lo = rest.hi = NAN;
	}
	figure_put(f, group, bar, FIGURE_WHOLE, rest);
}

static int idle_draw(struct drawing *d, struct figure *f, const struct table *t, struct error *err)
{
	(void)err;
	f->title = "How long the CPUs were idle, and in which idle state";
	f->subtitle =
		"100 % = one CPU idle all the time; the CPUs of a side added up; deeper states save more power";
	f->axis = "% of one CPU";
	f->least = 100; /* a fraction of a percent would fill the chart with its noise */
	drawing_sides(d, f, t);
	idle_add_parts(f, t);
	for (int g = 0; g < f->groups.n; g++)
		for (int b = 0; b < f->bars.n; b++)
			idle_put_bar(f, t, g, b);
	drawing_foot(d, f, FROM_MEASURED);
	return 0;
}

const struct chart chart_idle = {
	.name = "idle",
	.what = "idle states of both sides' CPUs, stacked",
	.sources = {"idle"},
	.options = {CHART_OPTIONS CHART_RUNS "side"},
	.whole = WHOLE_IDLE,
	.draw = idle_draw,
};

/* --- components --- */

/* Nobody can tell more colours apart; the components beyond that are one part. */
enum { PARTS = 10 };
static const char rest_name[] = "the rest";

struct component {
	const char *name;
	double most; /* infinite: zero copy changes it, so it has its colour even where it is small
		      */
};

static int components_by_order(const void *a, const void *b)
{
	const struct component *x = a, *y = b;

	return palette_order(x->name) - palette_order(y->name) ?: strcmp(x->name, y->name);
}

static int components_by_cost(const void *a, const void *b)
{
	const struct component *x = a, *y = b;

	return descending(x->most, y->most) ?: strcmp(x->name, y->name);
}

static bool component_is_central(const char *name)
{
	return !strcmp(name, "data copy") || !strcmp(name, "page mapping") ||
	       !strcmp(name, "zero copy");
}

/* Lists the components of the bars that are drawn. Returns their number. */
static size_t components_gather(const struct figure *f, const struct table *t,
				struct component *all)
{
	const struct cost_row *rows = table_structs(t, struct cost_row);
	size_t i, n = 0;

	for (const struct cost_row *r = rows; r < rows + t->rows; r++) {
		const char *name = r->key[BY_COMPONENT];

		if (!(r->self_ns.value > 0) || figure_find_mark(&f->bars, r->block.variant) < 0)
			continue;
		for (i = 0; i < n && strcmp(all[i].name, name); i++)
			;
		if (i == n)
			all[n++] =
				(struct component){name, component_is_central(name) ? INFINITY : 0};
		all[i].most = fmax(all[i].most, r->self_ns.value);
	}
	return n;
}

/* Adds the components that cost most in any bar, in the palette's order, and the others as one. */
static void components_add_parts(struct figure *f, const struct table *t)
{
	autofree struct component *all = xcalloc(t->rows + 1, sizeof(*all));
	size_t n = components_gather(f, t, all), kept = n > PARTS + 1 ? PARTS : n;

	qsort(all, n, sizeof(*all), components_by_cost);
	qsort(all, kept, sizeof(*all), components_by_order);
	for (size_t i = 0; i < kept; i++)
		figure_part(f, all[i].name, palette_part(all[i].name));
	if (kept < n) {
		figure_part(f, rest_name, palette_part(rest_name));
		f->parts.mark[kept].label = figure_text(f, "%s (%zu)", rest_name, n - kept);
	}
}

/* Returns the cost of a component. Of the rest it is the sum of the components that have no part,
 * whose interval is not known. */
static struct estimate components_cost(const struct figure *f, const struct table *t,
				       const char *variant, const char *side, const char *name)
{
	const struct cost_row *rows = table_structs(t, struct cost_row);
	double sum = 0;

	for (long i = -1; (i = row_find(t, (size_t)(i + 1), variant, side)) >= 0;) {
		const struct cost_row *r = &rows[i];

		if (!strcmp(r->key[BY_COMPONENT], name))
			return estimate_half(r->self_ns);
		if (r->self_ns.value > 0 && figure_find_mark(&f->parts, r->key[BY_COMPONENT]) < 0)
			sum += r->self_ns.value;
	}
	return estimate_plain(sum > 0 && !strcmp(name, rest_name) ? sum : NAN);
}

/* The costs of a unit of work, of which a chart claims the changes. */
struct component_costs {
	const struct table *summary; /* table summary; NULL: not known */
	const char *unit;
	enum figure_id all; /* the cost in all; FIGURES: not known */
};

/* Returns what the summary says that a unit of work costs on a side. */
static struct estimate components_measured(const struct component_costs *c, const char *variant,
					   const char *side)
{
	return c->summary && c->all < FIGURES ? row_figure(c->summary, variant, side, c->all)
					      : estimate_plain(NAN);
}

/*
 * The components add up to what a unit of work costs in all. That sum has the interval of the
 * measured runs, unless a selection left some of it out.
 */
static void components_put_bar(struct figure *f, const struct table *t,
			       const struct component_costs *c, int group, int bar)
{
	const char *variant = f->bars.mark[bar].name, *side = f->groups.mark[group].name;
	struct estimate whole = estimate_plain(0), e;

	for (int p = 0; p < f->parts.n; p++) {
		e = components_cost(f, t, variant, side, f->parts.mark[p].name);
		if (isnan(e.value))
			continue;
		figure_put(f, group, bar, p, e);
		whole.value += e.value;
	}
	e = components_measured(c, variant, side);
	if (fabs(e.value - whole.value) <= 1e-3 * whole.value) {
		whole.lo = e.lo;
		whole.hi = e.hi;
	}
	if (whole.value > 0)
		figure_put(f, group, bar, FIGURE_WHOLE, whole);
}

/* Claims the saving of one bar if it is better than the best one so far, and what all components of
 * the side save where that holds, too. */
static void components_claim_bar(struct drawing *d, struct figure *f,
				 const struct component_costs *c, int p, int g, int b, double *best)
{
	const struct figure_mark *side = &f->groups.mark[g];
	int from = drawing_base_of(d, b);
	const char *old = drawing_variant(d, from), *name = drawing_variant(d, b);
	bool several = drawing_bases(d) > 1;
	struct estimate base, new;
	double ratio;

	if (copied_state(&d->zerocopy, name, side->name) != COPIED_NONE ||
	    !figure_get(f, g, from, p, &base) || !figure_get(f, g, b, p, &new))
		return;
	ratio = drawing_claim(d, b, "components", side->name, "data copy", base.value, new.value);
	if (ratio <= 0 || ratio >= *best)
		return;
	*best = ratio;
	f->title = figure_text(
		f, "%s%s%s, %s: data copy %.*f → %.*f ns per %s", drawing_title(d, f, name),
		several ? " against " : "", several ? drawing_title(d, f, old) : "", side->label,
		claim_places(base.value), base.value, claim_places(new.value), new.value, c->unit);
	if (!c->summary || c->all == FIGURES)
		return;
	ratio = drawing_claim(d, b, "metrics", side->name, figure_kinds[c->all].name,
			      components_measured(c, old, side->name).value,
			      components_measured(c, name, side->name).value);
	if (ratio > 0 && figure_get(f, g, from, FIGURE_WHOLE, &base) &&
	    figure_get(f, g, b, FIGURE_WHOLE, &new))
		f->title =
			figure_text(f, "%s, in all %.*f → %.*f", f->title, claim_places(base.value),
				    base.value, claim_places(new.value), new.value);
}

static int components_draw(struct drawing *d, struct figure *f, const struct table *t,
			   struct error *err)
{
	struct component_costs c;
	struct error ignored = {0};
	double best = 1;
	int p, rc = 0;

	drawing_table(d, 1, &c.summary, &ignored);
	c.unit = t->rows && table_structs(t, struct cost_row)->unit
			 ? table_structs(t, struct cost_row)->unit
			 : "KiB";
	for (c.all = 0; c.all < FIGURES; c.all++)
		if (figure_kinds[c.all].per && !strcmp(figure_kinds[c.all].per, c.unit) &&
		    !strcmp(figure_kinds[c.all].unit, "ns"))
			break;
	f->title = figure_text(f, "What one %s costs, by component", c.unit);
	f->subtitle = figure_text(f, "CPU time of a side per %s moved; lower is better", c.unit);
	f->axis = figure_text(f, "ns per %s", c.unit);
	drawing_sides(d, f, t);
	components_add_parts(f, t);
	for (int g = 0; g < f->groups.n; g++)
		for (int b = 0; b < f->bars.n; b++)
			components_put_bar(f, t, &c, g, b);
	if (!f->ndata)
		rc = error_set(
			err, ENODATA,
			"no variant has a profile with a known cost per unit of work; capture with the passes measure and profile, and --units");
	/* The largest saving of data copy on a side that did not copy. */
	p = figure_find_mark(&f->parts, "data copy");
	for (int g = 0; g < f->groups.n && p >= 0; g++)
		for (int b = 1; b < f->bars.n; b++)
			components_claim_bar(d, f, &c, p, g, b, &best);
	drawing_foot(d, f, FROM_PROFILED);
	return rc;
}

const struct chart chart_components = {
	.name = "components",
	.what = "cost of both sides, stacked by component",
	.sources = {"components", "summary"},
	.options = {CHART_OPTIONS CHART_RUNS CHART_SAMPLES "side event components component-set"},
	.flags = CHART_COSTS,
	.draw = components_draw,
};
