// SPDX-License-Identifier: GPL-2.0-only
/* pools: the page pools of interfaces: their pages, and what the kernel counts of them. */
#include "analyze/scope/changes.h"

static const struct column pools_columns[] = {
	SIDE_COLUMNS,
	{"interface", .type = V_STR},
	{"pool", .type = V_STR,
	 .what = "its queue (rx-0.1: the second pool of rx-0); pool: no queue, or not in the kernel's list"},
	{"name", .type = V_STR,
	 .what = "as in the kernel's netdev.yaml; held, released: pages from and to the allocator, by tracepoint; recycled_pct: of the pages that came back, those that the pool kept"},
	{"mean", .type = V_REAL, .digits = 1, .spread = SPREAD_RANGE,
	 .what = "of a gauge in the window; estimate over the runs"},
	{"count", .type = V_REAL, .digits = 1, .what = "of a counter in the window"},
	{"per_s", "1/s", V_REAL, .digits = 1, .spread = SPREAD_RANGE},
	{"per_mib", "1/MiB", V_REAL, .digits = 3, .what = "per MiB of the workload's bytes"},
	{"runs", .type = V_INT, .what = "runs that measured it, of every pass"},
};

static void pools_put_row(const struct changes *c, const struct change_row *r, bool gauge,
			  struct table *t)
{
	autofree char *copy = xstrdup(r->name);
	struct estimate e = changes_estimate(c, r, AS_COUNT);
	char *rest = copy;
	const char *interface = str_token(&rest, '/'), *pool = str_token(&rest, '/');
	struct value *row;

	if (!rest || str_matches_any("id ifindex napi-id info", rest))
		return;
	row = block_row(t, &c->b->block);
	table_set(t, row, "interface", value_str(t, interface));
	table_set(t, row, "pool", value_str(t, pool));
	table_set(t, row, "name", value_str(t, rest));
	if (gauge)
		put_estimate(t, row, "mean", &e);
	else
		changes_put(c, r, t, row);
	table_set(t, row, "runs", value_int((int64_t)e.n));
}

/* The statistics are read in the runs of two passes, and the tracepoints in those of one of them.
 */
static int pools_put_block(struct block_table *k, struct error *err)
{
	static const char *const metrics[] = {"page_pool_mean", "page_pool"};
	freed(block_runs_free) struct block_runs counted;
	struct block_table every = *k;
	int rc = block_every_pass(k->s, k->q, &k->b->block, &counted, err);

	every.b = &counted;
	for (size_t m = 0; m < array_size(metrics) && !rc; m++) {
		freed(changes_free) struct changes c;

		rc = changes_read(&c, &every, metrics[m], OF_SIDE, err);
		for (size_t i = 0; i < c.n && !rc; i++)
			pools_put_row(&c, &c.row[i], !m, k->t);
	}
	return rc;
}

const struct measure measure_pools = {
	.name = "pools",
	.what = "page pools of interfaces: pages in flight, recycled, and new ones",
	MEASURE_COLUMNS(pools_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS},
	.whole = "a page pool serves all programs",
	.spare = "runs count",
	.collectors = "queues pools workload",
	.block = pools_put_block,
	.how = "held and released are counted in the runs of the syscalls pass; 256 pages of 4 KiB hold one MiB, so without recycling at least 256 are held for each; other counters need a kernel with CONFIG_PAGE_POOL_STATS",
};
