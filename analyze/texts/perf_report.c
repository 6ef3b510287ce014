// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the headings, totals and rows of the first table. The heading names the columns. A row
 * begins with percentages and has a level mark before its symbol; the text between the two is cut
 * into the columns. A line that could also be damaged is an error that names the line: a wrong
 * figure is worse than none.
 */
#include "analyze/texts/text.h"

#include "lib/str.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>

/* --- the heading --- */

enum head_column {
	HEAD_TOTAL,   /* Children */
	HEAD_SELF,    /* Self, Overhead */
	HEAD_PERCENT, /* sys, usr ...: unused percentages */
	HEAD_SAMPLES,
	HEAD_NUMBER, /* Period ...: unused numbers */
	HEAD_COMM,
	HEAD_PID, /* Pid:Command */
	HEAD_DSO,
	HEAD_TEXT, /* CPU, Source:Line ... */
	HEAD_SYMBOL,
};

enum { HEAD_MAX = 16 };

struct head {
	enum head_column column[HEAD_MAX];
	size_t n;
};

/*
 * A longer name stands before names that are its beginning. Text recognition reads "Overhead" in
 * screenshots as "0verhead".
 */
static const struct {
	const char *name;
	enum head_column column;
} names[] = {
	{"Children", HEAD_TOTAL},
	{"Overhead guest sys", HEAD_PERCENT},
	{"Overhead guest usr", HEAD_PERCENT},
	{"Overhead sys", HEAD_PERCENT},
	{"Overhead usr", HEAD_PERCENT},
	{"Overhead", HEAD_SELF},
	{"0verhead", HEAD_SELF},
	{"Self", HEAD_SELF},
	{"guest sys", HEAD_PERCENT},
	{"guest usr", HEAD_PERCENT},
	{"sys", HEAD_PERCENT},
	{"usr", HEAD_PERCENT},
	{"Samples", HEAD_SAMPLES},
	{"Period", HEAD_NUMBER},
	{"Pid:Command", HEAD_PID},
	{"Tid:Command", HEAD_PID},
	{"Command:  Pid", HEAD_PID},
	{"Command", HEAD_COMM},
	{"Shared Object", HEAD_DSO},
	{"Shared Obje", HEAD_DSO},
	{"Symbol", HEAD_SYMBOL},
	{"IPC   [IPC Coverage]", HEAD_TEXT},
};

static const char *head_match(const char *p, enum head_column *column)
{
	size_t n;

	for (size_t i = 0; i < array_size(names); i++) {
		n = strlen(names[i].name);
		if (!strncmp(p, names[i].name, n) && !isalnum((unsigned char)p[n])) {
			*column = names[i].column;
			return p + n;
		}
	}
	return NULL;
}

/* Returns the end of an unknown column's name: the next wide gap, or the end of the word. */
static const char *head_unknown_end(const char *p, bool wide)
{
	for (; *p && *p != '\t'; p++)
		if (*p == ' ' && (!wide || p[1] == ' '))
			break;
	return p;
}

static size_t head_count(const struct head *h, enum head_column column)
{
	size_t n = 0;

	for (size_t i = 0; i < h->n; i++)
		n += h->column[i] == column;
	return n;
}

enum head_found { HEAD_NONE, HEAD_FOUND, HEAD_NO_SYMBOL };

/* Parses a cleaned line as a heading. Changes *h only if it returns HEAD_FOUND. */
static enum head_found head_parse(struct head *h, const char *line)
{
	const char *p = line + strspn(line, "# \t"), *end;
	bool wide = strstr(p, "  ") || strchr(p, '\t'), known = true;
	struct head got = {0};
	enum head_column column;

	end = head_match(p, &column);
	if (!end || (column != HEAD_TOTAL && column != HEAD_SELF))
		return HEAD_NONE;
	for (; *p && got.n < HEAD_MAX; p = text_skip(end)) {
		end = head_match(p, &column);
		if (!end) {
			end = head_unknown_end(p, wide);
			column = HEAD_TEXT;
			known = false;
		}
		got.column[got.n++] = column;
	}
	if (!head_count(&got, HEAD_SYMBOL)) /* prose may also begin with "Overhead" */
		return known && got.n > 1 ? HEAD_NO_SYMBOL : HEAD_NONE;
	*h = got;
	return HEAD_FOUND;
}

/* --- a row --- */

enum { MAX_FIELDS = 2 * HEAD_MAX };

struct reader {
	struct text text;
	struct flat *flat;
	struct head head;  /* n is 0 before the first heading */
	bool marked;	   /* the text's rows have level marks */
	size_t percents;   /* number of percentages in the first row of a text without a heading */
	const char *event; /* the requested event; NULL is the first event */
	bool skip;	   /* the current table is for another event */
	bool done;	   /* the selected table has ended */
	unsigned headless; /* line of a heading without a Symbol column */
};

