// SPDX-License-Identifier: GPL-2.0-only
/* What all charts share: which variants, which sides, what stands below. */
#include "plot/chart.h"

#include "lib/alloc.h"
#include "lib/command.h"
#include "lib/str.h"
#include "plot/copied.h"
#include "plot/label.h"
#include "plot/palette.h"
#include "plot/rows.h"
#include "plot/shared.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int variant_place(const struct drawing *d, const char *name)
{
	int i;

	for (i = 0; i < d->facts.nvariants; i++)
		if (!strcmp(d->facts.variants[i], name))
			return i;
	return -1;
}

static int unknown_variant(const struct drawing *d, const char *name, struct error *err)
{
	struct str s = {0};
	int i, rc;

	for (i = 0; i < d->facts.nvariants; i++)
		str_printf(&s, "%s%s", i ? ", " : "", d->facts.variants[i]);
	rc = error_set(err, ENOENT, "no variant '%s' in this capture; it has %s", name,
		       s.buf ? s.buf : "none");
	str_free(&s);
	return rc;
}

int drawing_prepare(struct drawing *d, struct error *err)
{
	struct error ignored = {0};
	int i;

	if (!d->base && d->facts.nvariants)
		d->base = d->facts.variants[0];
	if (!d->base)
		return error_set(err, ENODATA, "the capture has no complete run of any variant");
	if (variant_place(d, d->base) < 0)
		return unknown_variant(d, d->base, err);
	for (i = 0; i < d->nnews; i++)
		if (variant_place(d, d->news[i]) < 0)
			return unknown_variant(d, d->news[i], err);
	d->source->table(d->source, "runs", &d->query, &d->runs, &ignored);
	/* Without evidence each variant is said to have none; that is no reason not to draw. */
	return drawing_table(d, "zerocopy", &d->zerocopy, &ignored) == -ENOMEM ? -ENOMEM : 0;
}

void drawing_free(struct drawing *d)
{
	table_free(&d->zerocopy);
	table_free(&d->runs);
	arena_free(&d->arena);
}

/* What the figures of a chart's tables are from; a loss of another collector is not theirs. */
static const struct {
	const char *table, *sources;
	bool by_side; /* what is drawn of it is each side's own */
} drawn_of[] = {
	{"components", " perf cpu workload iperf3 ", true},
	{"functions", " perf cpu workload iperf3 ", true},
	{"cpu", " cpu ", true},
	{"summary", " workload iperf3 ", false},
	{"roi", " workload iperf3 cpu power ", true},
	{"zerocopy", " workload iperf3 ", false},
};
static const char collectors[] = " workload iperf3 perf cpu power softnet irq snmp nic sched idle "
				 "counters syscalls tcp tcp_info devmem ring ";

static bool has_name(const char *list, const char *name, size_t len)
{
	const char *at = list;

	while ((at = strchr(at, ' ')) && at[1]) {
		at++;
		if (!strncmp(at, name, len) && at[len] == ' ')
			return true;
	}
	return false;
}

/* "lossy: mmap receiver: softnet: 3 lines ..." is of softnet; what names no collector is of all. */
static bool is_of(const struct table *t, const char *note)
{
	const char *at = note;
	size_t i, len;
	int k;

	for (i = 0; i < sizeof(drawn_of) / sizeof(*drawn_of); i++)
		if (!strcmp(drawn_of[i].table, t->name))
			break;
	if (i == sizeof(drawn_of) / sizeof(*drawn_of))
		return true;
	for (k = 0; k < 3 && at; k++) {
		len = strcspn(at, " :");
		if (has_name(collectors, at, len))
			return has_name(drawn_of[i].sources, at, len);
		at = strstr(at, ": ");
		at = at ? at + 2 : NULL;
	}
	return true;
}

/* Tables say what was lost in notes that begin so. */
static void note_losses(struct drawing *d, const struct table *t)
{
	bool told = false;
	size_t i;

	for (i = 0; i < t->nnotes; i++)
		told |= str_starts(t->notes[i], "lossy: ");
	d->lossy |= t->lossy && !told;
	for (i = 0; i < t->nnotes; i++) {
		if (!str_starts(t->notes[i], "lossy: ") || !is_of(t, t->notes[i]))
			continue;
		d->lossy = true;
		if (!d->losses++)
			snprintf(d->loss, sizeof(d->loss), "%s", t->notes[i] + strlen("lossy: "));
	}
}

