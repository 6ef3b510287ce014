// SPDX-License-Identifier: GPL-2.0-only
/*
 * Output of netperf. With -D it prints interim results with the time of day: they become points.
 * Without them its one result is the mean rate of the command: the line under the headings of a
 * classic test, THROUGHPUT= of omni -k, or the number before its unit in omni -o and -O.
 */
#include "workload/workload.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>

/* What a rate counts, by the words that netperf has for it. */
static const struct netperf_unit {
	const char *words;
	enum work work;
	double scale;
} netperf_units[] = {
	{"10^3bits/s", WORK_BYTES, 1e3 / 8}, {"10^6bits/s", WORK_BYTES, 1e6 / 8},
	{"10^9bits/s", WORK_BYTES, 1e9 / 8}, {"KBytes/s", WORK_BYTES, 1024},
	{"MBytes/s", WORK_BYTES, 1048576},   {"GBytes/s", WORK_BYTES, 1073741824},
	{"Trans/s", WORK_MESSAGES, 1},	     {"per sec ", WORK_MESSAGES, 1},
};

static const struct netperf_unit *netperf_find_unit(const char *text, const char **at)
{
	for (size_t i = 0; text && i < array_size(netperf_units); i++) {
		*at = strstr(text, netperf_units[i].words);
		if (*at)
			return &netperf_units[i];
	}
	return NULL;
}

/* --- interim results --- */

struct netperf_interim {
	double rate, seconds, ending; /* ending: seconds since 1970 */
	const struct netperf_unit *unit;
};

/* "Interim result: 7898.88 10^6bits/s over 2.563 seconds ending at 1795382868.810" */
static bool netperf_parse_line(const char *line, struct netperf_interim *r)
{
	const char *at;
	char unit[32];

	if (sscanf(line, "Interim result: %lf %31s over %lf seconds ending at %lf", &r->rate, unit,
		   &r->seconds, &r->ending) != 4)
		return false;
	r->unit = netperf_find_unit(unit, &at);
	return r->unit != NULL;
}

static void netperf_add_interim(const struct workload_run *run, const struct netperf_interim *r,
				struct account *a)
{
	struct points *ps = &a->points;
	struct point p = {.t_ns = workload_mono_ns(run, r->ending - r->seconds)};

	if (ps->n)
		p = ps->p[ps->n - 1];
	else
		points_add(ps, &p);
	p.t_ns = workload_mono_ns(run, r->ending);
	p.n[r->unit->work] += r->rate * r->unit->scale * r->seconds;
	ps->has[r->unit->work] = true;
	points_add(ps, &p);
	a->late_s = 0.001;
}

/* --- the result --- */

/* Returns the number that ends before `end`, on the same line, or NAN. */
static double netperf_number_before(const char *text, const char *end)
{
	const char *from;

	while (end > text && (end[-1] == ' ' || end[-1] == ','))
		end--;
	for (from = end; from > text && (isdigit((unsigned char)from[-1]) || from[-1] == '.');)
		from--;
	return isdigit((unsigned char)*from) ? strtod(from, NULL) : NAN;
}

/* Returns the number below a unit: the same word of the first line of numbers only, or NAN. */
static double netperf_number_below(const char *text, const char *unit)
{
	const char *word = unit;
	size_t column = 0, len;

	while (word > text && word[-1] != '\n')
		word--;
	for (; word < unit; word += strspn(word, " "), column++)
		word += strcspn(word, " ");
	for (text = unit + strcspn(unit, "\n"); *text; text += len) {
		text += strspn(text, "\n");
		len = strcspn(text, "\n");
		if (!len || strspn(text, "0123456789. ") < len)
			continue;
		for (text += strspn(text, " "); column--; text += strspn(text, " "))
			text += strcspn(text, " \n");
		return isdigit((unsigned char)*text) ? strtod(text, NULL) : NAN;
	}
	return NAN;
}

static double netperf_find_result(const char *text, const struct netperf_unit **unit)
{
	const char *value = workload_value(text, "THROUGHPUT"), *at = NULL;
	double x;

	*unit = netperf_find_unit(value ? workload_value(text, "THROUGHPUT_UNITS") : text, &at);
	if (!*unit)
		return NAN;
	x = value ? strtod(value, NULL) : netperf_number_before(text, at);
	return (isnan(x) ? netperf_number_below(text, at) : x) * (*unit)->scale;
}

static int netperf_parse(const struct workload_run *run, char *text, struct account *a,
			 struct error *err)
{
	char *line;
	const struct netperf_unit *unit;
	struct netperf_interim r;
	double rate;

	each_part (line, text, '\n')
		if (run->wall_clock > 0 && netperf_parse_line(line, &r))
			netperf_add_interim(run, &r, a);
	if (a->points.n)
		return 0;
	rate = netperf_find_result(text, &unit);
	if (!unit || isnan(rate))
		return error_set(
			err, ENODATA,
			"workload.out: no result of netperf with its unit; run netperf without -v 0 and -P 0, or omni with -k THROUGHPUT,THROUGHPUT_UNITS");
	account_add_rate(a, run, unit->work, rate, run->started_ns, run->ended_ns);
	return 0;
}

const struct adapter adapter_netperf = {
	.name = "netperf", .read = workload_read_text, .parse = netperf_parse};

/*
 * --- neper ---
 *
 * Output of neper: lines KEY=VALUE. Each host prints the rate that it counted (local) and the one
 * that its peer counted (remote), in bit/s of a stream, else in transactions per second. Only
 * readers count a stream, so the sum of both is what the host moved. Of transactions both count the
 * same ones.
 */

static double neper_number(const char *text, const char *key)
{
	const char *value = workload_value(text, key);

	return value ? strtod(value, NULL) : NAN;
}

/* The test's start and end are on CLOCK_MONOTONIC; a side that counts nothing has no end. */
static void neper_find_times(const char *text, const struct workload_run *run, uint64_t *from,
			     uint64_t *to)
{
	double start = neper_number(text, "time_start"), end = neper_number(text, "time_end");

	if (!(end > 0))
		end = start + neper_number(text, "total_run_time");
	*from = run->started_ns;
	*to = run->ended_ns;
	if (start * 1e9 >= (double)*from && end * 1e9 <= (double)*to && end > start) {
		*from = (uint64_t)(start * 1e9);
		*to = (uint64_t)(end * 1e9);
	}
}

static int neper_parse(const struct workload_run *run, char *text, struct account *a,
		       struct error *err)
{
	double local = neper_number(text, "local_throughput");
	double remote = neper_number(text, "remote_throughput");
	bool stream = workload_value(text, "throughput_opt") != NULL;
	uint64_t from, to;

	if (isnan(local) || isnan(remote))
		return error_set(err, ENODATA, "workload.out: no local_throughput of neper in it");
	neper_find_times(text, run, &from, &to);
	account_add_rate(a, run, stream ? WORK_BYTES : WORK_MESSAGES,
			 stream ? (local + remote) / 8 : fmax(local, remote), from, to);
	return 0;
}

const struct adapter adapter_neper = {
	.name = "neper", .read = workload_read_text, .parse = neper_parse};
