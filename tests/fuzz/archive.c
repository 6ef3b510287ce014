// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer: reads any bytes as a packed capture, as unpack makes a folder of it. The first byte
 * chooses the archive itself or a tar that is compressed here, because the checksum of a zstd frame
 * lets few changed bytes through. A refusal must give a reason and leave nothing behind.
 */
#include "analyze/archive/archive.h"
#include "lib/file.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_BYTES = 4 << 20 };

static char scratch[] = "/tmp/zcost-fuzz-XXXXXX", path[64], folder[64];

static void remove_scratch(void)
{
	dir_remove(scratch, NULL);
}

static void make_scratch(void)
{
	if (*path)
		return;
	stderr = fopen("/dev/null",
		       "w"); /* warnings are no findings; libFuzzer writes to another stream */
	if (!mkdtemp(scratch) || !stderr)
		abort();
	snprintf(path, sizeof(path), "%s/c.tar.zst", scratch);
	snprintf(folder, sizeof(folder), "%s/c", scratch);
	atexit(remove_scratch);
}

static void write_archive(const void *data, size_t size)
{
	FILE *out = fopen(path, "w");

	if (!out || fwrite(data, 1, size, out) != size || fclose(out))
		abort();
}

static void write_packed(const uint8_t *data, size_t size)
{
	size_t room = ZSTD_compressBound(size);
	void *packed = malloc(room);
	size_t n = packed ? ZSTD_compress(packed, room, data, size, 1) : 0;

	if (!packed || ZSTD_isError(n))
		abort();
	write_archive(packed, n);
	free(packed);
}

static int refused(int rc, const struct error *err)
{
	if (rc && !*err->text)
		abort();
	return rc;
}

/* Counts the entries of the scratch folder: the archive, and the folder of a successful unpack. */
static int entries(void)
{
	DIR *dir = opendir(scratch);
	struct dirent *e;
	int n = 0;

	while (dir && (e = readdir(dir)))
		n += *e->d_name != '.';
	if (dir)
		closedir(dir);
	return n;
}

static void unpack(void)
{
	struct unpack u = {.archive = path, .folder = folder, .max_bytes = MAX_BYTES};
	struct error err = {0};
	int rc = refused(unpack_archive(&u, &err), &err);

	if (entries() != (rc ? 1 : 2))
		abort();
	if (!rc)
		dir_remove(folder, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	make_scratch();
	if (*data == 't')
		write_packed(data + 1, size - 1);
	else
		write_archive(data + 1, size - 1);
	unpack();
	return 0;
}
