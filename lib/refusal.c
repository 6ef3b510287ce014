// SPDX-License-Identifier: GPL-2.0-only
#include "lib/refusal.h"

#include <errno.h>
#include <stddef.h>

#define NIC_SETUP                                                                                  \
	"turn header split on (ethtool -G IF tcp-data-split on hds-thresh 0), take the queue out " \
	"of RSS (ethtool -X IF equal N) and steer the flow to it (ethtool -U IF flow-type tcp4 "   \
	"... "                                                                                     \
	"queue Q)"
#define NICS "NICs known to have it: bnxt, mlx5, gve, fbnic, in kernels from 6.15 on"

static const struct refusal refusals_zcrx[] = {
	{EPERM, "CAP_NET_ADMIN is missing in the initial namespace", "run as root"},
	{EINVAL,
	 "the ring lacks DEFER_TASKRUN or CQE32, the kernel does not know the request (before "
	 "6.15), "
	 "or header split is off or hds-thresh is not 0",
	 NIC_SETUP},
	{ENODEV, "there is no such interface in this network namespace",
	 "give the NIC's own name, from its own namespace"},
	{EOPNOTSUPP,
	 "the interface has no hardware queues of its own to hand over (loopback, veth, tap and "
	 "virtio_net have none), its driver has no queue API, or the kernel was built without "
	 "CONFIG_IO_URING_ZCRX",
	 NICS},
	{ERANGE, "the interface has no receive queue of that number",
	 "queues count from 0: ethtool -l IF tells how many there are"},
	{EEXIST,
	 "the queue has a memory provider already (another zcrx or devmem user), or an XDP "
	 "program is attached",
	 "end the other user; ip link set IF xdp off"},
	{EBUSY, "an AF_XDP socket is bound to the queue", "close it, or take another queue"},
	{EFAULT, "memory of the area or the ring is not mapped",
	 "a fault of the program, not of the host: report it"},
	{ENOMEM, "the area's pages cannot be pinned: RLIMIT_MEMLOCK, or memory is short",
	 "ulimit -l unlimited, or a smaller area"},
	{E2BIG, "the driver asks for larger pages than the area has",
	 "smaller buffers of the driver: ethtool -G IF rx-buf-len 4096"},
	{ENETDOWN, "the interface is down", "ip link set IF up"},
};

static const struct refusal refusals_devmem_rx[] = {
	{EPERM, "CAP_NET_ADMIN is missing", "run as root"},
	{EINVAL,
	 "header split is off or hds-thresh is not 0, the queue is none of receive, or the kernel "
	 "does not know the request (before 6.12)",
	 NIC_SETUP},
	{ENODEV, "there is no such interface in this network namespace, or it is going away",
	 "give the NIC's own name, from its own namespace"},
	{EOPNOTSUPP,
	 "the driver cannot receive into device memory (loopback, veth and virtio_net cannot), or "
	 "the "
	 "kernel was built without CONFIG_NET_DEVMEM",
	 "Linux 6.12 or later, and a NIC whose driver there has it (bnxt, mlx5, gve, fbnic: each "
	 "since a later kernel)"},
	{ERANGE, "the interface has no receive queue of that number",
	 "queues count from 0: ethtool -l IF tells how many there are"},
	{EEXIST,
	 "the queue has a memory provider already (another zcrx or devmem user), or an XDP program "
	 "is "
	 "attached",
	 "end the other user; ip link set IF xdp off"},
	{EBUSY, "an AF_XDP socket is bound to the queue", "close it, or take another queue"},
	{EBADF, "the file descriptor is no dmabuf", "give one of udmabuf or of a GPU's exporter"},
	{ENOMEM, "memory is short, or the dmabuf cannot be mapped for the NIC",
	 "a smaller dmabuf (--area), or one that this NIC can reach (its own IOMMU domain)"},
	{ENETDOWN, "the interface is down", "ip link set IF up"},
	{ENOENT, "the kernel has no generic netlink family 'netdev' (before 6.3)",
	 "devmem TCP takes Linux 6.12 or later"},
};

static const struct refusal refusals_devmem_tx[] = {
	{EPERM, "CAP_NET_ADMIN is missing", "run as root"},
	{EINVAL, "the kernel does not know the request (before 6.16)",
	 "sending from device memory takes Linux 6.16 or later"},
	{ENODEV, "there is no such interface in this network namespace",
	 "give the NIC's own name, from its own namespace"},
	{EOPNOTSUPP,
	 "the driver cannot send from device memory (no netmem_tx), or the kernel was built "
	 "without "
	 "CONFIG_NET_DEVMEM or is before 6.16",
	 "drivers known to have it: bnxt, gve, mlx5, fbnic, in kernels from 6.16 on"},
	{EBADF, "the file descriptor is no dmabuf", "give one of udmabuf or of a GPU's exporter"},
	{ENOENT, "the kernel has no generic netlink family 'netdev' (before 6.3)",
	 "sending from device memory takes Linux 6.16 or later"},
};

static const struct refusal refusals_udmabuf[] = {
	{ENOENT, "there is no /dev/udmabuf", "modprobe udmabuf (CONFIG_UDMABUF)"},
	{EACCES, "/dev/udmabuf may not be opened", "run as root, or join the group kvm"},
	{EINVAL, "the memfd is not sealed against shrinking, or its size is above the limit",
	 "raise /sys/module/udmabuf/parameters/size_limit_mb"},
	{ENOMEM, "memory is short",
	 "a smaller dmabuf (--area), or free memory: grep MemAvailable /proc/meminfo"},
};

static const struct refusal *refusal_find(const struct refusal *list, size_t n, int code)
{
	static const struct refusal unknown = {0, "an errno that is not known to come from here",
					       "the driver may have refused: see dmesg"};
	size_t i;

	for (i = 0; i < n; i++)
		if (list[i].code == code)
			return &list[i];
	return &unknown;
}

#define REFUSAL_FIND(list) refusal_find(list, sizeof(list) / sizeof(*(list)), code)

const struct refusal *refusal_zcrx(int code)
{
	return REFUSAL_FIND(refusals_zcrx);
}

const struct refusal *refusal_devmem_rx(int code)
{
	return REFUSAL_FIND(refusals_devmem_rx);
}

const struct refusal *refusal_devmem_tx(int code)
{
	return REFUSAL_FIND(refusals_devmem_tx);
}

const struct refusal *refusal_udmabuf(int code)
{
	return REFUSAL_FIND(refusals_udmabuf);
}
