// SPDX-License-Identifier: GPL-2.0-only
/* The summary that ends workload.out of tcpzc: docs/reference/tcpzc.md. */
#include "analyze/probes/ingest.h"
#include "lib/json.h"
#include "lib/str.h"

/* --- histograms and retried sends --- */

/* Units of histograms; the default is a plain number. */
static const struct {
	const char *histogram, *unit;
} units[] = {
	{"recv_bytes", "B"},
	{"notify_ns", "ns"},
	{"return_ns", "ns"},
	{"latency_ns", "ns"},
};

static const char *hist_find_unit(const char *histogram)
{
	for (size_t i = 0; i < array_size(units); i++)
		if (!strcmp(units[i].histogram, histogram))
			return units[i].unit;
	return "1";
}

static void hist_add_metric(struct ingest *in, const char *histogram, const char *what,
			    const char *unit, const json_t *value)
{
	autofree char *object = xasprintf("%s:%s", histogram, what);

	if (json_is_number(value))
		ingest_metric_of(in, "hist", object, NO_CPU, unit, json_number_value(value));
}

static void hist_add_buckets(struct ingest *in, const char *histogram, const json_t *buckets)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)buckets, key, value) {
		autofree char *what = xasprintf("log2:%s", key);

		hist_add_metric(in, histogram, what, "1", value);
	}
}

/* The percentiles of requests (--rr) as those of other workloads. */
static void hist_add_latency(struct ingest *in, const json_t *h)
{
	static const char *const names[][2] = {
		{"p50", "p50"}, {"p90", "p90"}, {"p99", "p99"}, {"p999", "p99.9"}, {"max", "max"}};

	for (size_t i = 0; i < array_size(names); i++)
		ingest_metric_of(in, "latency_us", names[i][1], NO_CPU, "us",
				 json_num(h, names[i][0]) / 1e3);
	ingest_metric_of(in, "latency_source", "tcpzc", NO_CPU, "1", 1);
}

static void hist_add_metrics(struct ingest *in, const char *name, const json_t *h)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)h, key, value)
		hist_add_metric(in, name, key, strcmp(key, "count") ? hist_find_unit(name) : "1",
				value);
	if (!strcmp(name, "latency_ns"))
		hist_add_latency(in, h);
	if (strcmp(name, "recv_bytes")) /* recv_size_log2 has those */
		hist_add_buckets(in, name, json_object_get(h, "log2"));
}

static void tcpzc_note_retries(struct ingest *in, const json_t *retries)
{
	const char *limit;
	json_t *value;

	json_object_foreach ((json_t *)retries, limit, value) {
		double n = json_number_value(value);

		ingest_metric_of(in, "send_retries", limit, NO_CPU, "1", n);
		if (n > 0)
			note_add(&in->notes, sends_retried, n,
				 strcmp(limit, "memlock") ? limit : "RLIMIT_MEMLOCK");
	}
}

static void tcpzc_add_hists(struct ingest *in, const json_t *summary)
{
	const char *name;
	json_t *value;
	double flows = (double)json_array_size(json_object_get(summary, "flows"));

	json_object_foreach (json_object_get(summary, "histograms"), name, value)
		hist_add_metrics(in, name, value);
	tcpzc_note_retries(in, json_object_get(summary, "send_retries"));
	if (flows > 0)
		ingest_metric(in, "workload_flows", "1", flows);
}

/* --- figures --- */

/*
 * The summary's figures: an object (NULL: the line itself), its member, the metric. All are of the
 * whole run. For a part of its window only the evidence of zero copy is used.
 */
static const struct {
	const char *object, *member, *metric, *unit;
	bool evidence;
} figures[] = {
	{"sends", "total", "sends", "1", true},
	{"sends", "zero_copy", "sends_zero_copy", "1", true},
	{"sends", "copied", "sends_copied", "1", true},
	{"sends", "unknown", "sends_unknown", "1", true},
	{"receive", "calls", "rx_calls", "1", false},
	{"receive", "mapped_bytes", "rx_mapped_bytes", "B", true},
	{"receive", "copied_bytes", "rx_copied_bytes", "B", true},
	{"receive", "unknown_bytes", "rx_unknown_bytes", "B", true},
	{"receive", "dropped_bytes", "rx_dropped_bytes", "B", true},
	{"cpu", "user_s", "workload_user_s", "s", false},
	{"cpu", "system_s", "workload_system_s", "s", false},
	{NULL, "ring_overflow", "ring_overflow", "1", true},
	{NULL, "dropped_completions", "dropped_completions", "1", true},
	{NULL, "refill_empty", "refill_empty", "1", false},
	{NULL, "bytes", "workload_bytes", "B", false},
};

