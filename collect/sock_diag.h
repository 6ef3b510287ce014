/* SPDX-License-Identifier: GPL-2.0-only */
/* TCP sockets as the kernel's sock_diag(7) tells of them, of the network namespace it was opened
 * in. */
#ifndef ZC_SOCK_DIAG_H
#define ZC_SOCK_DIAG_H

#include "lib/error.h"

#include <linux/inet_diag.h>
#include <stddef.h>
#include <stdint.h>

/* What came with one socket; attributes that did not are NULL. Valid within the call. */
struct sock_diag_socket {
	const struct inet_diag_msg *msg;
	const void *info, *memory; /* struct tcp_info, as long as it is; u32s of SK_MEMINFO_* */
	size_t info_len, memory_len;
	const char *congestion;
};

typedef void (*sock_diag_found)(void *arg, const struct sock_diag_socket *s);

/* A descriptor, or -errno; a kernel that cannot tell of TCP sockets is -ENOENT. */
int sock_diag_open(struct error *err);

/* Calls `found` for each socket that is connected, connects or listens, of AF_INET or AF_INET6. 0
 * or -errno. */
int sock_diag_all(int fd, int family, sock_diag_found found, void *arg);

/* For that one, as `msg` once told of it; -ENOENT when it is no more. */
int sock_diag_one(int fd, const struct inet_diag_msg *msg, sock_diag_found found, void *arg);

#endif
