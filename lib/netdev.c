// SPDX-License-Identifier: GPL-2.0-only
#include "lib/netdev.h"

#include "lib/zc_uapi.h"

#include <inttypes.h>

enum { TRIES = 5 };

// clang-format off
const struct netdev_object netdev_objects[NETDEV_LISTS] = {
	[NETDEV_NAPIS] = {"napi", 11, {
		[ZC_NETDEV_A_NAPI_IFINDEX] = "ifindex", "id", "irq", "pid", "defer-hard-irqs",
		"gro-flush-timeout", "irq-suspend-timeout", "threaded"}},
	[NETDEV_QUEUES] = {"queue", 10, {
		[ZC_NETDEV_A_QUEUE_ID] = "id", "ifindex", "type", "napi-id", "dmabuf", "io-uring",
		"xsk"}},
	[NETDEV_POOLS] = {"page-pool", 5, {
		[ZC_NETDEV_A_PAGE_POOL_ID] = "id", "ifindex", "napi-id", "inflight",
		"inflight-mem", "detach-time", "dmabuf", "io-uring"}},
	[NETDEV_POOL_STATS] = {"page-pool-stats", 9, {
		[ZC_NETDEV_A_PAGE_POOL_STATS_INFO] = "info",
		[ZC_NETDEV_A_PAGE_POOL_STATS_FIRST] = "alloc-fast", "alloc-slow",
		"alloc-slow-high-order", "alloc-empty", "alloc-refill", "alloc-waive",
		"recycle-cached", "recycle-cache-full", "recycle-ring", "recycle-ring-full",
		"recycle-released-refcnt"}},
	[NETDEV_QSTATS] = {"qstats", 12, {
		[1] = "ifindex", "queue-type", "queue-id", [8] = "rx-packets", "rx-bytes",
		"tx-packets", "tx-bytes", "rx-alloc-fail", "rx-hw-drops",
		"rx-hw-drop-overruns", "rx-csum-complete", "rx-csum-unnecessary",
		"rx-csum-none", "rx-csum-bad", "rx-hw-gro-packets", "rx-hw-gro-bytes",
		"rx-hw-gro-wire-packets", "rx-hw-gro-wire-bytes", "rx-hw-drop-ratelimits",
		"tx-hw-drops", "tx-hw-drop-errors", "tx-csum-none", "tx-needs-csum",
		"tx-hw-gso-packets", "tx-hw-gso-bytes", "tx-hw-gso-wire-packets",
		"tx-hw-gso-wire-bytes", "tx-hw-drop-ratelimits", "tx-stop", "tx-wake"}},
};
// clang-format on

const char *netdev_attr_name(const struct netdev_object *of, const struct nlattr *a)
{
	unsigned int type = a->nla_type & NLA_TYPE_MASK;

	return type < NETDEV_ATTRS ? of->attr[type] : NULL;
}

struct netdev_printer {
	const struct netdev_object *of;
	struct str *text;
};

/* A number; of a nest, the id in it, as that of the pool in `info`; 1 if there is none. */
static uint64_t netdev_value(const struct nlattr *a)
{
	bool nest = a->nla_type & NLA_F_NESTED || genl_size(a) < sizeof(uint32_t);
	const struct nlattr *id = nest ? genl_find(genl_data(a), genl_size(a), 1) : a;

	return id ? genl_u64(id) : 1;
}

static int netdev_print_object(void *arg, const void *attrs, size_t len)
{
	struct netdev_printer *p = arg;
	const struct nlattr *a;

	str_puts(p->text, p->of->name);
	while ((a = genl_next(&attrs, &len)))
		if (netdev_attr_name(p->of, a))
			str_printf(p->text, "\t%s=%" PRIu64, netdev_attr_name(p->of, a),
				   netdev_value(a));
	str_putc(p->text, '\n');
	return 0;
}

int netdev_print_list(struct genl *g, enum netdev_list list, struct str *text)
{
	struct netdev_printer p = {&netdev_objects[list], text};
	size_t before = text->len;
	int rc;

	for (int i = 0; i < TRIES; i++) {
		text->len = before;
		genl_begin(g, p.of->get, NLM_F_DUMP);
		rc = genl_ask(g, netdev_print_object, &p, NULL);
		if (rc || !g->interrupted)
			break;
	}
	return rc;
}
