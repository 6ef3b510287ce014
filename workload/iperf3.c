// SPDX-License-Identifier: GPL-2.0-only
/*
 * Output of iperf3 -J. Its intervals count from the start of the test, which iperf3 dates to a
 * whole second. They are placed by that date, or between the command's start and end, whichever is
 * more exact.
 */
#include "workload/workload.h"

#include "lib/alloc.h"
#include "lib/json.h"
#include "lib/str.h"

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
static double iperf3_place_start(const struct workload_run *run, const json_t *root,
				 double length_s, double *error_s)
{
	const json_t *stamp = json_object_get(json_object_get(root, "start"), "timestamp");
	double first = (double)run->started_ns / 1e9, last = (double)run->ended_ns / 1e9 - length_s;
	double dated = json_num(stamp, "timesecs") - run->wall_clock + first, lo, hi;
	double cut = run->wall_clock == floor(run->wall_clock) ? 1 : 0;

	lo = first;
	hi = last > first ? last : first;
	if (isfinite(dated) && run->wall_clock > 0) {
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

static int iperf3_read_test(const struct workload_run *run, const json_t *root, struct account *a,
			    struct error *err)
{
	const json_t *intervals = json_object_get(root, "intervals"), *last;
	const json_t *start = json_object_get(root, "start");
	const char *protocol = json_str(json_object_get(start, "test_start"), "protocol");
	const char *failed = json_str(root, "error");
	double length, at;

	a->udp = protocol && !strcmp(protocol, "UDP");
	a->retransmits =
		json_num(json_object_get(json_object_get(root, "end"), "sum_sent"), "retransmits");
	if (json_array_size(intervals)) {
		last = json_array_get(intervals, json_array_size(intervals) - 1);
		length = json_num(iperf3_find_sum(last), "end");
		at = iperf3_place_start(run, root, isfinite(length) ? length : 0, &a->late_s);
		if (iperf3_add_points(intervals, at, &a->points))
			return error_set(err, EBADMSG, "iperf3: an interval has no sum of bytes");
	}
	/* A test that was stopped at the end of the window reports "interrupt - the ...". */
	if (failed && !(account_has_work(a) && str_starts(failed, "interrupt")))
		a->error = xstrdup(failed);
	return json_array_size(intervals) || failed
		       ? 0
		       : error_set(err, ENODATA, "iperf3: no intervals");
}

static int iperf3_read(const struct adapter *is, const struct workload_run *run, const char *arg,
		       struct account *a, struct error *err)
{
	json_t *root = NULL;
	json_error_t e;
	char *text;
	int rc = workload_text(run, "workload.out", &text, err);

	(void)is;
	(void)arg;
	if (rc)
		return rc;
	root = json_loads(text, JSON_DISABLE_EOF_CHECK, &e);
	free(text);
	if (!root)
		return error_set(err, EBADMSG, "workload.out:%d: not JSON (%s); run iperf3 with -J",
				 e.line, e.text);
	rc = iperf3_read_test(run, root, a, err);
	json_decref(root);
	return rc;
}

const struct adapter adapter_iperf3 = {.name = "iperf3", .read = iperf3_read};
