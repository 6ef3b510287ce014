// SPDX-License-Identifier: GPL-2.0-only
/* Programs that print JSON: tcpzc and iperf3. */
#include "workload/workload.h"

#include "lib/alloc.h"
#include "lib/json.h"
#include "lib/str.h"

#include <errno.h>

/*
 * --- tcpzc: JSON lines, of tcpzc or of any program that prints such points
 * (docs/reference/tcpzc.md) ---
 */

static void tcpzc_read_point(const json_t *line, struct points *ps)
{
	struct point p = {.t_ns = json_u64(line, "t_ns")};

	p.n[WORK_BYTES] = (double)json_u64(line, "bytes");
	p.n[WORK_MESSAGES] = (double)json_u64(line, "messages");
	ps->has[WORK_BYTES] = true;
	ps->has[WORK_MESSAGES] |= json_object_get(line, "messages") != NULL;
	points_add(ps, &p);
}

static void tcpzc_read_line(const json_t *line, struct account *a)
{
	const char *type = json_str(line, "type"), *what = json_str(line, "what");

	if (type && !strcmp(type, "point"))
		tcpzc_read_point(line, &a->points);
	else if (type && !strcmp(type, "summary"))
		a->summary = true;
	else if (type && !strcmp(type, "error") && !a->error)
		a->error = xstrdup(what && *what ? what : "(it does not say why)");
}

static int tcpzc_parse(const struct workload_run *run, char *text, struct account *a,
		       struct error *err)
{
	char *line;

	(void)run;
	(void)err;
	while ((line = str_token(&text, '\n'))) {
		json_auto_t *object = *line ? json_loads(line, 0, NULL) : NULL;

		tcpzc_read_line(object, a);
	}
	return 0;
}

const struct adapter adapter_tcpzc = {
	.name = "tcpzc", .summary = true, .read = workload_read_text, .parse = tcpzc_parse};

/*
 * --- iperf3 ---
 *
 * Output of iperf3 -J and --json-stream. Its intervals count from the start of the test, or, behind
 * those that -O omits, from the end of that time. iperf3 dates the test to a whole second, newer
 * versions to a millisecond. The intervals are placed by that date, or between the command's
 * start and end, whichever is more exact.
 */

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
static double iperf3_place_start(const struct workload_run *run, const json_t *start,
				 double length_s, double *error_s)
{
	const json_t *stamp = json_object_get(start, "timestamp");
	double ms = json_num(stamp, "timemillisecs"), fine = isfinite(ms) ? 0.001 : 1;
	double first = (double)run->started_ns / 1e9, last = (double)run->ended_ns / 1e9 - length_s;
	double date = isfinite(ms) ? ms / 1e3 : json_num(stamp, "timesecs"), lo, hi;
	double dated = date - run->wall_clock + first;
	double cut = run->wall_clock == floor(run->wall_clock) ? 1 : 0;

	lo = first;
	hi = last > first ? last : first;
	if (isfinite(dated) && run->wall_clock > 0) {
		lo = iperf3_clamp(dated - cut, first, hi);
		hi = iperf3_clamp(dated + fine, first, hi);
	}
	*error_s = (hi - lo) / 2;
	return (lo + hi) / 2;
}

/* Adds what one direction did in an interval. A receiver of datagrams counts lost ones as packets.
 */
static void iperf3_add_sum(const json_t *sum, struct point *p, struct points *ps)
{
	double packets = json_num(sum, "packets"), lost = json_num(sum, "lost_packets");

	p->n[WORK_BYTES] += json_num(sum, "bytes");
	ps->has[WORK_BYTES] = true;
	if (!isfinite(packets))
		return;
	p->n[WORK_PACKETS] += packets - (isfinite(lost) ? lost : 0);
	ps->has[WORK_PACKETS] = true;
}

/* Adds the intervals that -O does not omit, with both directions of --bidir. */
static int iperf3_add_points(const json_t *intervals, double at_s, struct points *ps)
{
	struct point p = {.t_ns = workload_ns(at_s * 1e9)};
	const json_t *interval;
	size_t i;

	points_add(ps, &p);
	json_array_foreach (intervals, i, interval) {
		const json_t *sum = json_object_get(interval, "sum"),
			     *reverse = json_object_get(interval, "sum_bidir_reverse");

		if (json_is_true(json_object_get(sum, "omitted")))
			continue;
		p.t_ns = workload_ns((at_s + json_num(sum, "end")) * 1e9);
		iperf3_add_sum(sum, &p, ps);
		if (reverse)
			iperf3_add_sum(reverse, &p, ps);
		if (!isfinite(p.n[WORK_BYTES]) || !isfinite(json_num(sum, "end")))
			return -EBADMSG;
		points_add(ps, &p);
	}
	return 0;
}

