// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks tcp.snap: recorded lines, structures of both byte orders, sockets that come and go. The
 * window is [10 s, 13 s].
 */
#include "analyze/probes/tcp/info.h"
#include "tests/unit/ingested.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/tcp.h>
#include <sys/socket.h>

static const uint64_t S = 1000000000;

/* Recorded on Linux 6.18, over loopback with bbr. */
static const char sender[] =
	"3814 02010400c49c1e617f0000010000000000000000000000007f000001000000000000000000000000000"
	"000000200000000000000c80000000000000083f728000000000077902500 010000000007aa00e01c030000"
	"000000cbff000018020000000000000000000000000000000000000000000004000000000000002801000004"
	"000000ffff0000d7ff00004500000004000000080000000e000000cbff00001900000000000000d7ff000000"
	"0000005c46bb2401000000ffffffffffffffffbc2c9f1c000000000000000000000000e61e00004c0c000083"
	"f728000400000000000000e41e00007a77e4db000000002036040000000000c04b0300000000000000000000"
	"000000e51e000000000000bb2c9f1c00000000000000000000000000000000000000000000000000a8000000"
	"0001000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
	"000000 000000000000020000000000000040007d06000083792900000000000000000000000000 bbr";
static const char receiver[] = /* an IPv6 socket with an IPv4 peer */
	"3807 0a0102001e61c49c00000000000000000000ffff7f00000100000000000000000000ffff7f000001000"
	"00000030000000000000060120000015e2900000000000000000078902500 010000000007aa01400d030040"
	"9c000000800000cbff0000000000000000000000000000000000000000000028010000000000000400000004"
	"000000ffff000089f32c001300000009000000ffffff7f0a000000cbff0000190000001d00000064dc0b0000"
	"0000007324c2790b000000ffffffffffffffff0000000000000000bb2c9f1c000000004b0c0000e61e000000"
	"00000013000000e41e0000000000000000000000000000000000000000000000000000000000000000000000"
	"0000000100000000000000000000000000000000000000000000000000000000000000000000000000010000"
	"a800000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
	"000000 6f1a2d000ed12d0000000000000040009105000000000000000000000000000000000000 bbr";

TEST(recorded_sockets_are_read)
{
	autofree char *line = xstrdup(sender);
	struct tcp_seen s;

	assert_true(tcp_info_parse(line, true, &s));
	assert_int_equal(s.pid, 3814);
	assert_string_equal(s.local, "127.0.0.1:50332");
	assert_string_equal(s.peer, "127.0.0.1:7777");
	assert_string_equal(s.state, "established");
	assert_string_equal(s.congestion, "bbr");
	assert_float_equal(s.f[SOCKET_rtt_us], 0x45, 0);
	assert_float_equal(s.f[SOCKET_min_rtt_us], 4, 0);
	assert_float_equal(s.f[SOCKET_mss], 0xffcb, 0);
	assert_float_equal(s.f[SOCKET_delivery_rate], 0xdbe4777a, 0);
	assert_float_equal(s.f[SOCKET_bytes_acked], 0x1c9f2cbc, 0);
	assert_float_equal(s.f[SOCKET_wmem], 0x297983, 0);
	assert_float_equal(s.f[SOCKET_sndbuf], 0x400000, 0);
	free(line);
	line = xasprintf("1%s", strchr(sender, ' ')); /* the first process of a container */
	assert_true(tcp_info_parse(line, true, &s));
	assert_int_equal(s.pid, 1);
	free(line);
	line = xasprintf("0%s", strchr(sender, ' '));
	assert_false(tcp_info_parse(line, true, &s));
	free(line);
	line = xstrdup(receiver);
	assert_true(tcp_info_parse(line, true, &s));
	assert_string_equal(s.local, "127.0.0.1:7777");
	assert_true(isnan(s.f[SOCKET_ssthresh]));      /* no threshold yet */
	assert_true(isnan(s.f[SOCKET_delivery_rate])); /* the socket sent nothing */
	assert_float_equal(s.f[SOCKET_bytes_received], 0x1c9f2cbb, 0);
}

