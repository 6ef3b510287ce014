// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every adapter on recorded outputs of the real programs, in tests/data/workload. The expected
 * figures are the programs' own totals.
 */
#include "lib/snap.h"
#include "lib/str.h"
#include "workload/workload.h"
#include "tests/unit/unit.h"

#include <endian.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>

enum { STARTED_S = 100, ENDED_S = 110 };

/* Returns the result of the adapter; the command ran from 100 s to 110 s. */
static int account_of(const char *units, const char *folder, double wall_clock, struct account *a,
		      struct error *err)
{
	char dir[256];
	struct workload_run run = {dir, STARTED_S * 1000000000ull, ENDED_S * 1000000000ull,
				   wall_clock};

	snprintf(dir, sizeof(dir), "tests/data/workload/%s", folder);
	return account_read(&run, units, a, err);
}

static double account_total(const struct account *a, enum work w)
{
	const struct points *ps = &a->points;

	return ps->n && ps->has[w] ? ps->p[ps->n - 1].n[w] - ps->p[0].n[w] : NAN;
}

/* Totals of the work that the program counts by interval. */
static const struct {
	const char *units, *folder;
	enum work work;
	double total;
} counted[] = {
	{"iperf3", "iperf3-omit-client", WORK_BYTES, 2536243200},
	{"iperf3", "iperf3-omit-server", WORK_BYTES, 2537553920},
	{"iperf3", "iperf3-bidir-client", WORK_BYTES, 1059061760.0 + 1148452864},
	{"iperf3", "iperf3-bidir-server", WORK_BYTES, 1056440320.0 + 1152122880},
	{"iperf3", "iperf3-rev-client", WORK_BYTES, 2439774208},
	{"iperf3", "iperf3-rev-server", WORK_BYTES, 2443182080},
	{"iperf3", "iperf3-udp-client", WORK_BYTES, 187465728},
	{"iperf3", "iperf3-udp-client", WORK_PACKETS, 5721},
	{"iperf3", "iperf3-udp-server", WORK_BYTES, 182910976},
	{"iperf3", "iperf3-udp-server", WORK_PACKETS, 5721 - 139},
	{"iperf3", "iperf3-stream", WORK_BYTES, 740556800},
	{"iperf3", "iperf3-parallel", WORK_BYTES, 2989359104},
	{"iperf3", "iperf3-killed", WORK_BYTES, 2934046720},
};

TEST(counted_work)
{
	struct account a;

	each (c, counted) {
		print_message("# %s\n", c->folder);
		assert_int_equal(account_of(c->units, c->folder, 0, &a, NULL), 0);
		assert_float_equal(account_total(&a, c->work), c->total, 0.5);
		assert_null(a.error);
		assert_int_equal(a.points.backwards, 0);
		account_free(&a);
	}
}

/* Rates that the program prints, per second. */
static const struct {
	const char *units, *folder;
	enum work work;
	double rate;
} rated[] = {
	{"neper", "neper-stream-client", WORK_BYTES, 6357988952 / 8.0},
	{"neper", "neper-stream-server", WORK_BYTES, 6357988952 / 8.0},
	{"neper", "neper-udp-server", WORK_BYTES, 508911804 / 8.0},
	{"neper", "neper-rr-client", WORK_MESSAGES, 32628},
	{"neper", "neper-rr-server", WORK_MESSAGES, 32628},
	{"neper", "neper-crr-client", WORK_MESSAGES, 5325},
	{"neper", "neper-crr-server", WORK_MESSAGES, 5325},
	{"netperf", "netperf-stream", WORK_BYTES, 5309.52e6 / 8},
	{"netperf", "netperf-bytes", WORK_BYTES, 268.93 * 1048576},
	{"netperf", "netperf-cpu", WORK_BYTES, 5309.52e6 / 8},
	{"netperf", "netperf-rr", WORK_MESSAGES, 40974.48},
	{"netperf", "netperf-udp", WORK_BYTES, 2226.84e6 / 8},
	{"netperf", "netperf-omni", WORK_BYTES, 2611.14e6 / 8},
	{"netperf", "netperf-omni-o", WORK_BYTES, 1929.53e6 / 8},
	{"netperf", "netperf-omni-rr", WORK_MESSAGES, 17246.51},
	{"kperf", "kperf-stream", WORK_BYTES, (230031360 + 794296320) / 1.001611},
	{"kperf", "kperf-rr", WORK_BYTES, (2645100 + 2645000) / 1.001012},
	{"kperf", "kperf-rr", WORK_MESSAGES, 26424.3},
	{"sockperf", "sockperf-throughput", WORK_MESSAGES, 51268},
	{"sockperf", "sockperf-throughput", WORK_BYTES, 48.893 * 1048576},
	{"sockperf", "sockperf-pingpong", WORK_MESSAGES, 16086 / 0.549},
	{"wrk", "wrk", WORK_MESSAGES, 1617.17},
	{"wrk", "wrk", WORK_BYTES, 15.74 * 1048576},
	{"wrk", "wrk2", WORK_MESSAGES, 199.56},
	{"ab", "ab", WORK_MESSAGES, 1352.41},
	{"ab", "ab", WORK_BYTES, 13475.23 * 1024},
	{"regex:^Requests/sec: *([0-9.]+)", "wrk", WORK_MESSAGES, 1617.17},
};

