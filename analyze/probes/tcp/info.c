// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/probes/tcp/info.h"

#include "lib/alloc.h"
#include "lib/cursor.h"
#include "lib/str.h"

#include <arpa/inet.h>
#include <math.h>
#include <stdio.h>

enum { BYTES = 1024, MSG = 72, FLAGS = 7, FAMILY_4 = 2, FAMILY_6 = 10 };
enum { INFO, MEMORY }; /* where a figure is */

/*
 * Figures and their places. `none`: the value that means "there is none". The kernel reports
 * a rate or time of 0 until the socket has measured it.
 */
static const struct {
	int from, offset, size;
	uint64_t none;
	enum tcp_kind kind;
} places[SOCKET_NFIGURES] = {
	[SOCKET_rtt_us] = {INFO, 68, 4, 0, TCP_MEDIAN},
	[SOCKET_rttvar_us] = {INFO, 72, 4, 0, TCP_MEDIAN},
	[SOCKET_min_rtt_us] = {INFO, 148, 4, UINT32_MAX, TCP_LEAST},
	[SOCKET_cwnd] = {INFO, 80, 4, 0, TCP_MEDIAN},
	[SOCKET_ssthresh] = {INFO, 76, 4, 0x7fffffff, TCP_MEDIAN},
	[SOCKET_mss] = {INFO, 16, 4, 0, TCP_MEDIAN},
	[SOCKET_delivery_rate] = {INFO, 160, 8, 0, TCP_MEDIAN},
	[SOCKET_pacing_rate] = {INFO, 104, 8, UINT64_MAX, TCP_MEDIAN},
	[SOCKET_rcv_rtt_us] = {INFO, 92, 4, 0, TCP_MEDIAN},
	[SOCKET_rcv_space] = {INFO, 96, 4, 0, TCP_MEDIAN},
	[SOCKET_snd_wnd] = {INFO, 228, 4, 0, TCP_MEDIAN},
	[SOCKET_unacked] = {INFO, 24, 4, UINT64_MAX, TCP_MEDIAN},
	[SOCKET_notsent] = {INFO, 144, 4, UINT64_MAX, TCP_MEDIAN},
	[SOCKET_rmem] = {MEMORY, 0, 4, UINT64_MAX, TCP_MEDIAN},
	[SOCKET_rcvbuf] = {MEMORY, 4, 4, UINT64_MAX, TCP_MEDIAN},
	[SOCKET_wmem] = {MEMORY, 20, 4, UINT64_MAX, TCP_MEDIAN},
	[SOCKET_sndbuf] = {MEMORY, 12, 4, UINT64_MAX, TCP_MEDIAN},
	[SOCKET_bytes_acked] = {INFO, 120, 8, UINT64_MAX, TCP_GROWTH},
	[SOCKET_bytes_received] = {INFO, 128, 8, UINT64_MAX, TCP_GROWTH},
	[SOCKET_bytes_sent] = {INFO, 200, 8, UINT64_MAX, TCP_GROWTH},
	[SOCKET_bytes_retrans] = {INFO, 208, 8, UINT64_MAX, TCP_GROWTH},
	[SOCKET_segs_out] = {INFO, 136, 4, UINT64_MAX, TCP_GROWTH32},
	[SOCKET_segs_in] = {INFO, 140, 4, UINT64_MAX, TCP_GROWTH32},
	[SOCKET_retrans] = {INFO, 100, 4, UINT64_MAX, TCP_GROWTH32},
	[SOCKET_busy_us] = {INFO, 168, 8, UINT64_MAX, TCP_GROWTH},
	[SOCKET_rwnd_limited_us] = {INFO, 176, 8, UINT64_MAX, TCP_GROWTH},
	[SOCKET_sndbuf_limited_us] = {INFO, 184, 8, UINT64_MAX, TCP_GROWTH},
	[SOCKET_reordered] = {INFO, 220, 4, UINT64_MAX, TCP_GROWTH32},
	[SOCKET_dsacks] = {INFO, 216, 4, UINT64_MAX, TCP_GROWTH32},
	[SOCKET_out_of_order] = {INFO, 224, 4, UINT64_MAX, TCP_GROWTH32},
	[SOCKET_app_limited_pct] = {.kind = TCP_MEAN},
	[SOCKET_drops] = {MEMORY, 32, 4, UINT64_MAX, TCP_GROWTH32},
};

