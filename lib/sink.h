/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where results go: a file, or standard output. A stream forgets why it could not write; this one
 * does not, and what is only half there is removed.
 */
#ifndef ZC_SINK_H
#define ZC_SINK_H

#include "lib/error.h"

#include <stdio.h>

struct sink {
	FILE *f;	  /* NULL: not open */
	const char *path; /* the caller's; NULL or "-": standard output */
	int fd, failure;  /* errno of the first write that failed */
};

/* `path` must live as long as the sink. */
int sink_open(struct sink *s, const char *path, struct error *err);

/*
 * Writes the rest. `rc`, negative where the writer failed, is handed back; with it, or where not
 * all could be written, a file is removed.
 */
int sink_close(struct sink *s, int rc, struct error *err);

#endif
