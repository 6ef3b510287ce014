// SPDX-License-Identifier: GPL-2.0-only
/*
 * io_uring's zero-copy receive: the NIC writes payload straight into our memory. One request for
 * the whole stream; each completion says where in the area its bytes lie, and that memory goes back
 * through the refill ring. Before Linux 7.x the kernel does not say which bytes it had to copy
 * there all the same (a packet on another queue, no header split): all count as `unknown`, and the
 * profile's io_zcrx_copy_chunk tells.
 */
#include "uring.h"
#include "zcrx.h"

#include "lib/refusal.h"

#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096, CQES = 4096 };

struct zcrx_rx {
	struct io_uring ring;
	struct zcrx_ring refill;
	char *area, *region;
	size_t area_size, region_size;
	uint32_t id;
	bool registered, armed;
	/* What the refill ring had no room for. */
	struct back {
		uint64_t off;
		uint32_t len;
	} * backlog;
	size_t nbacklog, cap;
};

static int zcrx_fail(struct flow *f, int code)
{
	const struct refusal *r = refusal_zcrx(code);
	unsigned int queue = f->opt->queue + f->index;

	if (f->opt->no_device)
		return flow_fail(f, code, "zcrx without a device (Linux 7.1; CAP_NET_ADMIN)");

	return flow_fail(f, code, "zcrx on %s queue %u: %s%s%s", f->opt->nic, queue, r->why,
			 r->todo ? ". Way out: " : "", r->todo ? r->todo : "");
}

static uint32_t zcrx_ring_entries(const struct flow *f)
{
	uint32_t n = 64;

	while (n < ZC_ZCRX_MAX_ENTRIES && (size_t)n * PAGE < f->opt->area)
		n *= 2;
	return n;
}

static int zcrx_get_memory(struct flow *f, struct zcrx_rx *s)
{
	s->area_size = f->opt->area & ~(size_t)(PAGE - 1);
	s->region_size = PAGE + zcrx_ring_entries(f) * sizeof(struct zc_zcrx_rqe);
	s->region_size = (s->region_size + PAGE - 1) & ~(size_t)(PAGE - 1);
	s->area = memory_get(f, s->area_size);
	s->region = memory_get(f, s->region_size);
	if (!s->area || !s->region)
		return -f->error;
	memset(s->region, 0, s->region_size);
	return 0;
}

static int zcrx_register_queue(struct flow *f, struct zcrx_rx *s)
{
	struct zc_zcrx_area_reg area = {.addr = (uintptr_t)s->area, .len = s->area_size};
	struct zc_region_desc region = {.user_addr = (uintptr_t)s->region,
					.size = s->region_size,
					.flags = ZC_IORING_MEM_REGION_TYPE_USER};
	struct zc_zcrx_ifq_reg reg = {.if_rxq = f->opt->queue + f->index,
				      .rq_entries = zcrx_ring_entries(f),
				      .area_ptr = (uintptr_t)&area,
				      .region_ptr = (uintptr_t)&region};

	if (f->opt->no_device)
		reg.flags = ZC_ZCRX_REG_NODEV;
	else
		reg.if_idx = if_nametoindex(f->opt->nic);
	if (!f->opt->no_device && !reg.if_idx)
		return zcrx_fail(f, ENODEV);
	if (syscall(SYS_io_uring_register, s->ring.ring_fd, ZC_IORING_REGISTER_ZCRX_IFQ, &reg, 1))
		return zcrx_fail(f, errno);
	s->registered = true;
	s->id = reg.zcrx_id;
	zcrx_ring_init(&s->refill, s->region, &reg, &area);
	return 0;
}

static int zcrx_open(struct flow *f)
{
	struct zcrx_rx *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return flow_fail(f, ENOMEM, "memory");
	f->state = s;
	rc = uring_open_with(f, &s->ring, 1, CQES,
			     IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
				     IORING_SETUP_CQE32);
	if (rc)
		return flow_fail(f, -rc, "io_uring with 32-byte completions (Linux 6.1; %s)",
				 memory_limits());
	return zcrx_get_memory(f, s) ? -f->error : zcrx_register_queue(f, s);
}

/* --- giving memory back --- */

static int zcrx_add_backlog(struct flow *f, struct zcrx_rx *s, uint64_t off, uint32_t len)
{
	if (s->nbacklog == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 1024;
		struct back *b = realloc(s->backlog, cap * sizeof(*b));

		if (!b)
			return flow_fail(f, ENOMEM, "memory");
		s->backlog = b;
		s->cap = cap;
	}
	s->backlog[s->nbacklog++] = (struct back){off, len};
	return 0;
}

