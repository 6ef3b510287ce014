// SPDX-License-Identifier: GPL-2.0-only
/* The list of charts, and what all charts share: tables and their notes, bars, sides, captions. */
#include "plot/chart.h"

#include "lib/file.h"

#include <errno.h>

// clang-format off
#define CHARTS(row) \
	row(throughput) \
	row(cpu) \
	row(components) \
	row(functions) \
	row(functions_sender) \
	row(waterfall) \
	row(waterfall_sender) \
	row(syscalls) \
	row(timeline) \
	row(sweep) \
	row(sizes) \
	row(latency) \
	row(path) \
	row(idle) \
	row(counters) \
	row(roi_c) \
	row(roi_p) \
	row(flame) \
	row(flame_diff)
// clang-format on

#define DECLARATION(name) extern const struct chart chart_##name;
#define ADDRESS(name)	  &chart_##name,

CHARTS(DECLARATION)
static const struct chart *const charts[] = {CHARTS(ADDRESS)};

const struct chart *chart_at(size_t i)
{
	return i < array_size(charts) ? charts[i] : NULL;
}

const struct chart *chart_find(const char *name)
{
	for (size_t i = 0; i < array_size(charts); i++)
		if (!strcmp(charts[i]->name, name))
			return charts[i];
	return NULL;
}

/* Returns whether the note is about a collector that the table is made from. */
static bool note_concerns(const struct table *t, const struct note *note)
{
	const struct measure *m = measure_find(t->name);
	const char *collector = note_collector(note);

	return !collector || !m || !m->collectors || str_matches_any(m->collectors, collector);
}

