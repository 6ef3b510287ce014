// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares lib/zc_uapi.h with the system's headers at compile time. This file generates no code. A
 * definition that is no macro is compared from the header version that added it. The file includes
 * no liburing header, because liburing's copy of io_uring.h may be of another version than the
 * system's.
 */
#include "lib/zc_uapi.h"

/* a devmem header; the C library also defines struct iovec */
#define iovec uapi_iovec
#include <linux/uio.h>
#undef iovec

#include <linux/version.h>
#include <sys/ioctl.h>

#if defined(__has_include)
#if __has_include(<linux/udmabuf.h>)
#include <linux/udmabuf.h>
#endif
#if __has_include(<linux/netdev.h>)
#include <linux/netdev.h>
#endif
#endif

#define SINCE(major, minor) (LINUX_VERSION_CODE >= KERNEL_VERSION(major, minor, 0))
#define SAME(name)	    _Static_assert((long long)(name) == (long long)ZC_##name, #name)
#define SAME_SIZE(theirs, ours) \
	_Static_assert(sizeof(struct theirs) == sizeof(struct ours), #theirs)
#define SAME_PLACE(theirs, ours, member)                                                 \
	_Static_assert(offsetof(struct theirs, member) == offsetof(struct ours, member), \
		       #theirs "." #member)

/* --- io_uring --- */

#ifdef IORING_SETUP_CQE32
SAME(IORING_SETUP_CQE32);
#endif
#ifdef IORING_SETUP_SINGLE_ISSUER
SAME(IORING_SETUP_SINGLE_ISSUER);
#endif
#ifdef IORING_SETUP_DEFER_TASKRUN
SAME(IORING_SETUP_DEFER_TASKRUN);
#endif
#ifdef IORING_RECVSEND_FIXED_BUF
SAME(IORING_RECVSEND_FIXED_BUF);
#endif
#ifdef IORING_SEND_ZC_REPORT_USAGE
SAME(IORING_SEND_ZC_REPORT_USAGE);
#endif
#ifdef IORING_NOTIF_USAGE_ZC_COPIED
SAME(IORING_NOTIF_USAGE_ZC_COPIED);
#endif
#if SINCE(6, 1)
SAME(IORING_OP_SEND_ZC);
SAME(IORING_OP_SENDMSG_ZC);
#endif
#if SINCE(6, 9)
SAME(IORING_REGISTER_NAPI);
SAME_SIZE(io_uring_napi, zc_io_uring_napi);
SAME_PLACE(io_uring_napi, zc_io_uring_napi, prefer_busy_poll);
#endif
#if SINCE(6, 13)
SAME_PLACE(io_uring_napi, zc_io_uring_napi, opcode);
SAME(IORING_MEM_REGION_TYPE_USER);
SAME_SIZE(io_uring_region_desc, zc_region_desc);
SAME_PLACE(io_uring_region_desc, zc_region_desc, size);
SAME_PLACE(io_uring_region_desc, zc_region_desc, flags);
SAME_PLACE(io_uring_region_desc, zc_region_desc, mmap_offset);
#endif

#ifdef IORING_ZCRX_AREA_SHIFT /* 6.15 */
SAME(IORING_OP_RECV_ZC);
SAME(IORING_REGISTER_ZCRX_IFQ);
_Static_assert(IORING_ZCRX_AREA_SHIFT == ZC_ZCRX_AREA_SHIFT, "IORING_ZCRX_AREA_SHIFT");
SAME_SIZE(io_uring_zcrx_offsets, zc_zcrx_offsets);
SAME_PLACE(io_uring_zcrx_offsets, zc_zcrx_offsets, head);
SAME_PLACE(io_uring_zcrx_offsets, zc_zcrx_offsets, tail);
SAME_PLACE(io_uring_zcrx_offsets, zc_zcrx_offsets, rqes);
SAME_SIZE(io_uring_zcrx_area_reg, zc_zcrx_area_reg);
SAME_PLACE(io_uring_zcrx_area_reg, zc_zcrx_area_reg, len);
SAME_PLACE(io_uring_zcrx_area_reg, zc_zcrx_area_reg, rq_area_token);
SAME_PLACE(io_uring_zcrx_area_reg, zc_zcrx_area_reg, flags);
SAME_SIZE(io_uring_zcrx_ifq_reg, zc_zcrx_ifq_reg);
SAME_PLACE(io_uring_zcrx_ifq_reg, zc_zcrx_ifq_reg, if_rxq);
SAME_PLACE(io_uring_zcrx_ifq_reg, zc_zcrx_ifq_reg, rq_entries);
SAME_PLACE(io_uring_zcrx_ifq_reg, zc_zcrx_ifq_reg, flags);
SAME_PLACE(io_uring_zcrx_ifq_reg, zc_zcrx_ifq_reg, area_ptr);
SAME_PLACE(io_uring_zcrx_ifq_reg, zc_zcrx_ifq_reg, region_ptr);
SAME_PLACE(io_uring_zcrx_ifq_reg, zc_zcrx_ifq_reg, offsets);
SAME_SIZE(io_uring_zcrx_rqe, zc_zcrx_rqe);
SAME_PLACE(io_uring_zcrx_rqe, zc_zcrx_rqe, len);
SAME_SIZE(io_uring_zcrx_cqe, zc_zcrx_cqe);
SAME_PLACE(io_uring_zcrx_cqe, zc_zcrx_cqe, off);
#endif
#if defined(IORING_ZCRX_AREA_SHIFT) && SINCE(6, 16)
SAME_PLACE(io_uring_zcrx_area_reg, zc_zcrx_area_reg, dmabuf_fd);
SAME_PLACE(io_uring_zcrx_ifq_reg, zc_zcrx_ifq_reg, zcrx_id);
#endif

/* --- sockets --- */

#ifdef SO_ZEROCOPY
SAME(SO_ZEROCOPY);
#endif
#ifdef MSG_ZEROCOPY
SAME(MSG_ZEROCOPY);
#endif
#ifdef SO_EE_CODE_ZEROCOPY_COPIED
SAME(SO_EE_ORIGIN_ZEROCOPY);
SAME(SO_EE_CODE_ZEROCOPY_COPIED);
#endif
#ifdef SO_BUSY_POLL
SAME(SO_BUSY_POLL);
SAME(SO_INCOMING_NAPI_ID);
#endif
#ifdef TCP_ZEROCOPY_RECEIVE
SAME(TCP_ZEROCOPY_RECEIVE);
SAME_PLACE(tcp_zerocopy_receive, zc_zerocopy_receive, length);
SAME_PLACE(tcp_zerocopy_receive, zc_zerocopy_receive, recv_skip_hint);
#endif
#ifdef TCP_RECEIVE_ZEROCOPY_FLAG_TLB_CLEAN_HINT /* 5.12 */
SAME_SIZE(tcp_zerocopy_receive, zc_zerocopy_receive);
SAME_PLACE(tcp_zerocopy_receive, zc_zerocopy_receive, inq);
SAME_PLACE(tcp_zerocopy_receive, zc_zerocopy_receive, err);
SAME_PLACE(tcp_zerocopy_receive, zc_zerocopy_receive, copybuf_address);
SAME_PLACE(tcp_zerocopy_receive, zc_zerocopy_receive, copybuf_len);
SAME_PLACE(tcp_zerocopy_receive, zc_zerocopy_receive, flags);
SAME_PLACE(tcp_zerocopy_receive, zc_zerocopy_receive, msg_control);
SAME_PLACE(tcp_zerocopy_receive, zc_zerocopy_receive, msg_controllen);
SAME_PLACE(tcp_zerocopy_receive, zc_zerocopy_receive, msg_flags);
#endif

/* --- devmem TCP --- */

#ifdef MSG_SOCK_DEVMEM
SAME(MSG_SOCK_DEVMEM);
#endif
#ifdef SO_DEVMEM_DONTNEED
SAME(SO_DEVMEM_LINEAR);
SAME(SO_DEVMEM_DMABUF);
SAME(SO_DEVMEM_DONTNEED);
#endif
#if SINCE(6, 12)
SAME_SIZE(dmabuf_cmsg, zc_dmabuf_cmsg);
SAME_PLACE(dmabuf_cmsg, zc_dmabuf_cmsg, frag_offset);
SAME_PLACE(dmabuf_cmsg, zc_dmabuf_cmsg, frag_size);
SAME_PLACE(dmabuf_cmsg, zc_dmabuf_cmsg, frag_token);
SAME_PLACE(dmabuf_cmsg, zc_dmabuf_cmsg, dmabuf_id);
SAME_PLACE(dmabuf_cmsg, zc_dmabuf_cmsg, flags);
SAME_SIZE(dmabuf_token, zc_dmabuf_token);
SAME_PLACE(dmabuf_token, zc_dmabuf_token, token_count);
#endif

#if defined(NETDEV_FAMILY_NAME) && SINCE(6, 12)
SAME(NETDEV_CMD_BIND_RX);
SAME(NETDEV_A_DMABUF_IFINDEX);
SAME(NETDEV_A_DMABUF_QUEUES);
SAME(NETDEV_A_DMABUF_FD);
SAME(NETDEV_A_DMABUF_ID);
SAME(NETDEV_A_QUEUE_ID);
SAME(NETDEV_A_QUEUE_TYPE);
SAME(NETDEV_QUEUE_TYPE_RX);
#endif
#if defined(NETDEV_FAMILY_NAME) && SINCE(6, 16)
SAME(NETDEV_CMD_BIND_TX);
#endif

#ifdef UDMABUF_CREATE
SAME(UDMABUF_CREATE);
SAME_PLACE(udmabuf_create, zc_udmabuf_create, flags);
SAME_PLACE(udmabuf_create, zc_udmabuf_create, offset);
SAME_PLACE(udmabuf_create, zc_udmabuf_create, size);
#endif
