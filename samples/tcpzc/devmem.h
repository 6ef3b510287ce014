/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Devmem TCP: what a receive's control messages say, and tokens on their way back. Memory only: the
 * same code reads what the kernel wrote and what a test made up.
 */
#ifndef TCPZC_DEVMEM_H
#define TCPZC_DEVMEM_H

#include "lib/zc_uapi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* A piece of what was received, in the stream's order. */
struct devmem_piece {
	bool linear;	 /* copied into the iovec; else in the dmabuf, at `offset` */
	uint64_t offset; /* linear: of the iovec */
	uint32_t len, token;
};

struct devmem_reader {
	struct msghdr *msg;
	struct cmsghdr *next;
	uint64_t linear; /* bytes of the iovec taken so far */
	size_t area_size, iov_size;
};

void devmem_read(struct devmem_reader *r, struct msghdr *msg, size_t area_size, size_t iov_size);
/* 1 and the next piece; 0 at the end; -EPROTO: a piece outside of its memory. Other messages are
 * passed over. */
int devmem_next(struct devmem_reader *r, struct devmem_piece *p);

/* Ranges of tokens to give back: neighbours are one. */
struct devmem_tokens {
	struct zc_dmabuf_token range[ZC_DEVMEM_MAX_TOKENS];
	unsigned int ranges, count;
};

/* false: there is no room; give back what there is first. */
bool devmem_add(struct devmem_tokens *t, uint32_t token);

#endif
