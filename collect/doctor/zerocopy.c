// SPDX-License-Identifier: GPL-2.0-only
/* Which ways of not copying this kernel has. */
#include "collect/doctor/doctor.h"
#include "collect/host.h"

#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/zc_kernel.h"
#include "lib/zc_uapi.h"

#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- io_uring --- */

/* Makes a ring with these IORING_SETUP_ flags and fills *p. Returns its descriptor or -errno. */
static int uring_open(uint32_t flags, struct io_uring_params *p)
{
	int fd;

	*p = (struct io_uring_params){.flags = flags};
	fd = (int)syscall(__NR_io_uring_setup, 8, p);
	return fd < 0 ? -errno : fd;
}

/*
 * --- a queue, for a moment ---
 *
 * These functions really take a receive queue for zero copy and release it before they return.
 */

/* Both sizes are whole pages, also where a page has 64 KiB. */
enum { ENTRIES = 64, AREA = 256 << 10, REGION = 64 << 10 };

/* Returns 0 or -errno. */
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

	return syscall(__NR_io_uring_register, fd, ZC_IORING_REGISTER_ZCRX_IFQ, &reg, 1) < 0
		       ? -errno
		       : 0;
}

/* Returns 0 or -errno. */
static int try_zcrx(unsigned int nic, unsigned int queue)
{
	uint32_t flags = ZC_IORING_SETUP_CQE32 | ZC_IORING_SETUP_SINGLE_ISSUER |
			 ZC_IORING_SETUP_DEFER_TASKRUN;
	struct io_uring_params p;
	int fd = uring_open(flags, &p), rc;
	char *memory;

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

/*
 * Binds a dmabuf to the queue, or, with queue -1, to the interface for sending. Fills `reason`, 256
 * bytes, with the kernel's message. Returns 0 or -errno.
 */
static int try_devmem(const char *nic, int queue, int dmabuf, char *reason)
{
	struct genl g;
	int rc = queue < 0 ? netdev_bind_tx(&g, nic, dmabuf, NULL)
			   : netdev_bind_rx(&g, nic, (unsigned int)queue, dmabuf, NULL);

	snprintf(reason, sizeof(g.said), "%s", g.said);
	genl_close(&g);
	return rc;
}

/* --- the checks --- */

enum { FEW_NOTIFICATIONS = 131072 }; /* bytes of net.core.optmem_max; the default since 6.7 */

static const struct {
	const char *name;
	unsigned int op;
	const char *since, *but;
} ops[] = {
	{"SEND_ZC", ZC_IORING_OP_SEND_ZC, "6.0", "over loopback and veth it copies anyway"},
	{"SENDMSG_ZC", ZC_IORING_OP_SENDMSG_ZC, "6.1", "over loopback and veth it copies anyway"},
	{"RECV_ZC", ZC_IORING_OP_RECV_ZC, "6.15",
	 "only a registration shows whether a NIC has it (zcrx)"},
};

static void doctor_put_no_uring(struct doctor *d, int code)
{
	double off = host_sysctl_number("kernel.io_uring_disabled", 0);

	if (code == EPERM && off > 0)
		doctor_put(d, "io_uring", STATE_NO, "sysctl kernel.io_uring_disabled=0",
			   "kernel.io_uring_disabled is %.0f", off);
	else if (code == ENOSYS)
		doctor_put(d, "io_uring", STATE_NO, NULL,
			   "this kernel has none (CONFIG_IO_URING), or a seccomp filter hides it");
	else
		doctor_put(d, "io_uring", STATE_NO, code == ENOMEM ? "ulimit -l unlimited" : NULL,
			   "io_uring_setup: %s", strerror(code));
}

void doctor_check_io_uring(struct doctor *d)
{
	enum { OPS = 128 };
	autofree struct io_uring_probe *known =
		xcalloc(1, sizeof(*known) + OPS * sizeof(known->ops[0]));
	struct io_uring_params p;
	autoclose int fd = uring_open(0, &p);

	if (fd < 0) {
		doctor_put_no_uring(d, -fd);
		return;
	}
	/* A kernel that knows no probe leaves all operations unknown. */
	syscall(__NR_io_uring_register, fd, IORING_REGISTER_PROBE, known, OPS);
	doctor_put(d, "io_uring", STATE_YES, NULL, "rings can be made");
	for (size_t i = 0; i < array_size(ops); i++)
		if (known->ops[ops[i].op].flags & IO_URING_OP_SUPPORTED)
			doctor_put(d, ops[i].name, STATE_YES, NULL, "the kernel has it; %s",
				   ops[i].but);
		else
			doctor_put(d, ops[i].name, STATE_NO, NULL,
				   "this kernel lacks it; it came with %s", ops[i].since);
}

void doctor_check_msg_zerocopy(struct doctor *d)
{
	struct tcp_zerocopy_receive z = {0};
	socklen_t len = sizeof(z);
	autoclose int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const int one = 1;
	double optmem = host_sysctl_number("net.core.optmem_max", 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof(one)))
		doctor_put(d, "MSG_ZEROCOPY", STATE_NO, NULL, "SO_ZEROCOPY: %s", strerror(errno));
	else
		doctor_put(d, "MSG_ZEROCOPY", STATE_YES, NULL,
			   "sockets take SO_ZEROCOPY; over loopback and veth every send is copied");
	if (optmem >= 0 && optmem < FEW_NOTIFICATIONS)
		doctor_put(d, "optmem_max", STATE_PARTLY, "sysctl net.core.optmem_max=1048576",
			   "%.0f bytes: sends wait for notifications (ENOBUFS) with few in flight",
			   optmem);
	else if (optmem >= 0)
		doctor_put(d, "optmem_max", STATE_YES, NULL,
			   "%.0f bytes for notifications of sends in flight", optmem);
	/* On a socket that is not connected: EINVAL where it is known, ENOPROTOOPT where not. */
	if (fd >= 0 && getsockopt(fd, IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE, &z, &len) &&
	    (errno == ENOPROTOOPT || errno == EOPNOTSUPP))
		doctor_put(d, "TCP_ZEROCOPY_RECEIVE", STATE_NO, NULL,
			   "this kernel lacks it (4.18, CONFIG_MMU)");
	else
		doctor_put(
			d, "TCP_ZEROCOPY_RECEIVE", STATE_YES, NULL,
			"the kernel has it; pages map where the MSS is a multiple of the page size and the sender's pages allow it");
}

