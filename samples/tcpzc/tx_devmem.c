// SPDX-License-Identifier: GPL-2.0-only
/*
 * Devmem TCP, sending: the payload is in a dmabuf that is bound to the interface, and sendmsg takes
 * offsets in the dmabuf as addresses. Notifications come as with MSG_ZEROCOPY. The socket is bound
 * to the interface, because other interfaces cannot read this memory.
 */
#include "dmabuf.h"
#include "tx_msg_zerocopy.h"

#include "lib/zc_uapi.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct devmem_tx {
	struct zerocopy_tx zc;
	struct dmabuf mem;
	char *own; /* memory of the slots, which the dmabuf replaces */
};

static ssize_t devmem_send(struct flow *f, char *p, size_t n, int flags)
{
	struct devmem_tx *s = f->state;
	struct iovec iov = {(void *)(uintptr_t)(p - s->zc.slots.mem), n};
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
	if (f->opt->verify)
		dmabuf_sync(&s->mem, false, true); /* ends our writes before the device reads */
	return CALL(f, SENDMSG, sendmsg(f->fd, &msg, flags));
}

static int devmem_tx_open(struct flow *f)
{
	struct devmem_tx *s = calloc(1, sizeof(*s));
	size_t size;

	if (!s)
		return flow_fail(f, ENOMEM, "memory");
	f->state = s;
	if (zerocopy_tx_open(f, &s->zc, devmem_send))
		return -f->error;
	size = (s->zc.slots.n * s->zc.slots.size + 4095) & ~(size_t)4095;
	if (dmabuf_open(f, &s->mem, size))
		return -f->error;
	if (s->mem.size < size)
		return flow_wrong(f, "the dmabuf has %zu bytes, messages of %zu take %zu",
				  s->mem.size, f->size, size);
	s->own = s->zc.slots.mem;
	s->zc.slots.mem = s->mem.map; /* may be NULL: sending needs only offsets */
	return dmabuf_bind_tx(f, &s->mem);
}

static int devmem_tx_attach(struct flow *f)
{
	const char *nic = f->opt->nic;

	if (CALL(f, SETSOCKOPT,
		 setsockopt(f->fd, SOL_SOCKET, SO_BINDTODEVICE, nic, (socklen_t)strlen(nic) + 1)))
		return flow_fail(f, errno, "SO_BINDTODEVICE %s", nic);
	return zerocopy_tx_attach(f);
}

static int devmem_tx_step(struct flow *f)
{
	struct devmem_tx *s = f->state;

	return zerocopy_tx_step(f, &s->zc);
}

static int devmem_tx_drain(struct flow *f)
{
	struct devmem_tx *s = f->state;

	return zerocopy_tx_drain(f, &s->zc);
}

static void devmem_tx_close(struct flow *f)
{
	struct devmem_tx *s = f->state;

	if (!s)
		return;
	if (s->own)
		s->zc.slots.mem = s->own;
	zerocopy_tx_close(f, &s->zc);
	dmabuf_close(&s->mem);
	free(s);
}

const struct mode tx_devmem = {
	.name = "devmem",
	.what = "sendmsg(2) out of a dmabuf, notifications from the error queue",
	.needs = "Linux 6.16, a driver with netmem_tx: --nic",
	.flags = MODE_NIC,
	.hists = 1 << HIST_NOTIFY_NS | 1 << HIST_BATCH,
	.asks = ASKS_ZERO_COPY,
	.options = {"nic", "dmabuf-fd"},
	.open = devmem_tx_open,
	.attach = devmem_tx_attach,
	.step = devmem_tx_step,
	.drain = devmem_tx_drain,
	.close = devmem_tx_close,
};
