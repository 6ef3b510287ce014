// SPDX-License-Identifier: GPL-2.0-only
/*
 * JSON lines on standard output, as docs/formats.md says. A point is one write(2) of a line made
 * without an allocation: it happens among the data.
 */
#include "tcpzc.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CALL_NAME(id, name) name,
static const char *const call_names[] = {CALLS(CALL_NAME)};
#undef CALL_NAME

static uint64_t messages(const struct flow *f)
{
	return f->bytes / f->opt->size;
}

static int put(struct flow *f, const char *text, size_t n)
{
	while (n) {
		ssize_t k = CALL(f, WRITE, write(STDOUT_FILENO, text, n));

		if (k < 0 && errno != EINTR)
			return flow_fail(f, errno, "standard output");
		text += k < 0 ? 0 : k;
		n -= k < 0 ? 0 : (size_t)k;
	}
	return 0;
}

void report_point(struct flow *f, uint64_t t_ns)
{
	char line[160];
	int n = snprintf(line, sizeof(line),
			 "{\"type\":\"point\",\"t_ns\":%" PRIu64 ",\"bytes\":%" PRIu64
			 ",\"messages\":%" PRIu64 "}\n",
			 t_ns, f->bytes, messages(f));

	put(f, line, (size_t)n);
}

/* Takes `line` over. */
static int put_json(struct flow *f, json_t *line)
{
	char *text = line ? json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
	size_t n = text ? strlen(text) : 0;
	int rc;

	json_decref(line);
	if (!text)
		return flow_fail(f, ENOMEM, "JSON");
	text[n] = '\n'; /* in place of the NUL */
	rc = put(f, text, n + 1);
	free(text);
	return rc;
}

static json_t *counts(const uint64_t *count, const char *const *names, size_t n)
{
	json_t *o = json_object();
	char number[8];
	size_t i;

	for (i = 0; i < n; i++) {
		snprintf(number, sizeof(number), "%zu", i);
		if (count[i])
			json_object_set_new(o, names ? names[i] : number,
					    json_integer((json_int_t)count[i]));
	}
	return o;
}

static json_t *tcp_info(const struct flow *f)
{
	struct tcp_info ti = {0};
	socklen_t len = sizeof(ti);

	if (getsockopt(f->fd, IPPROTO_TCP, TCP_INFO, &ti, &len))
		return json_null();
	return json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "rtt_us", (json_int_t)ti.tcpi_rtt,
			 "rttvar_us", (json_int_t)ti.tcpi_rttvar, "rcv_rtt_us",
			 (json_int_t)ti.tcpi_rcv_rtt, "cwnd", (json_int_t)ti.tcpi_snd_cwnd,
			 "retransmits", (json_int_t)ti.tcpi_total_retrans, "mss",
			 (json_int_t)ti.tcpi_snd_mss, "rcv_mss", (json_int_t)ti.tcpi_rcv_mss,
			 "delivery_rate", (json_int_t)ti.tcpi_delivery_rate);
}

static double seconds(struct timeval tv)
{
	return (double)tv.tv_sec + (double)tv.tv_usec / 1e6;
}

static json_t *cpu_time(const struct flow *f)
{
	const struct rusage *u = f->usage;

	return json_pack("{s:f,s:f}", "user_s", seconds(u[1].ru_utime) - seconds(u[0].ru_utime),
			 "system_s", seconds(u[1].ru_stime) - seconds(u[0].ru_stime));
}

static const char *verdict(const struct flow *f)
{
	if (!f->opt->verify || !f->opt->listen) /* a sender has nothing to compare */
		return "off";
	return f->bad_bytes ? "failed" : "ok";
}

int report_summary(struct flow *f)
{
	const struct options *o = f->opt;
	json_t *line = json_pack("{s:s,s:s,s:s,s:I,s:I,s:I,s:f,s:I,s:I,s:s}", "type", "summary",
				 "side", o->listen ? "receiver" : "sender", "mode", o->mode->name,
				 "size", (json_int_t)o->size, "bytes", (json_int_t)f->bytes,
				 "messages", (json_int_t)messages(f), "seconds",
				 (double)(f->end_ns - f->start_ns) / 1e9, "start_ns",
				 (json_int_t)f->start_ns, "end_ns", (json_int_t)f->end_ns, "verify",
				 verdict(f));

	if (!line)
		return flow_fail(f, ENOMEM, "JSON");
	json_object_set_new(
		line, "sends",
		json_pack("{s:I,s:I,s:I,s:I}", "total", (json_int_t)f->sends, "zero_copy",
			  (json_int_t)f->sends_zero_copy, "copied", (json_int_t)f->sends_copied,
			  "unknown",
			  (json_int_t)(f->sends - f->sends_zero_copy - f->sends_copied)));
	json_object_set_new(line, "receive",
			    json_pack("{s:I,s:I,s:I}", "calls", (json_int_t)f->receives,
				      "mapped_bytes", (json_int_t)f->mapped_bytes, "copied_bytes",
				      (json_int_t)f->copied_bytes));
	json_object_set_new(line, "recv_hist", counts(f->recv_hist, NULL, 64));
	json_object_set_new(line, "syscalls", counts(f->calls, call_names, CALL_COUNT));
	json_object_set_new(line, "tcp_info", tcp_info(f));
	json_object_set_new(line, "cpu", cpu_time(f));
	json_object_set_new(line, "ring_overflow", json_integer((json_int_t)f->ring_overflow));
	return put_json(f, line);
}

void report_error(struct flow *f)
{
	fprintf(stderr, "tcpzc: %s\n", f->what);
	put_json(f, json_pack("{s:s,s:s}", "type", "error", "what", f->what));
}
