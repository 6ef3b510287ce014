// SPDX-License-Identifier: GPL-2.0-only
#include "dmabuf.h"

#include "lib/refusal.h"
#include "lib/zc_uapi.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static int refused(struct flow *f, int code, const char *what, const struct refusal *r,
		   const char *said)
{
	return flow_fail(f, code, "%s%s%s: %s%s%s%s%s%s", what, f->opt->nic ? " on " : "",
			 f->opt->nic ? f->opt->nic : "", r->why, *said ? " (the kernel: " : "",
			 said, *said ? ")" : "", r->todo ? ". Way out: " : "",
			 r->todo ? r->todo : "");
}

static int make(struct flow *f, struct dmabuf *d)
{
	struct zc_udmabuf_create create = {.size = d->size};
	int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), code = errno;

	if (device < 0)
		return refused(f, code, "udmabuf", refusal_udmabuf(code), "");
	d->memory = memfd_create("tcpzc", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (d->memory < 0 || ftruncate(d->memory, (off_t)d->size) ||
	    fcntl(d->memory, F_ADD_SEALS, F_SEAL_SHRINK)) {
		code = errno;
		close(device);
		return flow_fail(f, code, "%zu bytes of memory for a dmabuf", d->size);
	}
	create.memfd = (uint32_t)d->memory;
	d->fd = ioctl(device, ZC_UDMABUF_CREATE, &create);
	code = errno;
	close(device);
	return d->fd < 0 ? refused(f, code, "udmabuf", refusal_udmabuf(code), "") : 0;
}

int dmabuf_open(struct flow *f, struct dmabuf *d, size_t size)
{
	off_t given;

	*d = (struct dmabuf){.fd = -1, .memory = -1, .size = size, .netdev = {.fd = -1}};
	if (f->opt->dmabuf_fd < 0) {
		if (make(f, d))
			return -f->error;
	} else {
		d->fd = fcntl(f->opt->dmabuf_fd, F_DUPFD_CLOEXEC, 0);
		given = d->fd < 0 ? -1 : lseek(d->fd, 0, SEEK_END); /* a dmabuf's size */
		if (given <= 0)
			return flow_fail(f, errno, "--dmabuf-fd %d is no dmabuf",
					 f->opt->dmabuf_fd);
		d->size = (size_t)given;
	}
	d->map = mmap(NULL, d->size, PROT_READ | PROT_WRITE, MAP_SHARED,
		      d->memory >= 0 ? d->memory : d->fd, 0);
	if (d->map == MAP_FAILED)
		d->map = NULL;
	if (!d->map && f->opt->verify)
		return flow_fail(f, errno, "--verify: the dmabuf cannot be looked at from here");
	return 0;
}

static int take_id(void *arg, const void *attrs, size_t len)
{
	const struct nlattr *a = genl_find(attrs, len, ZC_NETDEV_A_DMABUF_ID);

	if (a)
		*(uint32_t *)arg = genl_u32(a);
	return 0;
}

static int begin(struct flow *f, struct dmabuf *d, uint8_t cmd)
{
	unsigned int nic = f->opt->nic ? if_nametoindex(f->opt->nic) : 0;
	int rc;

	if (!f->opt->nic)
		return flow_fail(f, EINVAL, "devmem: which interface? --nic IF");
	if (!nic)
		return flow_fail(f, ENODEV, "devmem: no interface %s in this network namespace",
				 f->opt->nic);
	rc = genl_open(&d->netdev, "netdev", NULL);
	if (rc)
		return refused(f, -rc, "devmem", refusal_devmem_rx(-rc), "");
	genl_begin(&d->netdev, cmd, 0);
	genl_put_u32(&d->netdev, ZC_NETDEV_A_DMABUF_IFINDEX, nic);
	genl_put_u32(&d->netdev, ZC_NETDEV_A_DMABUF_FD, (uint32_t)d->fd);
	return 0;
}

int dmabuf_bind_rx(struct flow *f, struct dmabuf *d, unsigned int queue)
{
	size_t nest;
	int rc;

	if (begin(f, d, ZC_NETDEV_CMD_BIND_RX))
		return -f->error;
	nest = genl_nest(&d->netdev, ZC_NETDEV_A_DMABUF_QUEUES);
	genl_put_u32(&d->netdev, ZC_NETDEV_A_QUEUE_ID, queue);
	genl_put_u32(&d->netdev, ZC_NETDEV_A_QUEUE_TYPE, ZC_NETDEV_QUEUE_TYPE_RX);
	genl_nest_end(&d->netdev, nest);
	rc = genl_ask(&d->netdev, take_id, &d->id, NULL);
	return rc ? refused(f, -rc, "devmem", refusal_devmem_rx(-rc), d->netdev.said) : 0;
}

int dmabuf_bind_tx(struct flow *f, struct dmabuf *d)
{
	int rc;

	if (begin(f, d, ZC_NETDEV_CMD_BIND_TX))
		return -f->error;
	rc = genl_ask(&d->netdev, take_id, &d->id, NULL);
	return rc ? refused(f, -rc, "devmem", refusal_devmem_tx(-rc), d->netdev.said) : 0;
}

void dmabuf_look(const struct dmabuf *d, bool begin, bool write)
{
	struct dma_buf_sync sync = {.flags = (begin ? DMA_BUF_SYNC_START : DMA_BUF_SYNC_END) |
					     (write ? DMA_BUF_SYNC_WRITE : DMA_BUF_SYNC_READ)};

	ioctl(d->fd, DMA_BUF_IOCTL_SYNC, &sync);
}

void dmabuf_close(struct dmabuf *d)
{
	if (!d->size)
		return;
	genl_close(&d->netdev);
	if (d->map)
		munmap(d->map, d->size);
	if (d->fd >= 0)
		close(d->fd);
	if (d->memory >= 0)
		close(d->memory);
}
