// SPDX-License-Identifier: GPL-2.0-only
/*
 * The figures of a capture as OpenMetrics text: a gauge for each figure, and two for the bounds of
 * its interval. Units are the base units of Prometheus (seconds, bytes, ratios). There are no
 * times: the program that scrapes or imports the file adds them.
 */
#include "analyze/compare/diff.h"
#include "analyze/export/export.h"
#include "analyze/scope/work.h"

#include <math.h>
#include <string.h>

// clang-format off
enum { SUMMARY, COMPONENTS, ROI, SCORES, TABLES };
static const char *const table_names[TABLES] = {"summary", "components", "roi", "scores"};

/* A figure, and the column of a table that has it. Rows of one gauge stand together. */
static const struct gauge {
	const char *name, *unit; /* zcost_NAME_UNIT; unit "": none */
	int table;
	const char *column;
	double factor;	  /* from the column's unit to `unit` */
	const char *work; /* the unit of work that a cost is of, or NULL */
	const char *help;
} gauges[] = {
	{"throughput", "bytes_per_second", SUMMARY, "throughput_gbps", 1.25e8, NULL,
	 "Throughput."},
#define GAUGE_OF_RATE(id, unit, units) \
	{"work", "per_second", SUMMARY, "rate_" units, 1, unit, "Units of work done."},
	WORK_UNITS(GAUGE_OF_RATE)
	{"cpu", "ratio", SUMMARY, "cpu_pct", 0.01, NULL,
	 "CPU time in use on the CPUs of the side; 1 is one CPU."},
	{"cost", "seconds", SUMMARY, "ns_per_kib", 1e-9, "KiB", "CPU time per unit of work."},
#define GAUGE_OF_COST(id, unit, units) \
	{"cost", "seconds", SUMMARY, "ns_per_" unit, 1e-9, unit, NULL},
	WORK_UNITS(GAUGE_OF_COST)
	{"component_cost", "seconds", COMPONENTS, "self_ns", 1e-9, "",
	 "CPU time of a component per unit of work."},
	{"zero_copy", "ratio", SUMMARY, "zero_copy_share", 0.01, NULL,
	 "Part of the sends or bytes that were not copied."},
	{"power", "watts", SUMMARY, "power_w", 1, NULL, "Power."},
	{"roi_c", "", ROI, "roi_c", 1, NULL,
	 "Throughput^n over CPU use, as in zcost report roi."},
	{"roi_p", "", ROI, "roi_p", 1, NULL, "Throughput^n over power, as in zcost report roi."},
	{"score", "", SCORES, "value", 1, NULL,
	 "A score of zcost report scores in the unit of its label."},
	{"runs", "", SUMMARY, "runs", 1, NULL, "Runs in the estimates."},
};
// clang-format on

/* Columns of words that become labels. */
static const char *const labels[] = {"variant", "side",	      "component",   "score",
				     "unit",	"power_kind", "power_source"};

struct openmetrics {
	struct table tables[TABLES];
	int n; /* the number of tables that are initialised */
	FILE *out;
};

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

static void openmetrics_write_labels(FILE *out, const struct gauge *g, const struct table *t,
				     size_t row)
{
	const char *before = "{", *unit = t->columns[table_column(t, g->column)].unit, *text;

	for (size_t i = 0; i < array_size(labels); i++) {
		text = table_text(t, row, labels[i]);
		if (!*text || (str_starts(labels[i], "power_") && strcmp(g->name, "power") != 0))
			continue;
		openmetrics_write_label(out, before, labels[i], text);
		before = ",";
	}
	if (g->work) /* a cost of a component is in the unit of its column, "ns/KiB" */
		openmetrics_write_label(out, before, "work",
					*g->work ? g->work : strchr(unit, '/') + 1);
	putc('}', out);
}

/* Returns the figure or a bound of its interval. Costs know half of their interval only. */
static double openmetrics_figure(const struct table *t, size_t row, const char *column,
				 enum interval_part part)
{
	const struct interval i = table_interval(t, row, column);
	double x = table_real(t, row, column), bound = part == PART_LOW ? i.low : i.high;

	if (part == PART_VALUE)
		return x;
	return !isnan(bound) ? bound : x + (part == PART_LOW ? -1 : 1) * i.half;
}

