// SPDX-License-Identifier: GPL-2.0-only
/* Throughput for its CPU time (T^n / C) and for its power (T^n / P^m). */
#include "plot/chart.h"

#include "analyze/scope/scope.h"
#include "analyze/scope/placement.h"
#include "lib/alloc.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct score {
	const char *column;
	char formula[64]; /* "T²/C" */
	char words[96];	  /* "throughput² per CPU use" */
	char unit[64];	  /* "(Gbit/s)²/W" */
};

/* Writes "²" where there is such a character, else "^1.5"; nothing for 1. */
static void roi_print_power(char *text, size_t size, double n)
{
	static const char *const raised[] = {"", "", "²", "³"};

	if (n == (int)n && n >= 1 && n <= 3)
		snprintf(text, size, "%s", raised[(int)n]);
	else
		snprintf(text, size, "^%g", n);
}

static struct score roi_score(const struct drawing *d, const char *column, char below)
{
	struct score s = {.column = column};
	char n[24], m[24] = "";

	roi_print_power(n, sizeof(n), d->query.roi_n ? d->query.roi_n : 2);
	if (below == 'P')
		roi_print_power(m, sizeof(m), d->query.roi_m ? d->query.roi_m : 1);
	snprintf(s.formula, sizeof(s.formula), "T%s/%c%s", n, below, m);
	snprintf(s.words, sizeof(s.words), "throughput%s per %s%s", n,
		 below == 'P' ? "watt" : "CPU use", m);
	snprintf(s.unit, sizeof(s.unit), "(Gbit/s)%s/%s%s", n, below == 'P' ? "W" : "%", m);
	return s;
}

/* Returns whether the last group is all sides together. */
static bool roi_has_total(const struct figure *f)
{
	return f->groups.n && !strcmp(f->groups.mark[f->groups.n - 1].name, "total");
}

/* Returns whose the total is. */
static const char *roi_sides(const struct figure *f)
{
	return f->groups.n > 3 ? "all sides" : "both sides";
}

/* Claims the largest change of all sides together, or of the only side. */
static void roi_claim(struct drawing *d, struct figure *f, const struct score *s)
{
	struct estimate base, new;
	double best = 0, ratio;
	int b, g = f->groups.n - 1;
	const char *side = roi_has_total(f) ? roi_sides(f) : g >= 0 ? f->groups.mark[g].label : "";

	for (b = 1; b < f->bars.n; b++) {
		int from = drawing_base_of(d, b);

		if (!figure_get(f, g, from, FIGURE_WHOLE, &base) ||
		    !figure_get(f, g, b, FIGURE_WHOLE, &new))
			continue;
		ratio = drawing_claim(d, b,
				      &(struct drawn_change){"metrics", f->groups.mark[g].name,
							     s->column, base.value, new.value});
		if (ratio <= 0 || fabs(log(ratio)) <= best)
			continue;
		best = fabs(log(ratio));
		f->title = figure_text(
			f, "%s: %s the %s of %s, %s (%s)",
			drawing_title(d, f, drawing_variant(d, b)), claim_times(f, ratio),
			s->formula, drawing_title(d, f, drawing_variant(d, from)), side, s->words);
	}
}

/* Says why bars are missing. */
static void roi_remark_datagrams(struct figure *f, const struct table *t)
{
	size_t i;

	for (i = 0; i < t->notes.n; i++)
		if (note_is(&t->notes.note[i], NOTE_score_absent_datagrams)) {
			figure_remark(f, "n/a: the workload sent datagrams (UDP)");
			return;
		}
}

static void roi_put_bars(struct drawing *d, struct figure *f, const struct table *t,
			 const struct score *s)
{
	struct estimate e;
	long row;
	int g, b;

	drawing_sides(d, f, t);
	drawing_bars(d, f);
	for (g = 0; g < f->groups.n; g++) {
		for (b = 0; b < f->bars.n; b++) {
			row = row_find(t, 0, drawing_variant(d, b), f->groups.mark[g].name);
			if (row < 0)
				continue;
			e = row_estimate(t, (size_t)row, s->column);
			if (!isnan(e.value))
				figure_put_noted(f, g, b, e,
						 table_text(t, (size_t)row, "power_source"));
		}
	}
	roi_remark_datagrams(f, t);
}

/* Returns whether the sides share CPUs. The total counts shared CPUs once. */
static bool roi_counts_cpus_once(const struct table *t)
{
	size_t i;

	for (i = 0; i < t->notes.n; i++)
		if (note_is(&t->notes.note[i], NOTE_total_shares_cpus))
			return true;
	return false;
}

