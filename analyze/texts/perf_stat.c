// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the output of perf stat. The rows of its layouts:
 *
 *   text  VALUE [unit] EVENT [# comment] [( +- 0.53% )] [(33.31%)]
 *   -x    value,unit,event,[error%,]runtime,running%,metric,unit
 *
 * Text: percentages may stand anywhere behind the event. perf before 3.0 wrote "(scaled from
 * 33.31%)", perf up to 4.4 "[33.31%]". -x: an
 * event may hold the separator: "cpu/event=1,umask=2/". Rows of one CPU, thread or interval are
 * refused.
 */
#include "analyze/texts/text.h"

#include "lib/str.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>

struct stat_reader {
	struct text text;
	struct marks marks;
	struct perf_stat *st;
	char separator; /* the separator of -x */
	bool closed;	/* the first block has ended */
};

/* Adds a row and copies its strings. Of rows that repeat an event the first counts. */
static void stat_put(struct stat_reader *r, struct stat_counter row)
{
	struct perf_stat *st = r->st;

	for (size_t i = 0; i < st->n; i++)
		if (!strcmp(st->counters[i].event, row.event))
			return;
	row.event = arena_strdup(&st->strings, row.event);
	row.unit = row.unit && *row.unit ? arena_strdup(&st->strings, row.unit) : NULL;
	array_add(st->counters, st->n, st->cap, row);
}

/* Parses "<not counted>" or "<not supported>" at *p and moves *p past the text. */
static bool stat_absent(const char **p, enum stat_state *state)
{
	*state = str_starts(*p, "<not counted>")     ? STAT_NOT_COUNTED
		 : str_starts(*p, "<not supported>") ? STAT_NOT_SUPPORTED
						     : STAT_COUNTED;
	if (*state != STAT_COUNTED)
		*p = strchr(*p, '>') + 1;
	return *state != STAT_COUNTED;
}

/* --- the text --- */

/* Returns whether the line begins with a count. */
static bool stat_text_row(const char *line)
{
	const char *p = text_skip(line);
	enum stat_state state;

	return isdigit((unsigned char)*p) || stat_absent(&p, &state);
}

/*
 * Parses a percentage in brackets after the event. The text before the number says which
 * percentage it is.
 */
static bool stat_parse_share(const struct stat_reader *r, const char *open,
			     struct stat_counter *row)
{
	const char *p = text_skip(open + 1);
	bool error = str_starts(p, "+-");
	double value;

	if (error)
		p = text_skip(p + 2);
	else if (str_starts(p, "scaled from"))
		p = text_skip(p + 11);
	if (!marks_number(&r->marks, &p, false, &value) || *text_skip(p) != '%')
		return false;
	*(error ? &row->error_pct : &row->running_pct) = value;
	return true;
}

/* Reads the brackets and cuts the line before the first of them, or before perf's comment. */
static void stat_parse_shares(const struct stat_reader *r, char *line, struct stat_counter *row)
{
	char *end = line + strcspn(line, "#");

	for (char *open = strpbrk(line, "(["); open; open = strpbrk(open + 1, "(["))
		if (stat_parse_share(r, open, row) && open < end)
			end = open;
	*end = 0;
	str_trim(line);
}

static int stat_parse_value(const struct stat_reader *r, const char **p, struct stat_counter *row)
{
	if (stat_absent(p, &row->state))
		return 0;
	if (!marks_number(&r->marks, p, true, &row->value) || (**p && !isspace((unsigned char)**p)))
		return text_bad(&r->text, "the count is not a number");
	return 0;
}

