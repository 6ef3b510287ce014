// SPDX-License-Identifier: GPL-2.0-only
#include "zcrx.h"

#include <errno.h>
#include <string.h>

#define AREA_MASK (~((1ULL << ZC_ZCRX_AREA_SHIFT) - 1))

enum { RECV_MULTISHOT = 1 << 1 }; /* in sqe.ioprio */

void zcrx_ring_init(struct zcrx_ring *r, void *region, const struct zc_zcrx_ifq_reg *reg,
		    const struct zc_zcrx_area_reg *area)
{
	char *base = region;

	*r = (struct zcrx_ring){
		.head = (uint32_t *)(base + reg->offsets.head),
		.tail = (uint32_t *)(base + reg->offsets.tail),
		.rqes = (struct zc_zcrx_rqe *)(base + reg->offsets.rqes),
		.entries = reg->rq_entries,
		.area_token = area->rq_area_token,
	};
	r->next = *r->tail;
}

bool zcrx_give_back(struct zcrx_ring *r, uint64_t off, uint32_t len)
{
	struct zc_zcrx_rqe *e;

	if (r->next - __atomic_load_n(r->head, __ATOMIC_ACQUIRE) >= r->entries)
		return false;
	e = &r->rqes[r->next++ & (r->entries - 1)];
	*e = (struct zc_zcrx_rqe){.off = (off & ~AREA_MASK) | r->area_token, .len = len};
	return true;
}

void zcrx_publish(struct zcrx_ring *r)
{
	__atomic_store_n(r->tail, r->next, __ATOMIC_RELEASE);
}

enum zcrx_said zcrx_read(const struct io_uring_cqe *cqe, size_t area_size, uint64_t *off,
			 uint32_t *len, bool *more)
{
	const struct zc_zcrx_cqe *rest = (const struct zc_zcrx_cqe *)(cqe + 1);

	*off = 0;
	*len = 0;
	*more = cqe->flags & IORING_CQE_F_MORE;
	if (cqe->res == -ENOSPC || cqe->res == -EINTR)
		return ZCRX_REARM;
	if (cqe->res < 0) {
		*len = (uint32_t)-cqe->res;
		return ZCRX_ERROR;
	}
	if (!cqe->res)
		return *more ? ZCRX_REARM : ZCRX_END;
	*off = rest->off & ~AREA_MASK;
	*len = (uint32_t)cqe->res;
	return *off <= area_size && *len <= area_size - *off ? ZCRX_DATA : ZCRX_BEYOND;
}

void zcrx_prepare(struct io_uring_sqe *sqe, int fd, uint32_t zcrx_id)
{
	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = ZC_IORING_OP_RECV_ZC;
	sqe->fd = fd;
	sqe->ioprio = RECV_MULTISHOT;
	sqe->file_index = zcrx_id; /* zcrx_ifq_idx, at the same place */
}
