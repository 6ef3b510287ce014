/* SPDX-License-Identifier: GPL-2.0-only */
/* A dmabuf: memory that a NIC gets by a descriptor. We make it (udmabuf) or inherit it. */
#ifndef TCPZC_DMABUF_H
#define TCPZC_DMABUF_H

#include "lib/genl.h"
#include "tcpzc.h"

struct dmabuf {
	int fd, memory; /* the dmabuf and the memfd behind it; memory is -1 when it is inherited */
	char *map;	/* NULL: this process cannot map it */
	size_t size;
	struct genl netdev; /* a binding lasts as long as its socket */
	uint32_t id;	    /* the number of the binding */
};

/* Takes --dmabuf-fd, or makes a udmabuf of `size` bytes. Returns 0, or -errno after flow_fail. */
int dmabuf_open(struct flow *f, struct dmabuf *d, size_t size);
/* Binds it to a receive queue of --nic. Returns 0, or -errno after flow_fail. */
int dmabuf_bind_rx(struct flow *f, struct dmabuf *d, unsigned int queue);
/* Binds it to --nic for sending. Returns 0, or -errno after flow_fail. */
int dmabuf_bind_tx(struct flow *f, struct dmabuf *d);
/* Begins or ends reading, or writing, memory that the device shares. */
void dmabuf_sync(const struct dmabuf *d, bool begin, bool write);
void dmabuf_close(struct dmabuf *d); /* accepts one that is all zeroes */

#endif