static void hex(struct str *s, const void *data, size_t len)
{
	const uint8_t *p = data;

	while (len--)
		str_printf(s, "%02x", *p++);
	str_putc(s, ' ');
}

struct made {
	struct inet_diag_msg msg;
	struct tcp_info info;
	uint32_t memory[9];
};

static struct made socket_made(uint32_t cookie)
{
	struct made m = {.msg = {.idiag_family = AF_INET6, .idiag_state = 8}};

	inet_pton(AF_INET6, "fd00::1", m.msg.id.idiag_src);
	inet_pton(AF_INET6, "fd00::2", m.msg.id.idiag_dst);
	m.msg.id.idiag_sport = htons(80);
	m.msg.id.idiag_dport = htons(65535);
	m.msg.id.idiag_cookie[0] = cookie;
	m.info.tcpi_min_rtt = UINT32_MAX;
	return m;
}

static void put_line(struct str *s, const struct made *m, size_t info_len)
{
	str_puts(s, "77 ");
	hex(s, &m->msg, sizeof(m->msg));
	hex(s, &m->info, info_len);
	hex(s, m->memory, sizeof(m->memory));
	str_puts(s, "-\n");
}

static void add_snap(double seconds, struct str *text)
{
	append_snap(path, seconds, text->buf ? text->buf : "", text->len);
	str_free(text);
}

/* Each field is at the offset in the kernel's header. */
TEST(each_field_is_at_the_kernels_offset)
{
	struct made m = socket_made(1);
	struct tcp_info *i = &m.info;
	freed(str_free) struct str s = {0};
	struct tcp_seen seen;

	i->tcpi_rtt = 1, i->tcpi_rttvar = 2, i->tcpi_min_rtt = 3, i->tcpi_snd_cwnd = 4;
	i->tcpi_snd_ssthresh = 5, i->tcpi_snd_mss = 6, i->tcpi_delivery_rate = 7;
	i->tcpi_pacing_rate = 8, i->tcpi_rcv_rtt = 9, i->tcpi_rcv_space = 10, i->tcpi_snd_wnd = 11;
	i->tcpi_unacked = 12, i->tcpi_notsent_bytes = 13;
	m.memory[0] = 14, m.memory[1] = 15, m.memory[5] = 16, m.memory[3] = 17;
	i->tcpi_delivery_rate_app_limited = 1;
	i->tcpi_bytes_acked = 19, i->tcpi_bytes_received = 20, i->tcpi_bytes_sent = 21;
	i->tcpi_bytes_retrans = 22, i->tcpi_segs_out = 23, i->tcpi_segs_in = 24;
	i->tcpi_total_retrans = 25, i->tcpi_busy_time = 26, i->tcpi_rwnd_limited = 27;
	i->tcpi_sndbuf_limited = 28, i->tcpi_reord_seen = 29, i->tcpi_dsack_dups = 30;
	i->tcpi_rcv_ooopack = 31, m.memory[8] = 32;
	put_line(&s, &m, sizeof(m.info));
	s.buf[s.len - 1] = '\0';
	assert_true(tcp_info_parse(s.buf, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, &seen));
	for (int f = 0; f < SOCKET_NFIGURES; f++)
		assert_float_equal(seen.f[f], f == SOCKET_app_limited_pct ? 100 : f + 1, 0);
	assert_string_equal(seen.local, "[fd00::1]:80");
	assert_string_equal(seen.peer, "[fd00::2]:65535");
	assert_string_equal(seen.state, "close-wait");
	assert_null(seen.congestion);
}

/* In the other byte order words are swapped. Fields that an older kernel lacks are absent. */
TEST(swapped_and_short_structures_are_read)
{
	struct made m = socket_made(1);
	freed(str_free) struct str s = {0};
	struct tcp_seen seen;

	m.info.tcpi_rtt = __builtin_bswap32(70);
	m.info.tcpi_pacing_rate = __builtin_bswap64(1ULL << 40);
	put_line(&s, &m, 112);
	s.buf[s.len - 1] = '\0';
	assert_true(tcp_info_parse(s.buf, __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__, &seen));
	assert_float_equal(seen.f[SOCKET_rtt_us], 70, 0);
	assert_float_equal(seen.f[SOCKET_pacing_rate], 1099511627776.0, 0);
	assert_true(isnan(seen.f[SOCKET_bytes_acked]));
}

