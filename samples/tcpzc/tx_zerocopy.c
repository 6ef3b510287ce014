// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sending with MSG_ZEROCOPY: the kernel pins our memory until it reports on the socket's error
 * queue that it no longer needs it, and whether it had to copy. It numbers the calls that it
 * accepted, from 0. A notification covers the calls ee_info to ee_data.
 *
 * msg-zerocopy sends our pages with send(2). devmem sends out of a dmabuf that is bound to the
 * interface: sendmsg takes offsets in the dmabuf as addresses, and the socket is bound to the
 * interface, because other interfaces cannot read this memory.
 */
#include "memory.h"

#include "lib/zc_uapi.h"

#include <errno.h>
#include <netinet/in.h>

enum {
	ALONE_RETRIES = 100,
	ALONE_PAUSE_NS = 2000000,
	ZEROCOPY_IDS = 1 << 13 /* calls in flight at most */
};

struct zerocopy_tx {
	struct slots slots;
	/* Sends `n` bytes of a slot and counts the call. It returns what send(2) returns. */
	ssize_t (*send)(struct flow *f, char *p, size_t n, int flags);
	uint32_t next_id;
	struct limits limits;
	unsigned int alone_retries; /* refusals in a row while nothing of ours was in flight */
	uint64_t waits_ns; /* since when the flow waits for a notification; 0: it does not */
	bool waited;	   /* for the error queue, since the queue last had a notification */
	struct zerocopy_send {
		uint64_t handed_ns;
		unsigned int slot;
	} sends[ZEROCOPY_IDS]; /* by the call's number */
};

static int zerocopy_tx_open(struct flow *f, ssize_t (*send)(struct flow *, char *, size_t, int))
{
	struct zerocopy_tx *z = f->state;

	z->send = send;
	limits_read(&z->limits);
	return slots_open(f, &z->slots);
}

static int zerocopy_tx_attach(struct flow *f)
{
	int on = 1;

	if (!CALL(f, SETSOCKOPT, setsockopt(f->fd, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on))))
		return 0;
	return flow_fail(f, errno, "SO_ZEROCOPY (Linux 4.14 or later)");
}

static int zerocopy_tx_notified(struct flow *f, struct zerocopy_tx *z,
				const struct sock_extended_err *ee)
{
	uint32_t id, n = ee->ee_data - ee->ee_info + 1;
	uint64_t now = clock_mono_ns();

	if (n > z->slots.in_flight)
		return flow_wrong(f, "the kernel reports %u sends done, %u were in flight", n,
				  z->slots.in_flight);
	z->waited = false;
	flow_waited(f, &z->waits_ns, now);
	flow_hist(f, HIST_OUTSTANDING, z->slots.in_flight);
	flow_hist(f, HIST_BATCH, n);
	for (id = ee->ee_info; n--; id++) {
		flow_hist(f, HIST_NOTIFY_NS, now - z->sends[id % ZEROCOPY_IDS].handed_ns);
		slots_release(&z->slots, z->sends[id % ZEROCOPY_IDS].slot);
		if (ee->ee_code & SO_EE_CODE_ZEROCOPY_COPIED)
			f->sends_copied++;
		else
			f->sends_zero_copy++;
	}
	return 0;
}

static bool zerocopy_tx_is_notification(const struct cmsghdr *cm)
{
	const struct sock_extended_err *ee = (const void *)CMSG_DATA(cm);

	if (!(cm->cmsg_level == SOL_IP && cm->cmsg_type == IP_RECVERR) &&
	    !(cm->cmsg_level == SOL_IPV6 && cm->cmsg_type == IPV6_RECVERR))
		return false;
	return ee->ee_origin == SO_EE_ORIGIN_ZEROCOPY;
}

