// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the output of perf stat. The rows of its layouts:
 *
 *   text  [time] [label [cpus]] VALUE [unit] EVENT [# comment] [( +- 0.53% )] [(33.31%)]
 *   -x    [time,][label,[cpus,]]value,unit,event,[error%,]runtime,running%,metric,unit
 *   -j    one object per line; a count is a string, which may be "<not counted>"
 *
 * Text: percentages may stand anywhere behind the event. perf before 3.0 wrote "(scaled from
 * 33.31%)", perf up to 4.4 "[33.31%]". -x: perf before 3.14 has no unit. An event may hold the
 * separator: "cpu/event=1,umask=2/".
 */
#include "analyze/texts/perf_stat.h"

#include "analyze/texts/text.h"
#include "lib/alloc.h"
#include "lib/json.h"
#include "lib/str.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stat_reader {
	struct text text;
	struct marks marks;
	struct perf_stat *st;
	char separator; /* the separator of -x */
	double time_s;	/* -I: end of the interval; NAN without intervals */
	bool closed;	/* the first block has ended */
};

static struct stat_counter *stat_find_counter(const struct perf_stat *st, const char *event)
{
	size_t i;

	for (i = 0; i < st->n; i++)
		if (!strcmp(st->counters[i].event, event))
			return &st->counters[i];
	return NULL;
}

/* Adds a part to a sum. The sum is missing if a part is missing. */
static void stat_add_part(struct stat_counter *c, const struct stat_counter *row)
{
	if (row->state != STAT_COUNTED && c->state == STAT_COUNTED)
		c->state = row->state;
	c->value += row->value;
	c->running_pct += (row->running_pct - c->running_pct) / ++c->parts;
	c->error_pct = NAN;
}

/*
 * Adds a row and copies its strings. If `part` is true, the row covers one CPU, thread or interval,
 * and later rows of the event are added to it.
 */
static void stat_put(struct stat_reader *r, const struct stat_counter *row, bool part)
{
	struct perf_stat *st = r->st;
	struct stat_counter *c = stat_find_counter(st, row->event);

	if (c && part) {
		stat_add_part(c, row);
		return;
	}
	if (c) {
		st->repeated++;
		return;
	}
	array_grow(st->counters, st->n, st->cap);
	c = &st->counters[st->n++];
	*c = *row;
	c->event = arena_strdup(&st->strings, row->event);
	c->unit = row->unit && *row->unit ? arena_strdup(&st->strings, row->unit) : NULL;
	c->parts = 1;
	c->line = r->text.line;
}

/* Parses "<not counted>" or "<not supported>" at *p and moves *p past the text. */
static bool stat_absent(const char **p, enum stat_state *state)
{
	static const struct {
		const char *text;
		enum stat_state state;
	} words[] = {{"<not counted>", STAT_NOT_COUNTED}, {"<not supported>", STAT_NOT_SUPPORTED}};
	size_t i;

	for (i = 0; i < array_size(words); i++) {
		if (!str_starts(*p, words[i].text))
			continue;
		*state = words[i].state;
		*p += strlen(words[i].text);
		return true;
	}
	return false;
}

/*
 * Returns whether the word is a label such as "CPU3", "S0-D0-C1", "N0" or "bash-123". Sets *cpus
 * if a number of CPUs follows the label.
 */
static bool stat_label(const char *word, size_t len, bool *cpus)
{
	const char *dash = memrchr(word, '-', len);
	size_t digits;

	*cpus = false;
	if (len < 2 || !isalpha((unsigned char)*word) || !isdigit((unsigned char)word[len - 1]))
		return word[0] == ':' && dash; /* a thread without a name is ":123-123" */
	if (!strncmp(word, "CPU", 3) && strspn(word + 3, "0123456789") == len - 3)
		return true;
	digits = strspn(word + 1, "0123456789");
	if (strchr("SND", *word) && digits && (digits == len - 1 || word[1 + digits] == '-')) {
		*cpus = true;
		return true;
	}
	return dash && strspn(dash + 1, "0123456789") == (size_t)(word + len - dash - 1);
}

/* --- the text --- */

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

