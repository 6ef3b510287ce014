// SPDX-License-Identifier: GPL-2.0-only
/*
 * io_uring's zero-copy receive: the NIC writes the payload straight into our memory. One request
 * serves the whole stream. Each completion says where in the area its bytes are, and that memory
 * goes back through the refill ring. The kernel may have to copy into the area (a packet on another
 * queue, no header split). Before Linux 7.x it does not report that, so all bytes count as
 * `unknown`. io_zcrx_copy_chunk in the profile shows the copies.
 */
#include "memory.h"
#include "uring.h"

#include "lib/zc_kernel.h"
#include "lib/zc_uapi.h"

#include <errno.h>
#include <net/if.h>

/* --- the refill ring and the completions --- */

#define AREA_MASK (~((1ULL << ZC_ZCRX_AREA_SHIFT) - 1))

enum { RECV_MULTISHOT = 1 << 1 }; /* in sqe.ioprio */

/* The refill ring. We write entries and the tail; the kernel takes entries and moves the head. */
struct zcrx_ring {
	uint32_t *head, *tail;
	struct zc_zcrx_rqe *rqes;
	uint32_t entries;    /* a power of two */
	uint32_t next;	     /* the tail that zcrx_publish writes */
	uint64_t area_token; /* upper bits of each entry's offset */
};