/*
 * Socket 1 exists all the time: 100 bytes acknowledged per second, and its 32-bit counter of
 * retransmits wraps. Socket 2 appears in the second span with 600 bytes. Socket 3 ends in the
 * first span, socket 4 in the second.
 */
TEST(counters_grow_inside_the_window)
{
	struct made one = socket_made(1), two = socket_made(2), three = socket_made(3),
		    four = socket_made(4);
	const struct socket_row *r;
	struct str s = {0};

	ingest_start((struct ingest){.run = {.start_ns = 10 * S, .end_ns = 13 * S}});
	two.msg.id.idiag_sport = htons(81);
	one.info.tcpi_bytes_acked = 1000, one.info.tcpi_total_retrans = UINT32_MAX - 4;
	one.info.tcpi_rtt = 900, one.info.tcpi_min_rtt = 50;
	str_puts(&s, "little\n");
	put_line(&s, &one, sizeof(one.info));
	put_line(&s, &three, sizeof(three.info));
	add_snap(9, &s); /* before the window, so this rtt does not count */
	one.info.tcpi_bytes_acked = 1200, one.info.tcpi_total_retrans = 5, one.info.tcpi_rtt = 100;
	one.info.tcpi_min_rtt = 40;
	str_puts(&s, "little\n");
	put_line(&s, &one, sizeof(one.info));
	put_line(&s, &four, sizeof(four.info));
	add_snap(11, &s);
	one.info.tcpi_bytes_acked = 1400, one.info.tcpi_rtt = 200, one.info.tcpi_min_rtt = 35;
	two.info.tcpi_bytes_acked = 600, two.info.tcpi_rtt = 7;
	str_puts(&s, "little\n");
	put_line(&s, &one, sizeof(one.info));
	put_line(&s, &two, sizeof(two.info));
	str_puts(&s, "77 00 - - x\nnonsense\n");
	add_snap(13, &s);
	read_raw(&in, "tcp.snap");
	assert_int_equal(in.nsockets, 4);
	r = &in.sockets[0];
	assert_string_equal(r->local, "[fd00::1]:81");
	assert_float_equal(r->f[SOCKET_bytes_acked], 600, 1e-9);
	assert_int_equal(r->readings, 1);
	r = &in.sockets[1];
	assert_float_equal(r->f[SOCKET_bytes_acked], 300, 1e-9);
	assert_float_equal(r->f[SOCKET_retrans], 5, 1e-9); /* half of 10 */
	assert_float_equal(r->f[SOCKET_rtt_us], 150, 1e-9);
	assert_float_equal(r->f[SOCKET_min_rtt_us], 35, 0);
	assert_int_equal(r->readings, 3);
	assert_int_equal(r->first_ns, 9 * S);
	assert_int_equal(r->last_ns, 13 * S);
	metrics_are(&in, "tcp_socket_bytes_acked = 900, tcp_socket_rtt_us = 78.5, "
			 "tcp_sockets = 4, note ended_between = +, note rows_unreadable = 2, "
			 "note ended_between.severity = info");
	in.notes.n = 0;
	in.units = "tcp"; /* so bytes of an ended socket are missing work */
	read_raw(&in, "tcp.snap");
	metrics_are(&in, "note ended_between.severity = warning");
}