/* Parses "EVENT", "unit EVENT", "task-clock (msec)" or "task-clock-msecs". */
static int stat_parse_event(const struct stat_reader *r, char *s, struct stat_counter *row)
{
	char *words[3];
	size_t n = text_fields(s, false, words, array_size(words));

	if (n == 2 && !strcmp(words[1], "(msec)")) {
		row->event = words[0];
		row->unit = "msec";
	} else if (n == 1 && str_ends(words[0], "-clock-msecs")) {
		words[0][strlen(words[0]) - strlen("-msecs")] = 0;
		row->event = words[0];
		row->unit = "msec";
	} else if (n == 1 || n == 2) {
		row->event = words[n - 1];
		row->unit = n == 2 ? words[0] : NULL;
	} else {
		return text_bad(
			&r->text,
			n ? "there is more than a unit and an event between the count and the comment"
			  : "the count has no event");
	}
	if (isdigit((unsigned char)*row->event) ||
	    (row->unit && isdigit((unsigned char)*row->unit)))
		return text_bad(
			&r->text,
			"there is a number where an event should be; run perf stat without -I");
	return 0;
}

/* Parses "1.00089 +- 0.00001 seconds time elapsed ( +- 0.00% )" or "0.5 seconds user". */
static bool stat_parse_seconds(struct stat_reader *r, const char *line)
{
	const char *p = line, *what = strstr(line, "seconds "), *open;
	struct stat_counter share = {.error_pct = NAN};
	struct perf_stat *st = r->st;
	double value;

	if (!what || !marks_number(&r->marks, &p, false, &value) || *p != ' ')
		return false;
	if (str_starts(what, "seconds time elapsed")) {
		open = strchr(what, '(');
		if (open)
			stat_parse_share(r, open, &share);
		st->elapsed_s = value;
		st->elapsed_pct = share.error_pct;
	} else if (str_starts(what, "seconds user")) {
		st->user_s = value;
	} else if (str_starts(what, "seconds sys")) {
		st->system_s = value;
	} else {
		return false;
	}
	return true;
}

static bool stat_parse_heading(struct stat_reader *r, const char *line)
{
	const char *p = strstr(line, "erformance counter stats for"), *runs;

	if (!p)
		return false;
	r->st->blocks++;
	r->closed = r->closed || r->st->n;
	runs = strrchr(p, '(');
	if (!r->closed && runs)
		sscanf(runs, "(%u runs)", &r->st->runs);
	return true;
}

static int stat_text_line(struct stat_reader *r, char *line)
{
	struct stat_counter row = {.value = NAN, .error_pct = NAN, .running_pct = NAN};
	const char *p = text_skip(line);
	int ret;

	if (stat_parse_heading(r, p) || r->closed || !stat_text_row(p) || stat_parse_seconds(r, p))
		return 0;
	stat_parse_shares(r, (char *)p, &row);
	ret = stat_parse_value(r, &p, &row);
	ret = ret ?: stat_parse_event(r, (char *)p, &row);
	if (!ret)
		stat_put(r, row);
	return ret;
}

/* --- perf stat -x --- */

enum { MAX_FIELDS = 24 };

static size_t csv_split(char *line, char separator, char **fields)
{
	char *rest = line, *f;
	size_t n = 0;

	while (n < MAX_FIELDS && (f = str_token(&rest, separator)))
		fields[n++] = str_trim(f);
	return n;
}

static bool csv_is_count(const char *s, struct stat_counter *row)
{
	const char *p = s;

	if (stat_absent(&p, &row->state))
		return !*p;
	return text_is_number(s, &row->value);
}

static bool csv_is_event(const char *s)
{
	return isalpha((unsigned char)*s) || *s == '{';
}

/* Joins the event's fields up to its closing slash. Returns the index of the next field. */
static size_t csv_join_event(char **fields, size_t n, size_t at, char separator)
{
	char *slash = strchr(fields[at], '/');
	size_t last = at;

	if (!slash || strchr(slash + 1, '/'))
		return at + 1;
	for (last = at + 1; last < n && !strchr(fields[last], '/'); last++)
		;
	if (last == n)
		return at + 1;
	while (fields[at] + strlen(fields[at]) < fields[last])
		fields[at][strlen(fields[at])] = separator;
	return last + 1;
}

