// SPDX-License-Identifier: GPL-2.0-only
/*
 * "[time] [label [cpus]] VALUE [unit] EVENT [# comment] [( +- 0.53% )] [(33.31%)]". Percentages are
 * found anywhere behind the event; perf before 3.0 wrote "(scaled from 33.31%)", up to 4.4
 * "[33.31%]".
 */
#include "analyze/ingest/perf_stat_rows.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Nine decimals: the time of -I. */
static bool take_time(const struct stat_reader *r, const char **p, double *value)
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

/* "S0-D0-C1 2 ", "CPU3 ", "Web Content-123 " before a count. */
static bool take_label(const char **p)
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

	return isdigit((unsigned char)*p) || stat_absent(&p, &state) || take_label(&p);
}

/* A percentage in brackets behind the event: which one it is, by what stands before it. */
static bool take_share(const struct stat_reader *r, const char *open, struct stat_counter *row)
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
static void take_shares(const struct stat_reader *r, char *line, struct stat_counter *row)
{
	char *open, *end = line + strcspn(line, "#");

	for (open = strpbrk(line, "(["); open; open = strpbrk(open + 1, "(["))
		if (take_share(r, open, row) && open < end)
			end = open;
	*end = 0;
	str_trim(line);
}

static int take_value(const struct stat_reader *r, const char **p, struct stat_counter *row)
{
	if (stat_absent(p, &row->state))
		return 0;
	if (!marks_number(&r->marks, p, true, &row->value) || (**p && !isspace((unsigned char)**p)))
		return stat_bad(r, "a count that cannot be read as a number");
	return 0;
}

/* "EVENT", "unit EVENT", "task-clock (msec)", "task-clock-msecs". */
static int take_event(const struct stat_reader *r, char *s, struct stat_counter *row)
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
		return stat_bad(r, n ? "more between count and comment than a unit and an event"
				     : "a count without an event");
	}
	if (isdigit((unsigned char)*row->event))
		return stat_bad(r, "a number where an event should be");
	return 0;
}

/* "1.00089 +- 0.00001 seconds time elapsed ( +- 0.00% )", "0.5 seconds user". */
static bool take_seconds(struct stat_reader *r, const char *line)
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
			take_share(r, open, &share);
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

static bool take_heading(struct stat_reader *r, const char *line)
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

	if (take_heading(r, p) || r->closed || !stat_text_row(p) || take_seconds(r, p))
		return 0;
	part = take_time(r, &p, &r->time_s);
	part |= take_label(&p);
	take_shares(r, (char *)p, &row);
	ret = take_value(r, &p, &row);
	if (!ret)
		ret = take_event(r, (char *)p, &row);
	if (!ret)
		stat_put(r, &row, part);
	return ret;
}
