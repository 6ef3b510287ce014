// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rows of two layouts:
 *
 *   text  [time] [label [cpus]] VALUE [unit] EVENT [# comment] [( +- 0.53% )] [(33.31%)]
 *   -x    [time,][label,[cpus,]]value,unit,event,[error%,]runtime,running%,metric,unit
 *
 * Text: percentages may stand anywhere behind the event. perf before 3.0 wrote "(scaled from
 * 33.31%)", perf up to 4.4 "[33.31%]". -x: perf before 3.14 has no unit. An event may hold the
 * separator: "cpu/event=1,umask=2/".
 */
#include "analyze/texts/perf_stat_rows.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parses the time of -I, which has nine decimals. */
static bool stat_parse_time(const struct stat_reader *r, const char **p, double *value)
{
	const char *at = *p, *mark;
	double x;

	if (!marks_number(&r->marks, &at, false, &x))
		return false;
	for (mark = at; mark > *p && isdigit((unsigned char)mark[-1]); mark--)
		;
	if (at - mark != 9 || mark == *p || (*at && !isspace((unsigned char)*at)))
		return false;
	*p = text_skip(at);
	*value = x;
	return true;
}

/* Skips a label before a count, such as "S0-D0-C1 2 ", "CPU3 " or "Web Content-123 ". */
static bool stat_parse_label(const char **p)
{
	const char *at = *p, *end, *value;
	enum stat_state state;
	bool cpus = false;

	for (end = at; *end; end += strspn(end, " \t")) {
		end += strcspn(end, " \t");
		value = text_skip(end);
		if (!isdigit((unsigned char)*value) && !stat_absent(&value, &state))
			continue;
		if (!stat_label(at, (size_t)(end - at), &cpus))
			return false;
		*p = text_skip(end);
		if (cpus)
			*p = text_skip(*p + strspn(*p, "0123456789"));
		return true;
	}
	return false;
}

bool stat_text_row(const char *line)
{
	const char *p = text_skip(line);
	enum stat_state state;

	return isdigit((unsigned char)*p) || stat_absent(&p, &state) || stat_parse_label(&p);
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
	char *open, *end = line + strcspn(line, "#");

	for (open = strpbrk(line, "(["); open; open = strpbrk(open + 1, "(["))
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
	if (isdigit((unsigned char)*row->event))
		return text_bad(&r->text, "there is a number where an event should be");
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

int stat_text_line(struct stat_reader *r, char *line)
{
	struct stat_counter row = {.value = NAN, .error_pct = NAN, .running_pct = NAN};
	const char *p = text_skip(line);
	bool part;
	int ret;

	if (stat_parse_heading(r, p) || r->closed || !stat_text_row(p) || stat_parse_seconds(r, p))
		return 0;
	part = stat_parse_time(r, &p, &r->time_s);
	part |= stat_parse_label(&p);
	stat_parse_shares(r, (char *)p, &row);
	ret = stat_parse_value(r, &p, &row);
	if (!ret)
		ret = stat_parse_event(r, (char *)p, &row);
	if (!ret)
		stat_put(r, &row, part);
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

/* Parses the time of -I, which has nine decimals. */
static bool csv_is_time(const char *s, double *value)
{
	const char *mark = strpbrk(s, ".,");

	return mark && strlen(mark + 1) == 9 && text_is_number(s, value);
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

/*
 * Reads the fields as a row. Sets *part if the row covers one CPU, thread or interval. Returns
 * false if the fields are not a row.
 */
static bool csv_cut(char **fields, size_t n, char separator, struct stat_counter *row, double *time,
		    bool *part)
{
	bool cpus = false;
	size_t at = 0;
	double x;

	if (at < n && csv_is_time(fields[at], time) && n > 3)
		at++;
	*part = at;
	if (at < n && stat_label(fields[at], strlen(fields[at]), &cpus)) {
		at += 1 + cpus;
		*part = true;
	}
	if (at + 1 >= n || !csv_is_count(fields[at], row))
		return false;
	at++;
	if (at + 1 < n && csv_is_event(fields[at + 1]) && !text_is_number(fields[at], &x)) {
		row->unit = fields[at];
		at++;
	}
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

char stat_csv_separator(const char *line)
{
	static const char separators[] = ",;\t|:";
	struct stat_counter row;
	char *fields[MAX_FIELDS], *copy;
	double time;
	bool part, found = false;
	size_t i;

	for (i = 0; !found && separators[i]; i++) {
		copy = xstrdup(line);
		found = csv_cut(fields, csv_split(copy, separators[i], fields), separators[i], &row,
				&time, &part);
		free(copy);
	}
	return found ? separators[i - 1] : 0;
}

int stat_csv_line(struct stat_reader *r, char *line)
{
	struct stat_counter row = {.value = NAN, .error_pct = NAN, .running_pct = NAN};
	char *fields[MAX_FIELDS];
	bool part;
	size_t n;

	if (!*text_skip(line) || *text_skip(line) == '#')
		return 0;
	n = csv_split(line, r->separator, fields);
	if (n > 2 && !*fields[0]) /* another metric of the previous event */
		return 0;
	if (!csv_cut(fields, n, r->separator, &row, &r->time_s, &part))
		return text_bad(
			&r->text,
			"not a row of perf stat -x: value, unit, event ... (in a locale with a decimal comma, -x needs another separator)");
	stat_put(r, &row, part);
	return 0;
}
