// SPDX-License-Identifier: GPL-2.0-only
/*
 * Flame graphs: where the cost of a unit of work goes, call chain by call chain. Each variant and
 * side is a picture. Costs are those of table `functions`.
 */
#include "plot/flame.h"

#include "analyze/scope/scope.h"
#include "lib/file.h"
#include "plot/label.h"
#include "plot/palette.h"

#include <ctype.h>
#include <errno.h>

const struct chart chart_flame;

enum { WORD_MOST = 70 }; /* bytes of a name in a file's name, which has 255 */
#define FLAME_WAIT	"on the way to a wait"
#define LEGEND_LEAST	0.001 /* share of the narrowest frame with a colour in the legend */
#define UNRESOLVED_MOST 0.05  /* share of unresolved addresses that needs no caption */

/* Cleans a string that `known` does not have at its address. Most labels share an object. */
static const char *flame_clean(struct flame *fl, struct map *known, const char *s)
{
	uint64_t *at = map_at(known, (uintptr_t)s);

	if (!*at)
		*at = (uintptr_t)label_clean(&fl->arena, s);
	return (const char *)(uintptr_t)*at;
}

uint32_t *flame_add_labels(struct flame *fl, const struct call_tree *tree)
{
	uint32_t *places = xcalloc(tree->nlabels + 1, sizeof(*places));
	freed(map_free) struct map known = {0};

	for (size_t i = 0; i < tree->nlabels; i++) {
		const struct call_label *l = &tree->labels[i];

		places[i] = flame_label(
			fl,
			(struct flame_label){
				flame_clean(fl, &known, l->symbol), flame_clean(fl, &known, l->dso),
				flame_clean(fl, &known, l->component), l->context, l->begins,
				l->command ? FLAME_COMMAND : palette_part(l->component)});
	}
	return places;
}

uint32_t flame_add_named(struct flame *fl, uint32_t parent, const char *name, uint32_t rgb,
			 double width)
{
	struct flame_label label = {label_clean(&fl->arena, name), "", "", CTX_UNKNOWN, false, rgb};

	return flame_add(fl, parent, flame_label(fl, label), width);
}

/* Adds a command's frame above `root`, or widens the one of the same name that is there. */
static uint32_t flame_add_command(struct flame *fl, uint32_t root, uint32_t label, double width)
{
	for (size_t i = 1; i < fl->nframes; i++)
		if (fl->frames[i].parent == root &&
		    !strcmp(fl->labels[fl->frames[i].label].name, fl->labels[label].name)) {
			fl->frames[i].width += width;
			fl->frames[i].cost[0] += width;
			return (uint32_t)i;
		}
	return flame_add(fl, root, label, width);
}

uint32_t *flame_add_tree(struct flame *fl, const struct call_tree *tree, const uint32_t *labels,
			 uint32_t root, const double *width)
{
	uint32_t *places = xcalloc(tree->nframes + 1, sizeof(*places));

	for (size_t i = 0; i < tree->nframes; i++) {
		uint32_t parent = tree->frames[i].parent;

		if (!(width[i] > 0))
			continue;
		places[i] = parent == CALL_NONE
				    ? flame_add_command(fl, root, labels[tree->frames[i].label],
							width[i])
				    : flame_add(fl, places[parent], labels[tree->frames[i].label],
						width[i]);
	}
	return places;
}

const char *flame_file_name(struct figure *f, const char *const words[], size_t n)
{
	freed(str_free) struct str s = {0};

	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(words[i]);

		if (len)
			str_printf(&s, "%s%.*s", s.len ? "_" : "", WORD_MOST, words[i]);
		if (len > WORD_MOST)
			str_printf(&s, "-%08x", (uint32_t)hash_bytes(words[i], len, 0));
	}
	for (char *at = s.buf; at && *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("+-_.,=", *at))
			*at = '_';
	return arena_strdup(&f->arena, s.buf ? s.buf : "");
}

void flame_add_contexts(struct figure *f, const struct call_tree *tree)
{
	static const enum context marked[] = {CTX_SYSCALL, CTX_SOFTIRQ, CTX_SOFTIRQ_IN_SYSCALL,
					      CTX_HARDIRQ, CTX_EXCEPTION};

	for (size_t k = 0; k < array_size(marked); k++)
		for (size_t i = 0; i < tree->nlabels; i++)
			if (tree->labels[i].begins && tree->labels[i].context == marked[k]) {
				const char *name = context_names[marked[k]];
				int at = figure_group(f, figure_text(f, "%s begins", name));

				f->groups.mark[at].rgb = palette_part(name);
				break;
			}
}

