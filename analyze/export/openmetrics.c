// SPDX-License-Identifier: GPL-2.0-only
/*
 * The figures of a capture as OpenMetrics text: a gauge for each figure, and two for the bounds of
 * its interval. Units are the base units of Prometheus (seconds, bytes, ratios). There are no
 * times: the program that scrapes or imports the file adds them.
 */
#include "analyze/compare/diff.h"
#include "analyze/costs/basis.h"
#include "analyze/costs/costs.h"
#include "analyze/evidence/zerocopy.h"
#include "analyze/export/export.h"
#include "analyze/figures/figures.h"
#include "analyze/scope/work.h"

#include <math.h>

/* A figure in the unit of its gauge, and its labels. A label that is NULL or empty is left out. */
struct sample {
	const char *variant, *side, *component, *score, *unit, *power_kind, *power_source, *work;
	double part[PART_HIGH + 1]; /* the value and the bounds of its interval; NAN: not known */
};

struct openmetrics {
	struct export *x;
	struct summary summary;
	struct cost_parts components;
	struct figure_list roi, scores;
	struct sample *samples; /* those of the present gauge */
	size_t n, cap;
	struct arena arena;
	FILE *out;
};

/* A figure, and where it comes from. Rows of one gauge stand together. */
struct gauge {
	const char *name, *unit; /* zcost_NAME_UNIT; unit "": none */
	void (*add)(struct openmetrics *w, const struct gauge *g);
	enum figure_id id;
	double factor;	  /* from the figure's unit to `unit` */
	const char *work; /* the unit of work that a cost or a rate is of, or NULL */
	const char *help;
};

static void openmetrics_add(struct openmetrics *w, const struct gauge *g, struct sample sample,
			    double x, double low, double high)
{
	sample.part[PART_VALUE] = x * g->factor;
	sample.part[PART_LOW] = low * g->factor;
	sample.part[PART_HIGH] = high * g->factor;
	array_add(w->samples, w->n, w->cap, sample);
}

/* Adds the gauge's figure of each side, or the scores, which are one gauge. */
static void figures_add(struct openmetrics *w, const struct gauge *g)
{
	bool scores = g->id == FIGURES;
	const struct figure_list *l = scores				    ? &w->scores
				      : figure_kinds[g->id].in & IN_SUMMARY ? &w->summary.figures
									    : &w->roi;

	for (const struct figure_value *v = l->list; v < l->list + l->n; v++) {
		struct sample sample = {.variant = v->variant, .side = v->side, .work = g->work};
		freed(str_free) struct str unit = {0};

		if (scores) {
			score_print_unit(&unit, w->x->q, v);
			sample.score = figure_kinds[v->id].name;
			sample.unit = arena_strdup(&w->arena, unit.buf);
		} else if (v->id != g->id) {
			continue;
		} else if (v->id == FIGURE_POWER) {
			sample.power_kind = v->kind;
			sample.power_source = power_source_names[v->source];
		}
		openmetrics_add(w, g, sample, v->e.value, v->e.n > 1 ? v->e.lo : NAN,
				v->e.n > 1 ? v->e.hi : NAN);
	}
}

/* Adds the number of runs of each side, which has no unit, or its share of zero copy. */
static void side_add(struct openmetrics *w, const struct gauge *g)
{
	const struct block_list *list = &w->summary.figures.blocks[FOR_FIGURES];

	for (int i = 0; i < list->n; i++) {
		const struct summary_side *side = &w->summary.sides[i];
		const struct sample sample = {.variant = list->blocks[i].block.variant,
					      .side = list->blocks[i].block.side};

		openmetrics_add(w, g, sample, *g->unit ? side->zero_copy : (double)side->runs, NAN,
				NAN);
	}
}

/* Adds the costs of components. They know half of their interval only. */
static void components_add(struct openmetrics *w, const struct gauge *g)
{
	for (const struct cost_part *p = w->components.part;
	     p < w->components.part + w->components.n; p++)
		for (size_t i = 0; i < p->tally.n; i++) {
			const struct cost cost = cost_self(p, &p->tally.rows[i]);
			const struct sample sample = {.variant = p->block.variant,
						      .side = p->block.side,
						      .component = p->tally.rows[i].key[0],
						      .work = p->basis.unit};

			openmetrics_add(w, g, sample, cost.ns, cost.ns - cost.ns_ci,
					cost.ns + cost.ns_ci);
		}
}