TEST(rates)
{
	struct account a;

	each (c, rated) {
		print_message("# %s\n", c->folder);
		assert_int_equal(account_of(c->units, c->folder, 0, &a, NULL), 0);
		assert_float_equal(account_total(&a, c->work) / (ENDED_S - STARTED_S), c->rate,
				   1e-9 * c->rate);
		assert_int_equal(a.rates, 1);
		assert_null(a.error);
		account_free(&a);
	}
}

/* Outputs without work in them, and why. */
static const struct {
	const char *units, *folder, *why;
} refused[] = {
	{"iperf3", "iperf3-loop",
	 "more than one test; end the server after the first: iperf3 -s -1"},
	{"iperf3", "iperf3-refused", "unable to connect to server: Connection refused"},
	{"iperf3", "wrk", "not JSON ('[' or '{' expected near 'Running'); run iperf3 with -J"},
	{"neper", "wrk", "no local_throughput of neper"},
	{"netperf", "netperf-refused", "no result of netperf"},
	{"netperf", "netperf-bare", "no result of netperf with its unit"},
	{"kperf", "wrk", "no line with a rate"},
	{"wrk", "wrk-refused", "no line with a rate"},
	{"wrk", "ab", "no line with a rate"},
	{"ab", "wrk", "no line with a rate"},
	{"sockperf", "sockperf-refused", "no line with a rate"},
	{"regex:bytes=moved ([0-9]+)", "wrk", "no line with a rate"},
	{"netcat", "wrk", "no adapter 'netcat'; there are tcpzc, iperf3, "},
};

/*
 * Percentiles of requests in us. netperf-latency and neper-rr-latency are written by hand, in the
 * format of the program's source; the others are recorded.
 */
static const struct {
	const char *units, *folder, *name;
	double us;
} latencies[] = {
	{"wrk", "wrk-latency", "p50", 2080},
	{"wrk", "wrk-latency", "p99", 15510},
	{"ab", "ab", "p50", 2000},
	{"ab", "ab", "max", 30000},
	{"ab", "ab-digits", "p99", 16245},
	{"ab", "ab-digits", "max", 19760},
	{"sockperf", "sockperf-pingpong", "p50", 7.23},
	{"sockperf", "sockperf-pingpong", "p99.9", 2805.747},
	{"netperf", "netperf-latency", "p99", 58},
	{"neper", "neper-rr-latency", "p50", 28.47},
	{"neper", "neper-rr-latency", "p99.9", 402.31},
};

TEST(percentiles_of_requests)
{
	double us[LATENCIES];
	char dir[256];
	struct workload_run run = {.dir = dir};

	for (size_t i = 0; i < array_size(latencies); i++) {
		size_t k = 0;

		snprintf(dir, sizeof(dir), "tests/data/workload/%s", latencies[i].folder);
		assert_true(latency_read(&run, latencies[i].units, us));
		while (strcmp(latency_name(k), latencies[i].name))
			k++;
		assert_true(fabs(us[k] - latencies[i].us) < 1e-6 * latencies[i].us);
	}
	snprintf(dir, sizeof(dir), "tests/data/workload/wrk");
	assert_false(latency_read(&run, "wrk", us));
	assert_true(isnan(us[0]));
}

