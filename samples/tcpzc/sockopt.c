// SPDX-License-Identifier: GPL-2.0-only
/*
 * Socket options: those set before the connection, and those read at the end. Buffers must be set
 * early because they decide on the window scale, and the segment size because the handshake
 * negotiates it. Connections inherit the options of their listening socket.
 */
#include "run.h"

#include <errno.h>
#include <limits.h>
#include <linux/tcp.h>
#include <netinet/in.h>

enum { KEEP_COUNT = 4 };

static int sockopt_set_int(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof(value));
}

/* Exceeds net.core.[rw]mem_max when the process has the right to. */
static int sockopt_set_buffer(struct flow *f, int fd, int force, int plain, const char *what,
			      size_t size)
{
	int value = size > INT_MAX / 2 ? INT_MAX / 2 : (int)size;

	if (!size || !sockopt_set_int(fd, SOL_SOCKET, force, value) ||
	    !sockopt_set_int(fd, SOL_SOCKET, plain, value))
		return 0;
	return flow_fail(f, errno, "--%s %zu", what, size);
}

/* Limits the wait for a peer that vanished: by unacknowledged data, or by keepalive probes. */
static void sockopt_set_tcp(struct flow *f, int fd)
{
	int seconds = (int)(f->opt->peer_timeout / KEEP_COUNT) + 1;

	sockopt_set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	sockopt_set_int(fd, IPPROTO_TCP, TCP_KEEPIDLE, seconds);
	sockopt_set_int(fd, IPPROTO_TCP, TCP_KEEPINTVL, seconds);
	sockopt_set_int(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEP_COUNT);
	sockopt_set_int(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, (int)(f->opt->peer_timeout * 1000));
	if (f->opt->rr) /* a request must not wait until the previous one is acknowledged */
		sockopt_set_int(fd, IPPROTO_TCP, TCP_NODELAY, 1);
}

int sockopt_set(struct flow *f, int fd)
{
	const struct options *o = f->opt;

	if (!o->udp)
		sockopt_set_tcp(f, fd);
	if (sockopt_set_buffer(f, fd, SO_SNDBUFFORCE, SO_SNDBUF, "sndbuf", o->sndbuf) ||
	    sockopt_set_buffer(f, fd, SO_RCVBUFFORCE, SO_RCVBUF, "rcvbuf", o->rcvbuf))
		return -f->error;
	return 0;
}

/* How the figures of several flows become one figure. */
enum fold { SUM, MEAN, LEAST };

#define TI(member) offsetof(struct tcp_info, member), sizeof(((struct tcp_info *)0)->member)
static const struct {
	const char *name;
	size_t at, size;
	enum fold fold;
} tcp_figures[] = {
	{"rtt_us", TI(tcpi_rtt), MEAN},
	{"rttvar_us", TI(tcpi_rttvar), MEAN},
	{"rcv_rtt_us", TI(tcpi_rcv_rtt), MEAN},
	{"cwnd", TI(tcpi_snd_cwnd), SUM},
	{"retransmits", TI(tcpi_total_retrans), SUM},
	{"mss", TI(tcpi_snd_mss), LEAST},
	{"rcv_mss", TI(tcpi_rcv_mss), LEAST},
	{"delivery_rate", TI(tcpi_delivery_rate), SUM},
};
enum { TCP_FIGURES = sizeof(tcp_figures) / sizeof(tcp_figures[0]) };

static uint64_t tcp_info_figure(const struct tcp_info *ti, size_t i)
{
	const char *p = (const char *)ti + tcp_figures[i].at;

	return tcp_figures[i].size == 8 ? *(const uint64_t *)p : *(const uint32_t *)p;
}

json_t *sockopt_tcp_info(const struct flow *flows, unsigned int n)
{
	uint64_t v[TCP_FIGURES] = {0};
	unsigned int i, k, seen = 0;
	json_t *o;

	for (i = 0; i < n; i++) {
		struct tcp_info ti = {0};
		socklen_t len = sizeof(ti);

		if (getsockopt(flows[i].fd, IPPROTO_TCP, TCP_INFO, &ti, &len))
			continue;
		for (k = 0; k < TCP_FIGURES; k++) {
			uint64_t one = tcp_info_figure(&ti, k);

			if (tcp_figures[k].fold != LEAST)
				v[k] += one;
			else if (!seen || one < v[k])
				v[k] = one;
		}
		seen++;
	}
	if (!seen)
		return json_null();
	o = json_object();
	for (k = 0; k < TCP_FIGURES; k++)
		json_object_set_new(
			o, tcp_figures[k].name,
			json_integer(
				(json_int_t)(tcp_figures[k].fold == MEAN ? v[k] / seen : v[k])));
	return o;
}