static const char *const states[] = {NULL,	   "established", "syn-sent",  "syn-recv",
				     "fin-wait-1", "fin-wait-2",  "time-wait", "close",
				     "close-wait", "last-ack",	  "listen",    "closing"};

enum tcp_kind tcp_kind(enum socket_figure f)
{
	return places[f].kind;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes hexadecimal digits; "-" is an empty text. Returns the number of bytes, or -1. */
static int unhex(const char *text, uint8_t *bytes)
{
	int n = 0;

	if (!strcmp(text, "-"))
		return 0;
	for (; text[0]; text += 2, n++) {
		if (n >= BYTES || hex_digit(text[0]) < 0 || hex_digit(text[1]) < 0)
			return -1;
		bytes[n] = (uint8_t)(hex_digit(text[0]) << 4 | hex_digit(text[1]));
	}
	return n;
}

static void address_format(char to[64], int family, const uint8_t *address, const uint8_t *port)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	unsigned int number = (unsigned int)port[0] << 8 | port[1];
	char text[INET6_ADDRSTRLEN] = "?";

	if (family == FAMILY_6 && !memcmp(address, mapped, sizeof(mapped))) {
		address += sizeof(mapped);
		family = FAMILY_4;
	}
	inet_ntop(family == FAMILY_6 ? AF_INET6 : AF_INET, address, text, sizeof(text));
	snprintf(to, 64, family == FAMILY_6 ? "[%s]:%u" : "%s:%u", text, number);
}

/* inet_diag_msg: family, state, two more; ports, addresses, interface, cookie; five words. */
static bool tcp_parse_msg(const uint8_t *m, int len, bool swap, struct tcp_seen *s)
{
	struct cursor c = cursor_of(m + 44, 8, swap);
	uint64_t low, high;

	if (len < MSG || (m[0] != FAMILY_4 && m[0] != FAMILY_6))
		return false;
	s->state = m[1] < array_size(states) ? states[m[1]] : NULL;
	address_format(s->local, m[0], m + 8, m + 4);
	address_format(s->peer, m[0], m + 24, m + 6);
	low = cursor_u32(&c);
	high = cursor_u32(&c);
	s->cookie = high << 32 | low;
	return true;
}

static double tcp_parse_figure(const uint8_t *bytes, int len, bool swap, int offset, int size,
			       uint64_t none)
{
	struct cursor c;
	uint64_t v;

	if (offset + size > len)
		return NAN;
	c = cursor_of(bytes + offset, (size_t)size, swap);
	v = size == 8 ? cursor_u64(&c) : cursor_u32(&c);
	return v == none ? NAN : (double)v;
}

/*
 * Returns whether the sender of the last rate had no more data to send: the first bit of a byte of
 * bits.
 */
static double tcp_parse_app_limited(const uint8_t *info, int len, bool little)
{
	return len <= FLAGS ? NAN : info[FLAGS] & (little ? 1 : 0x80) ? 100 : 0;
}

bool tcp_info_parse(char *line, bool little, struct tcp_seen *s)
{
	bool swap = little != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
	uint8_t msg[BYTES], bytes[2][BYTES];
	char *pid = str_token(&line, ' '), *word[3];
	int len[3];

	for (size_t i = 0; i < array_size(word); i++) {
		word[i] = str_token(&line, ' ');
		len[i] = word[i] ? unhex(word[i], i ? bytes[i - 1] : msg) : -1;
		if (len[i] < 0)
			return false;
	}
	*s = (struct tcp_seen){.pid = strtoll(pid, NULL, 10)};
	if (s->pid <= 0 || !line || !tcp_parse_msg(msg, len[0], swap, s))
		return false;
	s->congestion = strcmp(line, "-") ? line : NULL;
	for (size_t i = 0; i < SOCKET_NFIGURES; i++)
		s->f[i] = tcp_parse_figure(bytes[places[i].from], len[1 + places[i].from], swap,
					   places[i].offset, places[i].size, places[i].none);
	s->f[SOCKET_app_limited_pct] = isnan(s->f[SOCKET_delivery_rate])
					       ? NAN
					       : tcp_parse_app_limited(bytes[INFO], len[1], little);
	return true;
}
