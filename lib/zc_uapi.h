/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Constants and structures of the kernel's zero-copy interfaces, for systems with headers older
 * than the kernel. They follow the kernel's documentation
 * (Documentation/networking/{iou-zcrx,devmem}.rst, netlink/specs/netdev.yaml).
 * They are part of the kernel's stable interface.
 */
#ifndef ZC_UAPI_H
#define ZC_UAPI_H

#include <time.h> /* errqueue.h needs it first */
#include <linux/errqueue.h>
#include <linux/io_uring.h>
#include <linux/tcp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* --- io_uring --- */

enum {
	ZC_IORING_SETUP_CQE32 = 1 << 11,
	ZC_IORING_SETUP_SINGLE_ISSUER = 1 << 12,
	ZC_IORING_SETUP_DEFER_TASKRUN = 1 << 13,
	ZC_IORING_OP_SEND_ZC = 47,
	ZC_IORING_OP_SENDMSG_ZC = 48,
	ZC_IORING_OP_RECV_ZC = 58,
	ZC_IORING_REGISTER_ZCRX_IFQ = 32,
	ZC_IORING_MEM_REGION_TYPE_USER = 1,
	ZC_ZCRX_AREA_SHIFT = 48, /* shift of cqe.off; the upper bits are the area's id */
	ZC_ZCRX_MAX_ENTRIES = 32768,
};

struct zc_zcrx_offsets {
	uint32_t head, tail, rqes, resv2;
	uint64_t resv[2];
};

struct zc_region_desc {
	uint64_t user_addr, size;
	uint32_t flags, id;
	uint64_t mmap_offset;
	uint64_t resv[4];
};

struct zc_zcrx_area_reg {
	uint64_t addr, len;
	uint64_t rq_area_token; /* out: upper bits of each refill entry's offset */
	uint32_t flags, dmabuf_fd;
	uint64_t resv[2];
};

struct zc_zcrx_ifq_reg {
	uint32_t if_idx, if_rxq, rq_entries, flags;
	uint64_t area_ptr, region_ptr;
	struct zc_zcrx_offsets
		offsets;	 /* out: positions of the refill ring's parts in the region */
	uint32_t zcrx_id, resv2; /* zcrx_id is an output */
	uint64_t resv[3];
};

struct zc_zcrx_rqe { /* a refill ring entry, which returns memory to the kernel */
	uint64_t off;
	uint32_t len, pad;
};

struct zc_zcrx_cqe { /* follows the plain CQE in rings with CQE32 */
	uint64_t off;
	uint64_t pad;
};

_Static_assert(sizeof(struct zc_zcrx_offsets) == 32, "io_uring_zcrx_offsets");
_Static_assert(sizeof(struct zc_region_desc) == 64, "io_uring_region_desc");
_Static_assert(sizeof(struct zc_zcrx_area_reg) == 48, "io_uring_zcrx_area_reg");
_Static_assert(sizeof(struct zc_zcrx_ifq_reg) == 96, "io_uring_zcrx_ifq_reg");
_Static_assert(offsetof(struct zc_zcrx_ifq_reg, offsets) == 32, "io_uring_zcrx_ifq_reg");
_Static_assert(offsetof(struct zc_zcrx_ifq_reg, zcrx_id) == 64, "io_uring_zcrx_ifq_reg");
_Static_assert(sizeof(struct zc_zcrx_rqe) == 16, "io_uring_zcrx_rqe");
_Static_assert(sizeof(struct zc_zcrx_cqe) == 16, "io_uring_zcrx_cqe");

/* Bits of sqe.ioprio and of a notification's cqe.res for io_uring's zero-copy send. */
enum {
	ZC_IORING_RECVSEND_FIXED_BUF = 1 << 2,
	ZC_IORING_SEND_ZC_REPORT_USAGE = 1 << 3, /* 6.2; older kernels return EINVAL */
};
#define ZC_IORING_NOTIF_USAGE_ZC_COPIED (1U << 31)

/* --- devmem TCP --- */

enum {
	ZC_MSG_SOCK_DEVMEM = 0x2000000,
	ZC_SO_DEVMEM_LINEAR = 78, /* also SCM_: bytes that the kernel copied into host memory */
	ZC_SO_DEVMEM_DMABUF =
		79, /* also SCM_: a fragment that stayed in the dmabuf; for a sender, the id */
	ZC_SO_DEVMEM_DONTNEED = 80,
	ZC_DEVMEM_MAX_TOKENS = 128, /* ranges in one SO_DEVMEM_DONTNEED */
	ZC_DEVMEM_MAX_FRAGS = 1024, /* fragments that one call can return */
};

struct zc_dmabuf_cmsg {
	uint64_t frag_offset; /* offset in the dmabuf; unused for SCM_DEVMEM_LINEAR */
	uint32_t frag_size, frag_token, dmabuf_id, flags;
};

struct zc_dmabuf_token {
	uint32_t token_start, token_count;
};

_Static_assert(sizeof(struct zc_dmabuf_cmsg) == 24, "dmabuf_cmsg");
_Static_assert(sizeof(struct zc_dmabuf_token) == 8, "dmabuf_token");

/* The generic netlink family "netdev". */
enum {
	ZC_NETDEV_CMD_BIND_RX = 13,
	ZC_NETDEV_CMD_BIND_TX = 15,
	ZC_NETDEV_A_DMABUF_IFINDEX = 1,
	ZC_NETDEV_A_DMABUF_QUEUES = 2, /* nested attribute */
	ZC_NETDEV_A_DMABUF_FD = 3,
	ZC_NETDEV_A_DMABUF_ID = 4, /* answer */
	ZC_NETDEV_A_QUEUE_ID = 1,
	ZC_NETDEV_A_QUEUE_TYPE = 3,
	ZC_NETDEV_QUEUE_TYPE_RX = 0,
};

/* The request of /dev/udmabuf that makes a dmabuf from sealed memfd pages. */
struct zc_udmabuf_create {
	uint32_t memfd, flags;
	uint64_t offset, size;
};
#define ZC_UDMABUF_CREATE _IOW('u', 0x42, struct zc_udmabuf_create)

#endif
