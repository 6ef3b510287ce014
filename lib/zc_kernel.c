// SPDX-License-Identifier: GPL-2.0-only
#include "lib/zc_kernel.h"

#include "lib/zc_uapi.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define NIC_SETUP                                                                                                                 \
	"turn header split on (ethtool -G IF tcp-data-split on, with hds-thresh 0 where ethtool -g "                              \
	"IF shows it), take the queue out of RSS (ethtool -X IF equal N) and steer the flow to it (ethtool -U IF flow-type tcp4 " \
	"... queue Q)"

enum { BIND = ZC_BIND_RX | ZC_BIND_TX, QUEUE = ZC_ZCRX | ZC_BIND_RX };

static const struct {
	unsigned int requests; /* bits of enum zc_request */
	struct refusal refusal;
} refusals[] = {
	{ZC_ZCRX, {EPERM, "CAP_NET_ADMIN is missing in the initial namespace", "run as root"}},
	{BIND, {EPERM, "CAP_NET_ADMIN is missing", "run as root"}},
	{ZC_ZCRX,
	 {EINVAL,
	  "the ring lacks DEFER_TASKRUN or CQE32, the kernel does not know the request (before 6.15), or header split is off or hds-thresh is not 0",
	  NIC_SETUP}},
	{ZC_BIND_RX,
	 {EINVAL,
	  "header split is off or hds-thresh is not 0, the queue is not a receive queue, or the kernel does not know the request (before 6.12)",
	  NIC_SETUP}},
	{ZC_BIND_TX,
	 {EINVAL, "the kernel does not know the request (before 6.16)",
	  "sending from device memory needs Linux 6.16 or later"}},
	{ZC_ZCRX | BIND,
	 {ENODEV, "there is no such interface in this network namespace, or it is going away",
	  "name the NIC itself, from its own network namespace"}},
	{ZC_ZCRX,
	 {EOPNOTSUPP,
	  "the interface has no hardware queue that it can hand over (loopback, veth, tap and virtio_net have none), its driver has no queue API, or the kernel was built without CONFIG_IO_URING_ZCRX",
	  "use a NIC that is known to support it (bnxt, mlx5, gve, fbnic) and Linux 6.15 or later"}},
	{ZC_BIND_RX,
	 {EOPNOTSUPP,
	  "the driver cannot receive into device memory (loopback, veth and virtio_net cannot), or the kernel was built without CONFIG_NET_DEVMEM",
	  "use Linux 6.12 or later and a NIC with driver support (bnxt, mlx5, gve and fbnic, each since a later kernel)"}},
	{ZC_BIND_TX,
	 {EOPNOTSUPP,
	  "the driver cannot send from device memory (no netmem_tx), or the kernel was built without CONFIG_NET_DEVMEM or is before 6.16",
	  "use Linux 6.16 or later and a NIC that is known to support it (bnxt, gve, mlx5, fbnic)"}},
	{QUEUE,
	 {ERANGE, "the interface has no receive queue of that number",
	  "queues count from 0: ethtool -l IF prints their number"}},
	{QUEUE,
	 {EEXIST,
	  "the queue already has a memory provider (another zcrx or devmem user), or an XDP program is attached",
	  "end the other user; ip link set IF xdp off"}},
	{QUEUE,
	 {EBUSY, "an AF_XDP socket is bound to the queue", "close it, or use another queue"}},
	{QUEUE, {ENETDOWN, "the interface is down", "ip link set IF up"}},
	{ZC_ZCRX,
	 {EFAULT, "memory of the area or of the ring is not mapped",
	  "this is a fault of the program, not of the host: report it"}},
	{ZC_ZCRX,
	 {ENOMEM, "the area's pages cannot be pinned: RLIMIT_MEMLOCK, or memory is short",
	  "ulimit -l unlimited, or a smaller area"}},
	{ZC_ZCRX,
	 {E2BIG, "the driver needs larger pages than the area has",
	  "make the driver's buffers smaller: ethtool -G IF rx-buf-len 4096"}},
	{BIND,
	 {EBADF, "the file descriptor is not a dmabuf",
	  "pass a dmabuf of udmabuf or of a GPU's exporter"}},
	{ZC_BIND_RX,
	 {ENOMEM, "memory is short, or the dmabuf cannot be mapped for the NIC",
	  "use a smaller dmabuf (--area), or one that this NIC can reach (its own IOMMU domain)"}},
	{ZC_BIND_RX,
	 {ENOENT, "the kernel has no generic netlink family 'netdev' (before 6.3)",
	  "devmem TCP needs Linux 6.12 or later"}},
	{ZC_BIND_TX,
	 {ENOENT, "the kernel has no generic netlink family 'netdev' (before 6.3)",
	  "sending from device memory needs Linux 6.16 or later"}},
	{ZC_UDMABUF, {ENOENT, "there is no /dev/udmabuf", "modprobe udmabuf (CONFIG_UDMABUF)"}},
	{ZC_UDMABUF,
	 {EACCES, "this process may not open /dev/udmabuf", "run as root, or join the group kvm"}},
	{ZC_UDMABUF,
	 {EINVAL, "the memfd is not sealed against shrinking, or its size is above the limit",
	  "raise /sys/module/udmabuf/parameters/size_limit_mb"}},
	{ZC_UDMABUF,
	 {ENOMEM, "memory is short",
	  "use a smaller dmabuf (--area), or free memory: grep MemAvailable /proc/meminfo"}},
};

