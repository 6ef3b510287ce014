// SPDX-License-Identifier: GPL-2.0-only
/* perf stat -j: one object a line. Counts are strings, so that "<not counted>" can stand there. */
#include "analyze/ingest/perf_stat_rows.h"

#include "lib/json.h"
#include "lib/alloc.h"
#include "lib/str.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Keys that say the row is only a part: of CPUs, threads, or time. */
static const char *const parts[] = {"cpu",   "core",	"socket", "die",     "node",
				    "cache", "cluster", "thread", "interval"};

static bool is_part(const json_t *o)
{
	size_t i;

	for (i = 0; i < array_size(parts); i++)
		if (json_object_get(o, parts[i]))
			return true;
	return false;
}

static bool count_of(const json_t *o, struct stat_counter *row)
{
	const char *s = json_str(o, "counter-value");

	row->value = json_num(o, "counter-value");
	if (!s)
		return !isnan(row->value);
	if (stat_absent(&s, &row->state))
		return !*s;
	return text_number(&s, &row->value) && !*s;
}

static int put(struct stat_reader *r, const json_t *o)
{
	struct stat_counter row = {.event = json_str(o, "event"),
				   .unit = json_str(o, "unit"),
				   .error_pct = json_num(o, "variance"),
				   .running_pct = json_num(o, "pcnt-running")};
	double time = json_num(o, "interval");

	if (!json_object_get(o, "counter-value")) /* a metric of the event above */
		return 0;
	if (!row.event || !*row.event || !count_of(o, &row))
		return stat_bad(r, "no event with a counter-value");
	if (!isnan(time))
		r->time_s = time;
	stat_put(r, &row, is_part(o));
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
		return error_set(r->err, EBADMSG,
				 "%s, line %u: %s (perf stat -j writes no JSON in a locale with a "
				 "decimal comma: run it with LC_ALL=C)",
				 text_name(&r->text), r->text.line, bad.text);
	ret = put(r, o);
	json_decref(o);
	return ret;
}
