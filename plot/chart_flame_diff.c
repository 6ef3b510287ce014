// SPDX-License-Identifier: GPL-2.0-only
/*
 * The difference of two flame graphs, on one side: the stacks of both ends, those that vanished and
 * those that are new, each in a region. A frame is as wide as its larger cost. The colour is the
 * change, where it is told apart from chance.
 */
#include "plot/flame.h"

#include "analyze/compare/diff.h"
#include "plot/label.h"
#include "plot/palette.h"

#include <errno.h>

const struct chart chart_flame_diff;

enum { SAME = 0xd4d4d4, UNTESTED = 0xececec };

static const char *const region_names[REGIONS] = {"shared or too rare", "vanished", "new"};

struct diff_chart {
	struct flame graph;
	struct figure figure;
	struct drawing *d;
	struct comparison c;
	struct call_diff cd;
	struct table notes;
	struct str evidence; /* lines on zero copy at the ends */
	bool abroad;	     /* NEW is of another capture, or both are files */
	bool shares;	     /* costs are percent of an end's time */
};

/* --- the frames --- */

/* Appends "−12.34": two decimal places, with a sign. */
static void text_add_change(struct str *s, const char *before, double x)
{
	str_printf(s, "%s%s%.2f", before, x < 0 ? "−" : "+", fabs(x));
}

/* Rounds to two decimal places. */
static double rounded(double x)
{
	return round(x * 100) / 100;
}

/* Returns the change of a region, rounded so that the regions add up to the rounded totals. */
static double region_change(const struct call_diff *cd, enum call_region of)
{
	const struct call_change *r = cd->regions;

	if (of != IN_BOTH)
		return rounded(r[of].cost[NEW] - r[of].cost[BASE]);
	return rounded(cd->d.total[NEW]) - rounded(cd->d.total[BASE]) -
	       region_change(cd, VANISHED) - region_change(cd, APPEARED);
}

static double change_share(const double cost[ENDS])
{
	return (cost[NEW] - cost[BASE]) / fmax(cost[BASE], cost[NEW]);
}

/* Returns whether the ends are recordings, one run each: their frames have no tests. */
static bool ends_are_files(const struct call_diff *cd)
{
	return !cd->part[BASE].block.variant;
}

static uint32_t change_rgb(const struct call_diff *cd, const struct call_change *x)
{
	if (ends_are_files(cd))
		return palette_change(change_share(x->cost));
	if (!x->row || x->row->verdict == VERDICT_FEW)
		return UNTESTED;
	return verdict_is_claim(x->row->verdict) ? palette_change(change_share(x->row->cost))
						 : SAME;
}

static const char *change_words(enum verdict v)
{
	switch (v) {
	case VERDICT_SAME:
		return "chance is not ruled out";
	case VERDICT_DRIFT:
		return "a drift of the machine can explain it";
	case VERDICT_OTHERS:
		return "not judged beside other programs";
	case VERDICT_COPIED:
		return "better, but no gain is claimed for a variant that copied";
	default:
		return verdict_name(v) ? verdict_name(v) : "not judged";
	}
}

static const char *frame_symbol(const struct call_tree *t, uint32_t frame)
{
	return t->labels[t->frames[frame].label].symbol;
}

/* Returns the words behind the change of a frame, or NULL. */
static const char *change_test(struct flame *fl, const struct call_diff *cd,
			       const struct call_change *x, uint32_t frame)
{
	const struct call_tree *t = &cd->tree;
	const struct diff_row *row = x->row;
	const char *with = "", *first = "";
	char ci[40] = "";

	if (x->first == CALL_NONE)
		return NULL;
	if (!row)
		return arena_printf(&fl->arena, "; not tested, because its parent %s did not pass",
				    frame_symbol(t, t->frames[x->first].parent));
	if (!isnan(row->delta_ci))
		snprintf(ci, sizeof(ci), " ± %.2f", row->delta_ci);
	if (!cd->d.possible || row->verdict == VERDICT_FEW)
		return arena_printf(&fl->arena, "%s; too few runs for a test", ci);
	if (x->first != frame) {
		with = "; same test as ";
		first = frame_symbol(t, x->first);
	}
	return arena_printf(&fl->arena, "%s; p = %.4f: %s%s%s", ci, row->p,
			    change_words(row->verdict), with, first);
}

/* Returns the width of each frame of a region: its larger cost, but no less than its children. */
static double *region_widths(const struct call_diff *cd, enum call_region of)
{
	const struct call_tree *t = &cd->tree;
	double *width = xcalloc(t->nframes + 1, sizeof(*width));
	autofree double *children = xcalloc(t->nframes + 1, sizeof(*children));

	for (size_t i = t->nframes; i-- > 0;) {
		const struct call_change *x = &cd->changes[of][i];

		width[i] = fmax(fmax(x->cost[BASE], x->cost[NEW]), children[i]);
		if (t->frames[i].parent != CALL_NONE)
			children[t->frames[i].parent] += width[i];
	}
	return width;
}

