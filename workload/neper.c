// SPDX-License-Identifier: GPL-2.0-only
/*
 * Output of neper: lines KEY=VALUE. Each host prints the rate that it counted (local) and the one
 * that its peer counted (remote), in bit/s of a stream, else in transactions per second. Only
 * readers count a stream, so the sum of both is what the host moved. Of transactions both count the
 * same ones.
 */
#include "workload/workload.h"

#include "lib/alloc.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
