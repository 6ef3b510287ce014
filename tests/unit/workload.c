// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every adapter on recorded outputs of the real programs, in tests/data/workload. The expected
 * figures are the programs' own totals.
 */
#include "workload/workload.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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
	{"iperf3", "iperf3-killed", WORK_BYTES, 2934046720},
};

static void test_counted_work(void **state)
{
	struct error err = {0};
	struct account a;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(counted) / sizeof(counted[0]); i++) {
		print_message("# %s\n", counted[i].folder);
		assert_int_equal(account_of(counted[i].units, counted[i].folder, 0, &a, &err), 0);
		assert_float_equal(account_total(&a, counted[i].work), counted[i].total, 0.5);
		assert_null(a.error);
		assert_int_equal(a.points.backwards, 0);
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
};

static void test_refused(void **state)
{
	struct account a;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		struct error err = {0};
		int rc = account_of(refused[i].units, refused[i].folder, 0, &a, &err);

		print_message("# %s: %s %s\n", refused[i].folder, a.error ? a.error : "", err.text);
		assert_true(rc < 0 || a.error);
		assert_non_null(strstr(a.error ? a.error : err.text, refused[i].why));
		assert_false(account_has_work(&a));
		account_free(&a);
	}
}

static void test_iperf3_times(void **state)
{
	struct error err = {0};
	struct account a;

	(void)state;
	/* Started at 100 s, dated 1.5 s later to the millisecond; 1 s is omitted. */
	assert_int_equal(account_of("iperf3", "iperf3-stream", 1795383046.983, &a, &err), 0);
	assert_float_equal((double)a.points.p[0].t_ns / 1e9, 102.5, 0.002);
	assert_float_equal((double)a.points.p[a.points.n - 1].t_ns / 1e9, 102.5 + 2.008187, 0.002);
	assert_true(a.late_s <= 0.001);
	account_free(&a);
}

static void test_iperf3_own_retransmits(void **state)
{
	struct error err = {0};
	struct account a;

	(void)state;
	assert_int_equal(account_of("iperf3", "iperf3-bidir-client", 0, &a, &err), 0);
	assert_float_equal(a.retransmits, 18, 0);
	account_free(&a);
	assert_int_equal(account_of("iperf3", "iperf3-bidir-server", 0, &a, &err), 0);
	assert_float_equal(a.retransmits, 11, 0);
	account_free(&a);
	assert_int_equal(account_of("iperf3", "iperf3-rev-client", 0, &a, &err), 0);
	assert_true(isnan(a.retransmits));
	account_free(&a);
}

static void test_iperf3_stopped_server(void **state)
{
	struct error err = {0};
	struct account a;

	(void)state;
	assert_int_equal(account_of("iperf3", "iperf3-stopped", 0, &a, &err), 0);
	assert_true(account_has_work(&a));
	assert_null(a.error);
	account_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counted_work),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_iperf3_times),
		cmocka_unit_test(test_iperf3_own_retransmits),
		cmocka_unit_test(test_iperf3_stopped_server),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
