/* SPDX-License-Identifier: GPL-2.0-only */
/* SHA-256 (FIPS 180-4), for checksums. */
#ifndef ZC_SHA256_H
#define ZC_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sha256 {
	uint32_t state[8];
	uint64_t bytes;
	uint8_t block[64];
};

void sha256_begin(struct sha256 *h);
void sha256_add(struct sha256 *h, const void *data, size_t len);
/* Ends the sum and writes it as 64 hexadecimal digits. */
void sha256_hex(struct sha256 *h, char hex[65]);

/* Add whole blocks of 64 bytes: in plain C, or with the CPU's SHA instructions where it has them.
 */
void sha256_plain_blocks(uint32_t state[8], const uint8_t *p, size_t blocks);
bool sha256_cpu_has(void);
void sha256_cpu_blocks(uint32_t state[8], const uint8_t *p, size_t blocks);

#endif
