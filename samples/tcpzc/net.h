/* SPDX-License-Identifier: GPL-2.0-only */
/* How sockets come about: what net.c, udp.c and sockopt.c share. */
#ifndef TCPZC_NET_H
#define TCPZC_NET_H

#include "tcpzc.h"

#include <netdb.h>

/* sockopt.c: before the connection. 0, or -errno after flow_fail. */
int sockopt_set(struct flow *f, int fd);

/* net.c: resolves the address of the command line; to be freed with freeaddrinfo. */
int net_resolve(struct flow *f, int family, struct addrinfo **res);
int net_connected(struct flow *f); /* once f->fd is the connection */
/* Waits at most until then: 1, 0 when the time is over, -errno; -EINTR: to be stopped. */
int net_wait_until(int fd, short events, uint64_t deadline_ns);
uint64_t net_deadline(double seconds);
const char *net_plural(double n); /* what follows "second" */
int net_listener(struct flow *f); /* or a bound socket, with --udp */

/* udp.c: one flow */
int udp_accept(struct flow *f); /* connects to who sends the first datagram */
void udp_linger(struct flow *f);
void udp_settle(struct flow *f); /* a receiver: learns what was sent */

#endif
