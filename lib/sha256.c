// SPDX-License-Identifier: GPL-2.0-only
#include "lib/sha256.h"

#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/stop.h"

#include <errno.h>
#include <gcrypt.h>
#include <stdio.h>
#include <unistd.h>

enum { CHUNK = 65536, BYTES = 32 };

void sha256_begin(struct sha256 *h)
{
	gcry_check_version(NULL); /* libgcrypt must be initialized before its first use */
	if (gcry_md_open(&h->state, GCRY_MD_SHA256, 0))
		alloc_fail();
}

void sha256_add(struct sha256 *h, const void *data, size_t len)
{
	gcry_md_write(h->state, data, len);
}

void sha256_hex(struct sha256 *h, char hex[65])
{
	const unsigned char *sum = gcry_md_read(h->state, GCRY_MD_SHA256);

	for (int i = 0; i < BYTES; i++)
		snprintf(hex + 2 * (size_t)i, 3, "%02x", sum[i]);
	gcry_md_close(h->state);
}

int sha256_file(const char *path, char hex[65], struct error *err)
{
	autoclose int fd = file_open(path, err);
	struct sha256 h;
	char buf[CHUNK];
	ssize_t n = 0;

	if (fd < 0)
		return fd;
	sha256_begin(&h);
	while (!stop_asked() && ((n = read(fd, buf, sizeof(buf))) > 0 || (n < 0 && errno == EINTR)))
		if (n > 0)
			sha256_add(&h, buf, (size_t)n);
	sha256_hex(&h, hex);
	if (stop_asked())
		return error_set(err, EINTR, "interrupted");
	return n < 0 ? error_set(err, EIO, "%s: cannot read", path) : 0;
}
