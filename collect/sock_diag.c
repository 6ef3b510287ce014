// SPDX-License-Identifier: GPL-2.0-only
#include "collect/sock_diag.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER = 32768 };

/* All but those that no process holds, and those that have no peer and wait for none. */
#define STATES                                                                             \
	(1 << TCP_LISTEN | 1 << TCP_SYN_SENT | 1 << TCP_ESTABLISHED | 1 << TCP_FIN_WAIT1 | \
	 1 << TCP_FIN_WAIT2 | 1 << TCP_CLOSE_WAIT | 1 << TCP_LAST_ACK | 1 << TCP_CLOSING)
#define ATTRIBUTES \
	(1 << (INET_DIAG_INFO - 1) | 1 << (INET_DIAG_CONG - 1) | 1 << (INET_DIAG_SKMEMINFO - 1))

struct request {
	struct nlmsghdr head;
	struct inet_diag_req_v2 body;
};

static int sock_diag_send(int fd, int family, unsigned int flags, uint32_t states,
			  const struct inet_diag_sockid *id)
{
	struct request r = {
		.head = {.nlmsg_len = sizeof(r),
			 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			 .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags)},
		.body = {.sdiag_family = (uint8_t)family,
			 .sdiag_protocol = IPPROTO_TCP,
			 .idiag_ext = ATTRIBUTES,
			 .idiag_states = states},
	};

	if (id)
		r.body.id = *id;
	return send(fd, &r, sizeof(r), 0) < 0 ? -errno : 0;
}

static void sock_diag_parse(const struct nlmsghdr *h, sock_diag_found found, void *arg)
{
	struct sock_diag_socket s = {.msg = NLMSG_DATA(h)};
	int left = (int)h->nlmsg_len - (int)NLMSG_SPACE(sizeof(*s.msg));
	struct rtattr *a = (struct rtattr *)((char *)h + NLMSG_SPACE(sizeof(*s.msg)));

	if (h->nlmsg_type != SOCK_DIAG_BY_FAMILY || left < 0)
		return;
	for (; RTA_OK(a, left); a = RTA_NEXT(a, left)) {
		if (a->rta_type == INET_DIAG_INFO) {
			s.info = RTA_DATA(a);
			s.info_len = RTA_PAYLOAD(a);
		} else if (a->rta_type == INET_DIAG_SKMEMINFO) {
			s.memory = RTA_DATA(a);
			s.memory_len = RTA_PAYLOAD(a);
		} else if (a->rta_type == INET_DIAG_CONG && RTA_PAYLOAD(a) &&
			   !((char *)RTA_DATA(a))[RTA_PAYLOAD(a) - 1]) {
			s.congestion = RTA_DATA(a);
		}
	}
	found(arg, &s);
}

/* 1: more is to come; 0: that was all; -errno. An error may come with the end of a list. */
static int sock_diag_read_answer(int fd, sock_diag_found found, void *arg, bool list)
{
	char buf[ANSWER] __attribute__((aligned(NLMSG_ALIGNTO)));
	ssize_t n = recv(fd, buf, sizeof(buf), 0);
	unsigned int left = n > 0 ? (unsigned int)n : 0;
	int error = 0;
	struct nlmsghdr *h;

	if (n < 0)
		return errno == EINTR ? 1 : -errno;
	for (h = (struct nlmsghdr *)buf; NLMSG_OK(h, left); h = NLMSG_NEXT(h, left)) {
		if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR) {
			if (NLMSG_PAYLOAD(h, 0) >= (int)sizeof(error))
				memcpy(&error, NLMSG_DATA(h), sizeof(error));
			return error < 0 ? error : 0;
		}
		sock_diag_parse(h, found, arg);
	}
	return list;
}

static int sock_diag_read_all(int fd, sock_diag_found found, void *arg, bool list)
{
	int rc;

	do
		rc = sock_diag_read_answer(fd, found, arg, list);
	while (rc > 0);
	return rc;
}

int sock_diag_all(int fd, int family, sock_diag_found found, void *arg)
{
	int rc = sock_diag_send(fd, family, NLM_F_DUMP, STATES, NULL);

	return rc ? rc : sock_diag_read_all(fd, found, arg, true);
}

int sock_diag_one(int fd, const struct inet_diag_msg *msg, sock_diag_found found, void *arg)
{
	int rc = sock_diag_send(fd, msg->idiag_family, 0, STATES, &msg->id);

	return rc ? rc : sock_diag_read_all(fd, found, arg, false);
}

/* A list of sockets in no state asks nothing but whether it can be asked. */
static int sock_diag_probe(int fd)
{
	int rc = sock_diag_send(fd, AF_INET, NLM_F_DUMP, 0, NULL);

	return rc ? rc : sock_diag_read_all(fd, NULL, NULL, true);
}

int sock_diag_open(struct error *err)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	int rc = fd < 0 ? -errno : sock_diag_probe(fd);

	if (!rc)
		return fd;
	if (fd >= 0)
		close(fd);
	return error_sys(err, -rc,
			 "the kernel does not tell of TCP sockets (CONFIG_INET_TCP_DIAG; modprobe "
			 "tcp_diag)");
}
