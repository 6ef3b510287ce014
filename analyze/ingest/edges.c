// SPDX-License-Identifier: GPL-2.0-only
/* How exactly the collectors cut the window, as run.json tells it. */
#include "analyze/ingest/edges.h"

#include "analyze/ingest/json.h"
#include "lib/alloc.h"

enum { WORTH_A_WORD_NS = 1000000 };

struct edge {
	const char *key, *metric, *what;
};

static const struct edge edges[] = {
	{"on_after_ns", "window_start_error_us", "start"},
	{"off_after_ns", "window_end_error_us", "end"},
};

/* The collector that was last, and how much later than the window's edge. */
static void last_one(struct ingest *in, const json_t *collectors, const struct edge *e)
{
	double window = (double)(in->run.end_ns - in->run.start_ns), worst = -1;
	const json_t *c, *after;
	const char *who = NULL;
	size_t i;

	json_array_foreach (collectors, i, c) {
		after = json_object_get(c, e->key);
		if (!json_is_integer(after) || (double)json_integer_value(after) <= worst)
			continue;
		worst = (double)json_integer_value(after);
		who = json_str(c, "name");
	}
	if (worst < 0)
		return;
	ingest_metric(in, e->metric, "us", worst / 1e3, NULL);
	if (worst > WORTH_A_WORD_NS)
		ingest_note(in, worst > window / 100 ? "warning" : "note",
			    "window: its %s is cut to %.1f ms only: %s was that late", e->what,
			    worst / 1e6, who ? who : "a collector");
}

void ingest_edges(struct ingest *in, const json_t *root)
{
	const json_t *window = json_object_get(root, "window"),
		     *late = json_object_get(window, "late_ns"),
		     *own = json_object_get(window, "own_cpu_ns");
	size_t i;

	if (in->run.end_ns <= in->run.start_ns)
		return;
	if (json_is_integer(own))
		ingest_metric(in, "own_cpu_pct", "%",
			      100 * (double)json_integer_value(own) /
				      (double)(in->run.end_ns - in->run.start_ns),
			      NULL);
	if (json_is_integer(late))
		ingest_metric(in, "window_late_us", "us", (double)json_integer_value(late) / 1e3,
			      NULL);
	for (i = 0; i < array_size(edges); i++)
		last_one(in, json_object_get(root, "collectors"), &edges[i]);
}