static void flame_add_region(struct flame *fl, const struct call_diff *cd, enum call_region of,
			     const uint32_t *labels)
{
	const struct call_tree *t = &cd->tree;
	double *width = region_widths(cd, of), all = 0;
	uint32_t *places, region;
	freed(str_free) struct str name = {0};

	for (size_t i = 0; i < t->nframes; i++)
		all += t->frames[i].parent == CALL_NONE ? width[i] : 0;
	if (all > 0) {
		str_puts(&name, region_names[of]);
		text_add_change(&name, ": ", region_change(cd, of));
		str_printf(&name, " %s", fl->unit);
		region = flame_add_named(fl, 0, name.buf, FLAME_COMMAND, all);
		memcpy(fl->frames[region].cost, cd->regions[of].cost, sizeof(fl->frames->cost));
		fl->frames[region].test = "";
		fl->frames[0].width += all;
		places = flame_add_tree(fl, t, labels, region, width);
		for (size_t i = 0; i < t->nframes; i++) {
			const struct call_change *x = &cd->changes[of][i];
			struct flame_frame *f = &fl->frames[places[i]];

			if (!places[i])
				continue;
			memcpy(f->cost, x->cost, sizeof(f->cost));
			f->rgb = change_rgb(cd, x);
			f->test = change_test(fl, cd, x, (uint32_t)i);
		}
		free(places);
	}
	free(width);
}

static void diff_chart_add_frames(const struct diff_chart *c, struct flame *fl)
{
	autofree uint32_t *labels = flame_add_labels(fl, &c->cd.tree);

	flame_add_named(fl, FLAME_NONE, "all", FLAME_ROOT, 0);
	memcpy(fl->frames[0].cost, c->cd.d.total, sizeof(c->cd.d.total));
	fl->frames[0].test = "";
	for (int of = 0; of < REGIONS; of++)
		flame_add_region(fl, &c->cd, (enum call_region)of, labels);
}

/* --- the texts --- */

static void diff_chart_title(struct diff_chart *c, struct figure *f)
{
	const struct diff *d = &c->cd.d;
	const char *names[ENDS];

	for (int e = 0; e < ENDS; e++)
		names[e] = c->abroad ? label_fit(&f->arena,
						 label_clean(&f->arena, c->c.end[e].label), 35, 420)
				     : drawing_title(c->d, f, c->c.end[e].variant);
	if (c->shares)
		f->title = figure_text(f, "From %s to %s: where the time goes", names[BASE],
				       names[NEW]);
	else
		f->title = figure_text(f, "From %s to %s: %.*f → %.*f %s%s%s", names[BASE],
				       names[NEW], claim_places(d->total[BASE]) + 1, d->total[BASE],
				       claim_places(d->total[BASE]) + 1, d->total[NEW],
				       c->graph.unit, *c->cd.side ? " on the " : "", c->cd.side);
}

static void diff_chart_subtitle(struct diff_chart *c, struct figure *f)
{
	const struct call_diff *cd = &c->cd;
	freed(str_free) struct str s = {0};

	text_add_change(&s, "shared or too rare stacks ", region_change(cd, IN_BOTH));
	text_add_change(&s, ", vanished ", region_change(cd, VANISHED));
	text_add_change(&s, ", new ", region_change(cd, APPEARED));
	text_add_change(&s, ": together ", rounded(cd->d.total[NEW]) - rounded(cd->d.total[BASE]));
	str_printf(&s, " %s", c->graph.unit);
	f->subtitle = figure_text(f, "%s", s.buf);
}

/* Counts the tests of frames whose parent passed, and those that found a change. */
static void diff_chart_count_tests(const struct call_diff *cd, size_t *tests, size_t *changed)
{
	*tests = *changed = 0;
	for (int of = 0; of < REGIONS; of++)
		for (uint32_t i = 0; i < cd->tree.nframes; i++) {
			const struct call_change *x = &cd->changes[of][i];

			if (!x->row || x->first != i)
				continue;
			++*tests;
			*changed += verdict_is_claim(x->row->verdict);
		}
}

static void diff_chart_caption_tests(struct diff_chart *c, struct figure *f)
{
	const struct diff *d = &c->cd.d;
	size_t tests, changed;

	if (c->shares)
		figure_doubt(
			f,
			"The widths are shares of each recording's time, not costs; --rate gives costs");
	if (ends_are_files(&c->cd)) {
		figure_remark(f, "Colours are not tested: chance can explain them, because each "
				 "end is one recording");
		return;
	}
	if (!d->possible || !d->tests) {
		figure_doubt(
			f,
			"No change can be told from chance: %zu and %zu runs are too few for a test; one frame needs %zu at each end",
			d->nruns[BASE], d->nruns[NEW], verdict_runs_needed(&c->c.rule, 1));
		return;
	}
	diff_chart_count_tests(&c->cd, &tests, &changed);
	figure_remark(
		f,
		"%zu of %zu tests found a change (Mann-Whitney over the runs, corrected by permutations)",
		changed, tests);
}

