// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory that modes send from and receive into: pages, the slots of zero-copy
 * senders, and the limits that pinned memory runs into.
 */
#include "memory.h"

#include "lib/zc_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/dma-buf.h>
#include <linux/sock_diag.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* --- pages --- */

struct pages {
	struct pages *next;
	void *at;
	size_t size;
};

void *memory_get(struct flow *f, size_t size)
{
	struct pages *pages = arena_alloc(&f->arena, sizeof(*pages));
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (p == MAP_FAILED) {
		flow_fail(f, errno, "%zu bytes of memory", size);
		return NULL;
	}
	*pages = (struct pages){f->pages, p, size};
	f->pages = pages;
	memset(p, 'z', size); /* replaces the shared zero page by own pages */
	return p;
}

void memory_free(struct flow *f)
{
	for (const struct pages *p = f->pages; p; p = p->next)
		munmap(p->at, p->size);
}

/* --- limits on pinned memory --- */

/* An upper bound for a notification: a struct sk_buff and its smallest head. */
enum { NOTIFICATION = 1024, CAP_IPC_LOCK_BIT = 14 };

static unsigned long limits_read_optmem(void)
{
	autofree char *text = NULL;
	unsigned long v;

	return !file_read("/proc/sys/net/core/optmem_max", &text, NULL, NULL) &&
			       sscanf(text, "%lu", &v) == 1
		       ? v
		       : ULONG_MAX;
}

static unsigned long limits_read_memlock(void)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_MEMLOCK, &rl) || rl.rlim_cur == RLIM_INFINITY)
		return ULONG_MAX;
	return rl.rlim_cur;
}

static bool limits_may_lock_all(void)
{
	autofree char *text = NULL;
	unsigned long long caps = 0;
	const char *line;

	if (!file_read("/proc/self/status", &text, NULL, NULL) &&
	    (line = strstr(text, "\nCapEff:")))
		sscanf(line, " CapEff: %llx", &caps);
	return caps >> CAP_IPC_LOCK_BIT & 1;
}

void limits_read(struct limits *l)
{
	l->optmem_max = limits_read_optmem();
	l->memlock = limits_may_lock_all() ? ULONG_MAX : limits_read_memlock();
}

enum limit limits_hit(struct flow *f, const struct limits *l)
{
	uint32_t used[SK_MEMINFO_VARS] = {0};
	socklen_t len = sizeof(used);

	if (l->memlock == ULONG_MAX)
		return LIMIT_OPTMEM;
	if (CALL(f, GETSOCKOPT, getsockopt(f->fd, SOL_SOCKET, SO_MEMINFO, used, &len)))
		return LIMIT_MEMLOCK;
	return used[SK_MEMINFO_OPTMEM] + NOTIFICATION > l->optmem_max ? LIMIT_OPTMEM
								      : LIMIT_MEMLOCK;
}

const char *limits_text(void)
{
	static __thread char text[128];
	unsigned long memlock = limits_read_memlock();
	int n = snprintf(text, sizeof(text), "net.core.optmem_max is %lu", limits_read_optmem());

	if (memlock != ULONG_MAX)
		snprintf(text + n, sizeof(text) - (size_t)n, ", RLIMIT_MEMLOCK (ulimit -l) is %lu",
			 memlock);
	return text;
}

/* --- slots --- */

enum { POOL = 4 << 20, SLOTS_MIN = 4, SLOTS_MAX = 1024 };

int slots_open(struct flow *f, struct slots *s)
{
	size_t n = POOL / f->size;

	s->n = n < SLOTS_MIN ? SLOTS_MIN : n > SLOTS_MAX ? SLOTS_MAX : (unsigned int)n;
	s->n = f->opt->depth ?: s->n;
	s->size = f->size;
	s->slot = arena_alloc(&f->arena, s->n * sizeof(*s->slot));
	s->mem = memory_get(f, s->n * s->size + f->opt->offset);
	if (!s->mem)
		return -f->error;
	s->mem += f->opt->offset;
	return 0;
}

/* --- a dmabuf for devmem: we make it (udmabuf, a GPU), or it is inherited --- */

static int dmabuf_fail(struct flow *f, int code, const char *what, enum zc_request request,
		       const char *said)
{
	const struct refusal *r = refusal_find(request, code);

	return flow_fail(f, code, "%s%s%s: %s%s%s%s%s%s", what, f->opt->nic ? " on " : "",
			 f->opt->nic ? f->opt->nic : "", r->why, *said ? " (the kernel: " : "",
			 said, *said ? ")" : "", r->todo ? ". Way out: " : "",
			 r->todo ? r->todo : "");
}

int dmabuf_open(struct flow *f, struct dmabuf *d, size_t size)
{
	off_t end;

	*d = (struct dmabuf){.fd = -1, .memory = -1, .size = size, .netdev = {.fd = -1}};
	if (f->opt->gpu >= 0) {
		d->gpu = arena_alloc(&f->arena, sizeof(*d->gpu));
		d->fd = cuda_open(f, d->gpu, &d->size);
		return d->fd < 0 ? d->fd : 0;
	}
	if (f->opt->dmabuf_fd < 0) {
		d->fd = udmabuf_make(size, &d->memory);
		if (d->fd < 0)
			return dmabuf_fail(f, -d->fd, "udmabuf", ZC_UDMABUF, "");
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

int dmabuf_bind(struct flow *f, struct dmabuf *d)
{
	const char *nic = f->opt->nic;
	int rc = f->tx ? netdev_bind_tx(&d->netdev, nic, d->fd, &d->id)
		       : netdev_bind_rx(&d->netdev, nic, f->opt->queue + f->index, d->fd, &d->id);

	return rc ? dmabuf_fail(f, -rc, "devmem", f->tx ? ZC_BIND_TX : ZC_BIND_RX, d->netdev.said)
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
	fd_close(&d->fd);
	fd_close(&d->memory);
	if (d->gpu)
		cuda_close(d->gpu);
}
