/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The little of perf.data that the host must know: how much was lost, and which files explain the
 * samples. Only for the file that perf on this host has just written.
 */
#ifndef ZC_PERF_DATA_H
#define ZC_PERF_DATA_H

#include "lib/cursor.h"
#include "lib/error.h"
#include "lib/intern.h"

#include <stdint.h>

struct perf_data_sums {
	uint64_t samples, lost, throttled;
};

/* A file as the kernel identified it when it was mapped, to compare with what has its name now. */
struct perf_file {
	uint32_t maj, min; /* of its file system */
	uint64_t ino;	   /* 0: there is a build-id in its place, or nothing */
	uint64_t generation;
	uint8_t id[20], id_len;
	uint8_t none[3]; /* compared by all its bytes */
};

/* One of `files`: returns its name and fills *as. */
const char *perf_file_get(const struct intern *files, uint32_t i, struct perf_file *as);

/* Fills *sums, and `files` with the files that addresses in samples lie in. */
int perf_data_read(const char *path, struct perf_data_sums *sums, struct intern *files,
		   struct error *err);

/* The second half, over the file's records; `sample_type` as of its attribute. */
int perf_records_files(struct cursor records, uint64_t sample_type, struct intern *files);

#endif
