// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer: reads any bytes as a text that a user names. The first byte chooses: r perf report, t
 * perf trace, s perf stat, e ethtool -S, m rules of components, g one component, n a
 * number or a range of an option. A refusal must give a reason. A text that is read must make a
 * table.
 */
#include "analyze/costs/components.h"
#include "analyze/figures/tables.h"
#include "analyze/model/profile.h"
#include "analyze/texts/text.h"
#include "lib/cpuset.h"
#include "tests/fuzz/fuzz.h"

/* Makes a table of a text. A table that cannot be made must give a reason too. */
static void make(const char *table, struct query *q)
{
	struct error err = {0};
	struct table t;

	refused(measure_run(table, NULL, q, &t, &err), &err);
	table_free(&t);
}

static int as_report(char *text, size_t size, struct error *err)
{
	struct query q = {.work.rate = 1e6};
	struct flat flat;
	int rc = perf_report_parse("-", text, size, NULL, &flat, err);

	q.bare.flat = &flat;
	if (!rc) {
		make("functions", &q);
		make("modules", &q);
	}
	flat_free(&flat);
	return rc;
}

static int as_calls(char *text, size_t size, struct error *err)
{
	struct trace trace;
	struct query q = {.bare.trace = &trace};
	int rc = perf_trace_parse("-", text, size, &trace, err);

	if (!rc)
		make("syscalls", &q);
	trace_free(&trace);
	return rc;
}

static int as_stat(char *text, size_t size, struct error *err)
{
	struct perf_stat stat;
	struct query q = {.bare.stat = &stat, .work.units = 7};
	int rc = perf_stat_parse("-", text, size, &stat, err);

	if (!rc)
		make("counters", &q);
	perf_stat_free(&stat);
	return rc;
}

static int as_ethtool(char *text, size_t size, struct error *err)
{
	struct ethtool_text e = {0};
	int rc = ethtool_text_parse("-", text, size, &e, err);

	ethtool_text_free(&e);
	return rc;
}

/* Asks for the component of a function that many rules could name. */
static void check_components(struct components *c)
{
	const struct function f = {"tcp_recvmsg_locked.isra.0", "[kernel.kallsyms]", DSO_KERNEL,
				   CTX_UNKNOWN};
	char name[64];

	if (!components_of(c, &f))
		abort();
	function_normalize(f.symbol, name, sizeof(name));
}

static int as_rules(const char *text, size_t size, struct error *err)
{
	const char *path = fuzz_file("rules", text, size);
	struct components *c;
	int rc = components_read(&c, path, NULL, err);

	if (!rc) {
		check_components(c);
		components_free(c);
	}
	return rc;
}

static int as_group(const char *text, struct error *err)
{
	struct components *c = NULL;
	int rc = components_group(&c, text, err);

	if (!rc)
		check_components(c);
	if (c)
		components_free(c);
	return rc;
}

/* Every set of CPUs is written as text that gives the same set. */
static int as_option(const char *text, struct error *err)
{
	struct cpuset set = {0}, again = {0};
	struct time_point point;
	char *written;
	int rc;

	time_point_parse(&point, text);
	rc = cpuset_parse(&set, text, err);
	if (rc)
		return rc;
	written = cpuset_format(&set);
	if (*written && (cpuset_parse(&again, written, err) || memcmp(&set, &again, sizeof(set))))
		abort();
	free(written);
	return 0;
}

static int read_text(char letter, char *text, size_t size, struct error *err)
{
	switch (letter) {
	case 'r':
		return as_report(text, size, err);
	case 't':
		return as_calls(text, size, err);
	case 'e':
		return as_ethtool(text, size, err);
	case 'm':
		return as_rules(text, size, err);
	case 'g':
		return as_group(text, err);
	case 'n':
		return as_option(text, err);
	default:
		return as_stat(text, size, err);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = {0};
	char *text;

	if (!size)
		return 0;
	text = malloc(size);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = 0;
	refused(read_text((char)*data, text, size - 1, &err), &err);
	free(text);
	return 0;
}