static int roi_c_draw(struct drawing *d, struct figure *f, struct error *err)
{
	struct score s = roi_score(d, "roi_c", 'C');
	const struct table *t;
	int rc = drawing_table(d, 0, &t, err);

	if (rc)
		return rc;
	f->title = figure_text(f, "%s: %s", s.formula, s.words);
	f->axis = figure_text(f, "%s", s.unit);
	roi_put_bars(d, f, t, &s);
	f->subtitle = figure_text(
		f,
		"T: throughput, Gbit/s; C: CPU use%s, 100 %% = one CPU%s%s%s%s; higher is better",
		d->query.workload_only ? " of the workload" : "",
		roi_has_total(f) ? "; total: over " : "", roi_has_total(f) ? roi_sides(f) : "",
		roi_has_total(f) ? "' CPU use" : "",
		roi_has_total(f) && roi_counts_cpus_once(t) ? ", each CPU once" : "");
	roi_claim(d, f, &s);
	drawing_foot(d, f, FROM_MEASURED);
	return 0;
}

static const char modelled_note[] = "modelled";

/* Counts the bars, and those with modelled power. */
static void roi_count_modelled(const struct figure *f, int *bars, int *modelled)
{
	struct estimate e;
	int g, b;

	*bars = *modelled = 0;
	for (g = 0; g < f->groups.n; g++) {
		for (b = 0; b < f->bars.n; b++) {
			if (!figure_get(f, g, b, FIGURE_WHOLE, &e))
				continue;
			++*bars;
			*modelled += !strcmp(figure_note(f, g, b), modelled_note);
		}
	}
}

static bool roi_has_power(const struct table *t)
{
	size_t row;

	for (row = 0; row < t->rows; row++)
		if (!isnan(table_real(t, row, "roi_p")))
			return true;
	return false;
}

/* Returns "wall ", "package ", or "" where no row has the kind of power. */
static const char *roi_power_word(struct figure *f, const struct table *t)
{
	size_t row;
	char *text;
	const char *kept;

	for (row = 0; row < t->rows; row++)
		if (!isnan(table_real(t, row, "roi_p")) && *table_text(t, row, "power_kind"))
			break;
	if (row == t->rows)
		return "";
	text = xasprintf("%s ", table_text(t, row, "power_kind"));
	kept = arena_strdup(&f->arena, text);
	free(text);
	return kept;
}

/* Names the model in the title, at the axis, in the foot note, and by a star at each bar. */
static void roi_put_model(const struct drawing *d, struct figure *f, const struct score *s,
			  bool all)
{
	const struct query *q = &d->query;
	char *axis = xasprintf("%s, %sP modelled", s->unit, all ? "" : "* ");

	f->title = figure_text(f, "%s: %s (power %smodelled, not measured)", s->formula, s->words,
			       all ? "" : "in part ");
	f->axis = arena_strdup(&f->arena, axis);
	f->starred = modelled_note;
	if (q->model_idle > 0 || q->model_per_cpu > 0)
		f->foot = figure_text(
			f, "* Power is modelled, not measured: %g W idle + %g W per busy CPU · %s",
			q->model_idle, q->model_per_cpu, f->foot);
	else
		f->foot = figure_text(f, "* Power is modelled from CPU use, not measured · %s",
				      f->foot);
	free(axis);
}

static int roi_p_draw(struct drawing *d, struct figure *f, struct error *err)
{
	struct score s = roi_score(d, "roi_p", 'P');
	const struct table *t;
	int bars, modelled, rc = drawing_table(d, 0, &t, err);

	if (rc)
		return rc;
	if (!roi_has_power(t))
		return error_set(
			err, ENODATA,
			"no run has a power source; give a meter's readings with --power-csv at capture or analysis, or a model with --power-model");
	f->title = figure_text(f, "%s: %s", s.formula, s.words);
	f->axis = figure_text(f, "%s", s.unit);
	f->note_word = "power_source";
	roi_put_bars(d, f, t, &s);
	roi_count_modelled(f, &bars, &modelled);
	f->subtitle = figure_text(f, "T: throughput, Gbit/s; P: %spower, W%s%s%s; higher is better",
				  modelled == bars ? "modelled " : roi_power_word(f, t),
				  roi_has_total(f) ? "; total: over " : "",
				  roi_has_total(f) ? roi_sides(f) : "",
				  roi_has_total(f) ? "' power" : "");
	drawing_foot(d, f, FROM_MEASURED);
	if (modelled)
		roi_put_model(d, f, &s, modelled == bars);
	else
		roi_claim(d, f, &s);
	return 0;
}

const struct chart chart_roi_c = {
	.name = "roi_c",
	.what = "throughput squared for CPU use: receiver, sender, total",
	.sources = {"roi"},
	.options = {CHART_OPTIONS CHART_RUNS "workload-only side roi-n"},
	.most = CHART_ROWS,
	.flags = CHART_OF_SIDES,
	.draw = roi_c_draw,
};

const struct chart chart_roi_p = {
	.name = "roi_p",
	.what = "throughput squared for power, where power is known",
	.sources = {"roi"},
	.options = {CHART_OPTIONS CHART_RUNS OPT_MODEL "side roi-n roi-m"},
	.whole = WHOLE_POWER,
	.most = CHART_ROWS,
	.flags = CHART_OF_SIDES,
	.draw = roi_p_draw,
};
