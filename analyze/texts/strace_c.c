// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of `strace -c`, with -C, -f, -S, -w and any columns of -U, as rows of perf trace. The
 * rows have no threads, and min and max only if -U shows them. The reader skips lines before and
 * after the table. The table's total must be the sum of its rows.
 *
 * White space separates cells, because copies lost their alignment. Two cells may be empty: errors
 * if there were none, and usecs/call of the total before strace 5.
 */
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

enum column { PERCENT, SECONDS, SHORTEST, LONGEST, USECS, CALLS, ERRORS, NAME, NCOLUMNS };

static const char *const headings[NCOLUMNS] = {"% time",     "seconds", "shortest", "longest",
					       "usecs/call", "calls",	"errors",   "syscall"};

enum { MAX_WORDS = NCOLUMNS + 2 };

struct sums {
	uint64_t calls, errors;
	double ms;
	size_t rows;
};

struct reader {
	struct text text;
	struct trace *trace;
	enum column column[NCOLUMNS];
	size_t ncolumns; /* 0 outside a table */
	bool modes;	 /* one table per kind of system call: 64 bit, 32 bit, x32 */
	struct sums sums;
};

static bool strace_has_column(const struct reader *r, enum column column)
{
	size_t i;

	for (i = 0; i < r->ncolumns; i++)
		if (r->column[i] == column)
			return true;
	return false;
}

/* Reads a line that has only column headings. */
static bool strace_read_head(struct reader *r, const char *line)
{
	enum column got[NCOLUMNS];
	size_t n = 0, c, len;
	const char *p;

	for (p = text_skip(line); *p; p = text_skip(p + len)) {
		for (c = 0; c < NCOLUMNS; c++) {
			len = strlen(headings[c]);
			if (str_starts(p, headings[c]) && (!p[len] || strchr(" \t", p[len])))
				break;
		}
		if (c == NCOLUMNS || n == NCOLUMNS)
			return false;
		got[n++] = (enum column)c;
	}
	if (n < 2)
		return false;
	memcpy(r->column, got, sizeof(got));
	r->ncolumns = n;
	return true;
}

/*
 * Begins a table. Tables for several kinds of system calls belong together. Otherwise only the
 * first table is read.
 */
static int strace_begin_table(struct reader *r)
{
	r->sums = (struct sums){0};
	r->trace->tables += !r->modes || !r->trace->tables;
	if (r->trace->tables > 1)
		r->ncolumns = 0;
	else if (!strace_has_column(r, NAME) || !strace_has_column(r, CALLS))
		return text_bad(&r->text,
				"the table needs the columns calls and syscall (strace -U)");
	return 0;
}

static bool strace_add_word(struct trace_row *row, enum column column, const char *word)
{
	double x = 0;
	uint64_t n = 0;

	if (column == NAME)
		return isalpha((unsigned char)*word) || *word == '_';
	if (column == PERCENT && str_ends(word, "nan"))
		return true;
	if (column == CALLS || column == ERRORS ? !text_is_count(word, &n) || n > INT64_MAX
						: !text_is_number(word, &x))
		return false;
	switch (column) {
	case SECONDS:
		row->total_ms = 1000 * x;
		break;
	case SHORTEST:
		row->min_ms = 1000 * x;
		break;
	case LONGEST:
		row->max_ms = 1000 * x;
		break;
	case USECS:
		row->avg_ms = x / 1000;
		break;
	case CALLS:
		row->calls = n;
		break;
	case ERRORS:
		row->errors = (int64_t)n;
		break;
	default:
		break;
	}
	return true;
}

/*
 * Assigns the words to columns and leaves out the columns in `empty`. Returns false if the words
 * do not fit.
 */
static bool strace_cut_cells(const struct reader *r, char **words, size_t n, unsigned empty,
			     struct trace_row *row)
{
	size_t i, at = 0;

	*row = trace_row_empty(r->text.line);
	for (i = 0; i < r->ncolumns; i++) {
		if (empty & 1U << r->column[i])
			continue;
		if (at == n || !strace_add_word(row, r->column[i], words[at++]))
			return false;
	}
	if (strace_has_column(r, ERRORS) && empty & 1U << ERRORS)
		row->errors = 0;
	return at == n;
}