/* The parts of a row. */
struct cut {
	double percent[HEAD_MAX];
	size_t npercents;
	char *middle, *mark, *rest; /* text before, at and after the level mark; mark may be NULL */
};

/* Returns the level mark in `s`, such as "[k]" at the start of a word, or NULL. */
static char *row_mark(const char *s)
{
	for (const char *p = strchr(s, '['); p; p = strchr(p + 1, '['))
		if (p[1] && strchr("k.guHh?", p[1]) && p[2] == ']' &&
		    (p == s || isspace((unsigned char)p[-1]) || p[-1] == '\xa0' || p[-1] == '>'))
			return (char *)p;
	return NULL;
}

/* Skips the marks of the TUI (+, -) and the characters that a copy has in their place. */
static const char *row_skip_marks(const char *p)
{
	while (*p == '+' || *p == '-' || *p == ' ' || *p == '\t' || (*p & 0x80))
		p++;
	return p;
}

/* Parses a number and '%', with or without a space between them, that end at a word's end. */
static bool row_parse_share(const char **p, double *value)
{
	const char *at = *p;

	if (!text_number(&at, value))
		return false;
	at = text_skip(at);
	if (*at != '%' || (at[1] && at[1] != ' ' && at[1] != '\t'))
		return false;
	*p = text_skip(at + 1);
	return true;
}

static size_t row_expected_percents(const struct reader *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->head.n; i++)
		n += r->head.column[i] <= HEAD_PERCENT;
	return r->head.n ? n : r->percents;
}

/* Cuts the line into its parts. Returns false if the line is not a row. */
static bool row_cut(char *line, struct cut *c)
{
	const char *p = row_skip_marks(line);

	*c = (struct cut){0};
	while (c->npercents < HEAD_MAX && row_parse_share(&p, &c->percent[c->npercents]))
		c->npercents++;
	if (!c->npercents || !*p)
		return false;
	c->middle = (char *)p;
	c->mark = row_mark(p);
	if (c->mark)
		c->rest = text_skip(c->mark + 3);
	return true;
}

static int row_check_columns(struct reader *r, const struct cut *c)
{
	if (!r->head.n && !r->percents)
		r->percents = c->npercents;
	if (head_count(&r->head, HEAD_SYMBOL) > 1)
		return text_bad(&r->text, "two tables side by side: give one at a time");
	if (!r->head.n && c->npercents > 2)
		return text_bad(&r->text,
				"the row has more than two percentages, and no heading names them");
	if (c->npercents > row_expected_percents(r))
		return text_bad(
			&r->text,
			"the row has more percentages than the heading has columns (a group of events? "
			"run perf report without --group)");
	if (c->npercents < row_expected_percents(r))
		return text_bad(&r->text,
				"the row has fewer percentages than the table has columns");
	return 0;
}

/*
 * Stores the percentages. Self cannot exceed 100 %, but Children can: perf adds a sample twice if
 * its chain has an unknown symbol twice, or with --sort time.
 */
static int row_add_percents(const struct reader *r, const struct cut *c, struct flat_row *row)
{
	static const struct head one = {{HEAD_SELF}, 1}, two = {{HEAD_TOTAL, HEAD_SELF}, 2};
	const struct head *head = r->head.n ? &r->head : c->npercents == 2 ? &two : &one;
	size_t n = 0;

	row->self = row->total = NAN;
	for (size_t i = 0; i < head->n; i++) {
		if (head->column[i] > HEAD_PERCENT)
			continue;
		if (head->column[i] == HEAD_TOTAL)
			row->total = c->percent[n];
		else if (c->percent[n] > 100.05)
			return text_bad(&r->text, "the share is above 100 %");
		else if (head->column[i] == HEAD_SELF)
			row->self = c->percent[n];
		n++;
	}
	return 0;
}

/* Stores a field of the columns samples, command and shared object. Ignores other columns. */
static int row_field(struct reader *r, struct flat_row *row, enum head_column column,
		     const char *field)
{
	const char *p = field;
	uint64_t n;
	char *colon;

	switch (column) {
	case HEAD_SAMPLES:
		if (!text_count(&p, &n) || *p)
			return text_bad(&r->text, "the Samples column holds no number");
		row->samples = (int64_t)n;
		break;
	case HEAD_COMM:
		row->comm = arena_strdup(&r->flat->strings, field);
		break;
	case HEAD_PID: /* "1234:name"; "name:1234" up to perf 3.18 */
		row->comm = arena_strdup(&r->flat->strings, field);
		colon = strrchr(row->comm, ':');
		if (isdigit((unsigned char)*field) && strchr(field, ':'))
			row->comm = strchr(row->comm, ':') + 1;
		else if (colon)
			*colon = 0;
		break;
	case HEAD_DSO:
		row->dso = arena_strdup(&r->flat->strings, field);
		break;
	default:
		break;
	}
	return 0;
}

