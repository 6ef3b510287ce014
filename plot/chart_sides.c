// SPDX-License-Identifier: GPL-2.0-only
/*
 * A bar for each side and variant: what arrived, and throughput for its CPU time (T^n / C) and for
 * its power (T^n / P^m).
 */
#include "plot/chart.h"

#include "analyze/scope/work.h"

#include <ctype.h>
#include <errno.h>

/* Returns the bar with the largest change of the metric that a title may claim, or 0. The values
 * are those of the last group: all sides together, or the only side. `among`: the bars that count;
 * NULL: all. */
static int sides_find_claim(struct drawing *d, const struct figure *f, const char *metric,
			    const bool *among, double *ratio)
{
	int found = 0, last = f->groups.n - 1;
	const char *side = last < 0 ? "" : f->groups.mark[last].name;
	struct estimate base, new;
	double best = 0, r;

	side = *side ? side : drawing_side_with(d, "receiver");
	for (int b = 1; b < f->bars.n; b++) {
		if ((among && !among[b]) ||
		    !figure_get(f, last, drawing_base_of(d, b), FIGURE_WHOLE, &base) ||
		    !figure_get(f, last, b, FIGURE_WHOLE, &new))
			continue;
		r = drawing_claim(d, b, "metrics", side, metric, base.value, new.value);
		if (r <= 0 || fabs(log(r)) <= best)
			continue;
		best = fabs(log(r));
		*ratio = r;
		found = b;
	}
	return found;
}

/* --- throughput --- */

/* Returns the side whose figures all bars have: the receiver, or the first side without one. */
static const char *throughput_side(const struct drawing *d, const struct table *t)
{
	const char *receiver = drawing_side_with(d, "receiver");

	return !t->rows || row_find(t, 0, NULL, receiver) >= 0 ? receiver : row_block(t, 0)->side;
}

static enum figure_id throughput_figure(const struct work_kind *k)
{
	enum figure_id id = 0;

	while (id < FIGURES && strcmp(figure_kinds[id].name, k->rate))
		id++;
	return id < FIGURES ? id : FIGURE_THROUGHPUT;
}

/* Returns the first kind of work that any variant counted. */
static const struct work_kind *throughput_kind(const struct drawing *d, const struct table *t)
{
	const char *v;

	for (const struct work_kind *k = work_kinds; k < work_kinds + WORK_KINDS && k->rate; k++)
		for (int i = 0; (v = drawing_variant(d, i)); i++)
			if (!isnan(row_figure(t, v, throughput_side(d, t), throughput_figure(k))
					   .value))
				return k;
	return work_kinds;
}

static void throughput_put_words(const struct drawing *d, struct figure *f, const struct table *t,
				 const struct work_kind *k, bool by_side)
{
	const char *work = k->rate + strlen("rate_"), *side = throughput_side(d, t);

	f->title = "Throughput by variant";
	f->axis = k == work_kinds ? "Gbit/s" : figure_text(f, "%s per second", work);
	if (k != work_kinds)
		f->subtitle = figure_text(f, "%c%s that %s counted, no bytes; higher is better",
					  toupper(*work), work + 1,
					  by_side ? "each side" : "the workload");
	else if (by_side)
		f->subtitle =
			"What each side's application moved; total: what passed the sides once; higher is better";
	else if (!strcmp(side, drawing_side_with(d, "receiver")))
		f->subtitle = "What arrived at the receiver's application; higher is better";
	else
		f->subtitle =
			figure_text(f, "What the %s's application moved; higher is better", side);
}

/* Draws the bars of the sides. Of bytes, table roi has the total: what passed all sides once. */
static int throughput_put_bars(struct drawing *d, struct figure *f, const struct table *t,
			       const struct work_kind *k, bool by_side, struct error *err)
{
	int rc = by_side && k == work_kinds ? drawing_table(d, 1, &t, err) : 0;

	if (rc)
		return rc;
	if (by_side) {
		drawing_put_sides(d, f, t, throughput_figure(k), false);
		return 0;
	}
	figure_group(f, "");
	drawing_bars(d, f);
	for (int b = 0; b < f->bars.n; b++) {
		struct estimate e = row_figure(t, f->bars.mark[b].name, throughput_side(d, t),
					       throughput_figure(k));

		if (!isnan(e.value))
			figure_put(f, 0, b, FIGURE_WHOLE, e);
	}
	return 0;
}

