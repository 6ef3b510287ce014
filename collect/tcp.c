// SPDX-License-Identifier: GPL-2.0-only
/*
 * tcp_info of the workload's sockets. The sockets are those that its processes hold open, found by
 * their inodes; sock_diag in the workload's network namespace reports them. A reading is a line
 * "little" or "big" and a line for each connected socket, with its raw structures in hexadecimal
 * digits:
 *
 *   <pid> <inet_diag_msg> <tcp_info> <memory> <congestion control>
 *
 * Each reading lists all sockets of the namespace. Where that takes long, readings inside the
 * window are skipped (collect.h).
 */
#include "collect/collect.h"
#include "collect/run/run.h"
#include "lib/alloc.h"
#include "lib/genl.h"

#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

/* --- sock_diag --- */

/* All states except those of sockets that no process holds, and of closed ones. */
#define STATES                                                                             \
	(1 << TCP_LISTEN | 1 << TCP_SYN_SENT | 1 << TCP_ESTABLISHED | 1 << TCP_FIN_WAIT1 | \
	 1 << TCP_FIN_WAIT2 | 1 << TCP_CLOSE_WAIT | 1 << TCP_LAST_ACK | 1 << TCP_CLOSING)
#define ATTRIBUTES \
	(1 << (INET_DIAG_INFO - 1) | 1 << (INET_DIAG_CONG - 1) | 1 << (INET_DIAG_SKMEMINFO - 1))

/* Calls `found` for all sockets of the family in these states. Returns 0 or -errno. */
static int sock_diag_ask(struct genl *diag, int family, uint32_t states, genl_answer found,
			 void *arg)
{
	struct inet_diag_req_v2 body = {.sdiag_family = (uint8_t)family,
					.sdiag_protocol = IPPROTO_TCP,
					.idiag_ext = ATTRIBUTES,
					.idiag_states = states};

	netlink_begin(diag, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, &body, sizeof(body));
	return genl_ask(diag, found, arg, NULL);
}

/* Opens it in the network namespace that we are in, also again, and tests it by an empty list. */
static int sock_diag_open(void *arg, struct error *err)
{
	struct genl *diag = arg;
	int rc;

	genl_close(diag);
	rc = netlink_open(diag, NETLINK_SOCK_DIAG, sizeof(struct inet_diag_msg), NULL);
	rc = rc ?: sock_diag_ask(diag, AF_INET, 0, NULL, NULL);
	if (!rc)
		return 0;
	genl_close(diag);
	return error_sys(
		err, -rc,
		"the kernel does not list TCP sockets (CONFIG_INET_TCP_DIAG; modprobe tcp_diag)");
}

enum { SOCKETS = 4096, BYTES_AT = 120 };

struct tcp {
	struct str *text; /* belongs to the reading */
	struct genl diag; /* sock_diag(7) in the namespace of the workload */
	struct tree_sockets held;
	size_t n, most; /* sockets in this reading, and in any */
	bool cut;
	struct tcp_seen seen; /* what the last reading showed */
};

/* --- sockets --- */

static void tcp_add_hex(struct str *s, const void *data, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *p = data, *end = p + len;

	for (; p < end; p++) {
		str_putc(s, digits[*p >> 4]);
		str_putc(s, digits[*p & 15]);
	}
	str_puts(s, len ? " " : "- ");
}

/* The SYN of a client counts as one byte. */
static bool tcp_has_moved(const struct nlattr *info)
{
	uint64_t bytes[2]; /* acknowledged and received: the kernel never changes their place */

	if (!info || genl_size(info) < BYTES_AT + sizeof(bytes))
		return false;
	memcpy(bytes, (const char *)genl_data(info) + BYTES_AT, sizeof(bytes));
	return bytes[0] > 1 || bytes[1] > 1;
}

static void tcp_add_attribute(struct str *s, const struct nlattr *a)
{
	tcp_add_hex(s, a ? genl_data(a) : NULL, a ? genl_size(a) : 0);
}