/* Puts why the kernel refused a request. */
static void doctor_put_refusal(struct doctor *d, const char *what, int rc, const char *reason,
			       enum zc_request request)
{
	const struct refusal *r = refusal_find(request, -rc);

	doctor_put(d, what, STATE_NO, r->todo, "%s: %s%s%s%s", strerror(-rc), r->why,
		   reason && *reason ? " (the kernel: " : "", reason && *reason ? reason : "",
		   reason && *reason ? ")" : "");
}

/* Puts the result of taking a queue that the user named. */
static void doctor_put_try(struct doctor *d, const char *queue, int rc, const char *reason,
			   enum zc_request request)
{
	if (rc)
		doctor_put_refusal(d, queue, rc, reason, request);
	else
		doctor_put(d, queue, STATE_YES, NULL, "registered, and released again");
}

/* Splits "IF:QUEUE". The caller frees *nic. */
static unsigned int doctor_split_queue(const char *text, char **nic)
{
	const char *colon = strrchr(text, ':');

	*nic = xstrndup(text, (size_t)(colon - text));
	return (unsigned int)atoi(colon + 1);
}

#define HAS_IT(option)                                                                      \
	"the kernel has it; it also needs a NIC with header split and a queue API (" option \
	" IF:QUEUE tries)"

/*
 * The kernel looks for the interface last, and this one cannot exist. ENODEV means that the kernel
 * understood the rest of the request, EOPNOTSUPP that it was built without zcrx, EINVAL that it is
 * too old.
 */
