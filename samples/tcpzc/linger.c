// SPDX-License-Identifier: GPL-2.0-only
/* The end of a sender's connection: who has sent all does not yet know that all was taken. */
#include "net.h"

#include <errno.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <time.h>

enum { HURRY_MS = 500 };

/* The peer has closed its half, or has sent something; 0: neither, -errno: it is gone. */
static int linger_peer_closed(int fd)
{
	int code = 0;
	socklen_t len = sizeof(code);
	char byte;
	ssize_t n = recv(fd, &byte, 1, MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (!n && !getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &len) && code)
		return -code;
	return n == 0;
}

static bool linger_all_acknowledged(int fd)
{
	int left = 0;

	return ioctl(fd, SIOCOUTQ, &left) || !left;
}

/*
 * The end of the data is sent; the peer closes after it has read everything. What it does instead
 * when it goes away early is a reset. One that closes its half before that has not read it all
 * before everything is acknowledged. Asked to stop, we do not wait long for a peer that does
 * not read: what we sent is known.
 */
static int linger_flow(struct flow *f)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	const uint64_t gone_ms = (uint64_t)(f->opt->peer_timeout * 1000);
	uint64_t start = now_ns();

	for (;;) {
		int closed = linger_peer_closed(f->fd);
		uint64_t waited_ms = (now_ns() - start) / 1000000;

		if (closed < 0)
			return flow_fail(f, -closed,
					 "the receiver went away before it had read all");
		if (closed && linger_all_acknowledged(f->fd))
			return 0;
		if (stop_asked() && waited_ms > HURRY_MS)
			return 0;
		if (waited_ms > gone_ms)
			return flow_fail(f, ETIMEDOUT, "the receiver has not read everything");
		nanosleep(&pause, NULL);
	}
}

void net_linger(struct flow *flows, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (!flows[i].error && !flows[i].opt->udp)
			shutdown(flows[i].fd, SHUT_WR);
	for (i = 0; i < n; i++)
		if (flows[i].error)
			continue;
		else if (flows[i].opt->udp)
			udp_linger(&flows[i]);
		else
			linger_flow(&flows[i]);
}
