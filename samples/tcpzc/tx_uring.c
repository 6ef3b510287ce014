// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sending with io_uring. Messages go out in chains of linked requests with MSG_WAITALL. The kernel
 * starts a request when the one before is sent completely, which keeps the stream in order. One
 * io_uring_enter submits a chain and waits for it. When a send ends short (after an error or a
 * stop), the kernel cancels the rest of the chain, and the next chain goes on after the last byte
 * that was sent.
 *
 * uring-send copies as send(2) does, but makes far fewer system calls. The other two send without a
 * copy from registered buffers, or, with --plain-buffers and in kernels without them, from buffers
 * that the kernel pins for each send. Each of their sends completes twice: once when it is
 * accepted, and once (the notification) when the memory is ours again. With REPORT_USAGE the
 * notification says whether the kernel copied. Linux before 6.2 does not report that, and sends
 * count as unknown.
 */
#include "uring.h"

#include "lib/zc_uapi.h"

#include <errno.h>

enum { BATCH = 8 }; /* messages of a chain at most */

struct uring_tx {
	struct io_uring ring;
	struct slots slots;
	/* Fills the request that sends `n` bytes of a slot. The step sets flags and user_data. */
	void (*prepare)(struct flow *f, struct io_uring_sqe *sqe, const void *buf, size_t n);
	unsigned int chain; /* requests of the current chain without a completion */
	bool refused;	    /* the current chain is of a kind that the kernel does not know */
	bool usage;	    /* notifications say whether data was copied */
	bool may_be_plain;  /* kernels with the mode may lack registered buffers: fall back */
	bool starved;	    /* nothing is sent before the next notification */
	uint64_t waits_ns;  /* since when the flow waits for a notification; 0: it does not */
	/* For sendmsg, one per slot: each must live as long as its request. */
	struct uring_msg {
		struct msghdr msg;
		struct iovec iov;
	} * msgs;
	bool cancelled;
	int cancels; /* cancel requests without a completion */
};

/* user_data of a cancel request. That of a send is its slot, with the round in the upper half. */
static const uint64_t cancel_data = UINT64_MAX;

static int uring_tx_open(struct flow *f, void (*prepare)(struct flow *, struct io_uring_sqe *,
							 const void *, size_t))
{
	struct uring_tx *u = f->state;

	u->prepare = prepare;
	if (slots_open(f, &u->slots))
		return -f->error;
	return uring_open(f, &u->ring, BATCH + 1, 2 * (u->slots.n + BATCH), 0);
}

/* Registers the slots as buffer 0 of the ring, unless with --plain-buffers. */
static int uring_tx_register(struct flow *f, struct uring_tx *u)
{
	struct iovec iov = {u->slots.mem, u->slots.n * u->slots.size};
	int rc;

	u->usage = true;
	f->buffers = f->opt->plain_buffers ? BUFFERS_PLAIN : BUFFERS_REGISTERED;
	if (f->opt->plain_buffers)
		return 0;
	rc = io_uring_register_buffers(&u->ring, &iov, 1);
	return rc ? flow_fail(f, -rc, "registering %zu bytes with io_uring (%s)", iov.iov_len,
			      limits_text())
		  : 0;
}

static uint64_t uring_tx_user_data(const struct slots *s, unsigned int slot)
{
	return (uint64_t)s->slot[slot].round << 32 | slot;
}

/* Prepares up to one batch of messages from f->bytes on. Returns their number. */
static unsigned int uring_tx_build_chain(struct flow *f, struct uring_tx *u)
{
	struct io_uring_sqe *sqe = NULL;
	uint64_t pos = f->bytes, now = clock_mono_ns();
	unsigned int n = 0;

	while (n < BATCH && flow_left(f, pos) && slots_free(&u->slots)) {
		size_t len = flow_message(f, pos);
		char *p = slots_mem(&u->slots, u->slots.next);

		flow_fill(f, p, pos, len);
		sqe = io_uring_get_sqe(&u->ring);
		u->prepare(f, sqe, p, len);
		slots_hold(&u->slots, u->slots.next, now);
		io_uring_sqe_set_data64(sqe, uring_tx_user_data(&u->slots, u->slots.next));
		sqe->flags |= IOSQE_IO_LINK;
		slots_advance(&u->slots);
		pos += len;
		n++;
	}
	if (sqe)
		sqe->flags &= (uint8_t)~IOSQE_IO_LINK;
	return n;
}

/*
 * Counts a notification. A request that was cancelled before it started promises no notification.
 * Some kernels (6.18) still post one, and another send may have the slot by then.
 */