static void diff_chart_captions(struct diff_chart *c, struct figure *f)
{
	if (c->abroad && c->evidence.len)
		figure_doubt(f, "%s", c->evidence.buf);
	else if (!c->abroad)
		copied_caption(c->d, f, c->cd.side);
	diff_chart_caption_tests(c, f);
	if (c->c.rule.apart)
		figure_doubt(
			f,
			"The runs of the two ends did not take turns: a drift of the machine looks like a change%s",
			c->c.rule.drifts ? "; the runs of an end drift" : "");
	if (c->cd.d.never_idle[BASE] != c->cd.d.never_idle[NEW])
		note_add(&c->notes.notes, basis_mixed,
			 c->c.end[c->cd.d.never_idle[BASE] ? BASE : NEW].label);
	drawing_add_notes(c->d, &c->notes);
	chart_end(c->d, f);
}

static void diff_chart_add_legend(const struct diff_chart *c, struct figure *f)
{
	figure_part(f, "cheaper", palette_change(-1));
	figure_part(f, "a fifth cheaper", palette_change(-0.2));
	figure_part(f, "costlier", palette_change(1));
	figure_part(f, "a fifth costlier", palette_change(0.2));
	if (!ends_are_files(&c->cd)) {
		figure_part(f, "neither better nor worse", SAME);
		figure_part(f, "not tested", UNTESTED);
	}
	flame_add_contexts(f, &c->cd.tree);
}

/* --- the table --- */

static void diff_chart_add_row(struct table *t, const struct diff_chart *c, int of, uint32_t i)
{
	const struct call_change *x = &c->cd.changes[of][i];
	double delta = x->cost[NEW] - x->cost[BASE];
	struct value *row;

	if (!(x->cost[BASE] > 0 || x->cost[NEW] > 0))
		return;
	row = table_row(t);
	flame_set_frame(t, row, 1, &c->cd.tree, i);
	table_set(t, row, "region", value_str(t, region_names[of]));
	table_set(t, row, "base_ns", value_real(x->cost[BASE]));
	table_set(t, row, "new_ns", value_real(x->cost[NEW]));
	table_set(t, row, "delta_ns",
		  x->row ? value_half(t, delta, x->row->delta_ci) : value_real(delta));
	if (!x->row)
		return;
	table_set(t, row, "verdict", value_str(t, verdict_name(x->row->verdict)));
	table_set(t, row, "p", value_real(diff_p(x->row)));
}

static int diff_chart_write_tsv(const struct diff_chart *c, const struct figure *f, const char *dir,
				struct error *err)
{
	static const struct column columns[] = {
		{"frame", .type = V_INT},
		{"parent", .type = V_INT},
		{"region", .type = V_STR},
		{"symbol", .type = V_STR},
		{"dso", .type = V_STR},
		{"component", .type = V_STR},
		{"context", .type = V_STR},
		{"base_ns", .type = V_REAL, .digits = 4},
		{"new_ns", .type = V_REAL, .digits = 4},
		{"delta_ns", .type = V_REAL, .digits = 4, .spread = SPREAD_HALF, .stem = "delta"},
		{"verdict", .type = V_STR},
		{"p", .type = V_REAL, .digits = 4},
	};
	freed(table_free) struct table t = {0};

	table_init(&t, f->name, columns, (int)array_size(columns));
	for (int of = 0; of < REGIONS; of++)
		for (uint32_t i = 0; i < c->cd.tree.nframes; i++)
			diff_chart_add_row(&t, c, of, i);
	return figure_write_table(&t, dir, err);
}

/* --- a picture --- */

/* The foot note counts the profiled runs of these two ends, not those of the capture. */
static void diff_chart_foot(struct diff_chart *c, struct figure *f)
{
	const struct run_counts all = c->d->facts.profiled;
	int base = c->cd.part[BASE].nruns, new = c->cd.part[NEW].nruns;

	c->d->facts.profiled =
		(struct run_counts){base < new ? base : new, base < new ? new : base};
	drawing_foot(c->d, f, FROM_POOLED);
	c->d->facts.profiled = all;
}

