/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel's interfaces call things, where the system's headers may be too old to say:
 * written from the kernel's documentation and checked against the headers where those have them.
 */
#ifndef TCPZC_UAPI_H
#define TCPZC_UAPI_H

#include <time.h> /* errqueue.h wants it first */
#include <linux/errqueue.h>
#include <linux/tcp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum {
	UAPI_SO_ZEROCOPY = 60,
	UAPI_MSG_ZEROCOPY = 0x4000000,
	UAPI_SO_EE_ORIGIN_ZEROCOPY = 5,
	UAPI_SO_EE_CODE_ZEROCOPY_COPIED = 1,
	UAPI_TCP_ZEROCOPY_RECEIVE = 35,
	UAPI_SO_BUSY_POLL = 46,
	UAPI_SO_INCOMING_NAPI_ID = 56,
	UAPI_SO_PREFER_BUSY_POLL = 69,
	UAPI_SO_BUSY_POLL_BUDGET = 70,
};

/* getsockopt(TCP_ZEROCOPY_RECEIVE), as of Linux 5.12; older kernels take a shorter one. */
struct uapi_zerocopy_receive {
	uint64_t address;	  /* in: page-aligned, inside a mapping of the socket */
	uint32_t length;	  /* in: bytes to map at most; out: bytes mapped */
	uint32_t recv_skip_hint;  /* out: bytes that cannot be mapped, to be read next */
	uint32_t inq;		  /* out: bytes in the receive queue */
	int32_t err;		  /* out: the socket's pending error, a negative errno, cleared */
	uint64_t copybuf_address; /* in: where to copy what cannot be mapped */
	int32_t copybuf_len;	  /* in: its length; out: bytes copied, or a negative errno */
	uint32_t flags;
	uint64_t msg_control, msg_controllen;
	uint32_t msg_flags, reserved;
};

/* io_uring's zero-copy send: bits of sqe.ioprio, and of a notification's cqe.res. */
enum {
	UAPI_IORING_RECVSEND_FIXED_BUF = 1 << 2,
	UAPI_IORING_SEND_ZC_REPORT_USAGE = 1 << 3, /* 6.2; EINVAL before */
};
#define UAPI_IORING_NOTIF_USAGE_ZC_COPIED (1U << 31)

/* io_uring's busy polling, 6.9, and waits that are no iowait, 6.15. */
enum {
	UAPI_IORING_REGISTER_NAPI = 27,
	UAPI_IORING_FEAT_NO_IOWAIT = 1 << 17,
	UAPI_IORING_ENTER_NO_IOWAIT = 1 << 7,
};
struct uapi_io_uring_napi {
	uint32_t busy_poll_us;
	uint8_t prefer_busy_poll, opcode, pad[2]; /* opcode 0: set */
	uint32_t tracking;			  /* 0: of all sockets that requests are for */
	uint32_t resv;
};

#ifdef SO_PREFER_BUSY_POLL
_Static_assert(SO_BUSY_POLL == UAPI_SO_BUSY_POLL, "SO_BUSY_POLL");
_Static_assert(SO_INCOMING_NAPI_ID == UAPI_SO_INCOMING_NAPI_ID, "SO_INCOMING_NAPI_ID");
_Static_assert(SO_PREFER_BUSY_POLL == UAPI_SO_PREFER_BUSY_POLL, "SO_PREFER_BUSY_POLL");
_Static_assert(SO_BUSY_POLL_BUDGET == UAPI_SO_BUSY_POLL_BUDGET, "SO_BUSY_POLL_BUDGET");
#endif
#ifdef IORING_FEAT_NO_IOWAIT
_Static_assert(IORING_FEAT_NO_IOWAIT == UAPI_IORING_FEAT_NO_IOWAIT, "IORING_FEAT_NO_IOWAIT");
_Static_assert(IORING_ENTER_NO_IOWAIT == UAPI_IORING_ENTER_NO_IOWAIT, "IORING_ENTER_NO_IOWAIT");
#endif
#ifdef SO_ZEROCOPY
_Static_assert(SO_ZEROCOPY == UAPI_SO_ZEROCOPY, "SO_ZEROCOPY");
#endif
#ifdef MSG_ZEROCOPY
_Static_assert((int)MSG_ZEROCOPY == (int)UAPI_MSG_ZEROCOPY, "MSG_ZEROCOPY");
#endif
#ifdef SO_EE_CODE_ZEROCOPY_COPIED
_Static_assert(SO_EE_ORIGIN_ZEROCOPY == UAPI_SO_EE_ORIGIN_ZEROCOPY, "SO_EE_ORIGIN_ZEROCOPY");
_Static_assert(SO_EE_CODE_ZEROCOPY_COPIED == UAPI_SO_EE_CODE_ZEROCOPY_COPIED, "ZEROCOPY_COPIED");
#endif
#ifdef TCP_ZEROCOPY_RECEIVE
_Static_assert(TCP_ZEROCOPY_RECEIVE == UAPI_TCP_ZEROCOPY_RECEIVE, "TCP_ZEROCOPY_RECEIVE");
_Static_assert(offsetof(struct tcp_zerocopy_receive, recv_skip_hint) ==
		       offsetof(struct uapi_zerocopy_receive, recv_skip_hint),
	       "struct tcp_zerocopy_receive");
#endif
#ifdef TCP_RECEIVE_ZEROCOPY_FLAG_TLB_CLEAN_HINT /* a header with all of the fields */
_Static_assert(offsetof(struct tcp_zerocopy_receive, msg_controllen) ==
		       offsetof(struct uapi_zerocopy_receive, msg_controllen),
	       "struct tcp_zerocopy_receive");
_Static_assert(sizeof(struct tcp_zerocopy_receive) == sizeof(struct uapi_zerocopy_receive),
	       "struct tcp_zerocopy_receive");
#endif

#endif