/* Writes the head of a gauge once, before its first sample. */
static void openmetrics_write_head(FILE *out, const char *name, const struct gauge *g,
				   enum interval_part part)
{
	static const char *const parts[] = {[PART_VALUE] = "",
					    [PART_LOW] = " Lower bound of the 95 % interval.",
					    [PART_HIGH] = " Upper bound of the 95 % interval."};

	fprintf(out, "# TYPE %s gauge\n", name);
	if (*g->unit)
		fprintf(out, "# UNIT %s %s\n", name, g->unit);
	fprintf(out, "# HELP %s %s%s\n", name, g->help, parts[part]);
}

/* Writes one part of a gauge from all its columns, which the list has in a row. */
static void openmetrics_write_part(const struct openmetrics *w, const struct gauge *first,
				   const struct gauge *end, enum interval_part part)
{
	freed(str_free) struct str name = {0};
	bool headed = false;
	double x;

	str_printf(&name, "zcost_%s%s%s%s", first->name,
		   part == PART_LOW    ? "_low"
		   : part == PART_HIGH ? "_high"
				       : "",
		   *first->unit ? "_" : "", first->unit);
	for (const struct gauge *g = first; g < end; g++) {
		const struct table *t = &w->tables[g->table];

		for (size_t row = 0; row < t->rows && table_column(t, g->column) >= 0; row++) {
			x = openmetrics_figure(t, row, g->column, part);
			if (isnan(x))
				continue;
			if (!headed)
				openmetrics_write_head(w->out, name.buf, first, part);
			headed = true;
			fputs(name.buf, w->out);
			openmetrics_write_labels(w->out, g, t, row);
			fprintf(w->out, " %.9g\n", x * g->factor);
		}
	}
}

static void openmetrics_write_gauges(const struct openmetrics *w)
{
	const struct gauge *g = gauges, *end, *last = gauges + array_size(gauges);

	for (; g < last; g = end) {
		for (end = g; end < last && !strcmp(end->name, g->name); end++)
			;
		openmetrics_write_part(w, g, end, PART_VALUE);
		openmetrics_write_part(w, g, end, PART_LOW);
		openmetrics_write_part(w, g, end, PART_HIGH);
	}
}

static void openmetrics_write_capture(const struct openmetrics *w, const struct export *x)
{
	static const char *const keys[] = {"name", "created", "zcost_version", "estimator"};
	const char *before = "{", *value;

	fputs("# TYPE zcost_capture gauge\n# HELP zcost_capture What was measured; always 1.\nzcost_capture",
	      w->out);
	for (size_t i = 0; i < array_size(keys); i++) {
		value = store_capture_value(x->store, keys[i]);
		openmetrics_write_label(w->out, before, keys[i], value ? value : "");
		before = ",";
	}
	fprintf(w->out,
		"} 1\n# TYPE zcost_lossy gauge\n"
		"# HELP zcost_lossy 1: data is incomplete or lossy, and zcost says how.\n"
		"zcost_lossy %d\n# EOF\n",
		x->notes.lossy);
}

static int openmetrics_read(struct openmetrics *w, struct export *x, struct error *err)
{
	struct query q = *x->q;
	int rc = 0;

	q.figures_only = true;
	q.by = "variant"; /* components: variant and side also where there is one of each */
	q.limit = LIMIT_MOST;
	for (; w->n < TABLES && !rc; w->n++) {
		struct table *t = &w->tables[w->n];

		rc = measure_run(table_names[w->n], x->store, &q, t, err);
		if (!rc)
			diff_carry_notes(&x->notes, t);
	}
	return rc;
}

static int export_openmetrics(struct export *x, struct error *err)
{
	struct openmetrics w = {.n = 0};
	int rc = openmetrics_read(&w, x, err);

	if (!rc) {
		w.out = export_open(x, err);
		rc = w.out ? 0 : -err->code;
	}
	if (!rc) {
		openmetrics_write_gauges(&w);
		openmetrics_write_capture(&w, x);
	}
	while (w.n)
		table_free(&w.tables[--w.n]);
	return rc;
}

const struct format format_openmetrics = {
	.name = "openmetrics",
	.what = "the figures of summary, components, roi and scores, as gauges (Prometheus)",
	.options = {[SOURCE_CAPTURE] =
			    "variant side estimator unit power-model power-kind " OPT_SLICE},
	.write = export_openmetrics,
};