/* Is the note of a variant that is drawn? "warning: mmap receiver: cpu: other ..." */
static bool is_drawn(const struct drawing *d, const char *note)
{
	const char *v;
	int i;

	for (i = 0; (v = drawing_variant(d, i)); i++)
		if (str_starts(note, v) && note[strlen(v)] == ' ')
			return true;
	return false;
}

/* "51", or the upper end of "21..51", where runs differ. */
static double upper_end(const char *s)
{
	char *end;
	long x = strtol(s, &end, 10);

	return (double)(str_starts(end, "..") ? strtol(end + 2, NULL, 10) : x);
}

/* What other programs did on a side's CPUs is in its costs and its CPU use. */
static void note_others(struct drawing *d, const struct table *t)
{
	static const char warning[] = "warning: ", words[] = "cpu: other programs took ";
	size_t i;

	for (i = 0; i < t->nnotes; i++) {
		const char *at = strstr(t->notes[i], words);

		if (at && str_starts(t->notes[i], warning) &&
		    is_drawn(d, t->notes[i] + strlen(warning)) && is_of(t, t->notes[i]))
			d->others = fmax(d->others, upper_end(at + strlen(words)));
	}
}

/*
 * A profile says where the time went, the measured runs how much there was: what other programs
 * took of it is noted at those.
 */
static void note_measured_others(struct drawing *d)
{
	struct query q = d->query;
	struct error ignored = {0};
	struct table t = {0};

	q.side = d->side;
	if (!d->source->table(d->source, "cpu", &q, &t, &ignored))
		note_others(d, &t);
	table_free(&t);
}

/* THE TABLE of what befalls a run, by the words of its note; `cut`: what a caption does without. */
static const struct {
	const char *words, *cut;
} disturbances[] = {
	{"workload: stalled for ", " (below"},
	{"window: the two sides' windows are ", " (two clocks"},
};

/* "mmap receiver: workload: stalled for 0.50 s of the window's 3.00 s": the first of each kind. */
static void note_disturbed(struct drawing *d, const struct table *t)
{
	static const char warning[] = "warning: ";
	size_t i, k;

	for (i = 0; i < t->nnotes; i++) {
		const char *text = t->notes[i] + strlen(warning), *cut;
		char *kept;

		if (!str_starts(t->notes[i], warning) || !is_drawn(d, text) ||
		    !is_of(t, t->notes[i]))
			continue;
		for (k = 0; k < array_size(disturbances); k++) {
			if (d->disturbed[k] || !strstr(text, disturbances[k].words))
				continue;
			cut = strstr(text, disturbances[k].cut);
			kept = xasprintf("%.*s", (int)(cut ? cut - text : (long)strlen(text)),
					 text);
			d->disturbed[k] = arena_strdup(&d->arena, kept);
			free(kept);
		}
	}
}

static bool by_side(const char *table)
{
	size_t i;

	for (i = 0; i < array_size(drawn_of); i++)
		if (!strcmp(drawn_of[i].table, table))
			return drawn_of[i].by_side;
	return false;
}

int drawing_table(struct drawing *d, const char *name, struct table *t, struct error *err)
{
	struct query q = d->query;
	const struct measure *m = measure_find(name);
	bool profiled = m && m->flags & MEASURE_COSTS;
	int rc;

	/* Every row, but unresolved addresses in one: single ones tell an audience nothing. */
	q.limit = LONG_MAX;
	if (by_side(name))
		q.side = d->side;
	if (profiled)
		q.by = "variant,side";
	rc = d->source->table(d->source, name, &q, t, err);
	if (!rc) {
		note_losses(d, t);
		note_others(d, t);
		note_disturbed(d, t);
		if (profiled || !strcmp(name, "summary"))
			note_measured_others(d);
	}
	return rc;
}

static const char *any_variant(const struct drawing *d, int i)
{
	int k, left = i;

	if (!i)
		return d->base;
	if (d->nnews)
		return i <= d->nnews ? d->news[i - 1] : NULL;
	for (k = 0; k < d->facts.nvariants; k++)
		if (strcmp(d->facts.variants[k], d->base) && !--left)
			return d->facts.variants[k];
	return NULL;
}

const char *drawing_variant(const struct drawing *d, int i)
{
	return d->most && i >= d->most ? NULL : any_variant(d, i);
}

bool drawing_all_failed(const struct drawing *d, const char *variant)
{
	long row = row_find(&d->runs, 0, variant, NULL);

	if (row < 0)
		return false;
	for (; row >= 0; row = row_find(&d->runs, (size_t)row + 1, variant, NULL))
		if (!strcmp(row_text(&d->runs, (size_t)row, "status"), "ok"))
			return false;
	return true;
}