/* Names the limit that all variants have, or the table with their limits. */
static void throughput_add_limits(const struct drawing *d, struct figure *f,
				  const struct limits *limits)
{
	char *first = NULL, *words;
	bool same = true, differ = false;
	const char *v;

	for (int i = 0; (v = drawing_variant(d, i)); i++) {
		words = limits_words(limits, v, LIMITS_BY_NAME);
		if (!i)
			first = words;
		same &= first && words && !strcmp(first, words);
		differ |= limits_differ(limits, drawing_variant(d, 0), limits, v);
		if (i)
			free(words);
	}
	if (same)
		figure_remark(f, str_starts(first, "no ") ? "%s" : "limited by %s", first);
	else if (differ)
		figure_remark(f, "different limits: zcost report limits");
	free(first);
}

/* Claims the largest change among the variants that share a limit with their base. Warns of the
 * first variant with another limit. */
static void throughput_claim(struct drawing *d, struct figure *f, const struct limits *limits,
			     const struct work_kind *k)
{
	bool share[CHART_ROWS] = {0};
	int b, warned = 0;
	double ratio;

	for (b = f->bars.n - 1; b > 0; b--) {
		share[b] = !limits_differ(limits, drawing_variant(d, drawing_base_of(d, b)), limits,
					  drawing_variant(d, b));
		warned = share[b] ? warned : b;
	}
	b = sides_find_claim(d, f, figure_kinds[throughput_figure(k)].name, share, &ratio);
	if (b)
		f->title = figure_text(
			f, "%s: %s the throughput of %s",
			drawing_title(d, f, drawing_variant(d, b)), claim_times(f, ratio),
			drawing_title(d, f, drawing_variant(d, drawing_base_of(d, b))));
	if (warned)
		figure_doubt(
			f,
			"Different limits: %s and %s do not have the same bottleneck, so throughput does not compare the two methods",
			drawing_title(d, f, drawing_variant(d, drawing_base_of(d, warned))),
			drawing_title(d, f, drawing_variant(d, warned)));
}

static int throughput_draw(struct drawing *d, struct figure *f, const struct table *t,
			   struct error *err)
{
	bool by_side = d->facts.nsides > 2, alone = d->query.workload_only;
	const struct work_kind *k;
	freed(limits_free) struct limits limits = {0};
	int rc;

	d->query.workload_only = false; /* what limits the workload may lie outside of it */
	rc = d->source->limits(d->source, &d->query, &limits, err);
	d->query.workload_only = alone;
	if (rc)
		return rc;
	k = throughput_kind(d, t);
	throughput_put_words(d, f, t, k, by_side);
	throughput_add_limits(d, f, &limits);
	rc = throughput_put_bars(d, f, t, k, by_side, err);
	throughput_claim(d, f, &limits, k);
	drawing_foot(d, f, FROM_MEASURED);
	return rc;
}

/* --- T²/C and T²/P --- */

struct score {
	const char *formula; /* "T²/C" */
	const char *words;   /* "throughput² per CPU use" */
	const char *unit;    /* "(Gbit/s)²/W" */
};

/* Returns "²" or "^1.5"; "" for 1. */
static const char *roi_power(struct figure *f, double n)
{
	return n == 1 ? "" : n == 2 ? "²" : figure_text(f, "^%g", n);
}

static struct score roi_score(const struct drawing *d, struct figure *f, bool power)
{
	const struct query *q = &d->query;
	const char *n = roi_power(f, roi_exponent_n(q));
	const char *m = power ? roi_power(f, roi_exponent_m(q)) : "";

	return (struct score){
		figure_text(f, "T%s/%s%s", n, power ? "P" : "C", m),
		figure_text(f, "throughput%s per %s%s", n, power ? "watt" : "CPU use", m),
		figure_text(f, "(Gbit/s)%s/%s%s", n, power ? "W" : "%", m)};
}

/* Returns whose the total is, "both sides", or NULL where the last group is no total. */
static const char *roi_total(const struct drawing *d, const struct figure *f)
{
	return !f->groups.n || strcmp(f->groups.mark[f->groups.n - 1].name, SIDE_TOTAL) != 0 ? NULL
	       : d->facts.nsides > 2 ? "all sides"
				     : "both sides";
}

/* Claims the largest change of all sides together, or of the only side. */
static void roi_claim(struct drawing *d, struct figure *f, const struct score *s, enum figure_id id)
{
	double ratio;
	int b = sides_find_claim(d, f, figure_kinds[id].name, NULL, &ratio);

	if (b)
		f->title = figure_text(
			f, "%s: %s the %s of %s, %s (%s)",
			drawing_title(d, f, drawing_variant(d, b)), claim_times(f, ratio),
			s->formula, drawing_title(d, f, drawing_variant(d, drawing_base_of(d, b))),
			roi_total(d, f) ? roi_total(d, f) : f->groups.mark[f->groups.n - 1].label,
			s->words);
}

