// SPDX-License-Identifier: GPL-2.0-only
/* Nothing, for tests of everything around a collector: says how often it was called. */
#include "collect/collect.h"

static int null_add(struct collect *c, const char *key)
{
	collect_info_int(c, key, json_integer_value(json_object_get(c->info, key)) + 1);
	return 0;
}

static int null_start(struct collect *c)
{
	return null_add(c, "started");
}

static int null_snap(struct collect *c)
{
	return null_add(c, "snaps");
}

static int null_stop(struct collect *c)
{
	return null_add(c, "stopped");
}

const struct collector collector_null = {
	.name = "null",
	.what = "nothing, for tests",
	.start = null_start,
	.snap = null_snap,
	.stop = null_stop,
};
