// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/texts/text.h"

#include "lib/str.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>

/* The columns of a row. */
enum { SYSCALL, CALLS, ERRORS, TOTAL, MIN, AVG, MAX, STDDEV, NCOLUMNS };

struct reader {
	struct text text;
	struct trace *trace;
	const char *comm;
	int64_t tid;
	size_t columns; /* 0 outside a table; one fewer than NCOLUMNS without errors (perf 4) */
	bool blank;	/* an empty line since the last row */
};

/* Reads "dd (28432), 450 events, 98.7%". The name may have spaces or brackets. */
static bool trace_read_thread(struct reader *r, char *line)
{
	char *events = strstr(line, " events"), *comma, *open = NULL;
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
	for (char *p = strstr(line, " ("); p; p = strstr(p + 1, " ("))
		open = p;
	number = open ? open + 2 : "";
	line = str_trim(line + strspn(line, "#* \t"));
	/* "total, 450 events" covers all threads; other text names a control group. */
	r->comm = strcmp(line, "total") ? arena_strdup(&r->trace->strings, line) : "";
	r->tid = 0;
	if (open && text_count(&number, &tid) && !strcmp(number, ")")) {
		*open = 0;
		r->comm = arena_strdup(&r->trace->strings, str_trim(line));
		r->tid = (int64_t)tid;
	}
	r->columns = 0;
	return true;
}

/* Reads "syscall calls errors total (msec) min ...". The units may also be on a separate line. */
static bool trace_read_head(struct reader *r, const char *line)
{
	if (!str_starts(text_skip(line), "syscall") || !strstr(line, "calls"))
		return false;
	r->columns = strstr(line, "errors") ? NCOLUMNS : NCOLUMNS - 1;
	return true;
}

static uint64_t ms_in_ns(double ms)
{
	return (uint64_t)llround(ms * 1e6);
}

/*
 * Fills the times. The mean of a row must be its total divided by its calls, to the printed digits,
 * or the row is damaged. m2 is recovered from perf's 100 x sqrt(m2 / (n - 1) / n) / mean.
 */
static int trace_fill_times(const struct reader *r, char **words, struct syscall_row *row)
{
	double v[NCOLUMNS], n = (double)row->calls, error;

	for (int i = TOTAL; i < NCOLUMNS; i++) {
		const char *word = words[i];

		if (!text_number(&word, &v[i]) || (*word && strcmp(word, "%") != 0))
			return text_bad(&r->text, "the time is not a number");
	}
	if (!row->calls)
		return text_bad(&r->text, "the row has no calls");
	if (fabs(v[TOTAL] / n - v[AVG]) > 0.0010001)
		return text_bad(&r->text, "total / calls is not avg: the row is damaged");
	row->total_ns = ms_in_ns(v[TOTAL]);
	row->min_ns = ms_in_ns(v[MIN]);
	row->max_ns = ms_in_ns(v[MAX]);
	error = v[STDDEV] / 100 * (double)row->total_ns / n;
	row->m2 = error * error * n * (n - 1);
	return 0;
}

static int trace_read_row(struct reader *r, char *line)
{
	struct syscall_row row = {.comm = r->comm, .tid = r->tid};
	char *words[NCOLUMNS + 1];
	size_t n = text_fields(line, false, words, r->columns + 1);
	int ret;

	if (n != r->columns)
		return text_bad(&r->text, n > r->columns
						  ? "the row has more columns than the heading"
						  : "the row has fewer columns than the heading");
	row.name = arena_strdup(&r->trace->strings, words[SYSCALL]);
	if (n < NCOLUMNS) {
		memmove(words + TOTAL, words + ERRORS, (NCOLUMNS - TOTAL) * sizeof(*words));
		row.errors = ERRORS_UNKNOWN;
	}
	if (!text_is_count(words[CALLS], &row.calls) ||
	    (n == NCOLUMNS && !text_is_count(words[ERRORS], &row.errors)))
		return text_bad(&r->text, "the count is not a number");
	ret = trace_fill_times(r, words, &row);
	if (!ret)
		array_add(r->trace->rows, r->trace->n, r->trace->cap, row);
	return ret;
}

static bool text_has_word(const char *p)
{
	while (*p && !isalnum((unsigned char)*p))
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

	if (*p == '(' || *p == '-' || !text_has_word(p))
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
	if (trace_read_thread(r, line) || trace_read_head(r, line) || !r->columns)
		return 0;
	if (trace_is_between(line)) {
		r->blank = r->blank || !*text_skip(line);
		return 0;
	}
	if (trace_table_over(r, line)) {
		r->columns = 0;
		return 0;
	}
	r->blank = false;
	return trace_read_row(r, line);
}

int perf_trace_parse(const char *name, char *data, size_t len, struct trace *trace,
		     struct error *err)
{
	struct reader r = {.trace = trace, .comm = ""};
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
