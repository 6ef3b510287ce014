// SPDX-License-Identifier: GPL-2.0-only
#include "summary.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const names[HIST_COUNT] = {
	[HIST_RECV_BYTES] = "recv_bytes",   [HIST_FRAGS] = "frags",
	[HIST_TOKENS] = "tokens",	    [HIST_RETURNS] = "returns",
	[HIST_NOTIFY_NS] = "notify_ns",	    [HIST_BATCH] = "batch",
	[HIST_COMPLETIONS] = "completions", [HIST_LATENCY_NS] = "latency_ns",
};

/* {"<floor(log2)>": count} */
static json_t *hist_log2_json(const struct hist *h)
{
	uint64_t n[64] = {0};
	json_t *o = json_object();
	char key[8];
	unsigned int i;

	for (i = 0; i < HIST_BUCKETS; i++)
		n[63 - __builtin_clzll(hist_floor(i) | 1)] += h->buckets[i];
	for (i = 0; i < 64; i++) {
		snprintf(key, sizeof(key), "%u", i);
		if (n[i])
			json_object_set_new(o, key, json_integer((json_int_t)n[i]));
	}
	return o;
}

static json_t *hist_quantiles_json(const struct hist *h)
{
	return json_pack("{s:I,s:I,s:f,s:I,s:I,s:I,s:I,s:I}", "count", (json_int_t)h->count, "min",
			 (json_int_t)h->min, "mean", (double)h->sum / (double)h->count, "p50",
			 (json_int_t)hist_quantile(h, 0.5), "p90",
			 (json_int_t)hist_quantile(h, 0.9), "p99",
			 (json_int_t)hist_quantile(h, 0.99), "p999",
			 (json_int_t)hist_quantile(h, 0.999), "max", (json_int_t)h->max);
}

static void summary_merge_hist(struct hist *to, const struct flow *flows, unsigned int n,
			       unsigned int which)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (flows[i].hist[which])
			hist_merge(to, flows[i].hist[which]);
		if (flows[i].back && flows[i].back->hist[which])
			hist_merge(to, flows[i].back->hist[which]);
	}
}

json_t *summary_hists(const struct flow *flows, unsigned int n, bool buckets)
{
	json_t *o = json_object();
	unsigned int which;

	for (which = 0; which < HIST_COUNT; which++) {
		struct hist *all = calloc(1, sizeof(*all));
		json_t *j;

		if (!all)
			continue;
		summary_merge_hist(all, flows, n, which);
		if (all->count) {
			j = hist_quantiles_json(all);
			if (buckets)
				json_object_set_new(j, "log2", hist_log2_json(all));
			json_object_set_new(o, names[which], j);
		}
		free(all);
	}
	return o;
}

json_t *summary_hist_log2(const struct flow *flows, unsigned int n, unsigned int which)
{
	struct hist *all = calloc(1, sizeof(*all));
	json_t *o = NULL;

	if (all) {
		summary_merge_hist(all, flows, n, which);
		o = hist_log2_json(all);
	}
	free(all);
	return o;
}
