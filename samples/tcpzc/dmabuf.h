/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory that a NIC can be given by a descriptor: a dmabuf, of ours (udmabuf) or of someone else.
 */
#ifndef TCPZC_DMABUF_H
#define TCPZC_DMABUF_H

#include "lib/genl.h"
#include "tcpzc.h"

struct dmabuf {
	int fd, memory; /* the dmabuf; the memfd that it is made of, -1: not ours */
	char *map;	/* NULL: it cannot be looked at from here */
	size_t size;
	struct genl netdev; /* a binding lasts as long as its socket */
	uint32_t id;	    /* of the binding */
};

/* --dmabuf-fd's, or one of `size` bytes out of /dev/udmabuf. 0 or -errno after flow_fail. */
int dmabuf_open(struct flow *f, struct dmabuf *d, size_t size);
/* To receive queue `queue` of the interface. 0, or -errno after flow_fail with the reason. */
int dmabuf_bind_rx(struct flow *f, struct dmabuf *d, unsigned int queue);
/* To the interface, for sending. */
int dmabuf_bind_tx(struct flow *f, struct dmabuf *d);
/* Around looking at, or filling, what the device shares. */
void dmabuf_look(const struct dmabuf *d, bool begin, bool write);
void dmabuf_close(struct dmabuf *d); /* also of one, all zeroes, that was never opened */

#endif
