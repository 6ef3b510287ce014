/* SPDX-License-Identifier: GPL-2.0-only */
/* SHA-256, for checksums. sha256_hex() must end each sum, because it frees the state of libgcrypt.
 */
#ifndef ZC_SHA256_H
#define ZC_SHA256_H

#include "lib/error.h"

#include <stddef.h>

struct sha256 {
	struct gcry_md_handle *state;
};

void sha256_begin(struct sha256 *h);
void sha256_add(struct sha256 *h, const void *data, size_t len);
/* Ends the sum and writes it as 64 hexadecimal digits. */
void sha256_hex(struct sha256 *h, char hex[65]);

/* Returns the SHA-256 of a file as 64 hexadecimal digits. */
int sha256_file(const char *path, char hex[65], struct error *err);

#endif
