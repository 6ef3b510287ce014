// SPDX-License-Identifier: GPL-2.0-only
/* Finds the layout of a text and does the work that all layouts share. */
#include "analyze/texts/perf_stat.h"

#include "analyze/texts/perf_stat_rows.h"
#include "lib/alloc.h"
#include "lib/json.h"
#include "lib/str.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- perf stat -j: one object per line; a count is a string, which may be "<not counted>" --- */

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

int stat_json_line(struct stat_reader *r, const char *line)
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

void stat_put(struct stat_reader *r, const struct stat_counter *row, bool part)
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

bool stat_absent(const char **p, enum stat_state *state)
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

bool stat_label(const char *word, size_t len, bool *cpus)
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
