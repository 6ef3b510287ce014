/* SPDX-License-Identifier: GPL-2.0-only */
/* Shared by the fuzzers: a scratch folder, and the check that a refusal gives a reason. */
#ifndef TEST_FUZZ_H
#define TEST_FUZZ_H

#include "lib/alloc.h"
#include "lib/file.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FUZZ_SKIP = -1 }; /* libFuzzer does not add the input to its corpus */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* Warnings are no findings; libFuzzer writes to another stream. */
static inline void fuzz_quiet(void)
{
	stderr = fopen("/dev/null", "w");
	if (!stderr)
		abort();
}

static char fuzz_folder[] = "/tmp/zcost-fuzz-XXXXXX";

static inline void fuzz_remove_folder(void)
{
	dir_remove(fuzz_folder, NULL);
}

/* Makes fuzz_folder at the first call. Returns the path of the name in it, which is valid until the
 * next call. */
static inline const char *fuzz_path(const char *name)
{
	static char path[sizeof(fuzz_folder) + 32];

	if (!*path) {
		fuzz_quiet();
		if (!mkdtemp(fuzz_folder))
			abort();
		atexit(fuzz_remove_folder);
	}
	snprintf(path, sizeof(path), "%s/%s", fuzz_folder, name);
	return path;
}

/* Writes a file of fuzz_folder. Returns its path as fuzz_path() does. */
static inline const char *fuzz_file(const char *name, const void *data, size_t size)
{
	const char *path = fuzz_path(name);
	FILE *out = fopen(path, "w"); /* file_write() would wait for the disk */

	if (!out || fwrite(data, 1, size, out) != size || fclose(out))
		abort();
	return path;
}

/* Returns the number of entries of a folder, 0 if there is none. */
static inline size_t fuzz_entries(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *e;
	size_t n = 0;

	while (dir && (e = readdir(dir)))
		n += *e->d_name != '.';
	if (dir)
		closedir(dir);
	return n;
}

static inline int refused(int rc, const struct error *err)
{
	if (rc && !*err->text)
		abort();
	return rc;
}

#endif
