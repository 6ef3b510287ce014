// SPDX-License-Identifier: GPL-2.0-only
/* The histograms of tcpzc's summary, and what went on behind its sends and receives. */
#include "lib/json.h"
#include "analyze/ingest/tcpzc_hists.h"

#include "lib/alloc.h"

#include <stdlib.h>
#include <string.h>

/* THE TABLE of units; of others it is a plain number. */
static const struct {
	const char *histogram, *unit;
} units[] = {
	{"recv_bytes", "B"},
	{"notify_ns", "ns"},
	{"latency_ns", "ns"},
};

static const char *hist_find_unit(const char *histogram)
{
	size_t i;

	for (i = 0; i < array_size(units); i++)
		if (!strcmp(units[i].histogram, histogram))
			return units[i].unit;
	return "1";
}

static void hist_add_metric(struct ingest *in, const char *histogram, const char *what,
			    const char *unit, const json_t *value)
{
	char *name = xasprintf("hist:%s:%s", histogram, what);

	if (json_is_number(value))
		ingest_metric(in, name, unit, json_number_value(value), NULL);
	free(name);
}

static void hist_add_buckets(struct ingest *in, const char *histogram, const json_t *buckets)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)buckets, key, value) {
		char *what = xasprintf("log2:%s", key);

		hist_add_metric(in, histogram, what, "1", value);
		free(what);
	}
}

static void hist_add_metrics(struct ingest *in, const char *name, const json_t *h)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)h, key, value)
		hist_add_metric(in, name, key, strcmp(key, "count") ? hist_find_unit(name) : "1",
				value);
	if (strcmp(name, "recv_bytes")) /* recv_size_log2 has those */
		hist_add_buckets(in, name, json_object_get(h, "log2"));
}

static void tcpzc_note_retries(struct ingest *in, const json_t *retries)
{
	const char *limit;
	json_t *value;

	json_object_foreach ((json_t *)retries, limit, value) {
		char *name = xasprintf("send_retries:%s", limit);
		double n = json_number_value(value);

		ingest_metric(in, name, "1", n, NULL);
		if (n > 0)
			note_add(&in->notes, sends_retried, n,
				 strcmp(limit, "memlock") ? limit : "RLIMIT_MEMLOCK");
		free(name);
	}
}

void tcpzc_hists(struct ingest *in, const json_t *summary)
{
	const char *name;
	json_t *value;
	double flows = (double)json_array_size(json_object_get(summary, "flows"));

	json_object_foreach (json_object_get(summary, "histograms"), name, value)
		hist_add_metrics(in, name, value);
	if (json_object_get(summary, "busy_poll") &&
	    json_num(json_object_get(summary, "busy_poll"), "flows") == 0)
		note_add(&in->notes, busy_poll_no_effect);
	tcpzc_note_retries(in, json_object_get(summary, "send_retries"));
	if (flows > 0)
		ingest_metric(in, "workload_flows", "1", flows, NULL);
}
