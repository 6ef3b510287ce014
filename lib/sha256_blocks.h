/* SPDX-License-Identifier: GPL-2.0-only */
/* The middle of SHA-256: whole blocks of 64 bytes, by plain code or the CPU's instructions for it.
 */
#ifndef ZC_SHA256_BLOCKS_H
#define ZC_SHA256_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern const uint32_t sha256_k[64];

void sha256_plain_blocks(uint32_t state[8], const uint8_t *p, size_t blocks);

bool sha256_cpu_has(void); /* such instructions */
void sha256_cpu_blocks(uint32_t state[8], const uint8_t *p, size_t blocks);

#endif
