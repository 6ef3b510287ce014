// SPDX-License-Identifier: GPL-2.0-only
/* How exactly the collectors cut the window, as run.json tells it. */
#include "analyze/ingest/edges.h"

#include "lib/json.h"
#include "lib/alloc.h"

enum { WORTH_A_WORD_NS = 1000000 };

struct edge {
	const char *key, *metric, *what;
	bool dated; /* cut there when it is read, whenever the reading was */
};

static const struct edge edges[] = {
	{"on_after_ns", "window_start_error_us", "start", false},
	{"off_after_ns", "window_end_error_us", "end", false},
	{"read_before_ns", "window_first_reading_us", "start", true},
	{"read_after_ns", "window_last_reading_us", "end", true},
};

static void edge_add_note(struct ingest *in, const struct edge *e, double ns, double window,
			  const char *who)
{
	enum note_severity level = ns > window / 100 ? SEVERITY_WARNING : SEVERITY_INFO;

	if (ns <= WORTH_A_WORD_NS)
		return;
	if (!e->dated)
		note_add(&in->notes, window_cut_late, e->what, ns / 1e6, who)->severity = level;
	else if (ns > window / 100)
		note_add(&in->notes, window_reading_far, who, e->what, ns / 1e6)->severity = level;
}

/* The collector that was farthest from the window's edge. */
static void edge_add_metric(struct ingest *in, const json_t *collectors, const struct edge *e)
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
	edge_add_note(in, e, worst, window, who ? who : "a collector");
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
		edge_add_metric(in, json_object_get(root, "collectors"), &edges[i]);
}