static const char modelled_note[] = "modelled";

/* Counts the bars, and those with modelled power. */
static size_t roi_count_modelled(const struct figure *f, bool *all)
{
	size_t modelled = 0;

	for (size_t i = 0; i < f->ndata; i++)
		modelled += !strcmp(f->data[i].note, modelled_note);
	*all = modelled == f->ndata;
	return modelled;
}

/* Returns "wall ", "package ", "" where no row has the kind of power, NULL where none has power. */
static const char *roi_power_word(struct figure *f, const struct table *t)
{
	const struct figure_row *rows = table_structs(t, struct figure_row);
	const char *word = NULL;

	for (const struct figure_row *r = rows; r < rows + t->rows && !(word && *word); r++)
		if (!isnan(r->of[FIGURE_ROI_P].value))
			word = *r->power_kind ? figure_text(f, "%s ", r->power_kind) : "";
	return word;
}

/* Names the model in the title, at the axis, in the foot note, and by a star at each bar. */
static void roi_put_model(const struct drawing *d, struct figure *f, const struct score *s,
			  bool all)
{
	const struct query *q = &d->query;

	f->title = figure_text(f, "%s: %s (power %smodelled, not measured)", s->formula, s->words,
			       all ? "" : "in part ");
	f->axis = figure_text(f, "%s, %sP modelled", s->unit, all ? "" : "* ");
	f->starred = modelled_note;
	if (q->model_idle > 0 || q->model_per_cpu > 0)
		f->foot = figure_text(
			f, "* Power is modelled, not measured: %g W idle + %g W per busy CPU · %s",
			q->model_idle, q->model_per_cpu, f->foot);
	else
		f->foot = figure_text(f, "* Power is modelled from CPU use, not measured · %s",
				      f->foot);
}

enum { ROI_CPU, ROI_POWER };

static int roi_draw(struct drawing *d, struct figure *f, const struct table *t, struct error *err)
{
	bool power = d->chart->kind == ROI_POWER;
	enum figure_id id = power ? FIGURE_ROI_P : FIGURE_ROI_C;
	const char *total = "", *kind = power ? roi_power_word(f, t) : "";
	const struct score s = roi_score(d, f, power);
	size_t modelled;
	bool all;

	if (!kind)
		return error_set(
			err, ENODATA,
			"no run has a power source; give a meter's readings with --power-csv at capture or analysis, or a model with --power-model");
	f->title = figure_text(f, "%s: %s", s.formula, s.words);
	f->axis = s.unit;
	f->note_word = power ? "power_source" : NULL;
	drawing_put_sides(d, f, t, id, power);
	modelled = roi_count_modelled(f, &all);
	if (notes_have_kind(&t->notes, NOTE_score_absent_datagrams))
		figure_remark(f, "n/a: the workload sent datagrams (UDP)");
	if (roi_total(d, f))
		total = figure_text(f, "; total: over %s' %s", roi_total(d, f),
				    power ? "power" : "CPU use");
	if (power)
		f->subtitle =
			figure_text(f, "T: throughput, Gbit/s; P: %spower, W%s; higher is better",
				    all ? "modelled " : kind, total);
	else
		f->subtitle = figure_text(
			f,
			"T: throughput, Gbit/s; C: CPU use%s, 100 %% = one CPU%s%s; higher is better",
			d->query.workload_only ? " of the workload" : "", total,
			*total && notes_have_kind(&t->notes, NOTE_total_shares_cpus)
				? ", each CPU once"
				: "");
	drawing_foot(d, f, FROM_MEASURED);
	if (modelled)
		roi_put_model(d, f, &s, all);
	else
		roi_claim(d, f, &s, id);
	return 0;
}

const struct chart chart_throughput = {
	.name = "throughput",
	.what = "throughput of each variant",
	.sources = {"summary", "roi"},
	.options = {CHART_OPTIONS CHART_RUNS "workload-only "},
	.flags = CHART_OF_TRANSFER,
	.draw = throughput_draw,
};

const struct chart chart_roi_c = {
	.name = "roi_c",
	.what = "throughput squared for CPU use: receiver, sender, total",
	.sources = {"roi"},
	.options = {CHART_OPTIONS CHART_RUNS "workload-only side roi-n"},
	.flags = CHART_COSTS,
	.draw = roi_draw,
};

const struct chart chart_roi_p = {
	.name = "roi_p",
	.what = "throughput squared for power, where power is known",
	.sources = {"roi"},
	.options = {CHART_OPTIONS CHART_RUNS OPT_MODEL "side roi-n roi-m"},
	.whole = WHOLE_POWER,
	.kind = ROI_POWER,
	.draw = roi_draw,
};
