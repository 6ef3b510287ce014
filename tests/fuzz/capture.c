// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer: analyzes a capture in which one file is any bytes. An input is the path of the file in
 * the capture, a newline, and its content. The capture is the folder PROGRAM.capture, which
 * run.sh makes. A refusal must give a reason, and an analysis that succeeds must give tables.
 */
#include "analyze/analysis/analysis.h"
#include "analyze/figures/tables.h"
#include "tests/fuzz/fuzz.h"

enum { PATH_MAX_LEN = 128 };

static char *capture;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	capture = xasprintf("%s.capture", **argv);
	fuzz_quiet();
	return 0;
}

static void check_table(struct store *store, const char *name)
{
	struct query q = {0};
	struct error err = {0};
	struct table t;

	refused(measure_run(name, store, &q, &t, &err), &err);
	table_free(&t);
}

static void check_analysis(void)
{
	struct analysis a = {.capture = capture, .jobs = 1};
	struct store *store = NULL;
	struct error err = {0};

	if (!refused(analyze_in_memory(&a, &store, &err), &err)) {
		check_table(store, "summary");
		check_table(store, "runs");
		check_table(store, "topology");
	}
	if (store)
		refused(store_close(store, 0, &err), &err);
	analysis_free(&a);
}

/* Replaces the file, and restores it afterwards. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
	size_t len = end ? (size_t)(end - data) : 0, old_len;
	char *path, *old;

	if (!end || len >= PATH_MAX_LEN || memchr(data, '\0', len))
		return FUZZ_SKIP;
	path = xasprintf("%s/%.*s", capture, (int)len, (const char *)data);
	if (strstr(path, "..") || file_read(path, &old, &old_len, NULL)) {
		free(path);
		return FUZZ_SKIP;
	}
	if (file_write(path, end + 1, size - len - 1, NULL))
		abort();
	check_analysis();
	if (file_write(path, old, old_len, NULL))
		abort();
	free(old);
	free(path);
	return 0;
}