/* Two sockets carry data, and a control connection of the same process moves a few bytes. */
TEST(medians_and_series_leave_out_idle_sockets)
{
	static const uint32_t rtt[] = {60, 64, 199};
	static const uint64_t bytes[] = {1000000, 900000, 400};
	struct str s = {0};
	uint32_t points = 0;

	ingest_start((struct ingest){.run = {.start_ns = 10 * S, .end_ns = 12 * S}});
	for (uint32_t second = 10; second <= 12; second++) {
		str_puts(&s, "little\n");
		for (uint32_t i = 0; i < 3; i++) {
			struct made m = socket_made(i + 1);

			m.info.tcpi_rtt = rtt[i];
			m.info.tcpi_snd_cwnd = 10 + i;
			m.info.tcpi_bytes_acked = (second - 9) * bytes[i];
			put_line(&s, &m, sizeof(m.info));
		}
		add_snap(second, &s);
	}
	read_raw(&in, "tcp.snap");
	metrics_are(&in, "tcp_socket_rtt_us = 62, tcp_sockets = 3, "
			 "tcp_socket_bytes_acked = 3800800");
	for (uint32_t i = 0; i < in.nseries; i++) {
		bool cwnd = !strcmp(in.series[i].name, "tcp_socket_cwnd");

		points += cwnd;
		if (cwnd)
			assert_float_equal(in.series[i].value, 10 + 11, 0);
		assert_in_range(in.series[i].t_ns, 10 * S, 12 * S);
	}
	assert_int_equal(points, 3);
	assert_float_equal(in.series[2].value, 62, 1e-9);
}

/* Reads a socket at `n` times. */
static void socket_read(const struct made *at, size_t n, size_t info_len, double from, double to)
{
	struct str s = {0};

	ingest_start((struct ingest){.run = {.start_ns = 10 * S, .end_ns = 13 * S}});
	for (size_t i = 0; i < n; i++) {
		str_puts(&s, "little\n");
		put_line(&s, &at[i], info_len);
		add_snap(from + (to - from) * (double)i / (double)(n - 1), &s);
	}
	read_raw(&in, "tcp.snap");
}

/* An older kernel has no bytes in its structure. */
TEST(missing_counter_has_no_growth)
{
	struct made at[] = {socket_made(1), socket_made(1), socket_made(1)};

	at[1].info.tcpi_total_retrans = 6;
	at[2].info.tcpi_total_retrans = 9;
	socket_read(at, 3, 112, 9, 13);
	assert_float_equal(in.sockets[0].f[SOCKET_retrans], 3 + 3, 0); /* 9 to 11 s: half of 6 */
	assert_true(isnan(in.sockets[0].f[SOCKET_bytes_acked]));
	assert_true(isnan(in.sockets[0].f[SOCKET_segs_in]));
	assert_true(isnan(in.sockets[0].f[SOCKET_rtt_us])); /* 0: not measured yet */
	metrics_are(&in, "tcp_socket_bytes_acked = -, tcp_socket_retransmits = 6");
	at[1].info.tcpi_bytes_acked = UINT64_MAX; /* unknown, then counted from 0 */
	at[2].info.tcpi_bytes_acked = 8;
	socket_read(at, 3, sizeof(at->info), 9, 13);
	assert_float_equal(in.sockets[0].f[SOCKET_bytes_acked], 8, 0);
}

/* The smallest is of the readings inside the window, the share of limited rates their mean. */
TEST(states_are_of_all_readings)
{
	struct made at[21]; /* 16 of them inside the window */

	for (uint32_t i = 0; i < 21; i++) {
		at[i] = socket_made(1);
		at[i].info.tcpi_min_rtt = i < 5 ? 1 : 100 - i;
		at[i].info.tcpi_delivery_rate = 7;
		at[i].info.tcpi_delivery_rate_app_limited = i >= 17;
	}
	socket_read(at, 21, sizeof(at->info), 9, 13);
	assert_int_equal(in.sockets[0].readings, 16);
	assert_float_equal(in.sockets[0].f[SOCKET_min_rtt_us], 80, 0);
	if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		assert_float_equal(in.sockets[0].f[SOCKET_app_limited_pct], 25, 0);
}

/* A reading is dropped if a later one is not after the window's start. */
TEST(socket_has_its_last_congestion_control)
{
	static const char *const control[] = {"reno", "bbr", "cubic"};
	static const double seconds[] = {8, 10, 13};

	ingest_start((struct ingest){.run = {.start_ns = 10 * S, .end_ns = 13 * S}});
	for (size_t i = 0; i < 3; i++) {
		struct str s = {0};

		str_printf(&s, "little\n%.*s%s\n", (int)strlen(sender) - 3, sender, control[i]);
		add_snap(seconds[i], &s);
	}
	read_raw(&in, "tcp.snap");
	assert_string_equal(in.sockets[0].congestion, "cubic");
	assert_int_equal(in.sockets[0].readings, 2);
	assert_int_equal(in.sockets[0].first_ns, 10 * S);
}

