// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters of queues, of drivers that have them for everyone: family "netdev" of generic netlink,
 * Linux 6.10 and later. The numbers are the kernel's ABI; headers may be older than it.
 */
#include "collect/nic.h"

#include "lib/alloc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QSTATS_GET = 12 };
enum { A_IFINDEX = 1, A_TYPE, A_ID, A_SCOPE, A_FIRST = 8 };
enum { SCOPE_QUEUE = 1 };

/* From A_FIRST on. */
static const char *const names[] = {
	"rx-packets",
	"rx-bytes",
	"tx-packets",
	"tx-bytes",
	"rx-alloc-fail",
	"rx-hw-drops",
	"rx-hw-drop-overruns",
	"rx-csum-complete",
	"rx-csum-unnecessary",
	"rx-csum-none",
	"rx-csum-bad",
	"rx-hw-gro-packets",
	"rx-hw-gro-bytes",
	"rx-hw-gro-wire-packets",
	"rx-hw-gro-wire-bytes",
	"rx-hw-drop-ratelimits",
	"tx-hw-drops",
	"tx-hw-drop-errors",
	"tx-csum-none",
	"tx-needs-csum",
	"tx-hw-gso-packets",
	"tx-hw-gso-bytes",
	"tx-hw-gso-wire-packets",
	"tx-hw-gso-wire-bytes",
	"tx-hw-drop-ratelimits",
	"tx-stop",
	"tx-wake",
};

struct queues {
	struct nic_space *s;
	struct str *text;
};

static void nic_queues_add(struct queues *q, const void *attrs, size_t len, int index, bool tx,
			   uint32_t id)
{
	const struct nic_port *p = nic_port_of(q->s, index);
	struct str n = {0}, v = {0};
	const struct nlattr *a;
	char group[32];

	while ((a = genl_next(&attrs, &len))) {
		unsigned int type = a->nla_type & NLA_TYPE_MASK;

		if (type < A_FIRST || type - A_FIRST >= array_size(names))
			continue;
		str_printf(&n, "\t%s", names[type - A_FIRST]);
		str_printf(&v, "\t%" PRIu64, genl_u64(a));
	}
	snprintf(group, sizeof(group), "%s-%u", tx ? "tx" : "rx", id);
	if (p && n.len)
		nic_put(q->s, p, group, n.buf, v.buf, q->text);
	str_free(&n);
	str_free(&v);
}

static int nic_queues_parse(void *arg, const void *attrs, size_t len)
{
	const struct nlattr *index = genl_find(attrs, len, A_IFINDEX);
	const struct nlattr *type = genl_find(attrs, len, A_TYPE);
	const struct nlattr *id = genl_find(attrs, len, A_ID);

	if (index && type && id && genl_u32(type) <= 1)
		nic_queues_add(arg, attrs, len, (int)genl_u32(index), genl_u32(type), genl_u32(id));
	return 0;
}

int nic_read_queues(struct nic_space *s, struct str *text)
{
	struct queues q = {s, text};
	int rc;

	if (!s->netdev)
		return 0;
	genl_begin(s->netdev, QSTATS_GET, NLM_F_DUMP);
	genl_put_u32(s->netdev, A_SCOPE, SCOPE_QUEUE);
	rc = genl_ask(s->netdev, nic_queues_parse, &q, NULL);
	if (rc == -EOPNOTSUPP || rc == -EINVAL) { /* the family of Linux 6.3 to 6.9 */
		genl_close(s->netdev);
		free(s->netdev);
		s->netdev = NULL;
		return 0;
	}
	return rc;
}