/* Without a device nobody takes entries by himself. */
static void zcrx_flush_refill(struct flow *f, struct zcrx_rx *s)
{
	struct zc_zcrx_ctrl flush = {.zcrx_id = s->id, .op = ZC_ZCRX_CTRL_FLUSH_RQ};

	if (f->opt->no_device)
		CALL(f, IO_URING_REGISTER,
		     syscall(SYS_io_uring_register, s->ring.ring_fd, ZC_IORING_REGISTER_ZCRX_CTRL,
			     &flush, 0));
}

static void zcrx_give_back_backlog(struct flow *f, struct zcrx_rx *s)
{
	if (s->nbacklog)
		zcrx_flush_refill(f, s);
	while (s->nbacklog && zcrx_give_back(&s->refill, s->backlog[s->nbacklog - 1].off,
					     s->backlog[s->nbacklog - 1].len))
		s->nbacklog--;
}

/* --- receiving --- */

static int zcrx_take(struct flow *f, struct zcrx_rx *s, uint64_t off, uint32_t len)
{
	flow_take_unknown(f, s->area + off, len);
	flow_received(f, len);
	if (!zcrx_give_back(&s->refill, off, len) && zcrx_add_backlog(f, s, off, len))
		return -f->error;
	return STEP_ON;
}

static int zcrx_completed(struct flow *f, struct zcrx_rx *s, const struct io_uring_cqe *cqe)
{
	uint64_t off;
	uint32_t len;
	bool more;
	enum zcrx_said said = zcrx_read(cqe, s->area_size, &off, &len, &more);

	if (!more)
		s->armed = false;
	switch (said) {
	case ZCRX_DATA:
		return zcrx_take(f, s, off, len);
	case ZCRX_END:
		return STEP_END;
	case ZCRX_REARM:
		if (!more)
			f->rearmed[cqe->res == -EINTR ? REARM_INTERRUPTED : REARM_RING_FULL]++;
		return STEP_ON;
	case ZCRX_ERROR:
		return flow_fail(f, (int)len, "zcrx receive%s",
				 len == EINVAL ? ": the socket's interface is not the ring's" : "");
	case ZCRX_BEYOND:
		break;
	}
	return flow_wrong(f, "zcrx: the kernel names offset %llu, %u bytes, outside of the area",
			  (unsigned long long)off, len);
}

static int zcrx_collect(struct flow *f, struct zcrx_rx *s)
{
	struct io_uring_cqe *cqe;
	unsigned int head, n = 0;
	int rc = STEP_ON;

	io_uring_for_each_cqe(&s->ring, head, cqe)
	{
		n++;
		rc = zcrx_completed(f, s, cqe);
		if (rc <= 0)
			break;
	}
	zcrx_publish(&s->refill);
	io_uring_cq_advance(&s->ring, n);
	if (!n)
		return uring_later(f);
	flow_hist(f, HIST_COMPLETIONS, n);
	return rc;
}

static int zcrx_step(struct flow *f)
{
	struct zcrx_rx *s = f->state;

	zcrx_give_back_backlog(f, s);
	zcrx_publish(&s->refill);
	if (!s->armed) {
		zcrx_prepare(io_uring_get_sqe(&s->ring), f->fd, s->id);
		s->armed = true;
	}
	if ((io_uring_sq_ready(&s->ring) || !io_uring_cq_ready(&s->ring)) &&
	    uring_enter(f, &s->ring, 1))
		return -f->error;
	return zcrx_collect(f, s);
}

static void zcrx_close(struct flow *f)
{
	struct zcrx_rx *s = f->state;

	if (!s)
		return;
	uring_close(f, &s->ring); /* gives the queue back, and only then its memory */
	memory_put(f, s->area, s->area_size);
	memory_put(f, s->region, s->region_size);
	free(s->backlog);
	free(s);
}

const struct mode rx_zcrx = {
	.name = "zcrx",
	.what = "io_uring zero-copy receive: the NIC writes into our memory",
	.needs = "Linux 6.15, a NIC with header split and a queue API: --nic, --queue, "
		 "--print-setup",
	.flags = MODE_RING | MODE_NIC,
	.hists = 1 << HIST_COMPLETIONS,
	.asks = ASKS_ZERO_COPY,
	.options = {"nic", "queue", "area", "no-device", "print-setup"},
	.open = zcrx_open,
	.step = zcrx_step,
	.close = zcrx_close,
};
