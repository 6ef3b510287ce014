// SPDX-License-Identifier: GPL-2.0-only
/* What all charts share: which variants, which sides, what stands below. */
#include "plot/chart.h"

#include "analyze/model/notes.h"
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

/* What the figures of a chart's tables are from; a loss of another collector is not theirs. */
static const struct {
	const char *table, *sources;
	bool by_side; /* what is drawn of it is each side's own */
} drawn_of[] = {
	{"components", " perf cpu workload ", true},
	{"functions", " perf cpu workload ", true},
	{"cpu", " cpu ", true},
	{"summary", " workload ", false},
	{"roi", " workload cpu power ", true},
	{"zerocopy", " workload ", false},
};
/* Is the note about figures that are made from the table's collectors? */
static bool note_concerns(const struct table *t, const struct note *note)
{
	const char *concerns = note->kind->concerns, *at;
	size_t i, len = concerns ? strlen(concerns) : 0;

	for (i = 0; i < array_size(drawn_of) && concerns; i++) {
		if (strcmp(drawn_of[i].table, t->name))
			continue;
		for (at = drawn_of[i].sources; *at; at += strcspn(at, " ")) {
			at += strspn(at, " ");
			if (strcspn(at, " ") == len && !strncmp(at, concerns, len))
				return true;
		}
		return false;
	}
	return true;
}

static bool note_is_drawn(const struct drawing *d, const struct note *note)
{
	const char *v;
	int i;

	for (i = 0; note->variant && (v = drawing_variant(d, i)); i++)
		if (!strcmp(note->variant, v))
			return true;
	return false;
}

/* The losses that concern the table's figures; the first becomes a caption. */
static void drawing_add_losses(struct drawing *d, const struct table *t)
{
	struct notes lossy = {0};
	struct note_lines lines;
	size_t i;

	for (i = 0; i < t->notes.n; i++)
		if (t->notes.note[i].severity == SEVERITY_LOSSY &&
		    note_concerns(t, &t->notes.note[i]))
			notes_copy(&lossy, &t->notes.note[i]);
	d->lossy |= lossy.n || (t->lossy && !notes_have(&t->notes, SEVERITY_LOSSY));
	note_lines_make(&lines, &lossy);
	if (lines.n && !d->losses)
		snprintf(d->loss, sizeof(d->loss), "%s", lines.line[0].text);
	d->losses += (int)lines.n;
	note_lines_free(&lines);
	notes_free(&lossy);
}

/* The work of other programs on a side's CPUs is in its costs and its CPU use. */
static void drawing_add_others(struct drawing *d, const struct table *t)
{
	size_t i;

	for (i = 0; i < t->notes.n; i++) {
		const struct note *n = &t->notes.note[i];

		if (note_is(n, NOTE_cpu_others) && note_is_drawn(d, n) && note_concerns(t, n))
			d->others = fmax(d->others, n->value[0].number);
	}
}

/* The measured runs say how much time there was, and so what other programs took of it. */
static void drawing_add_measured_others(struct drawing *d)
{
	struct query q = d->query;
	struct error ignored = {0};
	struct table t = {0};

	q.side = d->side;
	if (!d->source->table(d->source, "cpu", &q, &t, &ignored))
		drawing_add_others(d, &t);
	table_free(&t);
}

/* A disturbed run is a caption; the first note of each kind stands for the others. */
static void drawing_add_disturbed(struct drawing *d, const struct table *t)
{
	size_t i;

	for (i = 0; i < t->notes.n; i++) {
		const struct note *n = &t->notes.note[i];
		bool stalled = note_is(n, NOTE_workload_stalled);
		int k = stalled ? 0 : 1;
		char *text;

		if (!stalled && !note_is(n, NOTE_windows_apart) &&
		    !note_is(n, NOTE_windows_apart_far))
			continue;
		if (d->disturbed[k] || !note_is_drawn(d, n) || !note_concerns(t, n))
			continue;
		text = stalled ? xasprintf("%s %s stood still for %.2f s of the window's %.2f s",
					   n->variant, n->side, n->value[0].number,
					   n->value[1].number)
			       : xasprintf("%s: the windows of the two sides are %.1f ms apart",
					   n->variant, n->value[0].number);
		d->disturbed[k] = arena_strdup(&d->arena, text);
		free(text);
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

static bool is_profiled(const char *table)
{
	const struct measure *m = measure_find(table);

	return m && m->flags & MEASURE_COSTS;
}

static int read_table(const struct drawing *d, const char *name, struct table *t, struct error *err)
{
	struct query q = d->query;

	/* Every row, but unresolved addresses in one: single ones tell an audience nothing. */
	q.limit = LONG_MAX;
	if (by_side(name))
		q.side = d->side;
	if (is_profiled(name))
		q.by = "variant,side";
	return d->source->table(d->source, name, &q, t, err);
}

static void drawing_add_notes(struct drawing *d, const struct table *t)
{
	drawing_add_losses(d, t);
	drawing_add_others(d, t);
	drawing_add_disturbed(d, t);
	if (is_profiled(t->name) || !strcmp(t->name, "summary"))
		drawing_add_measured_others(d);
}

int drawing_read(struct drawing *d, const char *name, const struct table **t, struct error *err)
{
	struct table *new;
	size_t i;
	int rc;

	for (i = 0; i < d->ntables; i++)
		if (!strcmp(d->tables[i]->name, name)) {
			*t = d->tables[i];
			return 0;
		}
	*t = new = xcalloc(1, sizeof(*new));
	rc = read_table(d, name, new, err);
	if (rc) {
		table_free(new);
		free(new);
		*t = NULL;
		return rc;
	}
	array_grow(d->tables, d->ntables, d->tables_cap);
	d->tables[d->ntables++] = new;
	return 0;
}

int drawing_table(struct drawing *d, const char *name, const struct table **t, struct error *err)
{
	int rc = drawing_read(d, name, t, err);

	if (!rc)
		drawing_add_notes(d, *t);
	return rc;
}

int drawing_prepare(struct drawing *d, struct error *err)
{
	struct error ignored = {0};
	int i, rc;

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
	rc = read_table(d, "zerocopy", &d->zerocopy, &ignored);
	if (!rc)
		drawing_add_notes(d, &d->zerocopy);
	return rc == -ENOMEM ? rc : 0;
}

void drawing_free(struct drawing *d)
{
	size_t i;

	for (i = 0; i < d->ntables; i++) {
		table_free(d->tables[i]);
		free(d->tables[i]);
	}
	free(d->tables);
	table_free(&d->zerocopy);
	table_free(&d->runs);
	arena_free(&d->arena);
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
		if (!strcmp(table_text(&d->runs, (size_t)row, "status"), "ok"))
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

	while (row >= 0 && isnan(table_real(t, (size_t)row, "self_ns")))
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
			const char *side = table_text(t, row, "side");

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
		int runs = (int)table_real(&f->data, row, "runs");

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
