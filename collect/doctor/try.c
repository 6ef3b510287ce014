// SPDX-License-Identifier: GPL-2.0-only
#include "collect/doctor/try.h"

#include "collect/doctor/uring.h"
#include "lib/netdev.h"
#include "lib/zc_uapi.h"

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, ENTRIES = 64, AREA = 64 * PAGE, REGION = 2 * PAGE };

static int try_register_queue(int fd, unsigned int nic, unsigned int queue, char *memory)
{
	struct zc_zcrx_area_reg area = {.addr = (uintptr_t)memory, .len = AREA};
	struct zc_region_desc region = {.user_addr = (uintptr_t)(memory + AREA),
					.size = REGION,
					.flags = ZC_IORING_MEM_REGION_TYPE_USER};
	struct zc_zcrx_ifq_reg reg = {.if_idx = nic,
				      .if_rxq = queue,
				      .rq_entries = ENTRIES,
				      .area_ptr = (uintptr_t)&area,
				      .region_ptr = (uintptr_t)&region};

	return uring_register(fd, ZC_IORING_REGISTER_ZCRX_IFQ, &reg, 1);
}

int try_zcrx(const char *nic, unsigned int queue)
{
	unsigned int index = if_nametoindex(nic);

	return index ? try_zcrx_index(index, queue) : -ENODEV;
}

int try_zcrx_index(unsigned int nic, unsigned int queue)
{
	uint32_t flags = ZC_IORING_SETUP_CQE32 | ZC_IORING_SETUP_SINGLE_ISSUER |
			 ZC_IORING_SETUP_DEFER_TASKRUN;
	struct io_uring_params p;
	char *memory;
	int fd, rc;

	fd = uring_open(flags, &p);
	if (fd < 0)
		return fd;
	memory = mmap(NULL, AREA + REGION, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	rc = memory == MAP_FAILED ? -ENOMEM : try_register_queue(fd, nic, queue, memory);
	close(fd); /* gives the queue back */
	if (memory != MAP_FAILED)
		munmap(memory, AREA + REGION);
	return rc;
}

/* Copies the kernel's words and ends the binding. */
static int try_unbind(struct genl *g, int rc, char *said)
{
	snprintf(said, sizeof(g->said), "%s", g->said);
	genl_close(g);
	return rc;
}

int try_devmem(const char *nic, unsigned int queue, int dmabuf, char *said)
{
	struct genl g;

	return try_unbind(&g, netdev_bind_rx(&g, nic, queue, dmabuf, NULL), said);
}

int try_devmem_tx(const char *nic, int dmabuf, char *said)
{
	struct genl g;

	return try_unbind(&g, netdev_bind_tx(&g, nic, dmabuf, NULL), said);
}
