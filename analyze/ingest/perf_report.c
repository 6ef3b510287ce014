// SPDX-License-Identifier: GPL-2.0-only
/* Headings, totals and rows of the first table; perf_report_row.c knows what a row looks like. */
#include "analyze/ingest/perf_report.h"

#include "analyze/ingest/perf_report_row.h"
#include "lib/alloc.h"
#include "lib/file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FIELDS = 2 * HEAD_MAX };

struct reader {
	struct text text;
	struct flat *flat;
	struct row_reader row;
	bool done;	   /* the first table is over */
	unsigned headless; /* line of a heading without a Symbol column */
	struct error *err;
};

static double scaled(const char *p, double value, bool *rounded)
{
	static const char units[] = "KMGT";
	const char *u;

	p = text_skip(p);
	u = *p ? strchr(units, *p) : NULL;
	*rounded = u;
	return u ? value * pow(1000, (double)(u - units + 1)) : value;
}

/* "Samples: 119K of event 'cycles', Event count (approx.): 119499252009", in one line or two. */
static void read_totals(struct reader *r, const char *line)
{
	const char *p = strstr(line, "Samples: "), *end;
	struct flat *f = r->flat;
	double value;
	uint64_t lost;

	if (p && !strstr(line, "Lost Samples: ")) {
		p = text_skip(p + 9);
		if (text_number(&p, &value))
			f->samples = scaled(p, value, &f->samples_rounded);
		p = strchr(p, '\'');
		end = p ? strchr(p + 1, '\'') : NULL;
		if (end) {
			f->event = arena_dup(&f->strings, p + 1, (size_t)(end - p));
			((char *)f->event)[end - p - 1] = 0;
		}
	}
	p = strstr(line, "Event count");
	p = p ? strchr(p, ':') : NULL;
	if (p && (p = text_skip(p + 1), text_number(&p, &value)))
		f->event_count = value;
	p = strstr(line, "Lost Samples: ");
	if (p && (p += 14, text_count(&p, &lost)))
		f->lost = (int64_t)lost;
}

/* A heading or a "Samples:" line; after rows, either begins the next table. */
static bool read_heading(struct reader *r, const char *line)
{
	enum head_found found;
	struct head head;

	if (strstr(line, "Samples: ") || strstr(line, "Event count")) {
		r->done = r->done || r->flat->n;
		if (!r->done)
			read_totals(r, line);
		return true;
	}
	found = head_parse(&head, line);
	if (found == HEAD_NO_SYMBOL)
		r->headless = r->text.line;
	if (found != HEAD_FOUND)
		return false;
	r->flat->tables++;
	r->done = r->done || r->flat->n;
	if (!r->done)
		r->row.head = head;
	return true;
}

static int nothing_found(const struct reader *r)
{
	if (r->headless)
		return error_set(r->err, ENODATA,
				 "%s, line %u: the table has no Symbol column; run perf report "
				 "with --sort symbol or dso,symbol",
				 text_name(&r->text), r->headless);
	return error_set(r->err, ENODATA,
			 "%s: no row like '12.34%%  [k] symbol' in its %u lines; give the text of "
			 "perf report --stdio",
			 text_name(&r->text), r->text.line);
}

static int read_line(struct reader *r, char *line)
{
	struct flat_row row;
	char *p;
	int ret;

	if (read_heading(r, line) || r->done || *text_skip(line) == '#')
		return 0;
	for (p = line; r->row.head.separator && *p; p++)
		if (*p == r->row.head.separator)
			*p = '\t';
	ret = row_read(&r->row, line, &row);
	if (ret == ROW_UNMARKED)
		r->flat->unmarked++;
	if (ret != ROW_FOUND)
		return ret < 0 ? ret : 0;
	if (r->headless)
		return nothing_found(r);
	array_grow(r->flat->rows, r->flat->n, r->flat->cap);
	r->flat->rows[r->flat->n++] = row;
	return 0;
}

static void find_columns(struct flat *f)
{
	size_t i;

	f->tables += !f->tables;
	for (i = 0; i < f->n; i++) {
		const struct flat_row *row = &f->rows[i];

		f->has_self |= !isnan(row->self);
		f->has_total |= !isnan(row->total);
		f->has_samples |= row->samples >= 0;
		f->has_dso |= row->dso != NULL;
		f->has_comm |= row->comm != NULL;
	}
}

int perf_report_parse(const char *name, char *data, size_t len, struct flat *flat,
		      struct error *err)
{
	struct reader r = {.flat = flat, .err = err};
	char *line;
	int ret;

	*flat = (struct flat){.event_count = NAN, .samples = NAN, .lost = -1};
	ret = text_open(&r.text, name, data, len, err);
	if (ret)
		return ret;
	r.row = (struct row_reader){
		.text = &r.text, .marked = row_mark(data), .strings = &flat->strings, .err = err};
	while (!ret && (line = text_next(&r.text)))
		ret = read_line(&r, line);
	if (!ret && !flat->n)
		ret = nothing_found(&r);
	if (ret)
		flat_free(flat);
	else
		find_columns(flat);
	return ret;
}

int perf_report_read(const char *path, struct flat *flat, struct error *err)
{
	char *data;
	size_t len;
	int ret;

	*flat = (struct flat){0};
	ret = file_read(path, &data, &len, err);
	if (ret)
		return ret;
	ret = perf_report_parse(path, data, len, flat, err);
	free(data);
	return ret;
}

void flat_free(struct flat *flat)
{
	free(flat->rows);
	arena_free(&flat->strings);
	*flat = (struct flat){0};
}