/* Adds {object: count} as one metric each. */
static void tcpzc_add_counts(struct ingest *in, const json_t *counts, const char *name)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)counts, key, value)
		if (json_is_number(value))
			ingest_metric_of(in, name, key, NO_CPU, "1", json_number_value(value));
}

/* Notes a full ring, and completions that the kernel dropped. */
static void tcpzc_note_ring(struct ingest *in, const json_t *line)
{
	double full = json_num(line, "ring_overflow"), lost = json_num(line, "dropped_completions");

	if (full > 0)
		note_add(&in->notes, uring_ring_full, full);
	if (lost > 0)
		note_add(&in->notes, uring_completions_lost, lost);
}

/* Notes responses (--rr) that were copied although zero copy was asked for. They have no metric. */
static void tcpzc_note_responses(struct ingest *in, const json_t *rr)
{
	const json_t *sends = json_object_get(rr, "sends"), *r = json_object_get(rr, "receive");
	double copied = json_num(sends, "copied"), all = json_num(sends, "total");

	if (!json_is_true(json_object_get(rr, "asks_zero_copy")))
		return;
	if (copied > 0)
		note_add(&in->notes, responses_copied, copied, all, "sends");
	copied = json_num(r, "copied_bytes");
	all = json_num(rr, "bytes");
	if (copied > 0)
		note_add(&in->notes, responses_copied, copied, all, "bytes");
}

/* Adds what the workload counted from its start to its end. */
static void tcpzc_add_whole_run(struct ingest *in, const json_t *line)
{
	const char *side = json_str(line, "side");

	if (in->sliced) {
		window_absent(in, "the account's total", "it is of the whole run");
		return;
	}
	tcpzc_add_counts(in, json_object_get(line, "syscalls"), "workload_calls");
	tcpzc_add_counts(in, json_object_get(line, "recv_hist"), "recv_size_log2");
	tcpzc_add_counts(in, json_object_get(line, "token_hist"), "recv_tokens_log2");
	tcpzc_add_counts(in, json_object_get(line, "return_hist"), "return_tokens_log2");
	tcpzc_add_counts(in, json_object_get(line, "rearmed"), "rearmed");
	tcpzc_add_counts(in, json_object_get(line, "pages"), "send_pages");
	tcpzc_add_counts(in, json_object_get(line, "waits"), "send_waits");
	tcpzc_add_counts(in, json_object_get(line, "unmapped"), "unmapped");
	tcpzc_add_counts(in, json_object_get(line, "uring"), "uring");
	tcpzc_add_hists(in, line);
	if (side && str_starts(side, "r"))
		ingest_metric(in, "rx_bytes", "B", json_num(line, "bytes"));
}

static void tcpzc_read_summary(struct ingest *in, const json_t *line)
{
	const char *verify = json_str(line, "verify");

	for (size_t i = 0; i < array_size(figures); i++) {
		const json_t *o =
			figures[i].object ? json_object_get(line, figures[i].object) : line;

		if (!in->sliced || figures[i].evidence)
			ingest_metric(in, figures[i].metric, figures[i].unit,
				      json_num(o, figures[i].member));
	}
	if (json_is_boolean(json_object_get(line, "asks_zero_copy")))
		ingest_metric(in, "asked_zero_copy", "1",
			      json_is_true(json_object_get(line, "asks_zero_copy")));
	tcpzc_note_ring(in, line);
	if (json_is_true(json_object_get(line, "udp")))
		ingest_metric(in, "workload_udp", "1", 1);
	tcpzc_note_responses(in, json_object_get(line, "rr"));
	if (json_num(json_object_get(line, "receive"), "dropped_bytes") > 0)
		note_add(&in->notes, workload_truncated);
	tcpzc_add_whole_run(in, line);
	if (verify && !strcmp(verify, "failed"))
		note_add(&in->notes, workload_corrupt);
}

void ingest_summary(struct ingest *in, char *text)
{
	char *line, *rest = text;
	bool summed = false;
	int number = 0;

	while ((line = str_token(&rest, '\n'))) {
		json_auto_t *object = *line ? json_loads(line, 0, NULL) : NULL;
		const char *type = object ? json_str(object, "type") : NULL;

		number++;
		if (*line && !type)
			note_add(&in->notes, workload_bad_line, number,
				 rest ? "" : "; the file ends in its middle")
				->severity = rest ? SEVERITY_WARNING : SEVERITY_LOSSY;
		else if (type && !strcmp(type, "summary"))
			tcpzc_read_summary(in, object);
		summed |= type && !strcmp(type, "summary");
	}
	if (!summed)
		note_add(&in->notes, workload_no_summary);
}
