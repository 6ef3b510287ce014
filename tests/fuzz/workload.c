// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer: reads any bytes as the account of a workload. An input is the units as run.json names
 * them, a newline, and the content of the file that the adapter of these units reads. A refusal
 * must give a reason. Figures are finite and not negative, and points never go back.
 */
#include "analyze/probes/ingest.h"
#include "workload/workload.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>

enum { UNITS_MAX = 100 };

/* The host half and the laptop half read the same points. */
static void check_account(const struct workload_run *run, const char *units)
{
	struct error err = {0};
	struct account a;

	refused(account_read(run, units, &a, &err), &err);
	for (size_t i = 0; i < a.points.n; i++)
		for (int w = 0; w < WORK_N; w++)
			if (!(a.points.p[i].n[w] >= 0) ||
			    (i && a.points.p[i].n[w] < a.points.p[i - 1].n[w]))
				abort();
	account_free(&a);
}

static void check_ingest(const struct workload_run *run, const char *units, const char *path)
{
	struct ingest in = {.dir = run->dir,
			    .units = units,
			    .run = {.start_ns = 10000000000, .end_ns = 13000000000},
			    .started_ns = run->started_ns,
			    .ended_ns = run->ended_ns,
			    .wall_clock = run->wall_clock};
	struct error err = {0};

	refused(ingest_workload(&in, path, &err), &err);
	for (size_t i = 0; i < in.nmetrics; i++)
		if (!(in.metrics[i].value >= 0) || isinf(in.metrics[i].value))
			abort();
	ingest_free(&in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct workload_run run = {fuzz_folder, 8000000000, 14000000000, 1769860800};
	const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
	size_t len = end ? (size_t)(end - data) : 0;
	const struct adapter *is;
	const char *path;
	char units[UNITS_MAX];

	if (!end || len >= sizeof(units))
		return FUZZ_SKIP;
	memcpy(units, data, len);
	units[len] = '\0';
	is = adapter_find(units);
	if (!is || !is->read)
		return FUZZ_SKIP;
	path = fuzz_file(is->file ? is->file : "workload.out", end + 1, size - len - 1);
	check_account(&run, units);
	check_ingest(&run, units, path);
	return 0;
}