/* --- one picture --- */

/*
 * Call chains of a picture. That of the wall time has two layers if the workload was profiled: the
 * profile of its threads on a CPU, and their waits.
 */
struct flame_layer {
	struct call_tree tree;
	struct cost_part part;
	double *totals; /* by frame */
	double per;	/* cost of a unit of weight, or percent */
	double all;	/* cost of all frames, or percent */
};

struct flame_chart {
	struct flame graph;
	struct figure figure;
	struct drawing *d;
	struct flame_layer main, profile; /* profile: without totals unless the wall has two */
	struct table notes;
	double all;
	bool costs; /* the cost of a unit of work is known */
	const char *variant, *side;
};

static int flame_layer_read(struct flame_layer *l, struct flame_chart *c, const struct query *q,
			    const struct block *b, struct error *err)
{
	int rc;

	call_tree_init(&l->tree, c->d->reverse);
	l->tree.waits = c->profile.all > 0;
	rc = call_tree_read(&l->tree, c->d->store, q, b, &l->part, &c->notes, err);
	if (rc)
		return rc;
	l->totals = call_tree_totals(&l->tree, 0, l->tree.nruns);
	l->per = (isnan(l->part.basis.ns) ? 100 : l->part.basis.ns) / l->part.tally.weight;
	for (size_t i = 0; i < l->tree.nframes; i++)
		if (l->tree.frames[i].parent == CALL_NONE)
			l->all += l->totals[i] * l->per;
	return 0;
}

static void flame_layer_free(struct flame_layer *l)
{
	call_tree_free(&l->tree);
	cost_part_free(&l->part);
	free(l->totals);
	*l = (struct flame_layer){0};
}

/* Reads the profile of the workload's threads, for the wall time. Without a cost it is no layer. */
static int flame_chart_read_profile(struct flame_chart *c, const struct block *b, struct error *err)
{
	struct query q = c->d->query;
	struct error none = {0};
	int rc;

	q.event = NULL;
	q.workload_only = true;
	rc = flame_layer_read(&c->profile, c, &q, b, &none);
	if (error_of_machine(none.code))
		return error_set(err, none.code, "%s", none.text);
	if (rc || isnan(c->profile.part.basis.ns) || !(c->profile.all > 0))
		flame_layer_free(&c->profile);
	return 0;
}

/* The wall time is that of the traced runs. The profile divides its part on a CPU. */
static void flame_chart_fit_profile(struct flame_chart *c)
{
	const struct tally *waits = &c->main.part.tally;
	double on_cpu = -c->main.all;

	for (size_t i = 0; i < waits->n; i++)
		on_cpu += waits->rows[i].self * c->main.per;
	on_cpu = on_cpu > 0 ? on_cpu : 0;
	c->profile.per *= on_cpu / c->profile.all;
	c->profile.all = on_cpu;
}

static int flame_chart_read(struct flame_chart *c, const struct block *b, struct error *err)
{
	struct drawing *d = c->d;
	const struct block file = {0};
	freed(str_free) struct str why = {0};
	int rc = 0;

	table_init(&c->notes, "functions", NULL, 0);
	if (query_of_wall(&d->query) && b)
		rc = flame_chart_read_profile(c, b, err);
	rc = rc ?: flame_layer_read(&c->main, c, &d->query, b ? b : &file, err);
	if (rc)
		return rc;
	c->costs = !isnan(c->main.part.basis.ns);
	if (c->profile.all > 0)
		flame_chart_fit_profile(c);
	c->all = c->main.all + c->profile.all;
	if (c->main.all > 0)
		return 0;
	if (c->main.part.tally.samples && d->query.comm)
		str_printf(&why, "no sample matches --comm %s", d->query.comm);
	else
		cost_print_absence(&c->main.part, &why);
	return error_set(err, ENODATA, "%s %s: %s", c->variant, c->side, why.buf);
}

static void flame_chart_free(struct flame_chart *c)
{
	flame_layer_free(&c->main);
	flame_layer_free(&c->profile);
	table_free(&c->notes);
	flame_free(&c->graph);
	figure_free(&c->figure);
}

/*
 * Returns the part that colours a label. Frames of a wait are pale, whatever they do, unless they
 * are its tip.
 */
static const char *flame_wait_part(const struct flame_layer *l, size_t label)
{
	const struct call_label *of = &l->tree.labels[label];

	return l->tree.waits && !of->command && of->context != CTX_RUN_QUEUE &&
			       of->context != CTX_BLOCKED
		       ? FLAME_WAIT
		       : of->component;
}

