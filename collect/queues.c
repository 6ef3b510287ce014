// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queues, NAPI instances and page pools of the interfaces in the workload's network namespace, as
 * the kernel's family "netdev" of generic netlink lists them. A reading has a line for each
 * interface, "link<tab>ifindex=4<tab>name=eth0", and one for each object. Readings say who owned a
 * queue, and for how long: io_uring (zcrx), a dmabuf (devmem TCP) or AF_XDP.
 */
#include "collect/nic.h"
#include "collect/run/run.h"
#include "lib/alloc.h"

#include <errno.h>
#include <inttypes.h>

// clang-format off
const struct netdev_object netdev_objects[] = {
	[NETDEV_NAPI] = {"napi", 11, {
		[1] = "ifindex", "id", "irq", "pid", "defer-hard-irqs", "gro-flush-timeout",
		"irq-suspend-timeout", "threaded"}},
	[NETDEV_QUEUE] = {"queue", 10, {
		[1] = "id", "ifindex", "type", "napi-id", "dmabuf", "io-uring", "xsk"}},
	[NETDEV_POOL] = {"page-pool", 5, {
		[1] = "id", "ifindex", "napi-id", "inflight", "inflight-mem", "detach-time",
		"dmabuf", "io-uring"}},
	[NETDEV_POOL_STATS] = {"page-pool-stats", 9, {
		[1] = "info", [8] = "alloc-fast", "alloc-slow", "alloc-slow-high-order",
		"alloc-empty", "alloc-refill", "alloc-waive", "recycle-cached",
		"recycle-cache-full", "recycle-ring", "recycle-ring-full",
		"recycle-released-refcnt"}},
	[NETDEV_QSTATS] = {"qstats", 12, {
		[8] = "rx-packets", "rx-bytes", "tx-packets", "tx-bytes", "rx-alloc-fail",
		"rx-hw-drops", "rx-hw-drop-overruns", "rx-csum-complete", "rx-csum-unnecessary",
		"rx-csum-none", "rx-csum-bad", "rx-hw-gro-packets", "rx-hw-gro-bytes",
		"rx-hw-gro-wire-packets", "rx-hw-gro-wire-bytes", "rx-hw-drop-ratelimits",
		"tx-hw-drops", "tx-hw-drop-errors", "tx-csum-none", "tx-needs-csum",
		"tx-hw-gso-packets", "tx-hw-gso-bytes", "tx-hw-gso-wire-packets",
		"tx-hw-gso-wire-bytes", "tx-hw-drop-ratelimits", "tx-stop", "tx-wake"}},
};
// clang-format on

const char *netdev_attr_name(enum netdev_list list, const struct nlattr *a)
{
	unsigned int type = a->nla_type & NLA_TYPE_MASK;

	return type < NETDEV_ATTRS ? netdev_objects[list].attr[type] : NULL;
}

struct netdev_printer {
	enum netdev_list list;
	struct str *text;
};

/* A number; of a nest the id in it, 1 if there is none. */
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
	const char *name;

	str_puts(p->text, netdev_objects[p->list].name);
	while ((a = genl_next(&attrs, &len)))
		if ((name = netdev_attr_name(p->list, a)))
			str_printf(p->text, "\t%s=%" PRIu64, name, netdev_value(a));
	str_putc(p->text, '\n');
	return 0;
}

int netdev_print_list(struct genl *g, enum netdev_list list, struct str *text)
{
	struct netdev_printer p = {list, text};
	size_t before = text->len;
	int rc, tries = 5;

	do {
		text->len = before;
		genl_begin(g, netdev_objects[list].get, NLM_F_DUMP);
		rc = genl_ask(g, netdev_print_object, &p, NULL);
	} while (!rc && g->interrupted && --tries);
	return rc;
}

/* --- the collector --- */

struct queues {
	struct nic_space space;
	bool lacks[NETDEV_QSTATS]; /* the kernel has no such list */
};

static int queues_open(void *queues, struct error *err)
{
	struct queues *q = queues;
	int rc;

	nic_space_close(&q->space);
	rc = nic_space_open(&q->space, "workload", err);
	if (rc)
		return rc;
	if (q->space.netdev.fd < 0)
		return error_set(err, ENOENT, "the kernel has no netlink family 'netdev' (6.3)");
	return 0;
}

static int queues_prepare(struct collect *c)
{
	struct queues *q = c->data = xcalloc(1, sizeof(*q));

	return queues_open(q, &c->err);
}

static int queues_read(struct collect *c)
{
	struct queues *q = c->data;
	int rc;

	netns_enter(c, queues_open, q);
	rc = nic_list(&q->space, NULL, NULL);
	for (size_t i = 0; i < q->space.nports; i++)
		if (q->space.port[i].flags)
			str_printf(&c->reading.text, "link\tifindex=%d\tname=%s\n",
				   q->space.port[i].index, q->space.port[i].name);
	for (enum netdev_list i = 0; i < NETDEV_QSTATS && !rc; i++) {
		if (!q->lacks[i])
			rc = netdev_print_list(&q->space.netdev, i, &c->reading.text);
		q->lacks[i] |= rc == -EOPNOTSUPP;
		rc = q->lacks[i] ? 0 : rc;
	}
	return rc ? error_sys(&c->err, -rc, "cannot list queues by netlink") : 0;
}

static void queues_finish(struct collect *c)
{
	autofree struct queues *q = c->data;
	freed(str_free) struct str lacks = {0};

	for (size_t i = 0; i < NETDEV_QSTATS; i++)
		if (q->lacks[i])
			str_printf(&lacks, "%s%s", lacks.len ? ", " : "", netdev_objects[i].name);
	if (lacks.len)
		collect_why(c, "this kernel does not list: %s", lacks.buf);
	collect_info_str(c, "netns", c->netns.fd ? "workload" : "host");
	nic_space_close(&q->space);
}

const struct collector collector_queues = {
	.name = "queues",
	.what = "queues, NAPI and page pools of interfaces, and who owned a queue",
	.files = {"queues.snap"},
	.when = DATED,
	.passes = PASS_MEASURE | PASS_SYSCALLS,
	.prepare = queues_prepare,
	.before = queues_read,
	.read = queues_read,
	.finish = queues_finish,
};