/* Returns whether the line begins with a count, or with a label and a count. */
static bool stat_text_row(const char *line)
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

static int stat_text_line(struct stat_reader *r, char *line)
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

/* Returns the separator if the line is a row of `perf stat -x`, or 0. */
static char stat_csv_separator(const char *line)
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

static int stat_csv_line(struct stat_reader *r, char *line)
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

/* --- perf stat -j --- */

/* Keys of a partial row: the row covers one CPU, thread or interval. */
static const char *const parts[] = {"cpu",   "core",	"socket", "die",     "node",
				    "cache", "cluster", "thread", "interval"};

static bool stat_json_is_part(const json_t *o)
{
	size_t i;

	for (i = 0; i < array_size(parts); i++)
		if (json_object_get(o, parts[i]))
			return true;
	return false;
}

static bool stat_json_count(const json_t *o, struct stat_counter *row)
{
	const char *s = json_str(o, "counter-value");

	row->value = json_num(o, "counter-value");
	if (!s)
		return !isnan(row->value);
	if (stat_absent(&s, &row->state))
		return !*s;
	return text_number(&s, &row->value) && !*s;
}

static int stat_json_add(struct stat_reader *r, const json_t *o)
{
	struct stat_counter row = {.event = json_str(o, "event"),
				   .unit = json_str(o, "unit"),
				   .error_pct = json_num(o, "variance"),
				   .running_pct = json_num(o, "pcnt-running")};
	double time = json_num(o, "interval");

	if (!json_object_get(o, "counter-value")) /* a metric of the previous event */
		return 0;
	if (!row.event || !*row.event || !stat_json_count(o, &row))
		return text_bad(&r->text, "no event with a counter-value");
	if (!isnan(time))
		r->time_s = time;
	stat_put(r, &row, stat_json_is_part(o));
	return 0;
}

static int stat_json_line(struct stat_reader *r, const char *line)
{
	json_error_t bad;
	json_t *o;
	int ret;

	if (*text_skip(line) != '{')
		return 0;
	o = json_loads(line, JSON_REJECT_DUPLICATES, &bad);
	if (!o)
		return error_set(
			r->text.err, EBADMSG,
			"%s, line %u: %s (perf stat -j writes no JSON in a locale with a decimal comma: run it with LC_ALL=C)",
			text_name(&r->text), r->text.line, bad.text);
	ret = stat_json_add(r, o);
	json_decref(o);
	return ret;
}

/* --- all layouts --- */

/* Finds the layout by the first recognized line, and the decimal mark by all numbers. */
static void stat_find_layout(struct stat_reader *r, bool *json)
{
	char *copy = xstrdup(r->text.at), *line;
	struct text t = {.name = r->text.name, .at = copy};

	*json = false;
	while ((line = text_next(&t))) {
		const char *p = text_skip(line);

		if (*p == '{') {
			*json = true;
			break;
		}
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

static int stat_check_found(const struct stat_reader *r)
{
	if (r->st->n)
		return 0;
	return error_set(
		r->text.err, ENODATA,
		"%s: no counter in its %u lines; give what perf stat printed (text, -x, or -j)",
		text_name(&r->text), r->text.line);
}

int perf_stat_parse(const char *name, char *data, size_t len, struct perf_stat *st,
		    struct error *err)
{
	struct stat_reader r = {.st = st, .time_s = NAN};
	bool json = false;
	char *line;
	int ret;

	*st = (struct perf_stat){
		.elapsed_s = NAN, .user_s = NAN, .system_s = NAN, .elapsed_pct = NAN};
	ret = text_open(&r.text, name, data, len, err);
	if (!ret) {
		marks_keep_groups(r.text.at);
		stat_find_layout(&r, &json);
		ret = stat_check_marks(&r);
	}
	while (!ret && (line = text_next(&r.text)))
		ret = json	    ? stat_json_line(&r, line)
		      : r.separator ? stat_csv_line(&r, line)
				    : stat_text_line(&r, line);
	if (!ret)
		ret = stat_check_found(&r);
	if (!ret && isnan(st->elapsed_s))
		st->elapsed_s = r.time_s;
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