/* --- its texts --- */

static int order_parts(const void *a, const void *b)
{
	return palette_order(*(const char *const *)a) - palette_order(*(const char *const *)b);
}

/* Adds the components of a layer's frames that are wide enough to see to the names. */
static void flame_layer_add_names(const struct flame_chart *c, const struct flame_layer *l,
				  const char **names, size_t *n)
{
	for (size_t i = 0; i < l->tree.nframes; i++) {
		const char *name = flame_wait_part(l, l->tree.frames[i].label);

		if (l->totals[i] * l->per < LEGEND_LEAST * c->all)
			continue;
		if (*name && str_index(names, *n, name) < 0)
			names[(*n)++] = name;
	}
}

static void flame_chart_add_legend(const struct flame_chart *c, struct figure *f)
{
	autofree const char **names =
		xcalloc(c->main.tree.nlabels + c->profile.tree.nlabels + 1, sizeof(*names));
	size_t n = 0;

	flame_layer_add_names(c, &c->profile, names, &n);
	flame_layer_add_names(c, &c->main, names, &n);
	qsort(names, n, sizeof(*names), order_parts);
	for (size_t i = 0; i < n; i++)
		figure_part(f, names[i], palette_part(names[i]));
	flame_add_contexts(f, c->profile.totals ? &c->profile.tree : &c->main.tree);
}

static void flame_chart_title(const struct flame_chart *c, struct figure *f)
{
	const struct cost_part *part = &c->main.part;
	double sum = c->all, whole = part->tally.weight * c->main.per;
	const char *name = label_fit(&f->arena, label_clean(&f->arena, c->variant), 35, 520);
	const char *of = "";

	if (!c->costs) {
		f->title = figure_text(f, "Where %s time goes: %s", drawing_whose(c->d, f, c->side),
				       name);
		return;
	}
	if (sum < 0.9995 * whole && !c->profile.totals)
		of = figure_text(f, " (of %.*f)", claim_places(whole) + 1, whole);
	f->title = figure_text(f, "Where %s %.*f ns%s per %s go%s: %s",
			       drawing_whose(c->d, f, c->side), claim_places(sum) + 1, sum,
			       query_of_wall(&c->d->query) ? " of wall time" : "", part->basis.unit,
			       of, name);
}

static void flame_chart_subtitle(const struct flame_chart *c, struct figure *f)
{
	const struct chart_facts *facts = &c->d->facts;
	const struct cost_part *part = &c->main.part;
	freed(str_free) struct str s = {0};

	if (c->profile.totals)
		str_printf(&s, "n = %d profiled and %d traced run%s · ", c->profile.part.nruns,
			   part->nruns, part->nruns == 1 ? "" : "s");
	else if (c->d->store)
		str_printf(&s, "n = %d %s run%s · ", part->nruns,
			   query_of_wall(&c->d->query) ? "traced" : "profiled",
			   part->nruns == 1 ? "" : "s");
	if (!query_of_wall(&c->d->query))
		str_printf(&s, "%llu samples of %s · ", (unsigned long long)part->tally.samples,
			   part->tally.event ? part->tally.event : "?");
	if (facts->kernel)
		str_printf(&s, "Linux %s · ", facts->kernel);
	str_printf(&s, "width: %s",
		   c->d->reverse ? "cost of a function alone, divided by its callers"
				 : "cost of a function and all it calls");
	f->subtitle = figure_text(f, "%s", s.buf);
}

/* Returns whether no function has a caller. */
static bool flame_chart_is_flat(const struct flame_chart *c)
{
	const struct call_tree *t = &c->main.tree;

	for (size_t i = 0; i < t->nframes; i++) {
		uint32_t parent = t->frames[i].parent;

		if (parent != CALL_NONE && !t->labels[t->frames[i].label].command &&
		    !t->labels[t->frames[parent].label].command)
			return false;
	}
	return true;
}

static void flame_chart_captions(struct flame_chart *c, struct figure *f)
{
	const struct cost_part *part = &c->main.part;
	const struct tally *t = &part->tally;

	if (!c->costs)
		figure_doubt(f, "The widths are shares of the time, not costs: %s",
			     part->basis.text + (str_starts(part->basis.text, "none: ") ? 6 : 0));
	if (flame_chart_is_flat(c))
		figure_doubt(
			f,
			"The samples have no call chains, so that all functions are on one level; perf record -g records chains");
	if (t->unresolved > UNRESOLVED_MOST * t->weight)
		figure_doubt(f, "%.0f %% of the samples are in addresses without a symbol",
			     100 * t->unresolved / t->weight);
	drawing_add_notes(c->d, &c->notes);
	chart_end(c->d, f);
}