/* Joins the first n words of a field list with single spaces. */
static char *fields_join(struct reader *r, char **words, size_t n)
{
	freed(str_free) struct str s = {0};

	for (size_t i = 0; i < n; i++)
		str_printf(&s, "%s%s", i ? " " : "", words[i]);
	return arena_strdup(&r->flat->strings, s.buf ? s.buf : "");
}

/*
 * Reads the text `s` as the columns list[0..n-1]. Cuts at wide gaps if these give n columns.
 * Otherwise cuts at spaces, and Command takes the surplus words ("Web Content").
 */
static int row_add_columns(struct reader *r, struct flat_row *row, const char *s,
			   const enum head_column *list, size_t n)
{
	char *copy = arena_strdup(&r->flat->strings, s), *fields[MAX_FIELDS];
	size_t have = text_fields(copy, true, fields, MAX_FIELDS), at = 0, take;
	bool comm = false;
	int ret = 0;

	for (size_t i = 0; i < n; i++)
		comm |= list[i] == HEAD_COMM;
	if (have != n) {
		copy = arena_strdup(&r->flat->strings, s);
		have = text_fields(copy, false, fields, MAX_FIELDS);
	}
	if (have < n)
		return text_bad(&r->text, "the row has fewer columns than the heading");
	if (have > n && !comm)
		return text_bad(&r->text, "the row has more columns than the heading");
	for (size_t i = 0; i < n && !ret; i++, at += take) {
		take = list[i] == HEAD_COMM ? 1 + have - n : 1;
		ret = row_field(r, row, list[i], fields_join(r, fields + at, take));
	}
	return ret;
}

/* Reads the columns of a row without a heading: [samples] [command] [shared object]. */
static int row_infer_columns(struct reader *r, struct flat_row *row, const char *s)
{
	char *copy = arena_strdup(&r->flat->strings, s), *fields[MAX_FIELDS];
	size_t n = text_fields(copy, false, fields, MAX_FIELDS), at = 0;

	if (n && strspn(fields[0], "0123456789") == strlen(fields[0])) {
		row->samples = (int64_t)strtoull(fields[0], NULL, 10);
		at = 1;
	}
	if (n > at)
		row->dso = fields[n - 1];
	if (n > at + 1)
		row->comm = fields_join(r, fields + at, n - at - 1);
	return 0;
}

/* Cuts what perf report -v prints before the level: "0xffffffff81c00f5c k", address and origin. */
static void row_cut_address(char *s)
{
	char *at = NULL, origin;
	int n = 0;

	while ((s = strstr(s, " 0x")))
		at = s++;
	if (at && sscanf(at, " 0x%*[0-9a-f]%*1[ ] %c %n", &origin, &n) == 1 && n && !at[n])
		*at = '\0';
}

static int row_add_middle(struct reader *r, const struct cut *c, struct flat_row *row)
{
	enum head_column list[HEAD_MAX];
	size_t n = 0;
	char *s = arena_printf(&r->flat->strings, "%.*s", (int)(c->mark - c->middle), c->middle);

	row_cut_address(s);
	if (!r->head.n)
		return row_infer_columns(r, row, s);
	for (size_t i = 0; i < r->head.n && r->head.column[i] != HEAD_SYMBOL; i++)
		if (r->head.column[i] > HEAD_PERCENT)
			list[n++] = r->head.column[i];
	return row_add_columns(r, row, s, list, n);
}

/* Cuts the module that old perf versions print after the symbol: "cp_rx_poll   [8139cp]". */
static void row_cut_module(struct reader *r, struct flat_row *row, char *s)
{
	char *open = strrchr(s, '[');

	if (!open || open == s || !isspace((unsigned char)open[-1]) || !str_ends(s, "]") ||
	    strchr(open, ' ') || open[1] == ']')
		return;
	row->dso = arena_strdup(&r->flat->strings, open);
	*open = 0;
	str_trim(s);
}

/* Reads the columns after the symbol up to the last used column. Ignores later columns (IPC). */
static int row_add_after(struct reader *r, struct flat_row *row, char *s)
{
	char *fields[MAX_FIELDS];
	size_t have = s ? text_fields(s, true, fields, MAX_FIELDS) : 0, i, at = 0;
	int ret = 0;

	for (i = 0; i < r->head.n && r->head.column[i] != HEAD_SYMBOL; i++)
		;
	for (i++; i < r->head.n && !ret; i++, at++) {
		if (r->head.column[i] != HEAD_DSO && r->head.column[i] != HEAD_COMM)
			continue;
		if (at >= have)
			return text_bad(&r->text, "the row has fewer columns than the heading");
		ret = row_field(r, row, r->head.column[i], fields[at]);
	}
	return ret;
}