TEST(refused)
{
	struct account a;

	each (c, refused) {
		struct error err = {0};
		int rc = account_of(c->units, c->folder, 0, &a, &err);

		print_message("# %s: %s %s\n", c->folder, a.error ? a.error : "", err.text);
		assert_true(rc < 0 || a.error);
		assert_non_null(strstr(a.error ? a.error : err.text, c->why));
		assert_false(account_has_work(&a));
		account_free(&a);
	}
}

/* In place of libc's: while `cpu_flies`, each reading of the thread's CPU time is 4 s after the
 * last. */
static bool cpu_flies;

int clock_gettime(clockid_t id, struct timespec *t)
{
	static time_t seconds;

	if (!cpu_flies || id != CLOCK_THREAD_CPUTIME_ID)
		return (int)syscall(SYS_clock_gettime, id, t);
	*t = (struct timespec){.tv_sec = seconds += 4};
	return 0;
}

TEST(rates_that_take_too_long_are_refused)
{
	freed(account_free) struct account a;

	cpu_flies = true;
	assert_true(account_of("regex:^nothing ([0-9.]+)", "wrk", 0, &a, &err) < 0);
	cpu_flies = false;
	assert_non_null(strstr(err.text, "workload.out: its rates were not found in 10 s"));
}

TEST(expressions_that_could_take_hours_are_refused)
{
	static const char *const costly[] = {
		"(x)*\\1y",	  "(x{1,40}){1,40}y",
		"(x{40,}){40}y",  "(((((((((((x+)+)+)+)+)+)+)+)+)+)+)+",
		"(x)++++++++++y",
	};
	static const char *const cheap[] = {"([0-9]{1,3}(,[0-9]{3})+) B/s",
					    "\\{1,40}\\{1,40} ([0-9]+)", "\\\\1 ([0-9]+)",
					    "(([0-9]+) )+([0-9]+)+ Gbit/s"};
	char units[1024];

	each (c, costly) {
		struct error err = {0};

		snprintf(units, sizeof(units), "regex:bytes=%s", *c);
		assert_int_equal(units_check(units, &err), -EINVAL);
		assert_non_null(strstr(err.text, "could take hours"));
	}
	each (r, cheap) {
		snprintf(units, sizeof(units), "regex:%s", *r);
		assert_int_equal(units_check(units, NULL), 0);
	}
	snprintf(units, sizeof(units), "regex:(%0600d)", 0); /* 600 zeroes */
	assert_int_equal(units_check(units, NULL), -EINVAL);
}

/* Points of each second from 1 to 9, and a window that begins at 2 s. */
TEST(account_that_ends_before_the_window_is_cut_off)
{
	static const struct {
		double end_s;
		const char *units, *last, *says;
	} cases[] = {
		{9.5, "tcpzc", "{\"type\":\"summary\"}\n", NULL},
		{10.9, "tcpzc", "{\"type\":\"summary\"}\n", NULL}, /* less than two intervals */
		{11.5, "tcpzc", "{\"type\":\"summary\"}\n",
		 "the workload's account ends 2.50 s before the window's end"},
		{9.5, "tcpzc", "", "the workload printed no summary (units = tcpzc)"},
		{20, "none", "", NULL},
		{20, "pps", "10 pps\n", NULL}, /* the rate is that of the whole command */
	};
	const struct workload_run run = {dir, 1000000000, 21000000000, 0};
	autofree char *out = xasprintf("%s/workload.out", dir);
	char *why;

	each (c, cases) {
		freed(str_free) struct str text = {0};

		for (size_t t = 1; t <= 9; t++)
			str_printf(&text, "{\"type\":\"point\",\"t_ns\":%zu,\"bytes\":%zu}\n",
				   t * 1000000000, t);
		str_puts(&text, c->last);
		assert_int_equal(file_write(out, text.buf, text.len, NULL), 0);
		why = workload_cut_off(&run, c->units, 2000000000, (uint64_t)(c->end_s * 1e9));
		if (c->says)
			assert_string_equal(why, c->says);
		else
			assert_null(why);
		free(why);
	}
}

