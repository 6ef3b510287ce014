// SPDX-License-Identifier: GPL-2.0-only
/*
 * getsockopt(TCP_ZEROCOPY_RECEIVE): the kernel maps the pages of the receive queue into a window of
 * our memory and does not copy them. It can map only whole pages that fill their fragment. So
 * packets must carry whole pages (an MSS that is a multiple of the page size), and the sender's
 * memory must be of a kind that the kernel shares. The same call copies the rest into a small
 * buffer, and recv(2) copies what does not fit there. Both count as copied.
 *
 * Each call replaces the previous mapping, so there is no munmap per receive. A call has fixed
 * costs (the lock of the address space, the TLB), which many pages should share. So one call maps a
 * whole window, and SO_RCVLOWAT makes poll wait until half a window has arrived.
 */
#include "memory.h"
#include "lib/zc_uapi.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/mman.h>

struct mmap_rx {
	char *window; /* a mapping of the socket */
	char *copy;   /* for data that cannot be mapped */
	int error;    /* errno of the connection; 0: none */
	bool idle;    /* the previous step got nothing */
};

enum {
	WINDOW = 2 << 20, /* what one call maps at most */
	COPY_SIZE = 64 << 10,
};

static int mmap_open(struct flow *f)
{
	struct mmap_rx *s = f->state;

	s->copy = memory_get(f, COPY_SIZE);
	return s->copy ? 0 : -f->error;
}

static int mmap_attach(struct flow *f)
{
	struct mmap_rx *s = f->state;
	int low = f->opt->rr ? 1 : WINDOW / 2;
	void *p = CALL(f, MMAP, mmap(NULL, WINDOW, PROT_READ, MAP_SHARED, f->fd, 0));

	if (p == MAP_FAILED)
		return flow_fail(
			f, errno,
			"cannot map the socket (Linux 4.18 or later, CONFIG_MMU, IPv4 or IPv6 TCP)");
	s->window = p;
	/* Each page is read once: unmapping need not mark pages as recently used. */
	CALL(f, MADVISE, madvise(p, WINDOW, MADV_SEQUENTIAL));
	if (CALL(f, SETSOCKOPT, setsockopt(f->fd, SOL_SOCKET, SO_RCVLOWAT, &low, sizeof(low))))
		return flow_fail(f, errno, "SO_RCVLOWAT");
	return 0;
}

/* Reads what blocks further mapping. Returns 1, or 0 at the end of the stream. */
static int mmap_copy_rest(struct flow *f, struct mmap_rx *s, size_t rest, enum unmapped why,
			  size_t *got)
{
	do {
		size_t want = rest < COPY_SIZE ? rest : COPY_SIZE;
		ssize_t n = CALL(f, RECVFROM, recv(f->fd, s->copy, want, MSG_DONTWAIT));

		if (n < 0)
			return errno == EINTR || errno == EAGAIN ? 1 : flow_fail(f, errno, "recv");
		if (!n)
			return 0;
		flow_take(f, s->copy, (size_t)n, &f->copied_bytes);
		f->unmapped[why] += (uint64_t)n;
		*got += (size_t)n;
		rest -= (size_t)n;
	} while (rest);
	return 1;
}

static int mmap_map_window(struct flow *f, struct mmap_rx *s, struct tcp_zerocopy_receive *zc)
{
	socklen_t len = sizeof(*zc);

	*zc = (struct tcp_zerocopy_receive){
		.address = (uintptr_t)s->window,
		.length = WINDOW,
		.copybuf_address = (uintptr_t)s->copy,
		/* The call copies a queue of less than a page. */
		.copybuf_len = (int32_t)page_size() - 1,
	};
	if (CALL(f, GETSOCKOPT, getsockopt(f->fd, IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE, zc, &len))) {
		/* EIO: the end of the stream or an error. recv then tells which. */
		if (errno != EIO && errno != EINTR)
			return flow_fail(f, errno, "TCP_ZEROCOPY_RECEIVE");
		*zc = (struct tcp_zerocopy_receive){.recv_skip_hint = 1};
	}
	/* The kernel reports the connection's error once. Earlier data is still to be read. */
	if (zc->err)
		s->error = -zc->err;
	return 0;
}

/*
 * Returns why the kernel did not map what stands next in the queue: the bytes that it copied and
 * those that it asks us to read. It copies a queue of less than a page without a look at it.
 */
static enum unmapped mmap_unmapped(const struct tcp_zerocopy_receive *zc)
{
	uint64_t gap = zc->recv_skip_hint + (uint64_t)(zc->copybuf_len > 0 ? zc->copybuf_len : 0);

	return gap >= page_size()		  ? UNMAPPED_FRAGMENT
	       : zc->length || zc->recv_skip_hint ? UNMAPPED_REMAINDER
						  : UNMAPPED_SHORT;
}

static int mmap_step(struct flow *f)
{
	struct tcp_zerocopy_receive zc;
	struct mmap_rx *s = f->state;
	enum unmapped why;
	size_t got;
	int rc = STEP_ON;

	if (mmap_map_window(f, s, &zc))
		return -f->error;
	why = mmap_unmapped(&zc);
	got = zc.length;
	if (zc.length) {
		flow_hist(f, HIST_FRAGS, zc.length / page_size());
		flow_take(f, s->window, zc.length, &f->mapped_bytes);
	}
	if (zc.copybuf_len > 0) {
		flow_take(f, s->copy, (size_t)zc.copybuf_len, &f->copied_bytes);
		f->unmapped[why] += (uint64_t)zc.copybuf_len;
		got += (size_t)zc.copybuf_len;
	}
	/* poll woke us, but nothing can be mapped: recv finds out why. */
	if (zc.recv_skip_hint || (!got && s->idle))
		rc = mmap_copy_rest(f, s, zc.recv_skip_hint ?: 1, why, &got);
	s->idle = !got;
	if (got)
		flow_received(f, got);
	else if (rc > 0)
		rc = STEP_WAIT;
	return rc == STEP_END && s->error ? flow_fail(f, s->error, "recv") : rc;
}

static void mmap_close(struct flow *f)
{
	struct mmap_rx *s = f->state;

	if (s->window)
		munmap(s->window, WINDOW);
}

const struct mode rx_mmap = {
	.name = "mmap",
	.what = "getsockopt(TCP_ZEROCOPY_RECEIVE): whole pages are mapped, the rest is copied",
	.needs = "Linux 4.18, TCP, packets of whole pages",
	.flags = MODE_MAPS,
	.hists = 1 << HIST_FRAGS,
	.asks = ASKS_ZERO_COPY,
	.state_size = sizeof(struct mmap_rx),
	.open = mmap_open,
	.attach = mmap_attach,
	.step = mmap_step,
	.close = mmap_close,
};