void doctor_check_zcrx(struct doctor *d)
{
	int rc = try_zcrx(INT32_MAX, 0);

	if (rc == -EOPNOTSUPP)
		doctor_put(d, "kernel", STATE_NO, NULL,
			   "the kernel was built without CONFIG_IO_URING_ZCRX");
	else if (rc && rc != -ENODEV)
		doctor_put_refusal(d, "kernel", rc, NULL, ZC_ZCRX);
	else
		doctor_put(d, "kernel", STATE_YES, NULL, HAS_IT("--zcrx"));
	if (!d->zcrx) {
		doctor_put_split(d);
	} else {
		autofree char *nic = NULL;
		unsigned int queue = doctor_split_queue(d->zcrx, &nic), index = if_nametoindex(nic);

		rc = index ? try_zcrx(index, queue) : -ENODEV;
		doctor_put_try(d, d->zcrx, rc, NULL, ZC_ZCRX);
	}
}

/*
 * Loopback can neither send nor receive so. A kernel that can on other interfaces says why it
 * refuses this one, or finds no dmabuf.
 */
static bool doctor_is_there(int rc, const char *reason)
{
	return !rc || rc == -EBADF || (rc == -EOPNOTSUPP && *reason);
}

/* Some kernels, such as 6.18, refuse loopback without a message before they look for this part. */
static bool doctor_has_devmem(void)
{
	autofree char *path = xasprintf("%s/kallsyms", proc_root()), *symbols = NULL;
	struct error err;

	return !file_read(path, &symbols, NULL, &err) &&
	       strstr(symbols, " net_devmem_bind_dmabuf\n");
}

/* Returns whether the kernel can receive. */
static bool doctor_put_devmem_rx(struct doctor *d, int dmabuf)
{
	char reason[256];
	int rc = try_devmem("lo", 0, dmabuf, reason);
	bool yes = doctor_is_there(rc, reason) || (rc == -EOPNOTSUPP && doctor_has_devmem());

	if (yes)
		doctor_put(d, "kernel", STATE_YES, NULL, HAS_IT("--devmem"));
	else if (rc == -EOPNOTSUPP)
		doctor_put(
			d, "kernel", STATE_NO, NULL,
			"the kernel refused, and /proc/kallsyms has no net_devmem_bind_dmabuf: it is older than 6.12, or was built without CONFIG_NET_DEVMEM");
	else
		doctor_put_refusal(d, "kernel", rc, reason, ZC_BIND_RX);
	return yes;
}

/* `rx` says that receiving is there: both directions share a part that the kernel checks last. */
static void doctor_put_devmem_tx(struct doctor *d, int dmabuf, bool rx)
{
	char reason[256];
	int rc = try_devmem("lo", -1, dmabuf, reason);

	if (doctor_is_there(rc, reason))
		doctor_put(
			d, "sending", rx ? STATE_YES : STATE_NO, NULL, "%s",
			rx ? "the kernel has it; it also needs a NIC whose driver can send from device memory"
			   : "the kernel knows the request, but the check 'kernel' failed; sending and receiving both need CONFIG_NET_DEVMEM");
	else if (rc == -EOPNOTSUPP)
		doctor_put(d, "sending", STATE_NO, NULL,
			   "the kernel does not know the request: it came with 6.16");
	else
		doctor_put_refusal(d, "sending", rc, reason, ZC_BIND_TX);
}

void doctor_check_devmem(struct doctor *d)
{
	autoclose int fd = udmabuf_make(1 << 20, NULL);
	char reason[256], *nic;

	if (fd < 0)
		doctor_put_refusal(d, "udmabuf", fd, NULL, ZC_UDMABUF);
	else
		doctor_put(d, "udmabuf", STATE_YES, NULL, "a dmabuf of host memory can be made");
	doctor_put_devmem_tx(d, fd, doctor_put_devmem_rx(d, fd));
	if (!d->devmem) {
		doctor_put_split(d);
	} else {
		int queue = (int)doctor_split_queue(d->devmem, &nic);
		int rc = try_devmem(nic, queue, fd, reason);
		doctor_put_try(d, d->devmem, rc, reason, ZC_BIND_RX);
		free(nic);
	}
}
