// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer: reads any bytes as a raw file of a run. An input is a byte of options, the name of the
 * file, a newline, and its content. The name finds the parser, so a new parser needs only a seed.
 * "meter" is the log of an external meter. A refusal must give a reason. Figures are finite, and
 * only watts may be negative.
 */
#include "analyze/probes/ingest.h"
#include "analyze/probes/power/parser.h"
#include "lib/str.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>

enum { OPTION_CPUS = 64, OPTION_SLICE = 32, NAME_MAX_LEN = 32 };

static int read_meter(struct ingest *in, uint8_t options, const char *path, struct error *err)
{
	const struct meter m = {.path = path, .offset_s = options & 16 ? -1e9 : 0};
	double watts;

	return ingest_meter(in, &m, &watts, err);
}

/* Checks that no total of power exists without its domains. */
static void check_power(const struct ingest *in)
{
	size_t totals = 0, domains = 0;

	for (size_t i = 0; i < in->nmetrics; i++) {
		const struct metric_key *k = &in->metrics[i].key;
		bool domain = k->object && strchr(k->object, '/');

		if (strcmp(k->name, "power_w") != 0)
			continue;
		totals += !domain;
		domains += domain;
	}
	if (totals > domains)
		abort();
}

static void check(struct ingest *in)
{
	power_put(in);
	for (size_t i = 0; i < in->nmetrics; i++) {
		const struct metric_row *m = &in->metrics[i];

		if (!isfinite(m->value))
			abort();
		if (m->value < 0 && strcmp(m->unit, "W") != 0 && strcmp(m->unit, "J") != 0)
			abort();
	}
	check_power(in);
	for (size_t i = 0; i < in->nthreads_seen; i++)
		if (in->threads_seen[i].run_ns < 0 || in->threads_seen[i].wait_ns < 0)
			abort();
	for (size_t i = 0; i < in->nsockets; i++)
		if (in->sockets[i].f[SOCKET_bytes_acked] < 0 ||
		    in->sockets[i].f[SOCKET_retrans] < 0)
			abort();
}

static void read_raw_file(const char *name, uint8_t options, const char *path)
{
	struct ingest in = {.dir = "/nonexistent",
			    .run = {.start_ns = 10000000000, .end_ns = 13000000000},
			    .started_ns = 8000000000,
			    .ended_ns = 14000000000,
			    .wall_clock = 1769860800};
	const struct parser *parser = parser_find(name);
	struct error err = {0};
	int rc = 0;

	in.has_cpus = options & OPTION_CPUS;
	if (in.has_cpus)
		cpuset_add(&in.cpus, 1);
	if (options & OPTION_SLICE)
		in.how.slice.from = (struct time_point){500000000, true, true};
	if (!window_narrow(&in, &err) && parser)
		rc = parser_read(parser, &in, path, &err);
	else if (str_starts(name, "meter"))
		rc = read_meter(&in, options, path, &err);
	refused(rc, &err);
	check(&in);
	ingest_free(&in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data + 1, '\n', size - 1) : NULL;
	size_t len = end ? (size_t)(end - data) - 1 : 0;
	char name[NAME_MAX_LEN];

	if (!end || len >= sizeof(name))
		return FUZZ_SKIP;
	memcpy(name, data + 1, len);
	name[len] = '\0';
	if (!parser_find(name) && strcmp(name, "meter") != 0)
		return FUZZ_SKIP;
	read_raw_file(name, data[0], fuzz_file("raw", end + 1, size - len - 2));
	return 0;
}
