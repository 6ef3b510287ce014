/* SPDX-License-Identifier: GPL-2.0-only */
/* Sockets: what net.c, udp.c and sockopt.c share. */
#ifndef TCPZC_NET_H
#define TCPZC_NET_H

#include "tcpzc.h"

#include <jansson.h>
#include <netdb.h>

/* net.c: fills the fd of each flow, in order. */
int net_connect(struct flow *flows, unsigned int n);
int net_accept(struct flow *flows, unsigned int n);
/* Makes a sender wait until its peers have read everything. */
void net_linger(struct flow *flows, unsigned int n);
/* Resolves the address on the command line. Free the result with freeaddrinfo. */
int net_resolve(struct flow *f, int family, struct addrinfo **res);
int net_connected(struct flow *f); /* call it once f->fd is the connection */
/* Returns 1 when an event came, 0 at the deadline, or -errno (-EINTR: the run is to stop). */
int net_wait_until(int fd, short events, uint64_t deadline_ns);
uint64_t net_deadline(double seconds);
const char *net_plural(double n); /* the ending of "second" */
int net_listener(struct flow *f); /* a listening socket; with --udp a bound one */

/* sockopt.c: sets the options of a socket before it is connected. Returns 0 or -errno. */
int sockopt_set(struct flow *f, int fd);
/* Sums TCP_INFO over the flows with an open socket, or null when there are none. */
json_t *sockopt_tcp_info(const struct flow *flows, unsigned int n);
/* Reports --busy-poll and the number of flows whose device queue can be polled. */
json_t *sockopt_busy_poll(const struct flow *flows, unsigned int n);

/* udp.c: there is one flow. */
int udp_accept(struct flow *f); /* connects to the sender of the first datagram */
void udp_linger(struct flow *f);
void udp_settle(struct flow *f); /* makes a receiver learn how much was sent */

#endif
