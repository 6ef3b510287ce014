/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A TCP socket in the kernel's structures inet_diag_msg and tcp_info and the words of SK_MEMINFO.
 * The kernel never changes the places of their members. Older kernels have shorter ones; a member
 * they lack is NAN.
 */
#ifndef ZC_TCP_INFO_H
#define ZC_TCP_INFO_H

#include "analyze/model/rows.h"

struct tcp_seen {
	uint64_t cookie; /* tells a socket from a later one with its addresses */
	int64_t pid;
	char local[64], peer[64]; /* "127.0.0.1:80", "[::1]:80" */
	const char *state, *congestion;
	double f[SOCKET_NFIGURES]; /* counters since the socket was made; app_limited 0 or 100 */
};

/* How a figure's readings become one value. */
enum tcp_kind { TCP_MEDIAN, TCP_LEAST, TCP_MEAN, TCP_GROWTH32, TCP_GROWTH };
enum tcp_kind tcp_kind(enum socket_figure f);

/*
 * Parses "<pid> <msg> <tcp_info> <memory> <name>", which holds hexadecimal digits, and cuts it up.
 * Returns false for any other line.
 */
bool tcp_info_parse(char *line, bool little, struct tcp_seen *s);

#endif
