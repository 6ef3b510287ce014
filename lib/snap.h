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
	uint64_t at; /* the offset of its bytes in the file */
	size_t len;
};

/* A file of hours is larger than the memory. So only its index and one snapshot are in memory. */
struct snaps {
	struct snap *snap; /* in the order of the file */
	size_t n;
	struct error failed; /* the error of the first snapshot that could not be read */
	char *path;
	int fd;
	char *text; /* the snapshot that was read last */
};

/*
 * Opens a file and reads the times of its snapshots. If its tail is damaged, it returns the
 * snapshots before it and -EBADMSG.
 */
int snaps_read(struct snaps *s, const char *path, struct error *err);

/*
 * Reads a snapshot. The text is NUL-terminated. The caller may change it, and the next call frees
 * it. If the snapshot cannot be read, the text is empty and s->failed is set.
 */
char *snaps_text(struct snaps *s, size_t i);
void snaps_free(struct snaps *s);

#endif
