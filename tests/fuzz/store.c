// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer: reads any bytes as a zcost.db. A store that opens must give every table of measures,
 * as text and as JSON. A refusal must give a reason.
 */
#include "analyze/figures/tables.h"
#include "tests/fuzz/fuzz.h"

static FILE *nowhere;

static void make(const struct measure *m, struct store *store)
{
	struct query q = {.work.rate = m->flags & MEASURE_RATES ? 1e6 : 0};
	struct error err = {0};
	struct table t;

	if (m->flags & MEASURE_FUNCTION)
		q.symbol = "*";
	if (!refused(measure_run(m->name, store, &q, &t, &err), &err)) {
		table_write(&t, FORMAT_TEXT, 0, nowhere);
		table_write(&t, FORMAT_JSON, 0, nowhere);
	}
	table_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct measure *m;
	struct store *store = NULL;
	struct error err = {0};

	if (!nowhere && !(nowhere = fopen("/dev/null", "w")))
		abort();
	if (refused(store_open(&store, fuzz_file("zcost.db", data, size), &err), &err))
		return 0;
	for (size_t i = 0; (m = measure_at(i)); i++)
		make(m, store);
	refused(store_close(store, 0, &err), &err);
	return 0;
}