static int diff_chart_set_texts(struct diff_chart *c, struct error *err)
{
	struct flame *fl = &c->graph;
	struct figure *f = &c->figure;

	fl->icicle = c->d->icicle;
	fl->differs = true;
	for (int e = 0; e < ENDS; e++)
		fl->ends[e] =
			label_fit(&fl->arena, label_clean(&fl->arena, c->c.end[e].label), 15, 200);
	c->shares = !strcmp(c->cd.unit, CALL_SHARES);
	fl->unit = c->shares ? CALL_SHARES
			     : label_clean(&fl->arena,
					   arena_printf(&fl->arena, "ns per %s", c->cd.unit));
	f->name = flame_file_name(f,
				  (const char *const[]){f->name, c->c.end[BASE].label,
							c->c.end[NEW].label, c->cd.side},
				  4);
	diff_chart_title(c, f);
	diff_chart_subtitle(c, f);
	diff_chart_captions(c, f);
	diff_chart_add_legend(c, f);
	diff_chart_foot(c, f);
	return compare_failed(&c->c, err);
}

/* Opens NEW, and for its sake BASE again, where NEW is a variant of another capture or a file. */
static int diff_chart_open_abroad(struct diff_chart *c, const char *new, struct error *err)
{
	const struct drawing *d = c->d;
	autofree char *base = d->store ? xasprintf("%s:%s", d->path, d->base) : xstrdup(d->path);
	int rc = compare_open(&c->c, NULL, base, new, err);

	if (!rc && !c->c.end[BASE].bare != !c->c.end[NEW].bare)
		rc = error_set(err, EINVAL, "%s is %s, and %s is %s", c->c.end[BASE].label,
			       d->store ? "a capture" : "a file", new,
			       d->store ? "a file" : "a capture");
	else if (!rc)
		rc = compare_pair_sides(&c->c, err);
	return rc;
}

static int diff_chart_open(struct diff_chart *c, const char *new, struct error *err)
{
	struct drawing *d = c->d;
	const char *const ends[ENDS] = {d->base, new};
	struct query q = d->query;

	q.side = d->side;
	facts_comparison(&c->c, d->store, ends, &q);
	c->c.slice = d->slice;
	for (int e = 0; e < ENDS; e++) {
		c->c.work[e] = q.work;
		if (q.nrates > e)
			c->c.work[e].rate = q.rates[e];
	}
	c->abroad = !d->store || drawing_place(d, new) < 0;
	return c->abroad ? diff_chart_open_abroad(c, new, err) : 0;
}

static int diff_chart_draw(struct diff_chart *c, const char *new, const char *dir,
			   struct error *err)
{
	int rc = diff_chart_open(c, new, err);

	table_init(&c->notes, "functions", NULL, 0);
	rc = rc ?: facts_compare_prepare(&c->c, &c->evidence, err);
	rc = rc ?: call_diff_read(&c->cd, &c->c, c->d->reverse, &c->notes, err);
	rc = rc ?: diff_chart_set_texts(c, err);
	if (!rc) {
		diff_chart_add_frames(c, &c->graph);
		rc = flame_write(&c->graph, &c->figure, dir, err);
	}
	if (!rc && !c->d->most_graphs)
		rc = diff_chart_write_tsv(c, &c->figure, dir, err);
	return c->abroad ? compare_close(&c->c, rc, err) : rc;
}

/* Draws the picture of the i-th pair, and names its new end. */
static int flame_diff_draw_pair(struct drawing *d, const void *unused, int i, const char *dir,
				const char **name, struct error *err)
{
	const char *new = drawing_variant(d, i + 1);
	struct diff_chart c = {.d = d};
	const struct drawing before = *d;
	int rc;

	(void)unused;
	*name = new;
	chart_begin(&chart_flame_diff, d, &c.figure);
	d->news = &new;
	d->nnews = 1;
	rc = diff_chart_draw(&c, new, dir, err);
	d->news = before.news;
	d->nnews = before.nnews;
	call_diff_free(&c.cd);
	table_free(&c.notes);
	str_free(&c.evidence);
	flame_free(&c.graph);
	figure_free(&c.figure);
	return rc;
}

static int flame_diff_write(struct drawing *d, const char *dir, int *written, struct error *err)
{
	int n = 0;

	d->chart = &chart_flame_diff;
	while (drawing_variant(d, n + 1))
		n++;
	if (!n)
		return error_set(err, ENODATA, "there is no second %s",
				 d->store ? "variant to compare with"
					  : "perf.data: name it with --new");
	return flame_draw_all(d, dir, n, flame_diff_draw_pair, NULL, written, err);
}

const struct chart chart_flame_diff = {
	.name = "flame-diff",
	.what = "call chains, base against each other variant, interactive",
	.sources = {"functions"},
	.options = {[SOURCE_CAPTURE] = CHART_OPTIONS CHART_RUNS FLAME_OPTIONS "side event ",
		    [SOURCE_PERF] =
			    "new from to " FLAME_OPTIONS "event rate units seconds busy-ns "},
	.flags = CHART_TWO_CAPTURES | CHART_OF_RECEIVER | CHART_COSTS,
	.most = 1000,
	.write = flame_diff_write,
};
