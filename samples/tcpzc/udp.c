// SPDX-License-Identifier: GPL-2.0-only
/*
 * --udp: datagrams, for control runs that check what counts as copied. A datagram may be lost, and
 * the stream has no end. So the sender ends it with empty datagrams, and the receiver stops at the
 * first of them. The sender repeats them until the closed socket of the receiver is reported, or
 * until it gives up after half a second. Meanwhile each end reports its number of bytes to the
 * other, which shows how many were lost.
 */
#include "net.h"

#include <errno.h>
#include <netinet/in.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>

#define FORMAT "tcpzc 1 bytes %" SCNu64 "\n"

enum { GOODBYES = 50, PAUSE_MS = 10, SETTLE_MS = 200, LINE = 64 };

int udp_accept(struct flow *f)
{
	const struct options *o = f->opt;
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	char byte;
	int rc;

	f->fd = net_listener(f);
	if (f->fd < 0)
		return f->fd;
	rc = net_wait_until(f->fd, POLLIN, net_deadline(o->accept_timeout));
	if (!rc)
		return flow_fail(f, ETIMEDOUT, "no datagram came to port %s within %g second%s",
				 o->port, o->accept_timeout, net_plural(o->accept_timeout));
	if (rc == -EINTR)
		return flow_wrong(f, "stopped while waiting for a datagram on port %s", o->port);
	if (rc < 0)
		return flow_fail(f, -rc, "waiting for a datagram on port %s", o->port);
	if (recvfrom(f->fd, &byte, 1, MSG_PEEK, (struct sockaddr *)&from, &len) < 0 ||
	    connect(f->fd, (struct sockaddr *)&from, len))
		return flow_fail(f, errno, "connecting to the sender");
	return 0;
}

static void udp_send_bytes(const struct flow *f)
{
	char line[LINE];
	int n = snprintf(line, sizeof(line), FORMAT, f->bytes);

	(void)!send(f->fd, line, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Reads one datagram if one has come. */
static void udp_receive_bytes(struct flow *f)
{
	char line[LINE + 1];
	ssize_t n = recv(f->fd, line, LINE, MSG_DONTWAIT);

	if (n <= 0)
		return;
	line[n] = '\0';
	if (sscanf(line, FORMAT, &f->peer_bytes) == 1)
		f->peer_told = true;
}

void udp_settle(struct flow *f)
{
	struct pollfd p = {.fd = f->fd, .events = POLLIN};
	uint64_t until = clock_mono_ns() + SETTLE_MS * 1000000ull;

	while (!f->peer_told && clock_mono_ns() < until) {
		udp_send_bytes(f);
		if (poll(&p, 1, PAUSE_MS) > 0)
			udp_receive_bytes(f);
	}
}

void udp_linger(struct flow *f)
{
	struct pollfd p = {.fd = f->fd, .events = POLLIN};
	int i;

	for (i = 0; i < GOODBYES; i++) {
		if (send(f->fd, "", 0, MSG_NOSIGNAL) < 0 && errno == ECONNREFUSED)
			return;
		if (poll(&p, 1, PAUSE_MS) <= 0)
			continue;
		udp_receive_bytes(f);
		if (f->peer_told)
			udp_send_bytes(f);
	}
}
