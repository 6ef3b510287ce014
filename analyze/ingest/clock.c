// SPDX-License-Identifier: GPL-2.0-only
/*
 * clock.json of a side that ran on another host: how far its clock is ahead of that of the host
 * that steered. It was compared before and after the run; in between it is taken to move evenly.
 */
#include "analyze/ingest/ingest.h"
#include "lib/json.h"

#include "lib/alloc.h"
#include "lib/file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { SCHEMA = 1 };

/* ns; `offset` is NAN where it was not measured. */
struct comparison {
	double at, offset, error;
};

static struct comparison clock_read_comparison(const json_t *root, const char *key)
{
	const json_t *o = json_object_get(root, key);

	return (struct comparison){json_num(o, "at_ns"), json_num(o, "offset_ns"),
				   json_num(o, "error_ns")};
}

/* At a time of the side's own clock. */
static struct comparison clock_interpolate(const struct comparison *before,
					   const struct comparison *after, double t)
{
	struct comparison c = isnan(before->offset) ? *after : *before;
	double length = after->at - before->at, part;

	if (isnan(before->offset) || isnan(after->offset) || length <= 0)
		return c;
	part = (t - before->offset - before->at) / length;
	c.offset += fmin(fmax(part, 0), 1) * (after->offset - before->offset);
	c.error = fmax(before->error, after->error);
	return c;
}

static int clock_read_file(struct ingest *in, const char *path, struct error *err)
{
	json_t *root = json_file(path, err);
	struct comparison before, after, c;

	if (!root)
		return -EBADMSG;
	if (json_u64(root, "schema_version") != SCHEMA) {
		json_decref(root);
		return error_set(err, EBADMSG, "%s: schema_version is not %d", path, SCHEMA);
	}
	before = clock_read_comparison(root, "before");
	after = clock_read_comparison(root, "after");
	json_decref(root);
	c = clock_interpolate(&before, &after, (double)in->run.start_ns);
	ingest_metric(in, "clock_offset", "s", c.offset / 1e9, "measured");
	ingest_metric(in, "clock_error", "s", c.error / 1e9, "measured");
	return 0;
}

void ingest_clock(struct ingest *in)
{
	char *path = xasprintf("%s/clock.json", in->dir);
	struct error err = {0};

	if (path_exists(path) && clock_read_file(in, path, &err))
		note_add(&in->notes, clock_unreadable, err.text);
	free(path);
}
