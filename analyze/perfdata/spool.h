/* SPDX-License-Identifier: GPL-2.0-only */
/* An unnamed temporary file that only grows: for streams and for what was compressed. */
#ifndef ZC_SPOOL_H
#define ZC_SPOOL_H

#include "lib/error.h"

#include <stddef.h>

struct spool {
	int fd;
	size_t len;
};

int spool_open(struct spool *s, struct error *err); /* in $TMPDIR, or /var/tmp */
int spool_add(struct spool *s, const void *data, size_t len, struct error *err);
void spool_close(struct spool *s);

#endif
