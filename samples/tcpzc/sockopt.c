// SPDX-License-Identifier: GPL-2.0-only
/*
 * What sockets are set to before they are connected: buffers decide on the window's scale, the
 * segment size is agreed then, and what a listening socket is set to its connections inherit.
 */
#include "net.h"
#include "lib/zc_uapi.h"

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>

enum { KEEP_COUNT = 4 };

static int sockopt_set_int(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value));
}

/* Beyond net.core.[rw]mem_max where we may. */
static int sockopt_set_buffer(struct flow *f, int fd, int force, int plain, const char *what,
			      size_t size)
{
	int value = size > INT_MAX / 2 ? INT_MAX / 2 : (int)size;

	if (!size || !sockopt_set_int(fd, SOL_SOCKET, force, value) ||
	    !sockopt_set_int(fd, SOL_SOCKET, plain, value))
		return 0;
	return flow_fail(f, errno, "--%s %zu", what, size);
}

/* THE TABLE of those that are one number out of an option, set when it is not 0. */
static const struct {
	const char *option, *needs;
	int level, name;
	size_t at; /* unsigned int in struct options */
} numbers[] = {
	{"rcvlowat", "", SOL_SOCKET, SO_RCVLOWAT, offsetof(struct options, rcvlowat)},
	{"mss", " (the kernel takes 88 to 32767)", IPPROTO_TCP, TCP_MAXSEG,
	 offsetof(struct options, mss)},
	{"busy-poll", " (CONFIG_NET_RX_BUSY_POLL; CAP_NET_ADMIN for more than net.core.busy_read)",
	 SOL_SOCKET, ZC_SO_BUSY_POLL, offsetof(struct options, busy_poll)},
	{"busy-poll-budget", " (Linux 5.11; CAP_NET_ADMIN)", SOL_SOCKET, ZC_SO_BUSY_POLL_BUDGET,
	 offsetof(struct options, busy_poll_budget)},
	{"prefer-busy-poll", " (Linux 5.11; CAP_NET_ADMIN)", SOL_SOCKET, ZC_SO_PREFER_BUSY_POLL,
	 offsetof(struct options, prefer_busy_poll)},
};

static int sockopt_set_numbers(struct flow *f, int fd)
{
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		unsigned int v = *(const unsigned int *)((const char *)f->opt + numbers[i].at);

		if (v && sockopt_set_int(fd, numbers[i].level, numbers[i].name, (int)v))
			return flow_fail(f, errno, "--%s%s", numbers[i].option, numbers[i].needs);
	}
	return 0;
}

/* 64 bits wide from Linux 4.20 on; before that, 32. */
static int sockopt_set_pacing(struct flow *f, int fd)
{
	uint64_t rate = (uint64_t)f->opt->pacing_rate;
	uint32_t narrow = (uint32_t)rate;

	if (!rate || !setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate)))
		return 0;
	if (rate == narrow &&
	    !setsockopt(fd, SOL_SOCKET, SO_MAX_PACING_RATE, &narrow, sizeof(narrow)))
		return 0;
	return flow_fail(f, errno, "--pacing-rate");
}

/*
 * A peer that vanishes without a word is noticed by data that nobody acknowledges, and where none
 * is sent by probes.
 */
static void sockopt_set_tcp(struct flow *f, int fd)
{
	int seconds = (int)(f->opt->peer_timeout / KEEP_COUNT) + 1;

	sockopt_set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	sockopt_set_int(fd, IPPROTO_TCP, TCP_KEEPIDLE, seconds);
	sockopt_set_int(fd, IPPROTO_TCP, TCP_KEEPINTVL, seconds);
	sockopt_set_int(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEP_COUNT);
	sockopt_set_int(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, (int)(f->opt->peer_timeout * 1000));
	if (f->opt->rr) /* a request must not wait for the acknowledgement of the one before */
		sockopt_set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
}

int sockopt_set(struct flow *f, int fd)
{
	const struct options *o = f->opt;

	if (!o->udp)
		sockopt_set_tcp(f, fd);
	if (sockopt_set_buffer(f, fd, SO_SNDBUFFORCE, SO_SNDBUF, "sndbuf", o->sndbuf) ||
	    sockopt_set_buffer(f, fd, SO_RCVBUFFORCE, SO_RCVBUF, "rcvbuf", o->rcvbuf) ||
	    sockopt_set_numbers(f, fd) || sockopt_set_pacing(f, fd))
		return -f->error;
	return 0;
}