static int tcp_add_socket(void *arg, const void *attrs, size_t len)
{
	const struct inet_diag_msg *msg = netlink_head(attrs, sizeof(*msg));
	const struct nlattr *info = genl_find(attrs, len, INET_DIAG_INFO);
	const struct nlattr *congestion = genl_find(attrs, len, INET_DIAG_CONG);
	struct tcp *t = arg;
	uint64_t *pid = map_get(&t->held.pid_of, msg->idiag_inode);

	if (!pid)
		return 0;
	t->seen.sockets = true;
	t->seen.listens |= msg->idiag_state == TCP_LISTEN;
	if (msg->idiag_state == TCP_LISTEN)
		return 0;
	t->seen.moved |= tcp_has_moved(info);
	if (t->n >= SOCKETS) {
		t->cut = true;
		return 0;
	}
	t->n++;
	str_printf(t->text, "%d ", (int)*pid);
	tcp_add_hex(t->text, msg, sizeof(*msg));
	tcp_add_attribute(t->text, info);
	tcp_add_attribute(t->text, genl_find(attrs, len, INET_DIAG_SKMEMINFO));
	str_printf(t->text, "%.*s\n", congestion ? (int)genl_size(congestion) : 1,
		   congestion ? (const char *)genl_data(congestion) : "-");
	return 0;
}

/* --- the collector --- */

static int tcp_prepare(struct collect *c)
{
	struct tcp *t = c->data = xcalloc(1, sizeof(*t));

	t->diag.fd = -1;
	return sock_diag_open(&t->diag, &c->err);
}

static int tcp_read(struct collect *c)
{
	static const int families[] = {AF_INET, AF_INET6};
	struct tcp *t = c->data;
	int rc = 0;

	netns_enter(c, sock_diag_open, &t->diag);
	t->seen = (struct tcp_seen){0};
	t->n = 0;
	map_free(&t->held.pid_of);
	tree_find_sockets(tree_of(c->run), &t->held);
	t->text = &c->reading.text;
	str_puts(t->text, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "little\n" : "big\n");
	for (size_t i = 0; i < array_size(families) && !rc; i++)
		rc = sock_diag_ask(&t->diag, families[i], STATES, tcp_add_socket, t);
	t->most = t->n > t->most ? t->n : t->most;
	return rc ? error_sys(&c->err, -rc, "cannot ask for the workload's sockets") : 0;
}

static void tcp_report(struct collect *c, const struct tcp *t)
{
	collect_info_int(c, "sockets", (int64_t)t->most);
	collect_info_str(c, "netns", c->netns.fd ? "workload" : "host");
	if (t->cut)
		collect_degraded(c, "the workload has more than %d sockets: the rest was left out",
				 SOCKETS);
	tree_sockets_report(c, &t->held);
}

static void tcp_finish(struct collect *c)
{
	autofree struct tcp *t = c->data;

	if (c->reading.n)
		tcp_report(c, t);
	genl_close(&t->diag);
	map_free(&t->held.pid_of);
}

/* --- without a run that lists the collector --- */

struct tcp_seen tcp_look(struct collect *c)
{
	struct tcp *t;

	if (!c->data)
		tcp_prepare(c);
	t = c->data;
	tcp_read(c);
	str_reset(&c->reading.text);
	return t->seen;
}

void tcp_look_end(struct collect *c)
{
	if (c->data)
		tcp_finish(c);
	netns_close(&c->netns);
	str_free(&c->reading.text);
	free(c->why);
}

const struct collector collector_tcp = {
	.name = "tcp",
	.what = "tcp_info of the workload's sockets: rtt, cwnd, retransmits, rates, memory",
	.files = {"tcp.snap"},
	.when = DATED,
	.passes = PASS_MEASURE | PASS_SYSCALLS,
	.prepare = tcp_prepare,
	.read = tcp_read,
	.finish = tcp_finish,
};