/* Reads the fields as a row. Returns false if the fields are not a row. */
static bool csv_cut(char **fields, size_t n, char separator, struct stat_counter *row)
{
	size_t at = 1;
	double x;

	if (n < 2 || !csv_is_count(fields[0], row))
		return false;
	if (n > 2 && csv_is_event(fields[2]) && !text_is_number(fields[1], &x))
		row->unit = fields[at++];
	if (!csv_is_event(fields[at]))
		return false;
	row->event = fields[at];
	at = csv_join_event(fields, n, at, separator);
	if (at < n && str_ends(fields[at], "%")) {
		fields[at][strlen(fields[at]) - 1] = 0;
		if (text_is_number(fields[at++], &x))
			row->error_pct = x;
	}
	if (at + 1 < n && text_is_number(fields[at + 1], &x))
		row->running_pct = x;
	return true;
}

/* Returns the separator if the line is a row of `perf stat -x`, or 0. */
static char stat_csv_separator(const char *line)
{
	static const char separators[] = ",;\t|:";
	struct stat_counter row;
	char *fields[MAX_FIELDS];
	bool found = false;
	size_t i;

	for (i = 0; !found && separators[i]; i++) {
		autofree char *copy = xstrdup(line);

		found = csv_cut(fields, csv_split(copy, separators[i], fields), separators[i],
				&row);
	}
	return found ? separators[i - 1] : 0;
}

static int stat_csv_line(struct stat_reader *r, char *line)
{
	struct stat_counter row = {.value = NAN, .error_pct = NAN, .running_pct = NAN};
	char *fields[MAX_FIELDS];
	size_t n;

	if (!*text_skip(line) || *text_skip(line) == '#')
		return 0;
	n = csv_split(line, r->separator, fields);
	if (n > 2 && !*fields[0]) /* another metric of the previous event */
		return 0;
	if (!csv_cut(fields, n, r->separator, &row))
		return text_bad(
			&r->text,
			"not a row of perf stat -x: value, unit, event ... (in a locale with a decimal comma, -x needs another separator)");
	stat_put(r, row);
	return 0;
}

/* --- all layouts --- */

/* Finds the layout by the first recognized line, and the decimal mark by all numbers. */
static void stat_find_layout(struct stat_reader *r)
{
	char *copy = xstrdup(r->text.at), *line;
	struct text t = {.name = r->text.name, .at = copy};

	while ((line = text_next(&t))) {
		const char *p = text_skip(line);

		if (!r->separator)
			r->separator = stat_csv_separator(p);
		if (!r->separator && stat_text_row(p))
			marks_learn(&r->marks, p, t.line);
	}
	free(copy);
}

static int stat_check_marks(const struct stat_reader *r)
{
	if (!r->marks.other || r->separator)
		return 0;
	return error_set(
		r->text.err, EBADMSG,
		"%s, line %u: a number with another decimal mark than in line %u: give the output of one perf stat at a time",
		text_name(&r->text), r->marks.other, r->marks.line);
}

int perf_stat_parse(const char *name, char *data, size_t len, struct perf_stat *st,
		    struct error *err)
{
	struct stat_reader r = {.st = st};
	char *line;
	int ret;

	*st = (struct perf_stat){
		.elapsed_s = NAN, .user_s = NAN, .system_s = NAN, .elapsed_pct = NAN};
	ret = text_open(&r.text, name, data, len, err);
	if (!ret) {
		marks_keep_groups(r.text.at);
		stat_find_layout(&r);
		ret = stat_check_marks(&r);
	}
	while (!ret && (line = text_next(&r.text)))
		ret = r.separator ? stat_csv_line(&r, line) : stat_text_line(&r, line);
	if (!ret && !st->n)
		ret = error_set(
			err, ENODATA,
			"%s: no counter in its %u lines; give the totals that perf stat printed (text or -x; no -A, --per-*, -I or -j)",
			text_name(&r.text), r.text.line);
	text_close(&r.text);
	if (ret)
		perf_stat_free(st);
	return ret;
}

void perf_stat_free(struct perf_stat *st)
{
	free(st->counters);
	arena_free(&st->strings);
	*st = (struct perf_stat){0};
}
