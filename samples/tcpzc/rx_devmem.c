// SPDX-License-Identifier: GPL-2.0-only
/*
 * Devmem TCP: the payload stays in the dmabuf where the NIC put it. Each recvmsg says in control
 * messages which pieces of the dmabuf are ours, and we give their tokens back in batches. A piece
 * that the kernel had to copy (no header split, another queue) comes as LINEAR and counts as
 * copied. When the packets of a socket do not come through the bound queue, the flag does nothing
 * and the bytes come without a message. This mode makes an error of that.
 */
#include "memory.h"

#include "lib/zc_uapi.h"

#include <errno.h>

/* Ranges of tokens to give back. Neighbours share a range. */
struct devmem_tokens {
	struct zc_dmabuf_token range[ZC_DEVMEM_MAX_TOKENS];
	unsigned int ranges, count;
};

static bool devmem_is_piece(const struct cmsghdr *c)
{
	return c->cmsg_level == SOL_SOCKET &&
	       (c->cmsg_type == ZC_SO_DEVMEM_DMABUF || c->cmsg_type == ZC_SO_DEVMEM_LINEAR) &&
	       c->cmsg_len >= CMSG_LEN(sizeof(struct zc_dmabuf_cmsg));
}

/* Returns false when there is no room before some tokens are given back. */
static bool devmem_add(struct devmem_tokens *t, uint32_t token)
{
	struct zc_dmabuf_token *last = t->ranges ? &t->range[t->ranges - 1] : NULL;

	if (t->count == ZC_DEVMEM_MAX_FRAGS)
		return false;
	if (last && token == last->token_start + last->token_count) {
		last->token_count++;
	} else {
		if (t->ranges == ZC_DEVMEM_MAX_TOKENS)
			return false;
		t->range[t->ranges++] =
			(struct zc_dmabuf_token){.token_start = token, .token_count = 1};
	}
	t->count++;
	return true;
}

enum {
	DONTNEED_BATCH = 512 /* tokens */,
	CONTROL = ZC_DEVMEM_MAX_FRAGS * CMSG_SPACE(sizeof(struct zc_dmabuf_cmsg))
};

struct devmem_rx {
	struct dmabuf mem;
	struct devmem_tokens tokens;
	uint64_t received_ns, taken_ns[ZC_DEVMEM_MAX_FRAGS]; /* the last receive; by token */
	char *linear, *control;
};

static int devmem_rx_open(struct flow *f)
{
	struct devmem_rx *s = f->state;

	s->linear = memory_get(f, f->size);
	s->control = memory_get(f, CONTROL);
	if (!s->linear || !s->control || dmabuf_open(f, &s->mem, f->opt->area))
		return -f->error;
	if (s->mem.size < 2 * DONTNEED_BATCH * page_size())
		return flow_wrong(
			f,
			"devmem: %zu bytes are too few for a NIC that waits for %d pages: take a larger --area",
			s->mem.size, DONTNEED_BATCH);
	return dmabuf_bind(f, &s->mem);
}

/* Gives all tokens back. It is an error when the kernel does not take all of them. */
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
	for (uint64_t now = clock_mono_ns(); n--;)
		flow_hist(f, HIST_RETURN_NS, now - s->taken_ns[n]);
	s->tokens.ranges = s->tokens.count = 0;
	return 0;
}

/* Takes a piece of the received data: of the dmabuf, or when `linear`, of the iovec. */
static int devmem_take_piece(struct flow *f, struct devmem_rx *s, const struct zc_dmabuf_cmsg *d,
			     bool linear)
{
	const char *base = linear ? s->linear : s->mem.map;
	const char *data = base ? base + d->frag_offset : NULL;
	bool sync = f->opt->verify && !linear;

	if (sync && s->mem.gpu) {
		data = cuda_read(f, s->mem.gpu, d->frag_offset, d->frag_size);
		if (!data)
			return -f->error;
	} else if (sync) {
		dmabuf_sync(&s->mem, true, false);
	}
	flow_take(f, data, d->frag_size, linear ? &f->copied_bytes : &f->mapped_bytes);
	if (sync && !s->mem.gpu)
		dmabuf_sync(&s->mem, false, false);
	if (linear)
		return 0;
	if (!devmem_add(&s->tokens, d->frag_token)) {
		if (devmem_give_back(f, s))
			return -f->error;
		devmem_add(&s->tokens, d->frag_token);
	}
	s->taken_ns[s->tokens.count - 1] = s->received_ns;
	return 0;
}

/* Takes the pieces of one receive of `n` bytes, which are in the order of the stream. */
static int devmem_take_pieces(struct flow *f, struct devmem_rx *s, struct msghdr *msg, size_t n)
{
	size_t all = 0, tokens = 0, in_iov = 0, size;
	struct zc_dmabuf_cmsg d;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		bool linear = c->cmsg_type == ZC_SO_DEVMEM_LINEAR;

		if (!devmem_is_piece(c))
			continue;
		memcpy(&d, CMSG_DATA(c), sizeof(d));
		if (linear) { /* earlier pieces take the bytes before it */
			d.frag_offset = in_iov;
			in_iov += d.frag_size;
		}
		size = linear ? f->size : s->mem.size;
		if (d.frag_offset > size || d.frag_size > size - d.frag_offset)
			return flow_wrong(f,
					  "devmem: the kernel reports bytes outside of the dmabuf");
		all += d.frag_size;
		tokens += !linear;
		if (devmem_take_piece(f, s, &d, linear))
			return -f->error;
	}
	if (msg->msg_flags & MSG_CTRUNC)
		return flow_wrong(
			f, "devmem: the kernel cut off control messages, so their memory is lost");
	if (all != n)
		return flow_wrong(
			f,
			"devmem: %zu of %zu bytes came without a control message: their packets do not come through the bound queue (flow steering)",
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

	if (s->tokens.count >= DONTNEED_BATCH && devmem_give_back(f, s))
		return -f->error;
	n = CALL(f, RECVMSG, recvmsg(f->fd, &msg, ZC_MSG_SOCK_DEVMEM | flow_dontwait(f)));
	s->received_ns = clock_mono_ns();
	if (n > 0)
		return devmem_take_pieces(f, s, &msg, (size_t)n);
	rc = n ? flow_call_failed(f, "recvmsg with MSG_SOCK_DEVMEM") : STEP_END;
	/* The NIC may need the memory during the wait. */
	return rc == STEP_WAIT && devmem_give_back(f, s) ? -f->error : rc;
}

static int devmem_rx_drain(struct flow *f)
{
	return devmem_give_back(f, f->state) ? -f->error : 0;
}

static void devmem_rx_close(struct flow *f)
{
	struct devmem_rx *s = f->state;

	dmabuf_close(&s->mem);
}

const struct mode rx_devmem = {
	.name = "devmem",
	.what = "devmem TCP: payload stays in a dmabuf, tokens go back",
	.needs = "Linux 6.12, a NIC with header split and a queue API: --nic, --queue",
	.flags = MODE_NIC | MODE_DMABUF,
	.hists = 1 << HIST_TOKENS | 1 << HIST_RETURNS | 1 << HIST_RETURN_NS,
	.asks = ASKS_ZERO_COPY,
	.state_size = sizeof(struct devmem_rx),
	.open = devmem_rx_open,
	.step = devmem_rx_step,
	.drain = devmem_rx_drain,
	.close = devmem_rx_close,
};