/* Reads two readings of sockets; socket i sends bytes[i] in the window. NULL: an older kernel. */
static void sockets_send(const uint64_t *bytes, uint32_t n, double from, double to)
{
	struct str s = {0};

	ingest_start((struct ingest){.run = {.start_ns = 10 * S, .end_ns = 13 * S}});
	for (uint32_t i = 0; i < 2 * n; i++) {
		struct made m = socket_made(i % n + 1);

		if (i % n == 0)
			str_puts(&s, "little\n");
		m.info.tcpi_rtt = 10 * (i % n + 1);
		m.info.tcpi_bytes_acked = i < n || !bytes ? 0 : bytes[i % n];
		put_line(&s, &m, bytes ? sizeof(m.info) : 112);
		if (i % n == n - 1)
			add_snap(i < n ? from : to, &s);
	}
	read_raw(&in, "tcp.snap");
}

TEST(socket_is_idle_below_a_hundredth_of_the_busiest)
{
	static const uint64_t idle[] = {1000000, 9999}, busy[] = {1000000, 10000};

	sockets_send(idle, 2, 10, 13);
	assert_float_equal(metric(&in, "tcp_socket_rtt_us"), 10, 0);
	assert_string_equal(in.sockets[0].state, "close-wait");
	sockets_send(busy, 2, 10, 13);
	assert_float_equal(metric(&in, "tcp_socket_rtt_us"), 15, 0);
	assert_float_equal(in.series[0].value, 15, 0); /* none is idle before the first byte */
}

/* Readings of a third of the window give no amounts, and states of the time that they cover. */
TEST(amounts_need_readings_of_the_whole_window)
{
	static const uint64_t bytes[] = {1000};

	sockets_send(bytes, 1, 10, 11);
	assert_int_equal(in.nsockets, 1);
	assert_true(isnan(in.sockets[0].f[SOCKET_bytes_acked]));
	assert_float_equal(in.sockets[0].f[SOCKET_rtt_us], 10, 0);
	metrics_are(&in, "tcp_sockets = -, tcp_socket_rtt_us = -, note coverage_too_small = +");
}

TEST(states_count_up_to_20_ms_outside_the_window)
{
	static const struct {
		double from, to, rtt;
	} rows[] = {{9.98, 13.02, 15}, {9.979, 13.02, 20}, {9.98, 13.021, 10}};
	struct made at[] = {socket_made(1), socket_made(1)};

	at[0].info.tcpi_bytes_acked = 600, at[0].info.tcpi_rtt = 10;
	at[1].info.tcpi_bytes_acked = 500, at[1].info.tcpi_rtt = 20; /* it falls: no growth */
	each (r, rows) {
		socket_read(at, 2, sizeof(at->info), r->from, r->to);
		assert_float_equal(in.sockets[0].f[SOCKET_rtt_us], r->rtt, 0);
		assert_float_equal(in.sockets[0].f[SOCKET_bytes_acked], 0, 0);
	}
}

/* The store has the 1000 busiest sockets. */
TEST(the_least_busy_of_1002_sockets_are_added_up)
{
	uint64_t bytes[1002];
	const struct note *merged;

	for (uint32_t i = 0; i < 1002; i++)
		bytes[i] = 1000 + i;
	sockets_send(bytes, 1002, 10, 13);
	assert_int_equal(in.nsockets, 1000);
	assert_float_equal(in.sockets[0].f[SOCKET_bytes_acked], 2001, 0);
	assert_float_equal(in.sockets[999].f[SOCKET_bytes_acked], 1002, 0);
	merged = noted(&in, NOTE_tcp_sockets_merged);
	assert_float_equal(merged->value[0].number, 1002, 0);
	assert_float_equal(merged->value[1].number, 1000, 0);
	assert_float_equal(merged->value[2].number, 1000 + 1001, 0);
	sockets_send(NULL, 1002, 10, 13);
	assert_float_equal(noted(&in, NOTE_tcp_sockets_merged)->value[2].number, 0, 0);
	sockets_send(bytes, 1000, 10, 13);
	assert_int_equal(in.nsockets, 1000);
	assert_null(noted(&in, NOTE_tcp_sockets_merged));
}

