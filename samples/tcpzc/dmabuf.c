// SPDX-License-Identifier: GPL-2.0-only
/* A dmabuf for devmem. We make it (udmabuf), or it is inherited. */
#include "memory.h"

#include "lib/zc_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static int dmabuf_fail(struct flow *f, int code, const char *what, const struct refusal *r,
		       const char *said)
{
	return flow_fail(f, code, "%s%s%s: %s%s%s%s%s%s", what, f->opt->nic ? " on " : "",
			 f->opt->nic ? f->opt->nic : "", r->why, *said ? " (the kernel: " : "",
			 said, *said ? ")" : "", r->todo ? ". Way out: " : "",
			 r->todo ? r->todo : "");
}

int dmabuf_open(struct flow *f, struct dmabuf *d, size_t size)
{
	off_t end;

	*d = (struct dmabuf){.fd = -1, .memory = -1, .size = size, .netdev = {.fd = -1}};
	if (f->opt->dmabuf_fd < 0) {
		d->fd = udmabuf_make(size, &d->memory);
		if (d->fd < 0)
			return dmabuf_fail(f, -d->fd, "udmabuf", refusal_find(ZC_UDMABUF, -d->fd),
					   "");
	} else {
		d->fd = fcntl(f->opt->dmabuf_fd, F_DUPFD_CLOEXEC, 0);
		/* Seeking to the end of a dmabuf returns its size. */
		end = d->fd < 0 ? -1 : lseek(d->fd, 0, SEEK_END);
		if (end <= 0)
			return flow_fail(f, errno, "--dmabuf-fd %d is not a dmabuf",
					 f->opt->dmabuf_fd);
		d->size = (size_t)end;
	}
	d->map = mmap(NULL, d->size, PROT_READ | PROT_WRITE, MAP_SHARED,
		      d->memory >= 0 ? d->memory : d->fd, 0);
	if (d->map == MAP_FAILED)
		d->map = NULL;
	if (!d->map && f->opt->verify)
		return flow_fail(f, errno, "--verify: this process cannot map the dmabuf");
	return 0;
}

int dmabuf_bind_rx(struct flow *f, struct dmabuf *d, unsigned int queue)
{
	int rc = netdev_bind_rx(&d->netdev, f->opt->nic, queue, d->fd, &d->id);

	return rc ? dmabuf_fail(f, -rc, "devmem", refusal_find(ZC_BIND_RX, -rc), d->netdev.said)
		  : 0;
}

int dmabuf_bind_tx(struct flow *f, struct dmabuf *d)
{
	int rc = netdev_bind_tx(&d->netdev, f->opt->nic, d->fd, &d->id);

	return rc ? dmabuf_fail(f, -rc, "devmem", refusal_find(ZC_BIND_TX, -rc), d->netdev.said)
		  : 0;
}

void dmabuf_sync(const struct dmabuf *d, bool begin, bool write)
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