TEST(iperf3_times)
{
	freed(account_free) struct account a;

	/* Started at 100 s, dated 1.5 s later to the millisecond; 1 s is omitted. */
	assert_int_equal(account_of("iperf3", "iperf3-stream", 1795383046.983, &a, NULL), 0);
	assert_float_equal((double)a.points.p[0].t_ns / 1e9, 102.5, 0.002);
	assert_float_equal((double)a.points.p[a.points.n - 1].t_ns / 1e9, 102.5 + 2.008187, 0.002);
	assert_true(a.late_s <= 0.001);
}

TEST(iperf3_own_retransmits)
{
	freed(account_free) struct account a;

	assert_int_equal(account_of("iperf3", "iperf3-bidir-client", 0, &a, NULL), 0);
	assert_float_equal(a.retransmits, 18, 0);
	account_free(&a);
	assert_int_equal(account_of("iperf3", "iperf3-bidir-server", 0, &a, NULL), 0);
	assert_float_equal(a.retransmits, 11, 0);
	account_free(&a);
	assert_int_equal(account_of("iperf3", "iperf3-rev-client", 0, &a, NULL), 0);
	assert_true(isnan(a.retransmits));
}

TEST(iperf3_stopped_server)
{
	freed(account_free) struct account a;

	assert_int_equal(account_of("iperf3", "iperf3-stopped", 0, &a, NULL), 0);
	assert_true(account_has_work(&a));
	assert_null(a.error);
}

TEST(neper_times)
{
	struct workload_run run = {"tests/data/workload/neper-rr-client", 12718000000000,
				   12722000000000, 0};
	freed(account_free) struct account a;

	assert_int_equal(account_read(&run, "neper", &a, NULL), 0);
	assert_int_equal(a.points.p[0].t_ns, 12718711855400);
	assert_int_equal(a.points.p[1].t_ns, 12720712127889);
	assert_int_equal(a.rates, 0);
	/* neper counts 32628.55 transactions per second, the text in whole ones. */
	assert_float_equal(account_total(&a, WORK_MESSAGES), 65267, 5);
}

TEST(netperf_times)
{
	freed(account_free) struct account a;

	assert_int_equal(account_of("netperf", "netperf-interim", 1795384149, &a, NULL), 0);
	assert_int_equal(a.points.n, 4);
	assert_float_equal((double)a.points.p[0].t_ns / 1e9, 101.163, 0.001);
	assert_float_equal((double)a.points.p[3].t_ns / 1e9, 104.163, 0.001);
	assert_float_equal(account_total(&a, WORK_BYTES), 3700.42e6 / 8 * 3.00, 2e6);
	account_free(&a);
	assert_int_equal(account_of("netperf", "netperf-interim-rr", 1795384153, &a, NULL), 0);
	assert_float_equal(account_total(&a, WORK_MESSAGES), 18396.24 * 2, 30);
}

static void snap_file(const char *name, const char *const text[], size_t n)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(snap_append(fd, (i + 1) * 1000000000, text[i], strlen(text[i])),
				 0);
	close(fd);
}

static int snap_account(const char *units, struct account *a, struct error *err)
{
	struct workload_run run = {dir, 0, 0, 0};

	*err = (struct error){0};
	return account_read(&run, units, a, err);
}

