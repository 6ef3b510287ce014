// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer: reads any bytes as a zcost.db. A store that opens must give every table of measures,
 * as text and as JSON. A refusal must give a reason.
 */
#include "analyze/figures/tables.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[] = "/tmp/zcost-fuzz-XXXXXX";
static FILE *nowhere;

static void remove_file(void)
{
	unlink(path);
}

/* SQLite needs a file with a name. */
static void write_file(const uint8_t *data, size_t size)
{
	static int fd = -1;

	if (fd < 0) {
		fd = mkstemp(path);
		nowhere = fopen("/dev/null", "w");
		atexit(remove_file);
	}
	if (fd < 0 || !nowhere || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
}

static void make(const struct measure *m, struct store *store)
{
	struct query q = {.work.rate = m->flags & MEASURE_RATES ? 1e6 : 0};
	struct error err = {0};
	struct table t;

	if (m->flags & MEASURE_FUNCTION)
		q.symbol = "*";
	if (measure_run(m->name, store, &q, &t, &err)) {
		if (!*err.text)
			abort();
	} else {
		table_write(&t, FORMAT_TEXT, nowhere);
		table_write(&t, FORMAT_JSON, nowhere);
	}
	table_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct measure *m;
	struct store *store = NULL;
	struct error err = {0};
	size_t i;

	write_file(data, size);
	if (store_open(&store, path, &err)) {
		if (!*err.text)
			abort();
		return 0;
	}
	for (i = 0; (m = measure_at(i)); i++)
		make(m, store);
	if (store_close(store, 0, &err) && !*err.text)
		abort();
	return 0;
}
