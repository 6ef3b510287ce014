// SPDX-License-Identifier: GPL-2.0-only
/*
 * Output of iperf3 -J. Its intervals count from the start of the test, which iperf3 dates to a
 * whole second. They are placed by that date, or between the command's start and end, whichever is
 * more exact.
 */
#include "lib/json.h"
#include "analyze/ingest/workload.h"
#include "analyze/ingest/ingest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static double iperf3_clamp(double x, double lo, double hi)
{
	if (hi < lo)
		hi = lo;
	return x < lo ? lo : x > hi ? hi : x;
}

/*
 * Returns the start of the test on CLOCK_MONOTONIC, and how far it may be wrong. The date is cut
 * to a second. Where run.json's time of day is cut too, the start is known to a second either way.
 */
static double iperf3_place_start(const struct ingest *in, const json_t *root, double length_s,
				 double *error_s)
{
	const json_t *stamp = json_object_get(json_object_get(root, "start"), "timestamp");
	double first = (double)in->started_ns / 1e9, last = (double)in->ended_ns / 1e9 - length_s;
	double dated = json_num(stamp, "timesecs") - in->wall_clock + first, lo, hi;
	double cut = in->wall_clock == floor(in->wall_clock) ? 1 : 0;

	lo = first;
	hi = last > first ? last : first;
	if (isfinite(dated) && in->wall_clock > 0) {
		lo = iperf3_clamp(dated - cut, first, hi);
		hi = iperf3_clamp(dated + 1, first, hi);
	}
	*error_s = (hi - lo) / 2;
	return (lo + hi) / 2;
}

static const json_t *iperf3_find_sum(const json_t *interval)
{
	return json_object_get(interval, "sum");
}

static int iperf3_add_points(const json_t *intervals, double at_s, struct points *ps)
{
	struct point p = {.t_ns = (uint64_t)(at_s * 1e9)};
	const json_t *interval;
	size_t i;

	points_add(ps, &p);
	json_array_foreach (intervals, i, interval) {
		const json_t *sum = iperf3_find_sum(interval);
		double end = json_num(sum, "end"), bytes = json_num(sum, "bytes");
		double packets = json_num(sum, "packets");

		if (!isfinite(end) || !isfinite(bytes))
			return -EBADMSG;
		p.t_ns = (uint64_t)((at_s + end) * 1e9);
		p.n[WORK_BYTES] += bytes;
		p.n[WORK_PACKETS] += isfinite(packets) ? packets : 0;
		ps->has[WORK_BYTES] = true;
		ps->has[WORK_PACKETS] |= isfinite(packets);
		points_add(ps, &p);
	}
	return 0;
}

static int iperf3_read_test(struct ingest *in, const json_t *root, struct points *ps,
			    struct error *err)
{
	const json_t *intervals = json_object_get(root, "intervals"), *last;
	const json_t *start = json_object_get(root, "start");
	const char *protocol = json_str(json_object_get(start, "test_start"), "protocol");
	const char *failed = json_str(root, "error");
	double length, error_s, at;

	if (failed)
		note_add(&in->notes, iperf3_error, failed);
	if (!json_array_size(intervals))
		return error_set(err, ENODATA, "iperf3: no intervals%s%s", failed ? ": " : "",
				 failed ? failed : "");
	last = json_array_get(intervals, json_array_size(intervals) - 1);
	length = json_num(iperf3_find_sum(last), "end");
	at = iperf3_place_start(in, root, isfinite(length) ? length : 0, &error_s);
	if (iperf3_add_points(intervals, at, ps))
		return error_set(err, EBADMSG, "iperf3: an interval has no sum of bytes");
	if (protocol && !strcmp(protocol, "UDP"))
		ingest_metric(in, "workload_udp", "1", 1, NULL);
	note_add(&in->notes, iperf3_dated, error_s);
	if (in->sliced)
		window_absent(in, "retransmits", "counted over the whole run");
	else
		ingest_metric(in, "tcp_retransmits", "1",
			      json_num(json_object_get(json_object_get(root, "end"), "sum_sent"),
				       "retransmits"),
			      NULL);
	return 0;
}

static int iperf3_parse(struct ingest *in, char *text, const char *arg, struct points *ps,
			struct error *err)
{
	json_error_t e;
	json_t *root = json_loads(text, JSON_DISABLE_EOF_CHECK, &e);
	int rc;

	(void)arg;
	if (!root)
		return error_set(err, EBADMSG, "workload.out:%d: not JSON (%s); run iperf3 with -J",
				 e.line, e.text);
	rc = iperf3_read_test(in, root, ps, err);
	json_decref(root);
	return rc;
}

const struct adapter adapter_iperf3 = {.name = "iperf3", .parse = iperf3_parse};
