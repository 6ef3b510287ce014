/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What must be given at both ends, compared: --flows, --rr with its sizes, --verify, --udp. In the
 * stream there is no room for it (a NIC may put all of that where no plain recv(2) finds it), so
 * that a sender says it in one datagram to the port it has connected to, and the receiver answers
 * likewise in the end. Where no datagram comes through, or the peer is another program, nothing is
 * compared.
 */
#ifndef TCPZC_TERMS_H
#define TCPZC_TERMS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

struct run;

struct terms {
	unsigned int flows, rr, verify, udp;
	unsigned int port; /* the sender's, of its first connection */
	size_t size, response;
};

/* Of a run; all zeroes but fd = -1 at first. */
struct peer_terms {
	int fd;
	bool told; /* `its` are there */
	struct terms its;
	union {
		struct sockaddr any;
		struct sockaddr_in6 v6; /* the largest */
	} from;
	socklen_t from_len;
};

void terms_listen(struct run *r, int listener); /* a receiver, beside its listening socket */
void terms_tell(struct run *r, int fd);		/* a sender, to the peer of its first connection */
/* Takes what came, if anything has; true when it is not what we have. Makes one call at most. */
bool terms_differ(struct run *r);
/* A receiver with all its connections: waits a moment for a sender that neither tells nor sends. */
bool terms_await(struct run *r);
/* terms_differ among the data: its call is counted. */
bool terms_differ_counted(struct run *r);
/* In the end: a difference is the error, whatever else went wrong by it. The peer is told ours. */
void terms_judge(struct run *r);
/* What a sender knows of --verify once that is done: "peer", who compares; "unknown" of others. */
const char *terms_verify(const struct run *r);
void terms_close(struct run *r);

#endif