/* Reads all notifications that have come. Returns the number of messages, or -errno. */
static int zerocopy_tx_reap(struct flow *f)
{
	struct zerocopy_tx *z = f->state;
	char control[128];

	for (int n = 0;; n++) {
		struct msghdr msg = {.msg_control = control, .msg_controllen = sizeof(control)};

		if (CALL(f, RECVMSG, recvmsg(f->fd, &msg, MSG_ERRQUEUE)) < 0) {
			if (errno == EINTR)
				continue;
			return errno == EAGAIN ? n : flow_fail(f, errno, "the error queue");
		}
		for (struct cmsghdr *cm = CMSG_FIRSTHDR(&msg); cm; cm = CMSG_NXTHDR(&msg, cm))
			if (zerocopy_tx_is_notification(cm) &&
			    zerocopy_tx_notified(f, z, (const void *)CMSG_DATA(cm)))
				return -f->error;
	}
}

/* Reads notifications, or makes the flow wait for the error queue. */
static int zerocopy_tx_await(struct flow *f, struct zerocopy_tx *z)
{
	int rc = zerocopy_tx_reap(f), code = 0;
	socklen_t len = sizeof(code);

	if (rc)
		return rc < 0 ? rc : STEP_ON;
	/* The queue was empty after a wait: the socket itself has an error. */
	if (z->waited)
		CALL(f, GETSOCKOPT, getsockopt(f->fd, SOL_SOCKET, SO_ERROR, &code, &len));
	if (code)
		return flow_fail(f, code, "send");
	z->waited = true;
	z->waits_ns = z->waits_ns ?: clock_mono_ns();
	return flow_wait_for(f, f->fd, 0);
}

static int zerocopy_tx_no_buffers(struct flow *f, struct zerocopy_tx *z)
{
	f->retries[limits_hit(f, &z->limits)]++;
	if (z->slots.in_flight)
		return zerocopy_tx_await(f, z);
	/* The limit is per user: another program may hold the memory for a moment. */
	if (++z->alone_retries > ALONE_RETRIES)
		return flow_fail(f, ENOBUFS, "MSG_ZEROCOPY of %zu bytes: raise a limit (%s)",
				 f->size, limits_text());
	f->due_ns = clock_mono_ns() + ALONE_PAUSE_NS;
	return flow_wait_for(f, -1, 0);
}

static int zerocopy_tx_step(struct flow *f)
{
	struct zerocopy_tx *z = f->state;
	struct slots *slots = &z->slots;
	size_t n = flow_message(f, f->bytes), at = f->bytes % slots->size;
	char *p = slots_mem(slots, slots->next) + at;
	uint64_t now;
	ssize_t sent;

	if ((!at && !slots_free(slots)) || slots->in_flight == ZEROCOPY_IDS)
		return zerocopy_tx_await(f, z);
	flow_fill(f, p, f->bytes, n);
	now = clock_mono_ns();
	sent = z->send(f, p, n, MSG_ZEROCOPY | MSG_NOSIGNAL | flow_dontwait(f));
	if (sent < 0 && errno == ENOBUFS)
		return zerocopy_tx_no_buffers(f, z);
	if (sent < 0)
		return flow_call_failed(f, "send");
	z->alone_retries = 0;
	z->sends[z->next_id++ % ZEROCOPY_IDS] = (struct zerocopy_send){now, slots->next};
	slots_hold(slots, slots->next, now);
	flow_sent(f, (size_t)sent);
	if ((size_t)sent == n)
		slots_advance(slots);
	return STEP_ON;
}

static int zerocopy_tx_drain(struct flow *f)
{
	struct zerocopy_tx *z = f->state;

	return z->slots.in_flight && !f->error ? zerocopy_tx_await(f, z) : 0;
}

static ssize_t msg_zerocopy_send(struct flow *f, char *p, size_t n, int flags)
{
	ssize_t sent = CALL(f, SENDTO, send(f->fd, p, n, flags));

	if (sent > 0)
		slots_count_pins(f, p, (size_t)sent);
	return sent;
}

static int msg_zerocopy_open(struct flow *f)
{
	return zerocopy_tx_open(f, msg_zerocopy_send);
}