/* Finds the ring in its region, at the offsets that the registration returned. */
static void zcrx_ring_init(struct zcrx_ring *r, void *region, const struct zc_zcrx_ifq_reg *reg,
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

/* Gives memory of the area back. Returns false when the ring is full. */
static bool zcrx_give_back(struct zcrx_ring *r, uint64_t off, uint32_t len)
{
	struct zc_zcrx_rqe *e;

	if (r->next - __atomic_load_n(r->head, __ATOMIC_ACQUIRE) >= r->entries)
		return false;
	e = &r->rqes[r->next++ & (r->entries - 1)];
	*e = (struct zc_zcrx_rqe){.off = (off & ~AREA_MASK) | r->area_token, .len = len};
	return true;
}

/* Shows the new entries to the kernel. */
static void zcrx_publish(struct zcrx_ring *r)
{
	__atomic_store_n(r->tail, r->next, __ATOMIC_RELEASE);
}

/* Prepares the one request for everything that arrives on `fd`. */
static void zcrx_prepare(struct io_uring_sqe *sqe, int fd, uint32_t zcrx_id)
{
	*sqe = (struct io_uring_sqe){
		.opcode = ZC_IORING_OP_RECV_ZC,
		.fd = fd,
		.ioprio = RECV_MULTISHOT,
		.file_index = zcrx_id, /* zcrx_ifq_idx is another name of this field */
	};
}

/* --- the mode --- */

enum { CQES = 4096 };

struct zcrx_rx {
	struct io_uring ring;
	struct zcrx_ring refill;
	char *area;
	size_t area_size;
	uint32_t id;
	bool armed;
	uint64_t reaped_ns; /* when the current completions were found */
	unsigned int given; /* pieces of these that go back with the next tail */
	/* Memory that the refill ring had no room for. */
	struct back {
		uint64_t off, reaped_ns;
		uint32_t len;
	} * backlog;
	size_t nbacklog, cap;
};

static int zcrx_fail(struct flow *f, int code)
{
	const struct refusal *r = refusal_find(ZC_ZCRX, code);
	unsigned int queue = f->opt->queue + f->index;

	return flow_fail(f, code, "zcrx on %s queue %u: %s%s%s", f->opt->nic, queue, r->why,
			 r->todo ? ". Way out: " : "", r->todo ? r->todo : "");
}

static uint32_t zcrx_ring_entries(const struct flow *f)
{
	uint32_t n = 64;

	while (n < ZC_ZCRX_MAX_ENTRIES && n * page_size() < f->opt->area)
		n *= 2;
	return n;
}

static int zcrx_register_queue(struct flow *f, struct zcrx_rx *s)
{
	size_t page = page_size(), rqes = zcrx_ring_entries(f) * sizeof(struct zc_zcrx_rqe);
	size_t size = (page + rqes + page - 1) & ~(page - 1); /* head and tail first */
	void *refill = memory_get(f, size);
	struct zc_zcrx_area_reg area = {.addr = (uintptr_t)s->area, .len = s->area_size};
	struct zc_region_desc region = {.user_addr = (uintptr_t)refill,
					.size = size,
					.flags = ZC_IORING_MEM_REGION_TYPE_USER};
	struct zc_zcrx_ifq_reg reg = {.if_rxq = f->opt->queue + f->index,
				      .rq_entries = zcrx_ring_entries(f),
				      .area_ptr = (uintptr_t)&area,
				      .region_ptr = (uintptr_t)&region,
				      .if_idx = if_nametoindex(f->opt->nic)};

	if (!refill)
		return -f->error;
	memset(refill, 0, size);
	if (!reg.if_idx)
		return zcrx_fail(f, ENODEV);
	if (syscall(SYS_io_uring_register, s->ring.ring_fd, ZC_IORING_REGISTER_ZCRX_IFQ, &reg, 1))
		return zcrx_fail(f, errno);
	s->id = reg.zcrx_id;
	zcrx_ring_init(&s->refill, refill, &reg, &area);
	return 0;
}

static int zcrx_open(struct flow *f)
{
	struct zcrx_rx *s = f->state;

	if (uring_open(f, &s->ring, 1, CQES,
		       IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
			       IORING_SETUP_CQE32))
		return -f->error;
	s->area_size = f->opt->area & ~(page_size() - 1);
	s->area = memory_get(f, s->area_size);
	return s->area ? zcrx_register_queue(f, s) : -f->error;
}

static void zcrx_give_back_backlog(struct flow *f, struct zcrx_rx *s)
{
	uint64_t now = s->nbacklog ? clock_mono_ns() : 0;
	const struct back *b;

	while (s->nbacklog) {
		b = &s->backlog[s->nbacklog - 1];
		if (!zcrx_give_back(&s->refill, b->off, b->len))
			return;
		flow_hist(f, HIST_RETURN_NS, now - b->reaped_ns);
		s->nbacklog--;
	}
}

/* Publishes the entries, and counts how long their pieces were ours. */
static void zcrx_return(struct flow *f, struct zcrx_rx *s)
{
	uint32_t shown = *s->refill.tail;
	uint64_t now;

	f->refill_empty += s->refill.next != shown &&
			   __atomic_load_n(s->refill.head, __ATOMIC_ACQUIRE) == shown;
	zcrx_publish(&s->refill);
	for (now = s->given ? clock_mono_ns() : 0; s->given; s->given--)
		flow_hist(f, HIST_RETURN_NS, now - s->reaped_ns);
}

static int zcrx_take(struct flow *f, struct zcrx_rx *s, uint64_t off, uint32_t len)
{
	flow_take(f, s->area + off, len, &f->unknown_bytes);
	flow_received(f, len);
	if (zcrx_give_back(&s->refill, off, len))
		s->given++;
	else
		array_add(s->backlog, s->nbacklog, s->cap, (struct back){off, s->reaped_ns, len});
	return STEP_ON;
}

/* Handles a completion of a ring with CQE32. */
static int zcrx_completed(struct flow *f, const struct io_uring_cqe *cqe)
{
	struct zcrx_rx *s = f->state;
	uint64_t off = ((const struct zc_zcrx_cqe *)(cqe + 1))->off & ~AREA_MASK;
	bool more = cqe->flags & IORING_CQE_F_MORE;

	if (!more)
		s->armed = false;
	/* The request has ended before the stream: the ring was full, or a signal came. */
	if (cqe->res == -ENOSPC || cqe->res == -EINTR || (!cqe->res && more)) {
		if (!more)
			f->rearmed[cqe->res == -EINTR ? REARM_INTERRUPTED : REARM_RING_FULL]++;
		return STEP_ON;
	}
	if (cqe->res < 0)
		return flow_fail(f, -cqe->res, "zcrx receive%s",
				 cqe->res == -EINVAL ? ": the socket's interface is not the ring's"
						     : "");
	if (!cqe->res)
		return STEP_END;
	if (off > s->area_size || (size_t)cqe->res > s->area_size - off)
		return flow_wrong(
			f, "zcrx: the kernel reports %d bytes at offset %llu, outside of the area",
			cqe->res, (unsigned long long)off);
	return zcrx_take(f, s, off, (uint32_t)cqe->res);
}

static int zcrx_collect(struct flow *f, struct zcrx_rx *s)
{
	int rc;

	s->reaped_ns = clock_mono_ns();
	rc = uring_collect(f, &s->ring, zcrx_completed);
	zcrx_return(f, s);
	return rc;
}

static int zcrx_step(struct flow *f)
{
	struct zcrx_rx *s = f->state;

	zcrx_give_back_backlog(f, s);
	zcrx_return(f, s);
	if (!s->armed) {
		zcrx_prepare(io_uring_get_sqe(&s->ring), f->fd, s->id);
		s->armed = true;
	}
	if (uring_await(f, &s->ring))
		return -f->error;
	return zcrx_collect(f, s);
}

static void zcrx_close(struct flow *f)
{
	struct zcrx_rx *s = f->state;

	uring_close(f); /* gives the queue back before its memory is freed */
	free(s->backlog);
}

const struct mode rx_zcrx = {
	.name = "zcrx",
	.what = "io_uring zero-copy receive: the NIC writes into our memory",
	.needs = "Linux 6.15, a NIC with header split and a queue API: --nic, --queue",
	.flags = MODE_RING | MODE_NIC,
	.hists = 1 << HIST_COMPLETIONS | 1 << HIST_RETURN_NS,
	.asks = ASKS_ZERO_COPY,
	.state_size = sizeof(struct zcrx_rx),
	.open = zcrx_open,
	.step = zcrx_step,
	.close = zcrx_close,
};
