// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/texts/perf_trace.h"

#include "analyze/texts/text.h"
#include "lib/alloc.h"
#include "lib/str.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum column { CALLS, ERRORS, TOTAL, MIN, AVG, MAX, STDDEV, NCOLUMNS };

static const char *const column_names[NCOLUMNS] = {
	[CALLS] = "calls", [ERRORS] = "errors", [TOTAL] = "total",   [MIN] = "min",
	[AVG] = "avg",	   [MAX] = "max",	[STDDEV] = "stddev",
};

enum { MAX_WORDS = 24 };

struct reader {
	struct text text;
	struct trace *trace;
	const char *comm;
	int64_t tid;
	enum column column[NCOLUMNS]; /* after "syscall", in order */
	size_t ncolumns;	      /* 0 outside a table */
	bool blank;		      /* an empty line since the last row */
};

/* Reads "dd (28432), 450 events, 98.7%". The name may have spaces or brackets. */
static bool trace_read_thread(struct reader *r, char *line)
{
	char *events = strstr(line, " events"), *comma, *open = NULL, *p;
	const char *number;
	uint64_t tid, n;

	if (!events)
		return false;
	*events = 0;
	comma = strrchr(line, ',');
	number = comma ? text_skip(comma + 1) : NULL;
	if (!number || !text_count(&number, &n) || *number)
		return false;
	*comma = 0;
	for (p = strstr(line, " ("); p; p = strstr(p + 1, " ("))
		open = p;
	number = open ? open + 2 : "";
	line = str_trim(line + strspn(line, "#* \t"));
	r->comm =
		NULL; /* "total, 450 events" covers all threads; other text names a control group */
	if (strcmp(line, "total"))
		r->comm = arena_strdup(&r->trace->strings, line);
	r->tid = -1;
	if (open && text_count(&number, &tid) && !strcmp(number, ")")) {
		*open = 0;
		r->comm = arena_strdup(&r->trace->strings, str_trim(line));
		r->tid = (int64_t)tid;
	}
	r->trace->events += n;
	r->ncolumns = 0;
	return true;
}

/* Reads "syscall calls errors total (msec) min ...". The units may also be on a separate line. */
static bool trace_read_head(struct reader *r, char *line)
{
	char *words[MAX_WORDS];
	size_t n, i, c, got = 0;

	line = text_skip(line);
	if (!str_starts(line, "syscall") || !strstr(line, "calls"))
		return false;
	n = text_fields(line, false, words, MAX_WORDS);
	for (i = 1; i < n; i++)
		for (c = 0; c < NCOLUMNS; c++)
			if (!strcmp(words[i], column_names[c]) && got < NCOLUMNS)
				r->column[got++] = (enum column)c;
	r->ncolumns = got;
	return true;
}

static bool trace_parse_number(const char *word, double *x)
{
	if (!text_number(&word, x))
		return false;
	return !*word || !strcmp(word, "%");
}

static int trace_add_word(const struct reader *r, struct trace_row *row, enum column column,
			  const char *word)
{
	double *const real[NCOLUMNS] = {
		[TOTAL] = &row->total_ms, [MIN] = &row->min_ms,	       [AVG] = &row->avg_ms,
		[MAX] = &row->max_ms,	  [STDDEV] = &row->stddev_pct,
	};
	uint64_t n = 0;

	if (real[column])
		return trace_parse_number(word, real[column])
			       ? 0
			       : text_bad(&r->text, "the time is not a number");
	if (!text_is_count(word, &n) || n > INT64_MAX)
		return text_bad(&r->text, "the count is not a number");
	if (column == CALLS)
		row->calls = n;
	else
		row->errors = (int64_t)n;
	return 0;
}

/*
 * Finds damage: the mean of a row must be its total divided by its calls, to the printed digits.
 */
static int trace_check_row(const struct reader *r, const struct trace_row *row)
{
	double mean;

	if (!row->calls)
		return text_bad(&r->text, "the row has no calls");
	if (isnan(row->total_ms) || isnan(row->avg_ms))
		return 0;
	mean = row->total_ms / (double)row->calls;
	if (fabs(mean - row->avg_ms) > 0.0010001)
		return text_bad(&r->text, "total / calls is not avg: the row is damaged");
	return 0;
}

static int trace_read_row(struct reader *r, char *line)
{
	struct trace_row row = {.comm = r->comm,
				.tid = r->tid,
				.errors = -1,
				.total_ms = NAN,
				.min_ms = NAN,
				.avg_ms = NAN,
				.max_ms = NAN,
				.stddev_pct = NAN,
				.line = r->text.line};
	char *words[MAX_WORDS];
	size_t n = text_fields(line, false, words, MAX_WORDS), i;
	int ret = 0;

	if (n != r->ncolumns + 1)
		return text_bad(&r->text, n > r->ncolumns
						  ? "the row has more columns than the heading"
						  : "the row has fewer columns than the heading");
	row.syscall = arena_strdup(&r->trace->strings, words[0]);
	for (i = 0; i < r->ncolumns && !ret; i++)
		ret = trace_add_word(r, &row, r->column[i], words[i + 1]);
	if (!ret)
		ret = trace_check_row(r, &row);
	if (ret)
		return ret;
	array_add(r->trace->rows, r->trace->n, r->trace->cap, row);
	return 0;
}

static bool text_has_letter(const char *p)
{
	while (*p && !isalpha((unsigned char)*p))
		p++;
	return *p;
}

/*
 * Returns whether the line may stand between rows: units, rules, dots of a copy, or the errno
 * summary ("ENOENT: 19").
 */
static bool trace_is_between(const char *line)
{
	const char *p = text_skip(line), *colon = strchr(p, ':');

	if (*p == '(' || *p == '-' || !*p)
		return true;
	if (!text_has_letter(p) && !strpbrk(p, "0123456789"))
		return true;
	return *p == 'E' && colon && p + strspn(p, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == colon;
}

/*
 * Returns whether the table has ended. A table ends with an empty line, but a copy may also have
 * empty lines between rows.
 */
static bool trace_table_over(const struct reader *r, const char *line)
{
	const char *second = text_skip(line);

	second = text_skip(second + strcspn(second, " \t"));
	return !strpbrk(line, "0123456789") || (r->blank && !isdigit((unsigned char)*second));
}

static int trace_read_line(struct reader *r, char *line)
{
	if (strstr(line, " events") && trace_read_thread(r, line))
		return 0;
	if (trace_read_head(r, line))
		return 0;
	if (!r->ncolumns)
		return 0;
	if (trace_is_between(line)) {
		r->blank = r->blank || !*text_skip(line);
		return 0;
	}
	if (trace_table_over(r, line)) {
		r->ncolumns = 0;
		return 0;
	}
	r->blank = false;
	return trace_read_row(r, line);
}

int perf_trace_parse(const char *name, char *data, size_t len, struct trace *trace,
		     struct error *err)
{
	struct reader r = {.trace = trace, .tid = -1};
	char *line;
	int ret;

	*trace = (struct trace){0};
	ret = text_open(&r.text, name, data, len, err);
	while (!ret && (line = text_next(&r.text)))
		ret = trace_read_line(&r, line);
	if (!ret && !trace->n)
		ret = error_set(
			err, ENODATA,
			"%s: no table of system calls in its %u lines; give the text of perf trace -s",
			text_name(&r.text), r.text.line);
	text_close(&r.text);
	if (ret)
		trace_free(trace);
	return ret;
}

void trace_free(struct trace *trace)
{
	free(trace->rows);
	arena_free(&trace->strings);
	*trace = (struct trace){0};
}
