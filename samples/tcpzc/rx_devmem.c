// SPDX-License-Identifier: GPL-2.0-only
/*
 * Devmem TCP: payload stays where the NIC put it, in a dmabuf, and each recvmsg says in control
 * messages which pieces are ours; their tokens go back in batches. A piece that the kernel had to
 * copy (no header split, another queue) comes as LINEAR, and is counted as copied. On a socket
 * whose packets do not come by the bound queue the flag does nothing and the bytes come without a
 * message: that is an error here, not a silence.
 */
#include "devmem.h"
#include "dmabuf.h"

#include <errno.h>
#include <stdlib.h>

enum { PAGE = 4096, CONTROL = ZC_DEVMEM_MAX_FRAGS * CMSG_SPACE(sizeof(struct zc_dmabuf_cmsg)) };

struct devmem_rx {
	struct dmabuf mem;
	struct devmem_tokens tokens;
	char *linear, *control;
};

static int devmem_rx_open(struct flow *f)
{
	struct devmem_rx *s = calloc(1, sizeof(*s));

	if (!s)
		return flow_fail(f, ENOMEM, "memory");
	f->state = s;
	s->linear = memory_get(f, f->size);
	s->control = memory_get(f, CONTROL);
	if (!s->linear || !s->control || dmabuf_open(f, &s->mem, f->opt->area))
		return -f->error;
	if (s->mem.size < 2 * (size_t)f->opt->dontneed_batch * PAGE)
		return flow_wrong(f,
				  "--dontneed-batch %u keeps more than half of %zu bytes from the "
				  "NIC: a larger --area, or a smaller batch",
				  f->opt->dontneed_batch, s->mem.size);
	return dmabuf_bind_rx(f, &s->mem, f->opt->queue + f->index);
}

/* Returns how many the kernel took: all, or something is wrong. */
static int devmem_give_back(struct flow *f, struct devmem_rx *s)
{
	unsigned int n = s->tokens.count;
	int rc;

	if (!n)
		return 0;
	rc = CALL(f, SETSOCKOPT,
		  setsockopt(f->fd, SOL_SOCKET, ZC_SO_DEVMEM_DONTNEED, s->tokens.range,
			     s->tokens.ranges * (socklen_t)sizeof(s->tokens.range[0])));
	if (rc < 0)
		return flow_fail(f, errno, "SO_DEVMEM_DONTNEED");
	if ((unsigned int)rc != n)
		return flow_wrong(f, "SO_DEVMEM_DONTNEED took %d of %u tokens back", rc, n);
	flow_hist(f, HIST_RETURNS, n);
	s->tokens.ranges = s->tokens.count = 0;
	return 0;
}

static int devmem_keep_token(struct flow *f, struct devmem_rx *s, uint32_t token)
{
	if (!devmem_add(&s->tokens, token) &&
	    (devmem_give_back(f, s) || !devmem_add(&s->tokens, token)))
		return f->error ? -f->error : flow_wrong(f, "devmem: a token too many");
	return 0;
}

static int devmem_take_piece(struct flow *f, struct devmem_rx *s, const struct devmem_piece *p)
{
	const char *base = p->linear ? s->linear : s->mem.map;

	if (f->opt->verify && !p->linear)
		dmabuf_look(&s->mem, true, false);
	flow_take(f, base ? base + p->offset : NULL, p->len, !p->linear);
	if (f->opt->verify && !p->linear)
		dmabuf_look(&s->mem, false, false);
	return p->linear ? 0 : devmem_keep_token(f, s, p->token);
}

/* The pieces of one receive of `n` bytes. */
static int devmem_take_pieces(struct flow *f, struct devmem_rx *s, struct msghdr *msg, size_t n)
{
	struct devmem_reader r;
	struct devmem_piece p;
	size_t all = 0, tokens = 0;
	int rc;

	devmem_read(&r, msg, s->mem.size, f->size);
	while ((rc = devmem_next(&r, &p)) > 0) {
		all += p.len;
		tokens += !p.linear;
		if (devmem_take_piece(f, s, &p))
			return -f->error;
	}
	if (rc < 0)
		return flow_wrong(f, "devmem: the kernel names bytes outside of the dmabuf");
	if (msg->msg_flags & MSG_CTRUNC)
		return flow_wrong(f, "devmem: control messages were cut off: their memory is lost");
	if (all != n)
		return flow_wrong(
			f,
			"devmem: %zu of %zu bytes came in no message: these packets do not "
			"come by the bound queue (flow steering, --print-setup)",
			n - all, n);
	flow_hist(f, HIST_TOKENS, tokens);
	flow_received(f, n);
	return STEP_ON;
}

static int devmem_rx_step(struct flow *f)
{
	struct devmem_rx *s = f->state;
	struct iovec iov = {s->linear, f->size};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = s->control,
			     .msg_controllen = CONTROL};
	ssize_t n;
	int rc;

	if (s->tokens.count >= f->opt->dontneed_batch && devmem_give_back(f, s))
		return -f->error;
	n = CALL(f, RECVMSG, recvmsg(f->fd, &msg, ZC_MSG_SOCK_DEVMEM | flow_dontwait(f)));
	if (n > 0)
		return devmem_take_pieces(f, s, &msg, (size_t)n);
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return flow_fail(f, errno, "recvmsg with MSG_SOCK_DEVMEM");
	rc = n < 0 && errno == EINTR ? STEP_ON : n < 0 ? STEP_WAIT : STEP_END;
	/* Before a pause, the NIC may need the memory. */
	return rc == STEP_WAIT && devmem_give_back(f, s) ? -f->error : rc;
}

static int devmem_rx_drain(struct flow *f)
{
	return devmem_give_back(f, f->state) ? -f->error : 0;
}

static void devmem_rx_close(struct flow *f)
{
	struct devmem_rx *s = f->state;

	if (!s)
		return;
	dmabuf_close(&s->mem);
	memory_put(f, s->linear, f->size);
	memory_put(f, s->control, CONTROL);
	free(s);
}

const struct mode rx_devmem = {
	.name = "devmem",
	.what = "devmem TCP: payload stays in a dmabuf, tokens go back",
	.needs = "Linux 6.12, a NIC with header split and a queue API: --nic, --queue, "
		 "--print-setup",
	.flags = MODE_NIC,
	.hists = 1 << HIST_TOKENS | 1 << HIST_RETURNS,
	.asks = ASKS_ZERO_COPY,
	.options = {"nic", "queue", "area", "dmabuf-fd", "dontneed-batch", "print-setup"},
	.open = devmem_rx_open,
	.step = devmem_rx_step,
	.drain = devmem_rx_drain,
	.close = devmem_rx_close,
};
