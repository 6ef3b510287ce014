// SPDX-License-Identifier: GPL-2.0-only
/* Reads the headings, totals and rows of the first table. perf_report_row.c parses a row. */
#include "analyze/texts/perf_report.h"

#include "analyze/texts/perf_report_row.h"
#include "lib/alloc.h"
#include "lib/str.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	struct text text;
	struct flat *flat;
	struct row_reader row;
	const char *event; /* the requested event; NULL is the first event */
	bool skip;	   /* the current table is for another event */
	bool done;	   /* the selected table has ended */
	bool counted;	   /* the line above was counted as a table's heading */
	char *above;	   /* unchanged copy of the line above */
	unsigned headless; /* line of a heading without a Symbol column */
};

static double report_parse_scaled(const char *p, double value, bool *rounded)
{
	static const char units[] = "KMGT";
	const char *u;

	p = text_skip(p);
	u = *p ? strchr(units, *p) : NULL;
	*rounded = u;
	return u ? value * pow(1000, (double)(u - units + 1)) : value;
}

static const char *report_parse_quoted(struct reader *r, const char *p)
{
	const char *end;
	char *s;

	p = strchr(p, '\'');
	end = p ? strchr(p + 1, '\'') : NULL;
	if (!end)
		return NULL;
	s = arena_dup(&r->flat->strings, p + 1, (size_t)(end - p));
	s[end - p - 1] = 0;
	return s;
}

/* Adds an event to the list, which has each event once and in the text's order. */
static void report_add_event(struct reader *r, const char *event)
{
	const char *known = r->flat->events;

	if (!known)
		r->flat->events = event;
	else if (!strstr(known, event))
		r->flat->events = arena_printf(&r->flat->strings, "%s, %s", known, event);
}

/* Returns the number after "Samples: " or "Events: " (perf 3.0). */
static const char *report_find_samples(const char *line)
{
	const char *p = strstr(line, "Samples: ");

	if (p)
		return strstr(line, "Lost Samples: ") ? NULL : p + 9;
	p = strstr(line, "# Events: ");
	return p ? p + 10 : NULL;
}

static void report_begin_event(struct reader *r, const char *p)
{
	struct flat *f = r->flat;
	const char *event = report_parse_quoted(r, p);
	double value;

	if (event)
		report_add_event(r, event);
	r->done = r->done || f->n;
	if (r->done)
		return;
	f->event = event;
	r->skip = r->event && (!event || strcmp(event, r->event));
	if (text_number(&p, &value))
		f->samples = report_parse_scaled(p, value, &f->samples_rounded);
}

/*
 * Reads "Samples: 119K of event 'cycles', Event count (approx.): 119499252009" from one line or
 * two.
 */
static void report_read_totals(struct reader *r, const char *line)
{
	const char *p = report_find_samples(line);
	struct flat *f = r->flat;
	double value;
	uint64_t lost;

	if (p)
		report_begin_event(r, text_skip(p));
	if (r->done)
		return;
	p = strstr(line, "Event count");
	p = p ? strchr(p, ':') : NULL;
	if (p && (p = text_skip(p + 1), text_number(&p, &value)))
		f->event_count = value;
	p = strstr(line, "Lost Samples: ");
	if (p && (p += 14, text_count(&p, &lost)))
		f->lost = (int64_t)lost;
}

static void report_begin_table(struct reader *r, const struct head *head)
{
	r->flat->tables++;
	r->done = r->done || r->flat->n;
	if (r->done)
		return;
	r->row.head = *head;
	r->row.grid = (struct grid){0};
}

/*
 * Reads the positions of the columns. A heading that only its positions identify begins a table,
 * too.
 */
static bool report_read_places(struct reader *r, const char *line)
{
	struct grid grid;

	if (!grid_from_dots(&grid, r->above, line)) {
		if (r->counted || !grid_from_separated(&grid, line))
			return false;
	}
	if (!r->counted)
		report_begin_table(r, &(struct head){0});
	r->headless = 0;
	if (!r->done)
		r->row.grid = grid;
	return true;
}

/* Reads a heading or a "Samples:" line. After rows, either line begins the next table. */
static bool report_read_heading(struct reader *r, const char *line)
{
	enum head_found found;
	struct head head;

	if (report_read_places(r, line))
		return true;
	r->counted = false;
	if (strstr(line, "Samples: ") || strstr(line, "Event count") || report_find_samples(line)) {
		report_read_totals(r, line);
		return true;
	}
	if (str_starts(text_skip(line), "PerfTop:")) {
		report_begin_table(r, &(struct head){0});
		return true;
	}
	found = head_parse(&head, line);
	if (found == HEAD_NO_SYMBOL)
		r->headless = r->text.line;
	if (found != HEAD_FOUND)
		return false;
	r->counted = true;
	report_begin_table(r, &head);
	return true;
}

