/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parsers of raw files left: metrics and notes; and how a snapshot file is made for them.
 */
#ifndef ZC_TEST_INGESTED_H
#define ZC_TEST_INGESTED_H

#include "analyze/ingest/ingest.h"
#include "lib/snap.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* The last of that name, NaN: none. */
static inline double metric(const struct ingest *in, const char *name)
{
	size_t i;

	for (i = in->nmetrics; i-- > 0;)
		if (!strcmp(in->metrics[i].name, name))
			return in->metrics[i].value;
	return NAN;
}

static inline bool noted(const struct ingest *in, const char *severity, const char *text)
{
	size_t i;

	for (i = 0; i < in->nnotes; i++)
		if (!strcmp(in->notes[i].severity, severity) && strstr(in->notes[i].text, text))
			return true;
	return false;
}

/* One snapshot more at the file's end. */
static inline void append_snap(const char *path, double seconds, const char *text, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);

	assert_true(fd >= 0);
	assert_int_equal(snap_append(fd, (uint64_t)(seconds * 1e9), text, len), 0);
	close(fd);
}

#endif
