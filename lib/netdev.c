// SPDX-License-Identifier: GPL-2.0-only
#include "lib/netdev.h"

#include "lib/zc_uapi.h"

#include <inttypes.h>

enum { TRIES = 5 };

// clang-format off
const struct netdev_object netdev_objects[NETDEV_LISTS] = {
	[NETDEV_NAPIS] = {"napi", 11, {
		[1] = "ifindex", "id", "irq", "pid", "defer-hard-irqs", "gro-flush-timeout",
		"irq-suspend-timeout", "threaded"}},
	[NETDEV_QUEUES] = {"queue", 10, {
		[ZC_NETDEV_A_QUEUE_ID] = "id", "ifindex", [ZC_NETDEV_A_QUEUE_TYPE] = "type",
		"napi-id", "dmabuf", "io-uring", "xsk"}},
	[NETDEV_POOLS] = {"page-pool", 5, {
		[1] = "id", "ifindex", "napi-id", "inflight", "inflight-mem", "detach-time",
		"dmabuf", "io-uring"}},
	[NETDEV_POOL_STATS] = {"page-pool-stats", 9, {
		[1] = "info", [8] = "alloc-fast", "alloc-slow", "alloc-slow-high-order",
		"alloc-empty", "alloc-refill", "alloc-waive", "recycle-cached",
		"recycle-cache-full", "recycle-ring", "recycle-ring-full",
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

static void netdev_print_attrs(struct str *text, const struct netdev_object *of, const void *attrs,
			       size_t len)
{
	const struct nlattr *a;
	const char *name;
	bool number;

	while ((a = genl_next(&attrs, &len))) {
		name = netdev_attr_name(of, a);
		number = !(a->nla_type & NLA_F_NESTED) && genl_size(a) >= sizeof(uint32_t);
		if (name)
			str_printf(text, "\t%s=%" PRIu64, name, number ? genl_u64(a) : 1);
		if (name && !number && of == &netdev_objects[NETDEV_POOL_STATS])
			netdev_print_attrs(text, &netdev_objects[NETDEV_POOLS], genl_data(a),
					   genl_size(a));
	}
}

static int netdev_print_object(void *arg, const void *attrs, size_t len)
{
	struct netdev_printer *p = arg;

	str_puts(p->text, p->of->name);
	netdev_print_attrs(p->text, p->of, attrs, len);
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