/* Refuses texts with a similar layout that are not from perf report. */
static int report_check_kind(const struct reader *r, const char *line)
{
	const char *p = line + strspn(line, "# \t");

	if (*line == '#' && (str_starts(p, "Baseline ") || str_starts(p, "Baseline/")))
		return error_set(
			r->text.err, EBADMSG,
			"%s, line %u: the text of perf diff holds differences, not shares: "
			"give the text of perf report of each recording",
			text_name(&r->text), r->text.line);
	if (*line == '#' && str_starts(p, "Overhead  ") && strstr(p, " / "))
		return error_set(
			r->text.err, EBADMSG,
			"%s, line %u: the rows of perf report --hierarchy include the rows below them; run perf report without --hierarchy",
			text_name(&r->text), r->text.line);
	return 0;
}

static int report_nothing_found(const struct reader *r)
{
	if (r->event && r->skip)
		return error_set(r->text.err, ENODATA, "%s: no table of the event '%s'; %s%s",
				 text_name(&r->text), r->event,
				 r->flat->events ? "there are: " : "the text names no events",
				 r->flat->events ? r->flat->events : "");
	if (r->headless)
		return error_set(
			r->text.err, ENODATA,
			"%s, line %u: the table has no Symbol column; run perf report with --sort symbol or dso,symbol",
			text_name(&r->text), r->headless);
	return error_set(
		r->text.err, ENODATA,
		"%s: no row like '12.34%%  [k] symbol' in its %u lines; give the text of perf report --stdio",
		text_name(&r->text), r->text.line);
}

/*
 * Reads a row by the columns' positions if they are known, otherwise by the look of the row.
 * Returns enum row_found or -errno.
 */
static int report_read_row(struct reader *r, char *line, struct flat_row *row)
{
	int ret;

	if (r->row.grid.n) {
		ret = grid_row(&r->row, line, row);
		if (ret != GRID_MISFIT)
			return ret;
		if (!r->row.head.n)
			return row_mark(line)
				       ? text_bad(&r->text,
						  "the columns are not where the heading has them")
				       : ROW_NONE;
	}
	return row_read(&r->row, line, row);
}

static int report_read_line(struct reader *r, char *line)
{
	struct flat_row row;
	int ret = report_check_kind(r, line);

	if (ret || report_read_heading(r, line) || r->done || r->skip || *text_skip(line) == '#')
		return ret;
	ret = report_read_row(r, line, &row);
	if (ret == ROW_UNMARKED)
		r->flat->unmarked++;
	if (ret != ROW_FOUND)
		return ret < 0 ? ret : 0;
	if (r->headless)
		return report_nothing_found(r);
	array_add(r->flat->rows, r->flat->n, r->flat->cap, row);
	return 0;
}

/*
 * Reads all lines. Copies each line before parsing, because the dotted line below a heading gives
 * the positions of the columns.
 */
static int report_read_lines(struct reader *r)
{
	char *line, *kept;
	int ret = 0;

	r->above = xstrdup("");
	while (!ret && (line = text_next(&r->text))) {
		kept = xstrdup(line);
		ret = report_read_line(r, line);
		free(r->above);
		r->above = kept;
	}
	free(r->above);
	return ret;
}

static void report_find_columns(struct flat *f)
{
	size_t i;

	f->tables += !f->tables;
	for (i = 0; i < f->n; i++) {
		const struct flat_row *row = &f->rows[i];

		f->has_symbol |= *row->symbol != 0;
		f->has_self |= !isnan(row->self);
		f->has_total |= !isnan(row->total);
		f->has_samples |= row->samples >= 0;
		f->has_dso |= row->dso != NULL;
		f->has_comm |= row->comm != NULL;
	}
}

int perf_report_parse(const char *name, char *data, size_t len, const char *event,
		      struct flat *flat, struct error *err)
{
	struct reader r = {.flat = flat, .event = event, .skip = event != NULL};
	int ret;

	*flat = (struct flat){.event_count = NAN, .samples = NAN, .lost = -1};
	ret = text_open(&r.text, name, data, len, err);
	if (ret) {
		text_close(&r.text);
		return ret;
	}
	r.row = (struct row_reader){
		.text = &r.text, .marked = row_mark(r.text.at), .strings = &flat->strings};
	ret = report_read_lines(&r);
	if (!ret && !flat->n)
		ret = report_nothing_found(&r);
	text_close(&r.text);
	if (ret)
		flat_free(flat);
	else
		report_find_columns(flat);
	return ret;
}

void flat_free(struct flat *flat)
{
	free(flat->rows);
	arena_free(&flat->strings);
	*flat = (struct flat){0};
}
