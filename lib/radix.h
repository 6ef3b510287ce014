/* SPDX-License-Identifier: GPL-2.0-only */
/* Sorting many small rows by a number, in time proportional to their number. */
#ifndef ZC_RADIX_H
#define ZC_RADIX_H

#include <stddef.h>
#include <stdint.h>

struct radix_row {
	uint64_t key;
	uint64_t value;
};

/* By key, the smallest first; rows of equal keys keep their order. */
void radix_sort(struct radix_row *rows, size_t n);

#endif