const struct mode tx_msg_zerocopy = {
	.name = "msg-zerocopy",
	.what = "send(2) with MSG_ZEROCOPY, notifications from the error queue",
	.flags = MODE_UDP | MODE_SLOTS | MODE_NOTIFIES,
	.hists = 1 << HIST_NOTIFY_NS | 1 << HIST_BATCH | 1 << HIST_OUTSTANDING,
	.asks = ASKS_ZERO_COPY,
	.state_size = sizeof(struct zerocopy_tx),
	.open = msg_zerocopy_open,
	.attach = zerocopy_tx_attach,
	.step = zerocopy_tx_step,
	.notice = zerocopy_tx_reap,
	.drain = zerocopy_tx_drain,
};

/* --- devmem --- */

struct devmem_tx {
	struct zerocopy_tx zc; /* first: zerocopy_tx_step and others get f->state */
	struct dmabuf mem;
};

static ssize_t devmem_send(struct flow *f, char *p, size_t n, int flags)
{
	struct devmem_tx *s = f->state;
	size_t offset = (size_t)(p - s->zc.slots.mem);
	struct iovec iov = {(void *)(uintptr_t)offset, n};
	union {
		char bytes[CMSG_SPACE(sizeof(uint32_t))];
		struct cmsghdr align;
	} control = {0};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control.bytes,
			     .msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = ZC_SO_DEVMEM_DMABUF;
	c->cmsg_len = CMSG_LEN(sizeof(uint32_t));
	memcpy(CMSG_DATA(c), &s->mem.id, sizeof(uint32_t));
	if (f->opt->verify && s->mem.gpu && cuda_write(f, s->mem.gpu, offset, p, n)) {
		errno = EIO;
		return -1;
	}
	if (f->opt->verify && !s->mem.gpu)
		dmabuf_sync(&s->mem, false, true); /* ends our writes before the device reads */
	return CALL(f, SENDMSG, sendmsg(f->fd, &msg, flags));
}

static int devmem_tx_open(struct flow *f)
{
	struct devmem_tx *s = f->state;
	size_t size;

	if (zerocopy_tx_open(f, devmem_send))
		return -f->error;
	size = (s->zc.slots.n * s->zc.slots.size + 4095) & ~(size_t)4095;
	if (dmabuf_open(f, &s->mem, size))
		return -f->error;
	if (s->mem.size < size)
		return flow_wrong(f, "the dmabuf has %zu bytes, messages of %zu take %zu",
				  s->mem.size, f->size, size);
	if (!s->mem.gpu)
		s->zc.slots.mem = s->mem.map; /* may be NULL: sending needs only offsets */
	return dmabuf_bind(f, &s->mem);
}

static int devmem_tx_attach(struct flow *f)
{
	const char *nic = f->opt->nic;

	if (CALL(f, SETSOCKOPT,
		 setsockopt(f->fd, SOL_SOCKET, SO_BINDTODEVICE, nic, (socklen_t)strlen(nic) + 1)))
		return flow_fail(f, errno, "SO_BINDTODEVICE %s", nic);
	return zerocopy_tx_attach(f);
}

static void devmem_tx_close(struct flow *f)
{
	struct devmem_tx *s = f->state;

	dmabuf_close(&s->mem);
}

const struct mode tx_devmem = {
	.name = "devmem",
	.what = "sendmsg(2) out of a dmabuf, notifications from the error queue",
	.needs = "Linux 6.16, a driver with netmem_tx: --nic",
	.flags = MODE_NIC | MODE_DMABUF | MODE_NOTIFIES,
	.hists = 1 << HIST_NOTIFY_NS | 1 << HIST_BATCH | 1 << HIST_OUTSTANDING,
	.asks = ASKS_ZERO_COPY,
	.state_size = sizeof(struct devmem_tx),
	.open = devmem_tx_open,
	.attach = devmem_tx_attach,
	.step = zerocopy_tx_step,
	.notice = zerocopy_tx_reap,
	.drain = zerocopy_tx_drain,
	.close = devmem_tx_close,
};