const char *drawing_label(const struct drawing *d, struct figure *f, const char *variant)
{
	struct str label = {0};
	const char *kept;

	shared_label(d, variant, &label);
	kept = label_clean(&f->arena, label.buf);
	str_free(&label);
	return kept;
}

const char *drawing_title(const struct drawing *d, struct figure *f, const char *variant)
{
	enum { SIZE = 35, WIDTH = 520 }; /* of the title's bold font */

	return label_fit(&f->arena, drawing_label(d, f, variant), SIZE, WIDTH);
}

uint32_t drawing_color(const struct drawing *d, const char *variant)
{
	int i = variant_place(d, variant);

	return palette_variant(i >= 0 && d->facts.places ? d->facts.places[i] : i);
}

static void add_bar(const struct drawing *d, struct figure *f, const char *variant)
{
	int bar = figure_bar(f, variant, drawing_color(d, variant));

	f->bars.mark[bar].label = drawing_label(d, f, variant);
}

void drawing_bars(const struct drawing *d, struct figure *f)
{
	const char *v;
	int i;

	for (i = 0; (v = drawing_variant(d, i)); i++)
		add_bar(d, f, v);
}

static bool has_cost(const struct table *t, const char *variant, const char *side)
{
	long row = row_find(t, 0, variant, side);

	while (row >= 0 && isnan(row_real(t, (size_t)row, "self_ns")))
		row = row_find(t, (size_t)row + 1, variant, side);
	return row >= 0;
}

void drawing_bars_of(const struct drawing *d, struct figure *f, const struct table *t,
		     const char *side)
{
	struct str without = {0}, costless = {0}, *list;
	const char *v;
	int i;

	for (i = 0; (v = drawing_variant(d, i)); i++) {
		list = row_find(t, 0, v, side) < 0 ? &without : &costless;
		if (has_cost(t, v, side))
			add_bar(d, f, v);
		else if (!drawing_all_failed(d, v)) /* that is said of it */
			str_printf(list, "%s%s", list->len ? ", " : "", drawing_label(d, f, v));
	}
	if (without.len)
		figure_caption(f, "Not profiled here: %s", without.buf);
	if (costless.len)
		figure_caption(f, "Profiled, but its cost per unit of work is not known: %s",
			       costless.buf);
	str_free(&without);
	str_free(&costless);
}

bool drawing_is_of(const struct drawing *d, const char *side, struct error *err)
{
	if (!d->side || !strcmp(d->side, side))
		return true;
	error_set(err, ENODATA, "it is the %s's, and --side is %s", side, d->side);
	return false;
}

static const char *const side_order[] = {"receiver", "sender", NULL, "total"};

static bool is_named_side(const char *side)
{
	return !strcmp(side, "receiver") || !strcmp(side, "sender") || !strcmp(side, "total");
}

static bool has_group(const struct figure *f, const char *label)
{
	int i;

	for (i = 0; i < f->groups.n; i++)
		if (!strcmp(f->groups.mark[i].name, label))
			return true;
	return false;
}

void drawing_sides(struct figure *f, const struct table *t)
{
	size_t i, row;

	f->group_word = "side";
	for (i = 0; i < sizeof(side_order) / sizeof(*side_order); i++) {
		if (side_order[i] && row_find(t, 0, NULL, side_order[i]) >= 0)
			figure_group(f, side_order[i]);
		for (row = 0; row < t->rows && !side_order[i]; row++) {
			const char *side = row_text(t, row, "side");

			if (!is_named_side(side) && !has_group(f, side))
				figure_group(f, side);
		}
	}
}

/* Of a median, fewer runs give no 95 %: the interval is all of them. */
enum { MEDIAN_RUNS = 6 };

struct runs {
	int least, most; /* behind one bar; 0: unknown */
};

/* Those that the bars are made of; where the tables do not tell, those that each variant has. */
static struct runs runs_of(const struct drawing *d, const struct figure *f, enum drawn_from from)
{
	const struct chart_facts *a = &d->facts;
	struct runs n = {0, 0}, all = from == FROM_MEASURED
					      ? (struct runs){a->measured, a->measured_most}
					      : (struct runs){a->profiled, a->profiled_most};
	size_t row;

	for (row = 0; row < f->data.rows; row++) {
		int runs = (int)row_real(&f->data, row, "runs");

		if (runs <= 0)
			continue;
		n.least = !n.least || runs < n.least ? runs : n.least;
		n.most = runs > n.most ? runs : n.most;
	}
	all.most = all.most ? all.most : all.least;
	return n.most ? n : all;
}

