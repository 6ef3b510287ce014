// SPDX-License-Identifier: GPL-2.0-only
#include "collect/rtnl.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { ANSWER = 32768, PATIENCE_S = 2 };

struct dump {
	uint32_t seq;
	uint16_t answer;
	size_t head_len;
	void (*each)(void *arg, const void *head, const void *attrs, size_t len);
	void *arg;
};

int rtnl_open(void)
{
	struct timeval patience = {.tv_sec = PATIENCE_S};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return fd;
}

/* 1: go on, 0: that was all, -errno. */
static int rtnl_receive(const struct dump *d, const struct nlmsghdr *m)
{
	const struct nlmsgerr *e = NLMSG_DATA(m);
	size_t skip = NLMSG_HDRLEN + NLMSG_ALIGN(d->head_len);

	if (m->nlmsg_seq != d->seq)
		return 1;
	if (m->nlmsg_type == NLMSG_DONE)
		return 0;
	if (m->nlmsg_type == NLMSG_ERROR)
		return m->nlmsg_len < NLMSG_LENGTH(sizeof(*e)) ? -EBADMSG : e->error;
	if (m->nlmsg_type == d->answer && m->nlmsg_len >= skip)
		d->each(d->arg, NLMSG_DATA(m), (const char *)m + skip, m->nlmsg_len - skip);
	return 1;
}

static int rtnl_receive_all(int fd, const struct dump *d)
{
	_Alignas(struct nlmsghdr) char buf[ANSWER];
	const struct nlmsghdr *m;
	unsigned int left;
	ssize_t got;
	int rc;

	for (;;) {
		got = recv(fd, buf, sizeof(buf), 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EPIPE;
		left = (unsigned int)got;
		for (m = (void *)buf; NLMSG_OK(m, left); m = NLMSG_NEXT(m, left)) {
			rc = rtnl_receive(d, m);
			if (rc <= 0)
				return rc;
		}
	}
}

int rtnl_dump(int fd, uint16_t type, uint16_t answer, const void *head, size_t head_len,
	      void (*each)(void *arg, const void *head, const void *attrs, size_t len), void *arg)
{
	static uint32_t seq;
	struct dump d = {++seq, answer, head_len, each, arg};
	struct {
		struct nlmsghdr head;
		char rest[64];
	} r = {.head = {.nlmsg_len = (uint32_t)(NLMSG_HDRLEN + head_len),
			.nlmsg_type = type,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
			.nlmsg_seq = d.seq}};

	if (head_len > sizeof(r.rest))
		return -EMSGSIZE;
	memcpy(r.rest, head, head_len);
	if (send(fd, &r, r.head.nlmsg_len, 0) < 0)
		return -errno;
	return rtnl_receive_all(fd, &d);
}