/* Checks the mean of a row, which strace prints as whole microseconds. */
static int strace_check_row(const struct reader *r, const struct trace_row *row)
{
	double usecs = 1000 * row->total_ms / (double)row->calls;

	if (!row->calls)
		return text_bad(&r->text, "the row has no calls");
	if (row->errors > 0 && (uint64_t)row->errors > row->calls)
		return text_bad(&r->text, "the row has more errors than calls");
	if (fabs(usecs - 1000 * row->avg_ms) > 1.01) /* false if a value is missing */
		return text_bad(&r->text, "seconds / calls is not usecs/call: the row is damaged");
	return 0;
}

/* Returns the only cell that is not a number. */
static const char *strace_find_name(char **words, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (isalpha((unsigned char)*words[i]) || *words[i] == '_')
			return words[i];
	return "";
}

static int strace_read_row(struct reader *r, char **words, size_t n)
{
	struct trace *tr = r->trace;
	struct trace_row row;
	int ret;

	if (!strace_cut_cells(r, words, n, 0, &row) &&
	    (!strace_has_column(r, ERRORS) || !strace_cut_cells(r, words, n, 1U << ERRORS, &row)))
		return text_bad(&r->text,
				n > r->ncolumns
					? "the row has more columns than the heading"
					: "the row does not fit the columns of the heading");
	ret = strace_check_row(r, &row);
	if (ret)
		return ret;
	row.syscall = arena_strdup(&tr->strings, strace_find_name(words, n));
	r->sums.calls += row.calls;
	r->sums.errors += row.errors > 0 ? (uint64_t)row.errors : 0;
	r->sums.ms += row.total_ms;
	r->sums.rows++;
	array_add(tr->rows, tr->n, tr->cap, row);
	return 0;
}

static bool strace_is_sum(const struct reader *r, const struct trace_row *total)
{
	double rounding = 0.0005 * (double)(r->sums.rows + 2);

	return total->calls == r->sums.calls &&
	       (total->errors < 0 || (uint64_t)total->errors == r->sums.errors) &&
	       !(fabs(total->total_ms - r->sums.ms) > rounding);
}

static int strace_read_total(struct reader *r, char **words, size_t n)
{
	static const unsigned empties[] = {0, 1U << ERRORS, 1U << USECS,
					   1U << ERRORS | 1U << USECS};
	struct trace_row total;
	bool fits = false;
	size_t i;

	for (i = 0; i < array_size(empties); i++) {
		if (!strace_cut_cells(r, words, n, empties[i], &total))
			continue;
		fits = true;
		if (strace_is_sum(r, &total)) {
			r->ncolumns = 0;
			return 0;
		}
	}
	return fits ? text_bad(
			      &r->text,
			      "the total is not the sum of the rows above: some are missing or damaged")
		    : text_bad(&r->text, "the total cannot be read");
}

static int strace_read_line(struct reader *r, char *line)
{
	char *words[MAX_WORDS];
	size_t n;

	r->modes |= strstr(line, "System call usage summary") != NULL;
	if (strace_read_head(r, line))
		return strace_begin_table(r);
	line = text_skip(line);
	if (!r->ncolumns || !*line || strspn(line, "- \t") == strlen(line))
		return 0;
	n = text_fields(line, false, words, MAX_WORDS);
	return strcmp(strace_find_name(words, n), "total") ? strace_read_row(r, words, n)
							   : strace_read_total(r, words, n);
}

static int strace_check_end(const struct reader *r)
{
	r->trace->no_total = r->ncolumns;
	r->trace->says =
		"strace -c: the time is CPU time in the kernel, or with -w the elapsed time of the call (the text does not say which); strace slows the workload";
	if (r->trace->n)
		return 0;
	return error_set(r->text.err, ENODATA,
			 "%s: no table of system calls in its %u lines; give the text of strace -c",
			 text_name(&r->text), r->text.line);
}

int strace_c_parse(const char *name, char *data, size_t len, struct trace *trace, struct error *err)
{
	struct reader r = {.trace = trace};
	char *line;
	int ret;

	*trace = (struct trace){0};
	ret = text_open(&r.text, name, data, len, err);
	while (!ret && (line = text_next(&r.text)))
		ret = strace_read_line(&r, line);
	if (!ret)
		ret = strace_check_end(&r);
	text_close(&r.text);
	if (ret)
		trace_free(trace);
	return ret;
}