TEST(nic)
{
	static const char *const readings[] = {
		"n\thost\t2\teth0\tlink\trx_packets\ttx_packets\trx_bytes\ttx_bytes\trx_errors\n"
		"v\thost\t2\teth0\tlink\t10\t20\t1000\t2000\t0\n"
		"n\thost\t2\teth0\tethtool\trx_bytes\nv\thost\t2\teth0\tethtool\t77\n"
		"n\ta\t2\tveth\tlink\trx_packets\nv\ta\t2\tveth\tlink\t1\n"
		"n\tb\t2\tveth\tlink\trx_packets\nv\tb\t2\tveth\tlink\t5\n",
		"v\thost\t2\teth0\tlink\t17\t21\t1700\t2060\t0\nv\tb\t2\tveth\tlink\t9\n",
	};
	static const struct {
		const char *units;
		double packets, bytes;
	} cases[] = {{"nic:eth0", 8, 760},
		     {"nic:host/eth0", 8, 760},
		     {"nic:eth0/rx", 7, 700},
		     {"nic:host/eth0/tx", 1, 60},
		     {"nic:b/veth", 4, 0}};
	struct error err;
	struct account a;

	snap_file("nic.snap", readings, 2);
	each (c, cases) {
		assert_int_equal(snap_account(c->units, &a, &err), 0);
		assert_float_equal(account_total(&a, WORK_PACKETS), c->packets, 0);
		assert_float_equal(account_total(&a, WORK_BYTES), c->bytes, 0);
		account_free(&a);
	}
	assert_true(snap_account("nic:eth9", &a, &err) < 0);
	assert_non_null(strstr(err.text, "no interface 'eth9'; there are host/eth0 a/veth b/veth"));
	account_free(&a);
	assert_true(snap_account("nic:veth", &a, &err) < 0);
	assert_non_null(strstr(err.text, "namespaces a and b both have an interface 'veth'"));
	account_free(&a);
	assert_true(units_check("nic:a/", &err) < 0);
	assert_true(units_check("nic:host/eth0/both", &err) < 0);
}

/* Adds a socket of tcp.snap: its structures in hexadecimal digits, on a little-endian host. */
static void add_socket(struct str *s, unsigned int cookie, unsigned int acked,
		       unsigned int received)
{
	uint8_t msg[72] = {[44] = (uint8_t)cookie}, info[136] = {0};

	memcpy(info + 120, &(uint32_t){htole32(acked)}, 4);
	memcpy(info + 128, &(uint32_t){htole32(received)}, 4);
	str_puts(s, "7 ");
	for (size_t i = 0; i < sizeof(msg); i++)
		str_printf(s, "%02x", msg[i]);
	str_putc(s, ' ');
	for (size_t i = 0; i < sizeof(info); i++)
		str_printf(s, "%02x", info[i]);
	str_puts(s, " - cubic\n");
}

TEST(tcp)
{
	struct str s[3] = {0};
	const char *text[3];
	struct error err;
	freed(account_free) struct account a;

	for (size_t i = 0; i < 3; i++) {
		str_puts(&s[i], "little\n");
		add_socket(&s[i], 1, 5000 + 100 * (unsigned int)i, 40);
	}
	add_socket(&s[1], 2, 0, 70000); /* made since the first reading, then closed */
	for (size_t i = 0; i < 3; i++)
		text[i] = s[i].buf;
	snap_file("tcp.snap", text, 3);
	assert_int_equal(snap_account("tcp", &a, &err), 0);
	assert_int_equal(a.points.n, 3);
	assert_float_equal(account_total(&a, WORK_BYTES), 200 + 70000, 0);
	account_free(&a);
	text[2] = "little\n"; /* the sockets are gone, and nobody knows how far they came */
	snap_file("tcp.snap", text, 3);
	assert_int_equal(snap_account("tcp", &a, &err), 0);
	assert_int_equal(a.points.n, 2);
	account_free(&a);
	for (size_t i = 0; i < 3; i++)
		str_free(&s[i]);
	text[0] = text[1] = "little\n";
	snap_file("tcp.snap", text, 2);
	assert_true(snap_account("tcp", &a, &err) < 0);
	assert_non_null(strstr(err.text, "no reading saw a connected TCP socket"));
}

TEST(readings_that_are_refused_are_freed)
{
	struct workload_run run = {dir, 0, 0, 0};
	struct snaps snaps;
	char path[64];

	snprintf(path, sizeof(path), "%s/nic.snap", dir);
	assert_int_equal(file_write(path, "@1 9\ncut", 8, &err), 0);
	assert_true(workload_snaps(&run, "nic.snap", &snaps, &err) < 0);
	assert_non_null(strstr(err.text, "damaged snapshot"));
	assert_null(snaps.snap);
}

TEST(absurd_dates_stay_in_range)
{
	struct workload_run run = {dir, 5, 6, 1795384155};

	assert_true(workload_mono_ns(&run, 1795384156) == 1000000005);
	assert_true(workload_mono_ns(&run, 1) == 0);
	assert_true(workload_mono_ns(&run, 1e300) == INT64_MAX);
	assert_true(workload_mono_ns(&run, NAN) == 0);
}
