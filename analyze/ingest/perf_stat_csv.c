// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf stat -x: "[time,][label,[cpus,]]value,unit,event,[error%,]runtime,running%,metric,unit".
 * perfs before 3.14 have no unit. An event may hold the separator itself: "cpu/event=1,umask=2/".
 */
#include "analyze/ingest/perf_stat_rows.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FIELDS = 24 };

static size_t split(char *line, char separator, char **fields)
{
	char *rest = line, *f;
	size_t n = 0;

	while (n < MAX_FIELDS && (f = str_token(&rest, separator)))
		fields[n++] = str_trim(f);
	return n;
}

static bool is_number(const char *s, double *value)
{
	const char *p = s;

	return text_number(&p, value) && !*p;
}

static bool is_count(const char *s, struct stat_counter *row)
{
	const char *p = s;

	if (stat_absent(&p, &row->state))
		return !*p;
	return is_number(s, &row->value);
}

static bool is_event(const char *s)
{
	return isalpha((unsigned char)*s) || *s == '{';
}

/* Nine decimals: the time of -I. */
static bool is_time(const char *s, double *value)
{
	const char *mark = strpbrk(s, ".,");

	return mark && strlen(mark + 1) == 9 && is_number(s, value);
}

/* The event's fields back into one, up to its closing slash; the next field. */
static size_t join_event(char **fields, size_t n, size_t at, char separator)
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

/* The fields as a row; *part: it is of one CPU, thread or interval. False: it is none. */
static bool cut(char **fields, size_t n, char separator, struct stat_counter *row, double *time,
		bool *part)
{
	bool cpus = false;
	size_t at = 0;
	double x;

	if (at < n && is_time(fields[at], time) && n > 3)
		at++;
	*part = at;
	if (at < n && stat_label(fields[at], strlen(fields[at]), &cpus)) {
		at += 1 + cpus;
		*part = true;
	}
	if (at + 1 >= n || !is_count(fields[at], row))
		return false;
	at++;
	if (at + 1 < n && is_event(fields[at + 1]) && !is_number(fields[at], &x)) {
		row->unit = fields[at];
		at++;
	}
	if (!is_event(fields[at]))
		return false;
	row->event = fields[at];
	at = join_event(fields, n, at, separator);
	if (at < n && str_ends(fields[at], "%")) {
		fields[at][strlen(fields[at]) - 1] = 0;
		if (is_number(fields[at++], &x))
			row->error_pct = x;
	}
	if (at + 1 < n && is_number(fields[at + 1], &x))
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
		found = cut(fields, split(copy, separators[i], fields), separators[i], &row, &time,
			    &part);
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
	n = split(line, r->separator, fields);
	if (n > 2 && !*fields[0]) /* a further metric of the event above */
		return 0;
	if (!cut(fields, n, r->separator, &row, &r->time_s, &part))
		return stat_bad(r, "not a row of perf stat -x: value, unit, event ... (in a locale "
				   "with a decimal comma, -x needs another separator)");
	stat_put(r, &row, part);
	return 0;
}