static void uring_tx_notified(struct flow *f, struct uring_tx *u, const struct io_uring_cqe *cqe,
			      uint64_t now)
{
	unsigned int slot = (unsigned int)cqe->user_data;

	if (cqe->user_data != uring_tx_user_data(&u->slots, slot) || !u->slots.slot[slot].pending)
		return;
	slots_release(&u->slots, slot);
	flow_waited(f, &u->waits_ns, now);
	u->starved = false;
	if (!u->usage || !u->slots.slot[slot].accepted) /* the send failed */
		return;
	flow_hist(f, HIST_NOTIFY_NS, now - u->slots.slot[slot].handed_ns);
	if ((uint32_t)cqe->res & ZC_IORING_NOTIF_USAGE_ZC_COPIED)
		f->sends_copied++;
	else
		f->sends_zero_copy++;
}

/* The kernel does not know this kind of send. Falls back to an older kind if there is one. */
static bool uring_tx_fall_back(struct flow *f, struct uring_tx *u)
{
	if (u->refused) /* Linux 6.1 refuses each request of a chain */
		return true;
	u->refused = true;
	if (u->may_be_plain && f->buffers == BUFFERS_REGISTERED) {
		f->buffers = BUFFERS_PLAIN; /* Linux before 6.15 */
		CALL(f, IO_URING_REGISTER, io_uring_unregister_buffers(&u->ring));
		return true;
	}
	if (!u->usage)
		return false;
	u->usage = false; /* Linux before 6.2 has no report */
	return true;
}

/* Counts a send that has ended. With F_MORE its memory is still in use. */
static void uring_tx_sent(struct flow *f, struct uring_tx *u, const struct io_uring_cqe *cqe)
{
	unsigned int slot = (unsigned int)cqe->user_data;
	bool more = cqe->flags & IORING_CQE_F_MORE;

	u->chain--;
	u->slots.slot[slot].accepted = cqe->res > 0;
	if (!more)
		slots_release(&u->slots, slot);
	if (cqe->res > 0) {
		flow_sent(f, (size_t)cqe->res);
		if (f->buffers == BUFFERS_PLAIN)
			slots_count_pins(f, slots_mem(&u->slots, slot), (size_t)cqe->res);
		f->sends_copied += f->mode->asks == ASKS_COPY;
	} else if (cqe->res == -EINVAL && !f->bytes && uring_tx_fall_back(f, u))
		return;
	else if ((cqe->res == -ENOMEM || cqe->res == -ENOBUFS) &&
		 u->slots.in_flight > u->chain + more) {
		/* It lacks memory that earlier sends hold: it is repeated after their
		 * notifications. */
		f->retries[LIMIT_MEMLOCK]++;
		u->starved = true;
	} else if (cqe->res == -ENOMEM || cqe->res == -ENOBUFS)
		flow_fail(f, -cqe->res, "io_uring send of %zu bytes: raise a limit (%s)", f->size,
			  limits_text());
	else if (cqe->res != -ECANCELED && cqe->res != -EINTR)
		flow_fail(f, -cqe->res, "io_uring send");
}

/* Handles all completions and returns their number. */
static unsigned int uring_tx_reap(struct flow *f, struct uring_tx *u)
{
	struct io_uring_cqe *cqe;
	unsigned int head, n = 0;
	uint64_t now = clock_mono_ns();

	flow_hist(f, HIST_OUTSTANDING, u->slots.in_flight);
	io_uring_for_each_cqe(&u->ring, head, cqe)
	{
		n++;
		if (cqe->user_data == cancel_data)
			u->cancels--;
		else if (cqe->flags & IORING_CQE_F_NOTIF)
			uring_tx_notified(f, u, cqe, now);
		else
			uring_tx_sent(f, u, cqe);
	}
	io_uring_cq_advance(&u->ring, n);
	if (n)
		flow_hist(f, HIST_COMPLETIONS, n);
	return n;
}

/* Cancels the sends in flight after a stop: the receiver may never read them. */
static void uring_tx_cancel_chain(struct uring_tx *u)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring);

	if (!sqe)
		return;
	io_uring_prep_cancel64(sqe, 0, IORING_ASYNC_CANCEL_ANY | IORING_ASYNC_CANCEL_ALL);
	io_uring_sqe_set_data64(sqe, cancel_data);
	u->cancels++;
	u->cancelled = true;
}

/* Starts the next chain when the previous one has ended, so the stream stays in order. */
static int uring_tx_step(struct flow *f)
{
	struct uring_tx *u = f->state;

	if (!u->chain && !u->starved) {
		u->refused = false;
		u->chain = uring_tx_build_chain(f, u);
	}
	if (!u->chain)
		u->waits_ns = u->waits_ns ?: clock_mono_ns();
	if (uring_enter(f, &u->ring, u->chain ? u->chain : 1))
		return -f->error;
	if (!uring_tx_reap(f, u))
		return uring_later(f);
	return f->error ? -f->error : STEP_ON;
}