/* --- its files --- */

enum { F_FRAME, F_PARENT, F_SYMBOL, F_DSO, F_COMPONENT, F_CONTEXT, F_SELF, F_TOTAL, F_N };

void flame_set_frame(struct table *t, struct value *row, int64_t first,
		     const struct call_tree *tree, uint32_t i)
{
	const struct call_label *l = &tree->labels[tree->frames[i].label];
	uint32_t parent = tree->frames[i].parent;

	table_set(t, row, "frame", value_int(first + i));
	table_set(t, row, "parent", value_int(parent == CALL_NONE ? 0 : first + parent));
	table_set(t, row, "symbol", value_str(t, l->symbol));
	table_set(t, row, "dso", value_str(t, *l->dso ? l->dso : NULL));
	table_set(t, row, "component", value_str(t, *l->component ? l->component : NULL));
	if (l->context != CTX_UNKNOWN)
		table_set(t, row, "context", value_str(t, context_names[l->context]));
}

/* Adds all frames of a layer behind those of another one, also those that the picture folds. */
static void flame_layer_put_rows(const struct flame_layer *l, struct table *t)
{
	autofree double *self = xcalloc(l->tree.nframes + 1, sizeof(*self));
	const int64_t first = (int64_t)t->rows + 1;
	uint32_t parent;

	for (uint32_t i = 0; i < l->tree.nframes; i++) {
		parent = l->tree.frames[i].parent;
		self[i] += l->totals[i];
		if (parent != CALL_NONE)
			self[parent] -= l->totals[i];
	}
	for (uint32_t i = 0; i < l->tree.nframes; i++) {
		struct value *row = table_row(t);

		flame_set_frame(t, row, first, &l->tree, i);
		row[F_SELF] = value_real(self[i] * l->per);
		row[F_TOTAL] = value_real(l->totals[i] * l->per);
	}
}

static int flame_chart_write_tsv(const struct flame_chart *c, const struct figure *f,
				 const char *dir, struct error *err)
{
	struct column columns[F_N] = {
		[F_FRAME] = {"frame", .type = V_INT},
		[F_PARENT] = {"parent", .type = V_INT},
		[F_SYMBOL] = {"symbol", .type = V_STR},
		[F_DSO] = {"dso", .type = V_STR},
		[F_COMPONENT] = {"component", .type = V_STR},
		[F_CONTEXT] = {"context", .type = V_STR},
		[F_SELF] = {c->costs ? "self_ns" : "self_share", .type = V_REAL, .digits = 4},
		[F_TOTAL] = {c->costs ? "total_ns" : "total_share", .type = V_REAL, .digits = 4},
	};
	freed(table_free) struct table t = {0};

	table_init(&t, f->name, columns, F_N);
	flame_layer_put_rows(&c->profile, &t);
	flame_layer_put_rows(&c->main, &t);
	return figure_write_table(&t, dir, err);
}

static void flame_layer_draw(const struct flame_layer *l, struct flame *fl)
{
	autofree uint32_t *labels = flame_add_labels(fl, &l->tree);
	autofree double *width = xcalloc(l->tree.nframes + 1, sizeof(*width));

	for (size_t i = 0; i < l->tree.nlabels && l->tree.waits; i++)
		if (!l->tree.labels[i].command)
			fl->labels[labels[i]].rgb = palette_part(flame_wait_part(l, i));
	for (size_t i = 0; i < l->tree.nframes; i++)
		width[i] = l->totals[i] * l->per;
	free(flame_add_tree(fl, &l->tree, labels, 0, width));
}

static int flame_chart_write(struct flame_chart *c, const char *dir, struct error *err)
{
	struct flame *fl = &c->graph;
	int rc;

	flame_add_named(fl, FLAME_NONE,
			arena_printf(&fl->arena, "all: %.*f %s", claim_places(c->all) + 1, c->all,
				     fl->unit),
			FLAME_ROOT, c->all);
	flame_layer_draw(&c->profile, fl);
	flame_layer_draw(&c->main, fl);
	rc = flame_write(fl, &c->figure, dir, err);
	return rc || c->d->most_graphs ? rc : flame_chart_write_tsv(c, &c->figure, dir, err);
}

