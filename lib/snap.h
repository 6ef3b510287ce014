/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A .snap file is a sequence of snapshots: "@<CLOCK_MONOTONIC ns> <bytes>\n<raw bytes>". The host
 * half appends them and the laptop half reads them.
 */
#ifndef ZC_SNAP_H
#define ZC_SNAP_H

#include "lib/error.h"

#include <stddef.h>
#include <stdint.h>

/* Appends one snapshot to the open file `fd`. Returns 0 or -errno. */
int snap_append(int fd, uint64_t mono_ns, const void *data, size_t len);

struct snap {
	uint64_t mono_ns;
	char *data; /* NUL-terminated, inside the reader's buffer */
	size_t len;
};

struct snaps {
	struct snap *snap; /* in the order of the file */
	size_t n;
	char *buf;
};

/* Reads a whole file. If its tail is damaged, it returns the snapshots before it and -EBADMSG. */
int snaps_read(struct snaps *s, const char *path, struct error *err);
void snaps_free(struct snaps *s);

#endif
