// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer: reads any bytes as a packed capture, as unpack makes a folder of it. The first byte
 * chooses the archive itself or a tar that is compressed here, because the checksum of a zstd frame
 * lets few changed bytes through. A refusal must give a reason and leave nothing behind.
 */
#include "analyze/archive/archive.h"
#include "tests/fuzz/fuzz.h"

#include <zstd.h>

enum { MAX_BYTES = 4 << 20 };

static void write_packed(const uint8_t *data, size_t size)
{
	size_t room = ZSTD_compressBound(size);
	void *packed = malloc(room);
	size_t n = packed ? ZSTD_compress(packed, room, data, size, 1) : 0;

	if (!packed || ZSTD_isError(n))
		abort();
	fuzz_file("c.tar.zst", packed, n);
	free(packed);
}

static void unpack(void)
{
	char *archive = xstrdup(fuzz_path("c.tar.zst")), *folder = xstrdup(fuzz_path("c"));
	struct unpack u = {.archive = archive, .folder = folder, .max_bytes = MAX_BYTES};
	struct error err = {0};
	int rc = refused(unpack_archive(&u, &err), &err);

	if (fuzz_entries(fuzz_folder) !=
	    (rc ? 1 : 2)) /* the archive, and the folder of a success */
		abort();
	if (!rc)
		dir_remove(folder, NULL);
	free(archive);
	free(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (*data == 't')
		write_packed(data + 1, size - 1);
	else
		fuzz_file("c.tar.zst", data + 1, size - 1);
	unpack();
	return 0;
}