static int uring_tx_drain(struct flow *f)
{
	struct uring_tx *u = f->state;

	if (u->chain && !u->cancelled)
		uring_tx_cancel_chain(u);
	if (!u->chain && !u->cancels && !u->slots.in_flight)
		return 0;
	if (uring_enter(f, &u->ring, 1))
		return -f->error;
	return uring_tx_reap(f, u) ? STEP_ON : f->alone ? STEP_WAIT : uring_later(f);
}

/* --- the modes --- */

#define URING_TX                                                                               \
	.state_size = sizeof(struct uring_tx), .step = uring_tx_step, .drain = uring_tx_drain, \
	.close = uring_close
#define URING_ZERO_COPY                                                                         \
	URING_TX, .flags = MODE_UDP | MODE_RING | MODE_BUFFERS | MODE_SLOTS | MODE_NOTIFIES,    \
		  .hists = 1 << HIST_COMPLETIONS | 1 << HIST_NOTIFY_NS | 1 << HIST_OUTSTANDING, \
		  .asks = ASKS_ZERO_COPY

static void uring_send_prepare(struct flow *f, struct io_uring_sqe *sqe, const void *buf, size_t n)
{
	io_uring_prep_send(sqe, f->fd, buf, n, MSG_WAITALL | MSG_NOSIGNAL);
}

static int uring_send_open(struct flow *f)
{
	return uring_tx_open(f, uring_send_prepare);
}

const struct mode tx_uring_send = {
	.name = "uring-send",
	.what = "io_uring send: copies, many messages per system call",
	.flags = MODE_UDP | MODE_RING | MODE_SLOTS,
	.hists = 1 << HIST_COMPLETIONS,
	.asks = ASKS_COPY,
	.open = uring_send_open,
	URING_TX,
};

static void uring_send_zc_prepare(struct flow *f, struct io_uring_sqe *sqe, const void *buf,
				  size_t n)
{
	struct uring_tx *u = f->state;
	unsigned int report = u->usage ? ZC_IORING_SEND_ZC_REPORT_USAGE : 0;

	if (f->buffers == BUFFERS_PLAIN)
		io_uring_prep_send_zc(sqe, f->fd, buf, n, MSG_WAITALL | MSG_NOSIGNAL, report);
	else
		io_uring_prep_send_zc_fixed(sqe, f->fd, buf, n, MSG_WAITALL | MSG_NOSIGNAL, report,
					    0);
}

static int uring_send_zc_open(struct flow *f)
{
	return uring_tx_open(f, uring_send_zc_prepare) ?: uring_tx_register(f, f->state);
}

const struct mode tx_uring_send_zc = {
	.name = "uring-send-zc",
	.what = "io_uring zero-copy send from registered buffers, with notifications",
	.needs = "Linux 6.0; 6.2 says what was copied",
	.open = uring_send_zc_open,
	URING_ZERO_COPY,
};

static void uring_sendmsg_zc_prepare(struct flow *f, struct io_uring_sqe *sqe, const void *buf,
				     size_t n)
{
	struct uring_tx *u = f->state;
	struct uring_msg *m = &u->msgs[((const char *)buf - u->slots.mem) / (ssize_t)u->slots.size];

	m->iov = (struct iovec){(void *)(uintptr_t)buf, n};
	m->msg = (struct msghdr){.msg_iov = &m->iov, .msg_iovlen = 1};
	io_uring_prep_sendmsg_zc(sqe, f->fd, &m->msg, MSG_WAITALL | MSG_NOSIGNAL);
	sqe->ioprio = u->usage ? ZC_IORING_SEND_ZC_REPORT_USAGE : 0;
	if (f->buffers == BUFFERS_PLAIN)
		return;
	sqe->ioprio |= ZC_IORING_RECVSEND_FIXED_BUF;
	sqe->buf_index = 0;
}

static int uring_sendmsg_zc_open(struct flow *f)
{
	struct uring_tx *u = f->state;

	if (uring_tx_open(f, uring_sendmsg_zc_prepare))
		return -f->error;
	u->msgs = arena_alloc(&f->arena, u->slots.n * sizeof(*u->msgs));
	u->may_be_plain = true;
	return uring_tx_register(f, u);
}

const struct mode tx_uring_sendmsg_zc = {
	.name = "uring-sendmsg-zc",
	.what = "io_uring zero-copy sendmsg from registered buffers, with notifications",
	.needs = "Linux 6.1; 6.2 says what was copied; plain buffers before 6.15",
	.open = uring_sendmsg_zc_open,
	URING_ZERO_COPY,
};
