// SPDX-License-Identifier: GPL-2.0-only
/* Nothing, for tests of everything around a collector: says how often it was called. */
#include "collect/collect.h"

#include "lib/alloc.h"

#include <stdlib.h>

struct null {
	int started, snaps, stopped;
};

static int prepare(struct collect *c)
{
	c->data = xcalloc(1, sizeof(struct null));
	return 0;
}

static int start(struct collect *c)
{
	((struct null *)c->data)->started++;
	return 0;
}

static int snap(struct collect *c)
{
	((struct null *)c->data)->snaps++;
	return 0;
}

static int stop(struct collect *c)
{
	((struct null *)c->data)->stopped++;
	return 0;
}

static void finish(struct collect *c)
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
	.prepare = prepare,
	.start = start,
	.snap = snap,
	.stop = stop,
	.finish = finish,
};