TEST(readings_without_sockets_count_none)
{
	struct str s = {0};

	ingest_start((struct ingest){.run = {.start_ns = 10 * S, .end_ns = 13 * S}});
	assert_int_equal(parse_file(&in, "tcp.snap", path, &err), -ENOENT);
	str_puts(&s, "little\n");
	add_snap(10, &s);
	err = (struct error){0};
	assert_int_equal(parse_file(&in, "tcp.snap", path, &err), -ENODATA);
	str_puts(&s, "big\n");
	add_snap(13, &s);
	read_raw(&in, "tcp.snap");
	metrics_are(&in, "tcp_sockets = 0, metrics = 1, notes = 0");
	assert_int_equal(in.nseries, 0);
}

/* Puts a character into the line of a socket, at a place of the first structure. */
static void check_digits(int at, char c, bool good)
{
	struct made m = socket_made(1);
	freed(str_free) struct str s = {0};
	struct tcp_seen seen;

	put_line(&s, &m, sizeof(m.info));
	s.buf[s.len - 1] = '\0';
	s.buf[strlen("77 ") + at] = c;
	assert_int_equal(tcp_info_parse(s.buf, true, &seen), good);
}

/* A socket is the same in two readings if all 64 bits of its cookie are. */
TEST(lines_are_read_whole)
{
	struct made m = socket_made(5);
	freed(str_free) struct str s = {0}, cut = {0};
	struct tcp_seen seen;

	m.msg.id.idiag_cookie[1] = 9;
	m.memory[0] = 1, m.memory[8] = 2;
	for (int i = 11; i <= 12; i++) { /* the last state that has a name, and one more */
		m.msg.idiag_state = (uint8_t)i;
		put_line(&s, &m, sizeof(m.info));
		s.buf[s.len - 1] = '\0';
		assert_true(
			tcp_info_parse(s.buf, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, &seen));
		assert_true(seen.cookie == (9ULL << 32 | 5));
		assert_int_equal(seen.state != NULL, i == 11);
		str_reset(&s);
	}
	check_digits(10, 'g', false); /* not a digit, the first and the second of a byte */
	check_digits(11, 'g', false);
	check_digits(11, 'f', true);
	/* more bytes than any kernel has */
	str_puts(&cut, "77 ");
	for (int i = 0; i < 1025; i++)
		str_puts(&cut, i ? "00" : "02");
	str_puts(&cut, " 00 00 -");
	assert_false(tcp_info_parse(cut.buf, true, &seen));
	str_reset(&cut);
	/* a message that is a byte too short, one of another family, and one without memory */
	str_puts(&cut, "77 ");
	hex(&cut, &m.msg, sizeof(m.msg) - 1);
	hex(&cut, &m.info, sizeof(m.info));
	str_puts(&cut, "- -");
	assert_false(tcp_info_parse(cut.buf, true, &seen));
	str_reset(&cut);
	m.msg.idiag_family = 3;
	put_line(&cut, &m, sizeof(m.info));
	assert_false(tcp_info_parse(cut.buf, true, &seen));
	str_reset(&cut);
	m.msg.idiag_family = AF_INET6;
	str_puts(&cut, "77 ");
	hex(&cut, &m.msg, sizeof(m.msg));
	hex(&cut, &m.info, sizeof(m.info));
	hex(&cut, m.memory, 8);
	str_puts(&cut, "-");
	assert_true(tcp_info_parse(cut.buf, __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, &seen));
	assert_float_equal(seen.f[SOCKET_rmem], 1, 0);
	assert_true(isnan(seen.f[SOCKET_drops]));
}
