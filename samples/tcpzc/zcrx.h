/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The refill ring of io_uring's zero-copy receive, and what a completion says. Memory only: the
 * same code runs on a ring of the kernel's and on a made-up one.
 */
#ifndef TCPZC_ZCRX_H
#define TCPZC_ZCRX_H

#include "lib/zc_uapi.h"

#include <liburing.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* We write entries and the tail, the kernel takes them and moves the head. */
struct zcrx_ring {
	uint32_t *head, *tail;
	struct zc_zcrx_rqe *rqes;
	uint32_t entries;    /* a power of two */
	uint32_t next;	     /* the tail that zcrx_publish makes known */
	uint64_t area_token; /* upper bits of each entry's offset */
};

/* Lays the ring over its region, at the offsets that the registration gave. */
void zcrx_ring_init(struct zcrx_ring *r, void *region, const struct zc_zcrx_ifq_reg *reg,
		    const struct zc_zcrx_area_reg *area);
/* Memory at `off` of the area goes back. false: the ring is full, the kernel must take some first.
 */
bool zcrx_give_back(struct zcrx_ring *r, uint64_t off, uint32_t len);
void zcrx_publish(struct zcrx_ring *r);

enum zcrx_said {
	ZCRX_DATA,   /* *off, *len: where in the area */
	ZCRX_END,    /* of the stream */
	ZCRX_REARM,  /* the request is over, the stream is not: the ring was full, or a signal */
	ZCRX_ERROR,  /* errno in *len */
	ZCRX_BEYOND, /* an offset that is not in the area: not to be touched */
};

/* What a completion of a ring with CQE32 says; *more: the request goes on. */
enum zcrx_said zcrx_read(const struct io_uring_cqe *cqe, size_t area_size, uint64_t *off,
			 uint32_t *len, bool *more);

/* The request: everything that comes on `fd`, until it ends. */
void zcrx_prepare(struct io_uring_sqe *sqe, int fd, uint32_t zcrx_id);

#endif