// clang-format off
static const struct gauge gauges[] = {
	{"throughput", "bytes_per_second", figures_add, FIGURE_THROUGHPUT, 1.25e8, NULL,
	 "Throughput."},
#define GAUGE_OF_RATE(id, unit, units) \
	{"work", "per_second", figures_add, FIGURE_RATE_##id, 1, unit, "Units of work done."},
	WORK_UNITS(GAUGE_OF_RATE)
	{"cpu", "ratio", figures_add, FIGURE_CPU, 0.01, NULL,
	 "CPU time in use on the CPUs of the side; 1 is one CPU."},
	{"cost", "seconds", figures_add, FIGURE_NS_PER_KIB, 1e-9, "KiB",
	 "CPU time per unit of work."},
#define GAUGE_OF_COST(id, unit, units) \
	{"cost", "seconds", figures_add, FIGURE_NS_PER_##id, 1e-9, unit, NULL},
	WORK_UNITS(GAUGE_OF_COST)
	{"component_cost", "seconds", components_add, FIGURES, 1e-9, NULL,
	 "CPU time of a component per unit of work."},
	{"zero_copy", "ratio", side_add, FIGURES, 1, NULL,
	 "Part of the sends or bytes that were not copied."},
	{"power", "watts", figures_add, FIGURE_POWER, 1, NULL, "Power."},
	{"roi_c", "", figures_add, FIGURE_ROI_C, 1, NULL,
	 "Throughput^n over CPU use, as in zcost report roi."},
	{"roi_p", "", figures_add, FIGURE_ROI_P, 1, NULL,
	 "Throughput^n over power, as in zcost report roi."},
	{"score", "", figures_add, FIGURES, 1, NULL,
	 "A score of zcost report scores in the unit of its label."},
	{"runs", "", side_add, FIGURES, 1, NULL, "Runs in the estimates."},
};
// clang-format on

static void openmetrics_write_label(FILE *out, const char *before, const char *name,
				    const char *value)
{
	freed(str_free) struct str scratch = {0};

	fprintf(out, "%s%s=\"", before, name);
	for (value = printable(&scratch, value, PRINTABLE_LINE); *value; value++) {
		if (*value == '"' || *value == '\\')
			putc('\\', out);
		putc(*value, out);
	}
	putc('"', out);
}

static void openmetrics_write_labels(FILE *out, const struct sample *s)
{
	const struct {
		const char *name, *value;
	} labels[] = {
		{"variant", s->variant},
		{"side", s->side},
		{"component", s->component},
		{"score", s->score},
		{"unit", s->unit},
		{"power_kind", s->power_kind},
		{"power_source", s->power_source},
		{"work", s->work},
	};
	const char *before = "{";

	for (size_t i = 0; i < array_size(labels); i++) {
		if (!labels[i].value || !*labels[i].value)
			continue;
		openmetrics_write_label(out, before, labels[i].name, labels[i].value);
		before = ",";
	}
	putc('}', out);
}

/* Writes the head of a gauge once, before its first sample. */
static void openmetrics_write_head(FILE *out, const char *name, const struct gauge *g,
				   enum interval_part part)
{
	static const char *const parts[] = {
		[PART_VALUE] = "",
		[PART_LOW] = " Lower bound of the interval over the runs.",
		[PART_HIGH] = " Upper bound of the interval over the runs."};

	fprintf(out, "# TYPE %s gauge\n", name);
	if (*g->unit)
		fprintf(out, "# UNIT %s %s\n", name, g->unit);
	fprintf(out, "# HELP %s %s%s\n", name, g->help, parts[part]);
}

/* Writes one part of the gauge's samples. */
static void openmetrics_write_part(const struct openmetrics *w, const struct gauge *g,
				   enum interval_part part)
{
	freed(str_free) struct str name = {0};
	bool headed = false;

	str_printf(&name, "zcost_%s%s%s%s", g->name,
		   part == PART_LOW    ? "_low"
		   : part == PART_HIGH ? "_high"
				       : "",
		   *g->unit ? "_" : "", g->unit);
	for (const struct sample *s = w->samples; s < w->samples + w->n; s++) {
		if (!isfinite(s->part[part]))
			continue;
		if (!headed)
			openmetrics_write_head(w->out, name.buf, g, part);
		headed = true;
		fputs(name.buf, w->out);
		openmetrics_write_labels(w->out, s);
		fprintf(w->out, " %.9g\n", s->part[part]);
	}
}

static void openmetrics_write_gauges(struct openmetrics *w)
{
	const struct gauge *g = gauges, *first, *end = gauges + array_size(gauges);

	while (g < end) {
		w->n = 0;
		for (first = g; g < end && !strcmp(g->name, first->name); g++)
			g->add(w, g);
		openmetrics_write_part(w, first, PART_VALUE);
		openmetrics_write_part(w, first, PART_LOW);
		openmetrics_write_part(w, first, PART_HIGH);
	}
}

static void openmetrics_write_capture(const struct openmetrics *w)
{
	static const char *const keys[] = {"name", "created", "zcost_version", "estimator"};
	const char *before = "{", *value;

	fputs("# TYPE zcost_capture gauge\n# HELP zcost_capture What was measured; always 1.\nzcost_capture",
	      w->out);
	for (size_t i = 0; i < array_size(keys); i++) {
		value = store_capture_value(w->x->store, keys[i]);
		openmetrics_write_label(w->out, before, keys[i], value ? value : "");
		before = ",";
	}
	fprintf(w->out,
		"} 1\n# TYPE zcost_lossy gauge\n"
		"# HELP zcost_lossy 1: data is incomplete or lossy, and zcost says how.\n"
		"zcost_lossy %d\n# EOF\n",
		w->x->notes.lossy);
}

static int openmetrics_read(struct openmetrics *w, struct export *x, struct error *err)
{
	freed(table_free) struct table summary = {0}, components = {.name = "components"},
				       roi = {0}, scores = {0};
	struct query q = *x->q;
	int rc = q.unit ? basis_require_unit(x->store, &q, err) : 0;

	q.figures_only = true;
	rc = rc ?: summary_read(x->store, &q, &w->summary, &summary, err);
	rc = rc
		     ?: cost_parts_read(&w->components, cost_table_find("components"), x->store, &q,
					err);
	rc = rc ?: cost_parts_add_notes(&w->components, x->store, &q, &components, err);
	rc = rc ?: roi_read(x->store, &q, &w->roi, &roi, err);
	rc = rc ?: scores_read(x->store, &q, &w->scores, &scores, err);
	if (rc)
		return rc;
	diff_carry_notes(&x->notes, &summary);
	diff_carry_notes(&x->notes, &components);
	diff_carry_notes(&x->notes, &roi);
	diff_carry_notes(&x->notes, &scores);
	return store_failed(x->store, err);
}

static void openmetrics_free(struct openmetrics *w)
{
	summary_free(&w->summary);
	cost_parts_free(&w->components);
	figure_list_free(&w->roi);
	figure_list_free(&w->scores);
	free(w->samples);
	arena_free(&w->arena);
}

static int export_openmetrics(struct export *x, struct error *err)
{
	freed(openmetrics_free) struct openmetrics w = {.x = x};
	int rc = openmetrics_read(&w, x, err);

	if (rc)
		return rc;
	w.out = export_open(x, err);
	if (!w.out)
		return -err->code;
	openmetrics_write_gauges(&w);
	openmetrics_write_capture(&w);
	return 0;
}

const struct format format_openmetrics = {
	.name = "openmetrics",
	.what = "the figures of summary, components, roi and scores, as gauges (Prometheus)",
	.options = {[SOURCE_CAPTURE] =
			    "variant side estimator unit power-model power-kind " OPT_SLICE},
	.write = export_openmetrics,
};
