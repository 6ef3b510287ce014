// SPDX-License-Identifier: GPL-2.0-only
/* Checks events of a PMU in a fake sysfs: terms, bit fields, names and errors. */
#include "collect/events/events.h"
#include "lib/alloc.h"
#include "lib/file.h"
#include "tests/unit/close.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char dir[] = "/tmp/zcost-pmu-XXXXXX";

static void put(const char *name, const char *text)
{
	char *path = xasprintf("%s/bus/event_source/devices/%s", dir, name);
	char *folder = xstrdup(path);

	*strrchr(folder, '/') = '\0';
	assert_int_equal(dir_make(folder, NULL), 0);
	assert_int_equal(file_write(path, text, strlen(text), NULL), 0);
	free(folder);
	free(path);
}

static struct pmu_event read_event(const char *pmu, const char *terms)
{
	struct error err = {0};
	struct pmu_event e;
	int rc = pmu_event_read(&e, pmu, terms, &err);

	if (rc)
		fprintf(stderr, "%s\n", err.text);
	assert_int_equal(rc, 0);
	return e;
}

static void test_terms_fill_their_bit_fields(void **state)
{
	struct pmu_event e;

	(void)state;
	e = read_event("cpu", "event=0x3c,umask=0x1,edge");
	assert_int_equal(e.type, 4);
	assert_int_equal(e.config[0], 0x4013c);
	assert_false(e.some_cpus);
	e = read_event("cpu", "event=0x1b7,offcore_rsp=0x123456789abc"); /* 0xb7, and 1 in bit 32 */
	assert_true(e.config[0] == 0x1000000b7);
	assert_true(e.config[1] == 0x123456789abc);
	e = read_event("cpu", "config=0xc0,name=mine");
	assert_int_equal(e.config[0], 0xc0);
	e = read_event("cpu", "umask=3,umask=1"); /* the last one counts */
	assert_int_equal(e.config[0], 0x100);
}

static void test_named_events_have_scale_unit_and_cpus(void **state)
{
	struct pmu_event e = read_event("power", "energy-pkg");

	(void)state;
	assert_int_equal(e.type, 21);
	assert_int_equal(e.config[0], 2);
	assert_float_equal(e.scale, 2.3283064365386962890625e-10, 1e-25);
	assert_string_equal(e.unit, "Joules");
	assert_true(e.per_socket && e.some_cpus);
	assert_true(cpuset_has(&e.cpus, 0) && cpuset_has(&e.cpus, 28));
	assert_int_equal(cpuset_count(&e.cpus), 2);
	e = read_event("cpu", "stalls,umask=0x7"); /* a name, then a term over it */
	assert_int_equal(e.config[0], 0x7a3);
	assert_float_equal(e.scale, 1, 0);
	e = read_event("cpu_atom", "config=1");
	assert_true(e.some_cpus);
	assert_false(e.per_socket);
	assert_true(pmu_has_event("power", "energy-pkg"));
	assert_false(pmu_has_event("power", "energy-moon"));
	assert_false(pmu_has_event("../cpu", "stalls"));
}

static void refuses(const char *pmu, const char *terms, int code, const char *why)
{
	struct error err = {0};
	struct pmu_event e;

	assert_int_equal(pmu_event_read(&e, pmu, terms, &err), -code);
	if (!strstr(err.text, why))
		fprintf(stderr, "%s\n", err.text);
	assert_non_null(strstr(err.text, why));
}

static void test_bad_terms_are_refused(void **state)
{
	(void)state;
	refuses("gpu", "x", ENOENT, "no PMU 'gpu' on this host; this host has: cpu cpu_atom power");
	refuses("..", "x", ENOENT, "no PMU '..'");
	refuses("cpu", "stals", ENOENT,
		"neither an event nor a term 'stals'; its events: stalls; its terms: ");
	refuses("cpu", "event=0x200", EINVAL, "event=0x200 does not fit into config:0-7,32");
	refuses("cpu", "umask=many", EINVAL, "umask=many is not a number");
	refuses("cpu", "umask=", EINVAL, "is not a number");
	refuses("cpu", "umask=-1", EINVAL, "is not a number");
	refuses("cpu", "odd=1", EBADMSG, "its format of 'odd' is 'config9:0-7'");
	refuses("cpu", "../type", ENOENT, "neither an event nor a term");
	refuses("cpu", "", ENOENT, "neither an event nor a term ''");
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	setenv("ZCOST_SYSFS", dir, 1);
	put("cpu/type", "4\n");
	put("cpu/format/event", "config:0-7,32\n");
	put("cpu/format/umask", "config:8-15\n");
	put("cpu/format/edge", "config:18\n");
	put("cpu/format/odd", "config9:0-7\n");
	put("cpu/format/offcore_rsp", "config1:0-63\n");
	put("cpu/events/stalls", "event=0xa3,umask=0x4\n");
	put("power/type", "21\n");
	put("power/format/event", "config:0-7\n");
	put("power/cpumask", "0,28\n");
	put("power/events/energy-pkg", "event=0x02\n");
	put("power/events/energy-pkg.scale", "2.3283064365386962890625e-10\n");
	put("power/events/energy-pkg.unit", "Joules\n");
	put("cpu_atom/type", "10\n");
	put("cpu_atom/cpus", "16-23\n");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	return dir_remove(dir, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_terms_fill_their_bit_fields),
		cmocka_unit_test(test_named_events_have_scale_unit_and_cpus),
		cmocka_unit_test(test_bad_terms_are_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
