/* SPDX-License-Identifier: GPL-2.0-only */
/* Sorts many small rows by a number, in time proportional to the number of rows. */
#ifndef ZC_RADIX_H
#define ZC_RADIX_H

#include <stddef.h>
#include <stdint.h>

struct radix_row {
	uint64_t key;
	uint64_t value;
};

/* Sorts by key, the smallest first. Rows of equal keys stay in their order. */
void radix_sort(struct radix_row *rows, size_t n);

#endif
