/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The little of perf.data that the host must know: how much was lost, and which files explain the
 * samples. Only for the file that perf on this host has just written.
 */
#ifndef ZC_PERF_DATA_H
#define ZC_PERF_DATA_H

#include "lib/error.h"

#include <stdint.h>

struct perf_data_sums {
	uint64_t samples, lost, throttled;
};

int perf_data_sum(const char *path, struct perf_data_sums *sums, struct error *err);

#endif