static int flame_chart_set_texts(struct flame_chart *c, struct error *err)
{
	struct flame *fl = &c->graph;
	struct figure *f = &c->figure;

	copied_caption(c->d, f, c->d->side);
	fl->icicle = c->d->icicle;
	fl->unit = !c->costs ? "%"
			     : label_clean(&fl->arena, arena_printf(&fl->arena, "ns per %s",
								    c->main.part.basis.unit));
	f->name = flame_file_name(
		f,
		(const char *const[]){f->name, query_of_wall(&c->d->query) ? WALL_EVENT : "",
				      c->variant, c->side},
		4);
	flame_chart_title(c, f);
	flame_chart_subtitle(c, f);
	flame_chart_captions(c, f);
	flame_chart_add_legend(c, f);
	drawing_foot(c->d, f, FROM_POOLED);
	return store_failed(c->d->store, err);
}

/* Draws the picture of the i-th block, or of the query's perf.data where there are no blocks. */
static int flame_draw_block(struct drawing *d, const void *blocks, int i, const char *dir,
			    const char **name, struct error *err)
{
	const struct block *b = blocks ? (const struct block *)blocks + i : NULL;
	freed(flame_chart_free) struct flame_chart c = {
		.d = d, .variant = b ? b->variant : d->base, .side = b ? b->side : ""};
	const struct drawing before = *d;
	int rc;

	d->base = c.variant;
	d->nnews = 0;
	d->facts.variants = &d->base;
	d->facts.nvariants = 1;
	d->facts.places = NULL;
	d->side = b ? b->side : NULL;
	chart_begin(&chart_flame, d, &c.figure);
	rc = flame_chart_read(&c, b, err);
	d->facts.profiled =
		(struct run_counts){b ? c.main.part.nruns : 0, b ? c.main.part.nruns : 0};
	rc = rc ?: flame_chart_set_texts(&c, err);
	rc = rc ?: flame_chart_write(&c, dir, err);
	d->base = before.base;
	d->nnews = before.nnews;
	d->facts = before.facts;
	d->side = before.side;
	*name = arena_printf(&d->arena, "%s %s", c.variant, c.side);
	return rc;
}

int flame_draw_all(struct drawing *d, const char *dir, int n,
		   int (*draw)(struct drawing *d, const void *arg, int i, const char *dir,
			       const char **name, struct error *err),
		   const void *arg, int *written, struct error *err)
{
	struct error first = {0};
	freed(str_free) struct str absent = {0};
	int rc, drawn = 0, i = 0;

	for (; i < n && (!first.code || first.code == ENODATA); i++) {
		struct error why = {0};
		const char *name;

		if (d->most_graphs && drawn == d->most_graphs)
			break;
		rc = draw(d, arg, i, dir, &name, &why);
		drawn += !rc;
		if (rc == -ENODATA)
			str_printf(&absent, "%s%s", absent.len ? ", " : "", name);
		if (rc && (!first.code || rc != -ENODATA))
			first = why;
	}
	d->left_graphs = first.code && first.code != ENODATA ? 0 : n - i;
	*written += drawn;
	if (first.code && (!drawn || first.code != ENODATA))
		*err = first;
	else if (!drawn)
		error_set(err, ENODATA, "no variant has a profile");
	else if (absent.len)
		print_note("%s: no profile of %s", d->chart->name, absent.buf);
	return -err->code;
}

static int flame_write_all(struct drawing *d, const char *dir, int *written, struct error *err)
{
	autofree struct block *blocks = NULL;
	int kept = 0, n;

	d->chart = &chart_flame;
	if (!d->store)
		return flame_draw_all(d, dir, 1, flame_draw_block, NULL, written, err);
	n = scope_blocks(d->store, &d->query, &blocks, err);
	if (n < 0)
		return n;
	for (int i = 0; i < n; i++)
		if (drawing_has(d, blocks[i].variant) &&
		    (!d->side || !strcmp(d->side, blocks[i].side)))
			blocks[kept++] = blocks[i];
	return flame_draw_all(d, dir, kept, flame_draw_block, blocks, written, err);
}

const struct chart chart_flame = {
	.name = "flame",
	.what = "call chains, an interactive flame graph for each variant and side",
	.sources = {"functions"},
	.options = {[SOURCE_CAPTURE] = CHART_OPTIONS CHART_RUNS FLAME_OPTIONS "side event wall ",
		    [SOURCE_PERF] = FLAME_OPTIONS OPT_RECORDING "event " OPT_DONE},
	.most = 1000,
	.write = flame_write_all,
};
