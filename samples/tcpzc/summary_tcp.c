// SPDX-License-Identifier: GPL-2.0-only
#include "summary.h"
#include "lib/zc_uapi.h"

#include <netinet/in.h>

/* How the figures of several flows become one. */
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

static uint64_t tcp_info_fold(enum fold how, uint64_t a, uint64_t b)
{
	return how != LEAST ? a + b : a < b ? a : b;
}

json_t *tcp_info_json(const struct flow *flows, unsigned int n)
{
	uint64_t v[TCP_FIGURES] = {0};
	unsigned int i, k, seen = 0;
	json_t *o;

	for (i = 0; i < n; i++) {
		struct tcp_info ti = {0};
		socklen_t len = sizeof(ti);

		if (getsockopt(flows[i].fd, IPPROTO_TCP, TCP_INFO, &ti, &len))
			continue;
		for (k = 0; k < TCP_FIGURES; k++)
			v[k] = seen ? tcp_info_fold(tcp_figures[k].fold, v[k],
						    tcp_info_figure(&ti, k))
				    : tcp_info_figure(&ti, k);
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

json_t *busy_poll_json(const struct flow *flows, unsigned int n)
{
	unsigned int i, polled = 0;

	for (i = 0; i < n; i++) {
		int id = 0;
		socklen_t len = sizeof(id);

		if (!getsockopt(flows[i].fd, SOL_SOCKET, ZC_SO_INCOMING_NAPI_ID, &id, &len))
			polled += id != 0;
	}
	return json_pack("{s:i,s:i}", "us", (int)flows->opt->busy_poll, "flows", (int)polled);
}