static const char *measured_whiskers(const struct drawing *d, struct runs n)
{
	bool median = !d->facts.estimator || !strcmp(d->facts.estimator, "median");

	if (!n.least || n.least >= MEDIAN_RUNS || !median)
		return "95 % interval";
	return n.most < MEDIAN_RUNS ? "lowest to highest run"
				    : "95 % interval, lowest to highest of fewer than 6 runs";
}

static void put_runs(const struct drawing *d, const struct figure *f, struct str *s,
		     enum drawn_from from)
{
	struct runs n = runs_of(d, f, from);

	if (n.least && n.least < n.most)
		str_printf(s, "n = %d to %d ", n.least, n.most);
	else if (n.least)
		str_printf(s, "n = %d ", n.least);
	if (n.least)
		str_printf(s, "%s run%s per variant, ",
			   from == FROM_MEASURED ? "measured" : "profiled", n.most == 1 ? "" : "s");
	if (from == FROM_TESTED)
		str_puts(s, "exact Mann-Whitney with Holm's correction, whiskers: its interval");
	else if (from == FROM_UNTESTED)
		str_puts(s, "too few for a test or an interval");
	else if (from == FROM_PROFILED && n.most == 1)
		str_puts(s, "whiskers: 95 % interval of the sampling alone");
	else if (from == FROM_PROFILED)
		str_puts(s, "whiskers: 95 % interval");
	else if (n.most == 1)
		str_puts(s, "no interval from one run");
	else
		str_printf(s, "%s, whiskers: %s",
			   d->facts.estimator ? d->facts.estimator : "median",
			   measured_whiskers(d, n));
}

/* What stands in no bar's name, since it is the same for all. */
static void put_shared(const struct drawing *d, struct str *s)
{
	struct str parts = {0};

	shared_parts(d, &parts);
	if (parts.len)
		str_printf(s, " · all variants: %s", parts.buf);
	str_free(&parts);
}

void drawing_foot(const struct drawing *d, struct figure *f, enum drawn_from from)
{
	const struct chart_facts *a = &d->facts;
	struct str s = {0};

	put_runs(d, f, &s, from);
	put_shared(d, &s);
	if (a->slice)
		str_printf(&s, " · only %s of each window", a->slice);
	if (a->host)
		str_printf(&s, " · %s", a->host);
	if (a->kernel)
		str_printf(&s, " · Linux %s", a->kernel);
	if (a->capture)
		str_printf(&s, " · %s", a->capture);
	if (a->date)
		str_printf(&s, " · %s", a->date);
	figure_foot(f, "%s · zcost %s", s.buf, zcost_version);
	str_free(&s);
}

/* Variants for which there was no room; they are chosen by their place in the plan, or by hand. */
static void caption_left_out(const struct drawing *d, struct figure *f)
{
	enum { NAMED = 3 };
	struct str names = {0};
	const char *v;
	int n = d->most, left;

	while (d->most && any_variant(d, n))
		n++;
	left = n - d->most;
	for (n = d->most; left <= NAMED && d->most && (v = any_variant(d, n)); n++)
		str_printf(&names, "%s%s", names.len ? ", " : "", v);
	if (names.len)
		figure_caption(f, "Not in this chart: %s", names.buf);
	else if (left)
		figure_caption(f,
			       "Not in this chart: %d more variants (--new or --variant chooses)",
			       left);
	str_free(&names);
}

int chart_draw(const struct chart *c, struct drawing *d, struct figure *f, struct error *err)
{
	size_t i;
	int rc;

	figure_init(f, c->name);
	d->most = c->most;
	copied_caption(d, f);
	d->losses = 0;
	d->others = 0;
	memset(d->disturbed, 0, sizeof(d->disturbed));
	rc = c->draw(d, f, err);
	caption_left_out(d, f);
	if (d->losses > 1)
		figure_caption(f, "Incomplete data: %s (and %d more)", d->loss, d->losses - 1);
	else if (d->losses)
		figure_caption(f, "Incomplete data: %s", d->loss);
	if (d->others > 0)
		figure_caption(f,
			       "Other programs took up to %.0f %% of a side's busy time in user "
			       "mode, which %s",
			       d->others,
			       !strcmp(c->name, "throughput") ? "these figures may suffer from"
							      : "is in these figures");
	for (i = 0; i < array_size(d->disturbed); i++)
		if (d->disturbed[i])
			figure_caption(f, "Disturbed: %s", d->disturbed[i]);
	if (!rc && !f->data.rows)
		return error_set(err, ENODATA, "no variant has these figures");
	return rc;
}
