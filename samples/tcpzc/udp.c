// SPDX-License-Identifier: GPL-2.0-only
/*
 * --udp: datagrams, for controls of what counts as copied. Nothing is delivered for sure, and
 * there is no end of the stream: the sender sends empty datagrams until the receiver, which ends
 * with the first of them, has closed its socket and that is reported, or gives up soon.
 */
#include "net.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>

enum { GOODBYES = 50, PAUSE_MS = 10 };

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
		return flow_fail(f, ETIMEDOUT, "no datagram came to port %s within %g seconds",
				 o->port, o->accept_timeout);
	if (rc < 0)
		return flow_fail(f, -rc, "waiting for a datagram on port %s", o->port);
	if (recvfrom(f->fd, &byte, 1, MSG_PEEK, (struct sockaddr *)&from, &len) < 0 ||
	    connect(f->fd, (struct sockaddr *)&from, len))
		return flow_fail(f, errno, "connecting to the sender");
	return 0;
}

void udp_linger(struct flow *f)
{
	struct pollfd p = {.fd = f->fd, .events = POLLIN};
	int i;

	for (i = 0; i < GOODBYES; i++) {
		if (send(f->fd, "", 0, MSG_NOSIGNAL) < 0 && errno == ECONNREFUSED)
			return;
		poll(&p, 1, PAUSE_MS);
	}
}
