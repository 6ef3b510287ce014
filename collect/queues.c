// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queues, NAPI instances and page pools of the interfaces in the workload's network namespace, as
 * the kernel's family "netdev" lists them (lib/netdev.h). A reading is a line "netns <inode>", a
 * line "link" for each interface, and the lines of the lists. Readings say who owned a queue, and
 * for how long: io_uring (zcrx), a dmabuf (devmem TCP) or AF_XDP.
 */
#include "collect/nic.h"

#include "collect/run/run.h"
#include "lib/alloc.h"
#include "lib/netdev.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

struct queues {
	struct netns netns;
	struct nic_space space;
	bool lacks[NETDEV_LISTS]; /* the kernel has no such list */
};

static int queues_open(void *queues, struct error *err)
{
	struct queues *q = queues;
	int rc;

	nic_space_close(&q->space);
	rc = nic_space_open(&q->space, "workload");
	if (rc)
		return error_sys(err, -rc, "cannot list interfaces by netlink");
	if (q->space.netdev.fd < 0)
		return error_set(err, ENOENT,
				 "the kernel has no netlink family 'netdev' (Linux 6.3)");
	return 0;
}

static int queues_prepare(struct collect *c)
{
	struct queues *q = c->data = xcalloc(1, sizeof(*q));

	netns_init(&q->netns);
	return queues_open(q, &c->err);
}

static int queues_read(struct collect *c)
{
	struct queues *q = c->data;
	struct str *text = &c->reading.text;
	int rc;

	netns_enter(&q->netns, c, queues_open, q);
	str_printf(text, "netns\t%" PRIu64 "\n", q->netns.id);
	rc = nic_list(&q->space, NULL, NULL);
	for (size_t i = 0; i < q->space.nports && !rc; i++)
		if (q->space.port[i].flags)
			str_printf(text, "link\tifindex=%d\tname=%s\n", q->space.port[i].index,
				   q->space.port[i].name);
	for (enum netdev_list i = 0; i < NETDEV_QSTATS && !rc; i++) {
		rc = q->lacks[i] ? 0 : netdev_print_list(&q->space.netdev, i, text);
		if (rc == -EOPNOTSUPP) {
			q->lacks[i] = true;
			rc = 0;
		}
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
	collect_info_str(c, "netns", q->netns.fd < 0 ? "host" : "workload");
	nic_space_close(&q->space);
	netns_close(&q->netns);
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
