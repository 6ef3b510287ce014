// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer: reads any bytes as the account of a workload. An input is the units as run.json names
 * them, a newline, and the content of the file that the adapter of these units reads. A refusal
 * must give a reason. Figures are finite and not negative, and points never go back.
 */
#include "analyze/probes/ingest.h"
#include "lib/alloc.h"
#include "lib/file.h"
#include "workload/workload.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { UNITS_MAX = 100 };

static char folder[] = "/tmp/zcost-fuzz-XXXXXX";

static void remove_folder(void)
{
	dir_remove(folder, NULL);
}

static void make_folder(void)
{
	static bool made;

	if (!made && !mkdtemp(folder))
		abort();
	if (!made)
		atexit(remove_folder);
	made = true;
}

/* The host half and the laptop half read the same points. */
static void check_account(const struct workload_run *run, const char *units)
{
	struct error err = {0};
	struct account a;
	size_t i;
	int w;

	if (account_read(run, units, &a, &err) && !*err.text)
		abort();
	for (i = 0; i < a.points.n; i++)
		for (w = 0; w < WORK_N; w++)
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
	size_t i;

	if (ingest_workload(&in, path, &err) && !*err.text)
		abort();
	for (i = 0; i < in.nmetrics; i++)
		if (!(in.metrics[i].value >= 0) || isinf(in.metrics[i].value))
			abort();
	ingest_free(&in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct workload_run run = {folder, 8000000000, 14000000000, 1769860800};
	const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
	size_t len = end ? (size_t)(end - data) : 0;
	const struct adapter *is;
	char units[UNITS_MAX], *path;

	if (!end || len >= sizeof(units))
		return -1;
	memcpy(units, data, len);
	units[len] = '\0';
	is = adapter_find(units);
	if (!is || !is->read)
		return -1; /* libFuzzer does not add the input to its corpus */
	make_folder();
	path = xasprintf("%s/%s", folder, is->file ? is->file : "workload.out");
	if (file_write(path, end + 1, size - len - 1, NULL))
		abort();
	check_account(&run, units);
	check_ingest(&run, units, path);
	free(path);
	return 0;
}
