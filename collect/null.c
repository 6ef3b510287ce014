// SPDX-License-Identifier: GPL-2.0-only
/* Nothing, for tests of everything around a collector: says how often it was called. */
#include "collect/collect.h"

#include "lib/alloc.h"

#include <stdlib.h>

struct null {
	int started, snaps, stopped;
};

static int null_prepare(struct collect *c)
{
	c->data = xcalloc(1, sizeof(struct null));
	return 0;
}

static int null_start(struct collect *c)
{
	((struct null *)c->data)->started++;
	return 0;
}

static int null_snap(struct collect *c)
{
	((struct null *)c->data)->snaps++;
	return 0;
}

static int null_stop(struct collect *c)
{
	((struct null *)c->data)->stopped++;
	return 0;
}

static void null_finish(struct collect *c)
{
	struct null *n = c->data;

	collect_info_int(c, "started", n->started);
	collect_info_int(c, "snaps", n->snaps);
	collect_info_int(c, "stopped", n->stopped);
	free(n);
}

const struct collector collector_null = {
	.name = "null",
	.what = "nothing, for tests",
	.prepare = null_prepare,
	.start = null_start,
	.snap = null_snap,
	.stop = null_stop,
	.finish = null_finish,
};