/* Returns the segments that this side sent again, or NAN: it sent none, or does not count them. */
static double iperf3_retransmits(const json_t *end)
{
	static const char *const names[] = {"sum_sent", "sum_sent_bidir_reverse"};
	double n = NAN;

	for (size_t i = 0; i < array_size(names); i++) {
		const json_t *sum = json_object_get(end, names[i]);

		if (!json_is_false(json_object_get(sum, "sender")))
			n = isfinite(n) ? n : json_num(sum, "retransmits");
	}
	return n;
}

static int iperf3_read_test(const struct workload_run *run, const json_t *test, struct account *a,
			    struct error *err)
{
	const json_t *intervals = json_object_get(test, "intervals"), *last;
	const json_t *start = json_object_get(test, "start");
	const json_t *settings = json_object_get(start, "test_start");
	const char *protocol = json_str(settings, "protocol"), *failed = json_str(test, "error");
	double omitted = (double)json_u64(settings, "omit"), length, at;
	size_t n = json_array_size(intervals);

	a->udp = protocol && !strcmp(protocol, "UDP");
	a->retransmits = iperf3_retransmits(json_object_get(test, "end"));
	if (n) {
		last = json_object_get(json_array_get(intervals, n - 1), "sum");
		length = json_num(last, "end");
		at = iperf3_place_start(run, start, omitted + (isfinite(length) ? length : 0),
					&a->late_s);
		if (iperf3_add_points(intervals, at + omitted, &a->points))
			return error_set(err, EBADMSG, "iperf3: an interval has no sum of bytes");
	}
	/* Of a test that was stopped at the end of the window; "by signal ..." since iperf 3.19. */
	if (failed && !(account_has_work(a) && strstr(failed, " has terminated")))
		a->error = xstrdup(failed);
	return n || failed ? 0 : error_set(err, ENODATA, "iperf3: no intervals");
}

/* --- the text --- */

static bool iperf3_has_intervals(const json_t *test)
{
	return json_array_size(json_object_get(test, "intervals"));
}

/*
 * Returns the test in the text. A server without -1 prints one more object when it is stopped,
 * without intervals, and --json-stream-full-output repeats the stream in one object. NULL with the
 * reason: there is no test, or more than one.
 */
static json_t *iperf3_parse(const char *text, struct error *err)
{
	json_t *test = json_pack("{s:[]}", "intervals"), *next;
	bool stream = false;
	size_t objects = 0;
	json_error_t e;

	while ((next = json_loads(text, JSON_DISABLE_EOF_CHECK, &e))) {
		const char *event = json_str(next, "event");

		text += e.position;
		stream |= event != NULL;
		if (iperf3_has_intervals(test) &&
		    (event ? !strcmp(event, "start") : !stream && iperf3_has_intervals(next)))
			error_set(
				err, EINVAL,
				"workload.out: more than one test; end the server after the first: iperf3 -s -1");
		/* A line of --json-stream: the test becomes as the object of -J. */
		if (event && !strcmp(event, "interval"))
			json_array_append(json_object_get(test, "intervals"),
					  json_object_get(next, "data"));
		else if (event)
			json_object_set(test, event, json_object_get(next, "data"));
		else if (!iperf3_has_intervals(test))
			json_object_update(test, next);
		json_decref(next);
		objects++;
	}
	if (!objects)
		error_set(err, EBADMSG, "workload.out:%d: not JSON (%s); run iperf3 with -J",
			  e.line, e.text);
	if (objects && !err->code)
		return test;
	json_decref(test);
	return NULL;
}

static int iperf3_parse_account(const struct workload_run *run, char *text, struct account *a,
				struct error *err)
{
	struct error why = {0};
	json_auto_t *test = iperf3_parse(text, &why);

	if (!test)
		return error_set(err, why.code, "%s", why.text);
	return iperf3_read_test(run, test, a, err);
}

const struct adapter adapter_iperf3 = {
	.name = "iperf3", .read = workload_read_text, .parse = iperf3_parse_account};
