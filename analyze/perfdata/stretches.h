/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where in a file there are samples back to back, found ahead of pass one and on several threads,
 * so that it steps over many at once. A thread that begins in the file's midst must guess where a
 * record begins. That cannot harm: a stretch is whole records from its first byte on, and pass one
 * takes only one that begins exactly where its own steps have led it. What was guessed wrong, or
 * not found, it steps over record by record.
 */
#ifndef ZC_PERFDATA_STRETCHES_H
#define ZC_PERFDATA_STRETCHES_H

#include "lib/cursor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stretch {
	size_t at, len;
};

struct stretches {
	struct stretch_part {
		struct stretch *list;
		size_t n, cap;
	} * parts; /* of the file, in its order */
	size_t nparts, part, next;
};

/* A file's records: `len` bytes from `at` on. */
struct stretch_source {
	int fd;
	size_t at, len;
	bool swap;
};

/* Each of `nparts` parts gets a thread; one is the caller's. */
void stretches_find(struct stretches *s, const struct stretch_source *src, size_t nparts);

/* The first that begins at `at` or behind it; NULL: there is none. `at` never goes back. */
const struct stretch *stretches_from(struct stretches *s, size_t at);

void stretches_free(struct stretches *s);

#endif
