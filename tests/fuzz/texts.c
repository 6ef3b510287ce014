// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer: reads any bytes as the text of perf report, perf trace, strace -c or perf stat. The
 * first byte chooses the format. A refusal must give a reason. A text that is read must make a
 * table.
 */
#include "analyze/texts/perf_report.h"
#include "analyze/texts/perf_stat.h"
#include "analyze/texts/perf_trace.h"
#include "analyze/measures/measure.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Makes a table of a text. A table that cannot be made must give a reason too. */
static void make(const char *table, struct query *q)
{
	struct error err = {0};
	struct table t;

	if (measure_run(table, NULL, q, &t, &err) && !*err.text)
		abort();
	table_free(&t);
}

static int as_report(char *text, size_t size, struct error *err)
{
	struct query q = {.rate = 1e6};
	struct flat flat;
	int rc = perf_report_parse("-", text, size, NULL, &flat, err);

	q.flat = &flat;
	if (!rc) {
		make("functions", &q);
		make("modules", &q);
	}
	flat_free(&flat);
	return rc;
}

static int as_calls(char *text, size_t size, bool strace, struct error *err)
{
	struct trace trace;
	struct query q = {.trace = &trace};
	int rc = strace ? strace_c_parse("-", text, size, &trace, err)
			: perf_trace_parse("-", text, size, &trace, err);

	if (!rc)
		make("syscalls", &q);
	trace_free(&trace);
	return rc;
}

static int as_stat(char *text, size_t size, struct error *err)
{
	struct perf_stat stat;
	struct query q = {.stat = &stat, .units = 7};
	int rc = perf_stat_parse("-", text, size, &stat, err);

	if (!rc)
		make("counters", &q);
	perf_stat_free(&stat);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = {0};
	char *text;
	int rc;

	if (!size)
		return 0;
	text = malloc(size);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = 0;
	rc = *data == 'r'   ? as_report(text, size - 1, &err)
	     : *data == 't' ? as_calls(text, size - 1, false, &err)
	     : *data == 'c' ? as_calls(text, size - 1, true, &err)
			    : as_stat(text, size - 1, &err);
	if (rc && !*err.text)
		abort();
	free(text);
	return 0;
}
