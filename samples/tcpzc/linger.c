// SPDX-License-Identifier: GPL-2.0-only
/* The end of a sender's connection: who has sent all does not yet know that all was taken. */
#include "net.h"

#include <errno.h>
#include <time.h>

enum { GONE_MS = 20000, HURRY_MS = 500 };

/*
 * The end of the data is sent; the peer closes after it has read everything. What it does instead
 * when it goes away early is a reset. Asked to stop, we do not wait long for a peer that does
 * not read: what we sent is known.
 */
static int linger_one(struct flow *f)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	uint64_t start = now_ns();
	char byte;
	ssize_t n;

	while ((n = recv(f->fd, &byte, 1, MSG_DONTWAIT))) {
		uint64_t waited_ms = (now_ns() - start) / 1000000;

		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return flow_fail(f, errno, "the receiver went away before it had read all");
		if (stop_asked() && waited_ms > HURRY_MS)
			return 0;
		if (waited_ms > GONE_MS)
			return flow_fail(f, ETIMEDOUT, "the receiver has not read everything");
		if (n < 0)
			nanosleep(&pause, NULL);
	}
	return 0;
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
			linger_one(&flows[i]);
}