const struct refusal *refusal_find(enum zc_request request, int code)
{
	static const struct refusal unknown = {0, "no known reason for this errno here",
					       "the driver may have refused: see dmesg"};

	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		if (refusals[i].requests & request && refusals[i].refusal.code == code)
			return &refusals[i].refusal;
	return &unknown;
}

static int udmabuf_open_memory(size_t size)
{
	int rc, fd = memfd_create("zcost", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -errno;
	if (!ftruncate(fd, (off_t)size) && !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK))
		return fd;
	rc = -errno;
	close(fd);
	return rc;
}

int udmabuf_make(size_t size, int *memory)
{
	int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), mem, fd;
	struct zc_udmabuf_create create = {.size = size};

	if (device < 0)
		return -errno;
	mem = fd = udmabuf_open_memory(size);
	if (mem >= 0) {
		create.memfd = (uint32_t)mem;
		fd = ioctl(device, ZC_UDMABUF_CREATE, &create);
		fd = fd < 0 ? -errno : fd;
	}
	close(device);
	if (fd >= 0 && memory)
		*memory = mem;
	else if (mem >= 0)
		close(mem);
	return fd;
}

static int netdev_read_id(void *arg, const void *attrs, size_t len)
{
	const struct nlattr *a = genl_find(attrs, len, ZC_NETDEV_A_DMABUF_ID);

	if (a && arg)
		*(uint32_t *)arg = genl_u32(a);
	return 0;
}

/* Begins a request. Returns -ENODEV, with g closed, when there is no such interface. */
static int netdev_begin(struct genl *g, uint8_t cmd, const char *nic, int dmabuf)
{
	unsigned int ifindex = if_nametoindex(nic);
	int rc;

	*g = (struct genl){.fd = -1};
	if (!ifindex)
		return -ENODEV;
	rc = genl_open(g, "netdev", NULL);
	if (rc)
		return rc;
	genl_begin(g, cmd, 0);
	genl_put_u32(g, ZC_NETDEV_A_DMABUF_IFINDEX, ifindex);
	genl_put_u32(g, ZC_NETDEV_A_DMABUF_FD, (uint32_t)dmabuf);
	return 0;
}

int netdev_bind_rx(struct genl *g, const char *nic, unsigned int queue, int dmabuf, uint32_t *id)
{
	int rc = netdev_begin(g, ZC_NETDEV_CMD_BIND_RX, nic, dmabuf);
	size_t nest;

	if (rc)
		return rc;
	nest = genl_nest(g, ZC_NETDEV_A_DMABUF_QUEUES);
	genl_put_u32(g, ZC_NETDEV_A_QUEUE_ID, queue);
	genl_put_u32(g, ZC_NETDEV_A_QUEUE_TYPE, ZC_NETDEV_QUEUE_TYPE_RX);
	genl_nest_end(g, nest);
	return genl_ask(g, netdev_read_id, id, NULL);
}

int netdev_bind_tx(struct genl *g, const char *nic, int dmabuf, uint32_t *id)
{
	return netdev_begin(g, ZC_NETDEV_CMD_BIND_TX, nic, dmabuf)
		       ?: genl_ask(g, netdev_read_id, id, NULL);
}
