// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer: reads any bytes as power.tsv, power-ipmi.snap, power-command.snap, a meter's log or
 * counters.tsv. The first byte chooses the format. A refusal must give a reason. A total must not
 * exist without its domains.
 */
#include "analyze/ingest/ingest.h"
#include "analyze/ingest/power.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int meter(struct ingest *in, const char *path, struct error *err)
{
	static const char *const units[] = {NULL, "ms", "us", "ns"};
	const struct meter m = {.path = path,
				.time_unit = units[in->run.repeat & 3],
				.clock = in->run.repeat & 4 ? "wall" : NULL,
				.column = in->run.repeat & 8 ? "2" : NULL,
				.offset_s = in->run.repeat & 16 ? -1e9 : 0};
	double watts;

	return ingest_meter(in, &m, &watts, err);
}

/* NULL: a meter's log. */
static const char *const files[] = {"power.tsv", "power-ipmi.snap", "power-command.snap", NULL,
				    "counters.tsv"};

static int parse(struct ingest *in, const char *file, const char *path, struct error *err)
{
	return file ? parser_find(file)->read(in, path, err) : meter(in, path, err);
}

static void check(struct ingest *in)
{
	size_t i, totals = 0, domains = 0;

	power_put(in);
	for (i = 0; i < in->nmetrics; i++) {
		if (!isfinite(in->metrics[i].value))
			abort();
		if (strncmp(in->metrics[i].name, "power_w:", 8))
			continue;
		totals += !strchr(in->metrics[i].name, '/');
		domains += strchr(in->metrics[i].name, '/') != NULL;
	}
	if (totals > domains)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ingest in = {.run = {.start_ns = 10000000000, .end_ns = 13000000000},
			    .started_ns = 8000000000,
			    .wall_clock = 1769860800};
	struct error err = {0};
	char path[64];
	int fd;

	if (!size)
		return 0;
	fd = memfd_create("power", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data + 1, size - 1) != (ssize_t)size - 1)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	in.run.repeat = data[0] / 5;
	if (parse(&in, files[data[0] % 5], path, &err) && !*err.text)
		abort();
	check(&in);
	ingest_free(&in);
	close(fd);
	return 0;
}