static int row_add_symbol(struct reader *r, struct flat_row *row, const char *rest, bool marked)
{
	char *copy = arena_strdup(&r->flat->strings, rest), *fields[2];
	size_t have;

	str_trim(copy);
	if (!head_count(&r->head, HEAD_DSO))
		row_cut_module(r, row, copy);
	have = text_fields(copy, true, fields, 2);
	if (!have)
		return text_bad(&r->text, "no symbol");
	if (marked && row_mark(rest))
		return text_bad(&r->text, "two rows side by side: give one table at a time");
	row->symbol = fields[0];
	return row_add_after(r, row, have > 1 ? fields[1] : NULL);
}

/* ROW_UNMARKED is a row with a share but no level mark among marked rows, as in call chains. */
enum row_found { ROW_NONE, ROW_FOUND, ROW_UNMARKED };

/*
 * Reads a row and changes `line`. Returns enum row_found, or -errno with an error that names the
 * line.
 */
static int row_read(struct reader *r, char *line, struct flat_row *row)
{
	struct cut c;
	int ret;

	if (!row_cut(line, &c))
		return ROW_NONE;
	if (!c.mark && r->marked) /* an entry of a call chain has one share and no mark */
		return c.npercents > 1 ? text_bad(&r->text, "the row has no symbol") : ROW_UNMARKED;
	*row = (struct flat_row){.samples = -1, .line = r->text.line};
	ret = row_check_columns(r, &c);
	ret = ret ?: row_add_percents(r, &c, row);
	if (!ret && c.mark) {
		row->level = c.mark[1];
		ret = row_add_middle(r, &c, row);
	}
	ret = ret ?: row_add_symbol(r, row, c.mark ? c.rest : c.middle, c.mark);
	return ret ? ret : ROW_FOUND;
}

/* --- the text --- */

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

	p = strchr(p, '\'');
	end = p ? strchr(++p, '\'') : NULL;
	return end ? arena_printf(&r->flat->strings, "%.*s", (int)(end - p), p) : NULL;
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
	const char *p = strstr(line, "Samples: ");
	struct flat *f = r->flat;
	double value;
	uint64_t lost;

	if (p && !strstr(line, "Lost Samples: "))
		report_begin_event(r, text_skip(p + strlen("Samples: ")));
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
	if (!r->done)
		r->head = *head;
}

/* Reads a heading or a "Samples:" line. After rows, either line begins the next table. */
static bool report_read_heading(struct reader *r, const char *line)
{
	enum head_found found;
	struct head head;

	if (strstr(line, "Samples: ") || strstr(line, "Event count")) {
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
	report_begin_table(r, &head);
	return true;
}

/* Refuses texts with a similar layout that are not from perf report. */
static int report_check_kind(const struct reader *r, const char *line)
{
	const char *p = line + strspn(line, "# \t"), *fault = NULL;

	if (*line != '#')
		return 0;
	if (str_starts(p, "Baseline ") || str_starts(p, "Baseline/"))
		fault = "the text of perf diff holds differences, not shares: give the text of perf report of each recording";
	else if ((str_starts(p, "Overhead") || str_starts(p, "Children")) && p[8] &&
		 strchr(",;|:", p[8]))
		fault = "columns with a separator; run perf report without -t";
	else if (str_starts(p, "Overhead  ") && strstr(p, " / "))
		fault = "the rows of perf report --hierarchy include the rows below them; run perf report without --hierarchy";
	return fault ? text_bad(&r->text, fault) : 0;
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

static int report_read_line(struct reader *r, char *line)
{
	struct flat_row row;
	int ret = report_check_kind(r, line);

	if (ret || report_read_heading(r, line) || r->done || r->skip || *text_skip(line) == '#')
		return ret;
	ret = row_read(r, line, &row);
	if (ret == ROW_UNMARKED)
		r->flat->unmarked++;
	if (ret != ROW_FOUND)
		return ret < 0 ? ret : 0;
	if (r->headless)
		return report_nothing_found(r);
	array_add(r->flat->rows, r->flat->n, r->flat->cap, row);
	return 0;
}

static void report_find_columns(struct flat *f)
{
	f->tables += !f->tables;
	for (size_t i = 0; i < f->n; i++) {
		const struct flat_row *row = &f->rows[i];

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
	char *line;
	int ret;

	*flat = (struct flat){.event_count = NAN, .samples = NAN, .lost = -1};
	ret = text_open(&r.text, name, data, len, err);
	r.marked = !ret && row_mark(r.text.at);
	while (!ret && (line = text_next(&r.text)))
		ret = report_read_line(&r, line);
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