static bool note_text_is(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

bool notes_have_kind(const struct notes *list, enum note_id id)
{
	return array_find(note, list->note, list->n, note_is(note, id));
}

bool notes_have_note(const struct notes *list, const struct note *note)
{
	for (size_t i = 0; i < list->n; i++) {
		const struct note *had = &list->note[i];

		if (had->repeat == note->repeat && notes_equal(had, note) &&
		    note_text_is(had->variant, note->variant) &&
		    note_text_is(had->side, note->side) && note_text_is(had->pass, note->pass))
			return true;
	}
	return false;
}

/* Keeps a loss or weighty doubt about a variant and side of the chart. */
static void drawing_add_doubt(struct drawing *d, const struct note *n)
{
	const char *side = drawing_only_side(d), *collector = note_collector(n);
	bool of_cpus = collector && !strcmp(collector, "cpu");

	if (n->severity != SEVERITY_LOSSY && !note_brief(n) && !note_is(n, NOTE_cpu_others) &&
	    !note_is(n, NOTE_windows_apart))
		return;
	if (of_cpus && d->chart && d->chart->flags & CHART_OWN)
		return;
	if ((!n->variant || drawing_has(d, n->variant)) &&
	    (!side || !n->side || !strcmp(side, n->side)) && !notes_have_note(&d->doubts, n))
		notes_copy(&d->doubts, n);
}

/* Reads every row. Unresolved addresses are one row: single ones mean nothing to an audience. */
static int drawing_read_table(const struct drawing *d, const char *name, const char *side,
			      struct table *t, struct error *err)
{
	enum { PARTS = 4800 }; /* the parts of a long series; a chart draws fewer */
	const struct measure *m = measure_find(name);
	struct query q = d->query;

	q.limit = LONG_MAX;
	q.drawn = d->chart ? d->chart->drawn : NULL;
	q.parts = PARTS;
	q.figures_only = true;
	q.side = side;
	if (m && m->flags & MEASURE_COSTS)
		q.by = "variant,side";
	return d->source->table(d->source, name, &q, t, err);
}

void drawing_add_notes(struct drawing *d, const struct table *t)
{
	d->lossy |= t->lossy && !notes_have(&t->notes, SEVERITY_LOSSY);
	for (size_t i = 0; i < t->notes.n; i++) {
		const struct note *n = &t->notes.note[i];

		if (!note_is_doubt(n) || !note_concerns(t, n))
			continue;
		d->lossy |= n->severity == SEVERITY_LOSSY;
		drawing_add_doubt(d, n);
	}
}

/* Gives the table of the drawing and returns true, or adds an empty one. */
static bool drawing_has_table(struct drawing *d, const char *variant, const char *name,
			      const char *side, struct drawing_table **t)
{
	for (size_t i = 0; i < d->ntables; i++) {
		*t = d->tables[i];
		if (note_text_is((*t)->variant, variant) && !strcmp((*t)->name, name) &&
		    note_text_is((*t)->side, side))
			return true;
	}
	*t = xcalloc(1, sizeof(**t));
	**t = (struct drawing_table){
		.variant = variant ? arena_strdup(&d->arena, variant) : NULL,
		.name = arena_strdup(&d->arena, name),
		.side = side ? arena_strdup(&d->arena, side) : NULL,
	};
	array_add(d->tables, d->ntables, d->tables_cap, *t);
	return false;
}

void drawing_lend_metrics(struct drawing *d, const char *variant, const struct table *t)
{
	struct drawing_table *new;

	if (drawing_has_table(d, variant, "metrics", d->side, &new))
		return;
	new->table = *t;
	new->lent = true;
}

/* Gives the table, which only the first call reads. */
static int drawing_add_table(struct drawing *d, const char *name, bool of_side,
			     const struct table **t, struct error *err)
{
	const char *side = of_side ? d->side : NULL;
	struct drawing_table *new;

	if (!d->source->table)
		return error_set(err, ENODATA, "a perf.data has no table %s", name);
	if (!drawing_has_table(d, NULL, name, side, &new))
		new->rc = drawing_read_table(d, name, side, &new->table, &new->why);
	*t = &new->table;
	if (new->rc)
		*err = new->why;
	return new->rc;
}

int drawing_table(struct drawing *d, int i, const struct table **t, struct error *err)
{
	bool of_side = d->side && !(d->chart->flags & CHART_OF_TRANSFER);
	int rc = drawing_add_table(d, d->chart->sources[i], of_side, t, err);

	if (!rc && !i)
		drawing_add_notes(d, *t);
	return rc;
}

int drawing_prepare(struct drawing *d, struct error *err)
{
	struct error ignored = {0};
	int rc;

	if (d->query.estimator)
		d->facts.estimator = d->query.estimator;
	if (!d->base && d->facts.nvariants)
		d->base = d->facts.variants[0];
	if (!d->base)
		return error_set(err, ENODATA, "the capture has no complete run of any variant");
	rc = scope_check_name(d->store, "variant", d->base, false, d->facts.variants,
			      d->facts.nvariants, err);
	for (int i = 0; i < d->nnews && !rc; i++)
		if (!d->two_captures || (!strchr(d->news[i], ':') && !path_exists(d->news[i])))
			rc = scope_check_name(d->store, "variant", d->news[i], false,
					      d->facts.variants, d->facts.nvariants, err);
	if (rc)
		return rc;
	drawing_read_table(d, "runs", d->query.side, &d->runs, &ignored);
	/* A caption names the variants without evidence; that is no reason not to draw. */
	rc = drawing_read_table(d, "zerocopy", NULL, &d->zerocopy, &ignored);
	if (!rc)
		drawing_add_notes(d, &d->zerocopy);
	return rc == -ENOMEM ? rc : 0;
}

void drawing_free(struct drawing *d)
{
	for (size_t i = 0; i < d->ntables; i++) {
		if (!d->tables[i]->lent)
			table_free(&d->tables[i]->table);
		free(d->tables[i]);
	}
	free(d->tables);
	notes_free(&d->doubts);
	table_free(&d->zerocopy);
	table_free(&d->runs);
	arena_free(&d->facts.arena);
	arena_free(&d->arena);
}

/* Compares the i-th variant with its base. Gives NULL where these ends do not compare. */
static const struct table *drawing_compare(struct drawing *d, int i, const char *name,
					   const char *side)
{
	const char *ends[ENDS] = {drawing_variant(d, drawing_base_of(d, i)), drawing_variant(d, i)};
	struct query q = d->query;
	struct outcome ignored = {0};
	struct drawing_table *new;

	if (!d->source->compare)
		return NULL;
	q.side = side;
	/* A chart is drawn all the same: its title then claims nothing. */
	if (!drawing_has_table(d, ends[NEW], name, side, &new) &&
	    d->source->compare(d->source, name, ends, &q, &new->table, &ignored, &new->why)) {
		table_free(&new->table);
		new->table = (struct table){0};
	}
	return &new->table;
}

double drawing_claim(struct drawing *d, int i, const char *table, const char *side,
		     const char *row_name, double base, double new)
{
	bool metrics = !strcmp(table, "metrics");
	const struct table *t = drawing_compare(d, i, table, metrics ? drawing_only_side(d) : side);
	const char *verdict = "";

	for (size_t row = 0; t && row < t->rows && !*verdict; row++)
		if (metrics) {
			const struct metrics_row *r = &table_structs(t, struct metrics_row)[row];

			if (!strcmp(r->metric, row_name) && !strcmp(r->side, side))
				verdict = r->verdict;
		} else {
			const struct costs_row *r = &table_structs(t, struct costs_row)[row];

			if (!strcmp(r->key, row_name))
				verdict = r->verdict;
		}
	if (strcmp(verdict, verdict_name(VERDICT_WORSE)) &&
	    (strcmp(verdict, verdict_name(VERDICT_BETTER)) ||
	     copied_state(&d->zerocopy, drawing_variant(d, i), drawing_copied_side(d)) !=
		     COPIED_NONE))
		return 0;
	return base > 0 ? new / base : 0;
}

int drawing_bar(const struct drawing *d, struct figure *f, const char *variant)
{
	int bar = figure_bar(f, variant, drawing_color(d, variant));

	f->bars.mark[bar].label = drawing_label(d, f, variant);
	return bar;
}

void drawing_bars(const struct drawing *d, struct figure *f)
{
	const char *v;

	for (int i = 0; (v = drawing_variant(d, i)); i++)
		drawing_bar(d, f, v);
}

size_t drawing_most_groups(const struct drawing *d, const struct figure *f)
{
	enum { BARS = 24, LEAST = 4, MOST = 10, PANELS = 8 };
	size_t n = f->bars.n ? BARS / (size_t)f->bars.n : MOST;

	if (d->query.limit > 0)
		return (size_t)d->query.limit;
	return figure_has_many(f) ? PANELS : n > MOST ? MOST : n < LEAST ? LEAST : n;
}

const char *drawing_whose(const struct drawing *d, struct figure *f, const char *side)
{
	bool named = strcmp(drawing_role(d, side), side) != 0;

	return *side ? arena_printf(&f->arena, "%s%s's", named ? "" : "the ", side) : "the";
}

const char *drawing_role(const struct drawing *d, const char *side)
{
	for (int i = 0; i < d->facts.nsides; i++)
		if (!strcmp(d->facts.sides[i].name, side))
			return d->facts.sides[i].role;
	return side;
}

const char *drawing_side_with(const struct drawing *d, const char *role)
{
	for (int i = 0; i < d->facts.nsides; i++)
		if (!strcmp(d->facts.sides[i].role, role))
			return d->facts.sides[i].name;
	return role;
}

const char *drawing_only_side(const struct drawing *d)
{
	const char *role = d->chart ? d->chart->side : NULL;

	return role && !d->side ? drawing_side_with(d, role) : d->side;
}

const char *drawing_copied_side(const struct drawing *d)
{
	unsigned int flags = d->chart ? d->chart->flags : CHART_OF_TRANSFER;
	const char *side = flags & CHART_OF_TRANSFER ? NULL : drawing_only_side(d);

	if (!side && flags & CHART_OF_RECEIVER)
		side = drawing_side_with(d, "receiver");
	return side && strcmp(side, SIDE_TOTAL) != 0 ? side : NULL;
}

int drawing_side_place(const struct drawing *d, const char *side)
{
	static const char *const roles[] = {"receiver", "proxy", "sender"};
	int i = str_index(roles, array_size(roles), drawing_role(d, side));

	return i >= 0 ? i : strcmp(side, SIDE_TOTAL) ? (int)array_size(roles) : TOTAL_PLACE;
}

void drawing_sides(const struct drawing *d, struct figure *f, const struct table *t)
{
	int i;

	f->group_word = "side";
	drawing_bars(d, f);
	for (i = 0; i <= TOTAL_PLACE; i++)
		for (size_t row = 0; row < t->rows; row++) {
			const char *side = row_block(t, row)->side;

			if (drawing_side_place(d, side) == i &&
			    figure_find_mark(&f->groups, side) < 0)
				figure_group(f, side);
		}
}

void drawing_put_sides(const struct drawing *d, struct figure *f, const struct table *t,
		       enum figure_id id, bool sources)
{
	drawing_sides(d, f, t);
	for (int g = 0; g < f->groups.n; g++)
		for (int b = 0; b < f->bars.n; b++) {
			const char *variant = f->bars.mark[b].name, *side = f->groups.mark[g].name;
			struct estimate e = row_figure(t, variant, side, id);
			long at = row_find(t, 0, variant, side);

			if (!isnan(e.value))
				figure_put_noted(f, g, b, e,
						 sources ? table_structs(t, struct figure_row)[at]
								   .power_source
							 : "");
		}
}

const char *drawing_estimator(const struct drawing *d)
{
	return d->facts.estimator ? d->facts.estimator : "median";
}

/* Adds the doubts of the tables, the weightiest first, and the work of other programs: only the
 * measured runs have the busy time of the side's CPUs. */
static void drawing_add_doubts(struct drawing *d, struct figure *f)
{
	struct error ignored = {0};
	freed(note_lines_free) struct note_lines lines;
	const struct table *t;

	if (!(d->chart->flags & CHART_OWN) && !drawing_add_table(d, "cpu", d->side, &t, &ignored))
		for (size_t i = 0; i < t->notes.n; i++)
			if (note_is(&t->notes.note[i], NOTE_cpu_others))
				drawing_add_doubt(d, &t->notes.note[i]);
	note_lines_make(&lines, &d->doubts);
	for (size_t i = 0; i < lines.n; i++)
		figure_doubt(f, "%s", lines.line[i].brief);
	if (f->doubts > 1)
		f->doubt = figure_text(f, "%s; %d more%s", f->doubt, f->doubts - 1,
				       d->query.bare.profile ? "" : ": zcost report notes");
}

void chart_begin(const struct chart *c, struct drawing *d, struct figure *f)
{
	figure_init(f, c->name);
	d->chart = c;
	notes_free(&d->doubts);
}

/* Returns the kind of the workload's own cost with this name, or NULL. */
static const struct figure_kind *own_cost_find(const char *name)
{
	for (enum figure_id id = 0; id < FIGURES; id++)
		if (figure_kinds[id].whole && !strcmp(figure_kinds[id].name, name))
			return &figure_kinds[id];
	return NULL;
}

/* Claims the largest change of the workload's own cost. Table metrics has that cost only where
 * other programs took too much of the CPUs for a verdict on whole CPUs. */
static void drawing_claim_own_cost(struct drawing *d, struct figure *f)
{
	const char *only = drawing_copied_side(d), *name;
	const struct figure_kind *own;
	const struct table *t;
	double best = 0, ratio;

	for (int i = 1; (name = drawing_variant(d, i)); i++) {
		t = drawing_compare(d, i, "metrics", drawing_only_side(d));
		for (size_t row = 0; t && row < t->rows; row++) {
			const struct metrics_row *r = &table_structs(t, struct metrics_row)[row];

			own = only && strcmp(r->side, only) ? NULL : own_cost_find(r->metric);
			ratio = own ? drawing_claim(d, i, "metrics", r->side, r->metric, r->base,
						    r->new)
				    : 0;
			if (ratio <= 0 || fabs(log(ratio)) <= best)
				continue;
			best = fabs(log(ratio));
			f->title = figure_text(
				f,
				"%s against %s, %s: the workload's own cost %.*f → %.*f ns per %s",
				drawing_title(d, f, name),
				drawing_title(d, f, drawing_variant(d, drawing_base_of(d, i))),
				r->side, claim_places(r->base), r->base, claim_places(r->new),
				r->new, own->per);
		}
	}
	if (best > 0)
		f->subtitle =
			figure_text(f, "%s; the picture includes other programs", f->subtitle);
}

void chart_end(struct drawing *d, struct figure *f)
{
	drawing_caption_left_out(d, f);
	drawing_add_doubts(d, f);
	if (d->chart->flags & CHART_COSTS && notes_have_kind(&d->doubts, NOTE_cpu_others))
		drawing_claim_own_cost(d, f);
}

int chart_draw(const struct chart *c, struct drawing *d, struct figure *f, struct error *err)
{
	const struct table *t;
	freed(str_free) struct str packets = {0};
	int rc;

	chart_begin(c, d, f);
	if (c->side && d->side && strcmp(c->side, drawing_role(d, d->side)))
		return error_set(err, ENODATA, "it is the %s's, and --side is %s", c->side,
				 d->side);
	copied_caption(d, f, drawing_copied_side(d));
	rc = drawing_table(d, 0, &t, err);
	rc = rc ?: c->draw(d, f, t, err);
	figure_choose_rows(f);
	if (!rc && d->store)
		work_print_packets(&packets, d->store, &d->query);
	if (packets.len)
		figure_remark(f, "%s", packets.buf);
	chart_end(d, f);
	rc = rc ?: store_failed(d->store, err);
	if (!rc && !f->ndata && !f->curves)
		return error_set(err, ENODATA, "no variant has these figures");
	return rc;
}
