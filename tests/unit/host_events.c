// SPDX-License-Identifier: GPL-2.0-only
/* Checks events in perf's syntax on a fake sysfs: which are read and which are refused. */
#include "collect/events/events.h"
#include "tests/unit/unit.h"

#include <unistd.h>

static void put(const char *name, const char *text)
{
	autofree char *file = xasprintf("bus/event_source/devices/%s", name);

	put_text(file, text);
}

static struct event_list read_list(const char *text)
{
	struct event_list list;
	struct error err = {0};
	int rc = event_list_read(&list, text, &err);

	if (rc)
		fprintf(stderr, "%s: %s\n", text, err.text);
	assert_int_equal(rc, 0);
	assert_int_equal(event_list_check(text, NULL), 0);
	return list;
}

static void expect(const struct event *e, const char *name, unsigned int group, uint32_t type,
		   uint64_t config)
{
	assert_string_equal(e->name, name);
	assert_int_equal(e->group, group);
	assert_int_equal(e->attr.type, type);
	assert_true(e->attr.config == config);
}

TEST(event_names_are_read)
{
	struct event_list l =
		read_list("cycles, cs,r1C2,L1-dcache-load-misses,LLC-stores,cpu-clock");

	assert_int_equal(l.n, 6);
	expect(&l.e[0], "cycles", 1, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	expect(&l.e[1], "cs", 2, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES);
	expect(&l.e[2], "r1C2", 3, PERF_TYPE_RAW, 0x1c2);
	expect(&l.e[3], "L1-dcache-load-misses", 4, PERF_TYPE_HW_CACHE, 0x10000);
	expect(&l.e[4], "LLC-stores", 5, PERF_TYPE_HW_CACHE, 0x102);
	assert_string_equal(l.e[4].unit, "");
	assert_string_equal(l.e[5].unit, "ns");
	event_list_free(&l);
}

TEST(groups_are_read)
{
	struct event_list l = read_list("{cycles,instructions},faults,{cycles:ku,branches:u}");

	assert_int_equal(l.n, 5);
	assert_int_equal(l.e[0].group, 1);
	assert_int_equal(l.e[1].group, 1);
	assert_int_equal(l.e[2].group, 2);
	assert_string_equal(l.e[3].name, "cycles:ku");
	assert_int_equal(l.e[3].group, 3);
	assert_string_equal(l.e[4].name, "branches:u");
	assert_true(l.e[4].attr.exclude_kernel && l.e[4].attr.exclude_hv);
	assert_false(l.e[4].attr.exclude_user);
	event_list_free(&l);
	l = read_list(events_default);
	assert_int_equal(l.e[0].group, l.e[1].group);
	event_list_free(&l);
}

TEST(pmu_events_are_read)
{
	struct event_list l =
		read_list("cpu/event=0x3c,umask=0x1/u,{imc/reads/,imc/writes/},stalls");

	assert_int_equal(l.n, 4);
	expect(&l.e[0], "cpu/event=0x3c,umask=0x1/u", 1, 4, 0x13c);
	assert_true(l.e[0].attr.exclude_kernel);
	expect(&l.e[1], "imc/reads/", 2, 30, 0x304);
	assert_true(l.e[1].per_socket);
	assert_int_equal(cpuset_count(&l.e[1].cpus), 2);
	assert_float_equal(l.e[1].scale, 6.103515625e-5, 1e-15);
	assert_string_equal(l.e[1].unit, "MiB");
	expect(&l.e[3], "stalls", 3, 4, 0x4a3); /* a name of the processor's own PMU */
	event_list_free(&l);
}

static void refuses(const char *text, const char *why)
{
	struct error err = {0};
	struct event_list list;

	assert_int_not_equal(event_list_read(&list, text, &err), 0);
	if (!strstr(err.text, why))
		fprintf(stderr, "%s: %s\n", text, err.text);
	assert_non_null(strstr(err.text, why));
}

TEST(bad_event_list_is_refused)
{
	refuses("", "an event is missing before 'the end'");
	refuses("cycles,,cs", "an event is missing before ',cs'");
	refuses("{}", "an event is missing");
	refuses("{cycles", "the '}' of a group is missing");
	refuses("{cycles,{cs}}", "an event is missing before '{cs}}'");
	refuses("cycles}", "'}': a comma is missing");
	refuses("{cycles}cs", "'cs': a comma is missing");
	refuses("cyles", "unknown event 'cyles'; there are cycles");
	refuses("cycles:x", "no modifier 'x'");
	refuses("cycles instructions", "a blank or quote");
	refuses("'cycles'", "a blank or quote");
	refuses("{cs,cs}", "'cs' appears twice");
	refuses("{cycles,imc/reads/}", "counted by different CPUs: not in one group");
	refuses("imc/", "the '/' behind its terms is missing");
	refuses("/x/", "is not PMU/TERMS/");
	refuses("imc//", "is not PMU/TERMS/");
	refuses("gpu/x/", "no PMU 'gpu' on this host; this host has: cpu cpu_atom imc power");
	refuses("r", "unknown event 'r'");
	refuses("r12345678901234567", "unknown event");
}

static struct event read_event(const char *pmu, const char *terms)
{
	struct error err = {0};
	struct event e = {.scale = 1};
	int rc = pmu_event_read(&e, pmu, terms, &err);

	if (rc)
		fprintf(stderr, "%s\n", err.text);
	assert_int_equal(rc, 0);
	return e;
}

TEST(terms_fill_their_bit_fields)
{
	struct event e = read_event("cpu", "event=0x3c,umask=0x1,edge");

	assert_int_equal(e.attr.type, 4);
	assert_int_equal(e.attr.config, 0x4013c);
	assert_false(e.some_cpus);
	e = read_event("cpu", "event=0x1b7,offcore_rsp=0x123456789abc"); /* 0xb7, and 1 in bit 32 */
	assert_true(e.attr.config == 0x1000000b7);
	assert_true(e.attr.config1 == 0x123456789abc);
	e = read_event("cpu", "config=0xc0,name=mine");
	assert_int_equal(e.attr.config, 0xc0);
	e = read_event("cpu", "umask=3,umask=1"); /* the last one counts */
	assert_int_equal(e.attr.config, 0x100);
}

TEST(named_events_have_scale_unit_and_cpus)
{
	struct event e = read_event("power", "energy-pkg");

	assert_int_equal(e.attr.type, 21);
	assert_int_equal(e.attr.config, 2);
	assert_float_equal(e.scale, 2.3283064365386962890625e-10, 1e-25);
	assert_string_equal(e.unit, "Joules");
	assert_true(e.per_socket && e.some_cpus);
	assert_true(cpuset_has(&e.cpus, 0) && cpuset_has(&e.cpus, 28));
	assert_int_equal(cpuset_count(&e.cpus), 2);
	e = read_event("cpu", "stalls,umask=0x7"); /* a name, then a term over it */
	assert_int_equal(e.attr.config, 0x7a3);
	assert_float_equal(e.scale, 1, 0);
	e = read_event("cpu_atom", "config=1");
	assert_true(e.some_cpus);
	assert_false(e.per_socket);
	assert_true(pmu_has_event("power", "energy-pkg"));
	assert_false(pmu_has_event("power", "energy-moon"));
	assert_false(pmu_has_event("../cpu", "stalls"));
}

static void refuses_terms(const char *pmu, const char *terms, int code, const char *why)
{
	struct error err = {0};
	struct event e = {.scale = 1};

	assert_int_equal(pmu_event_read(&e, pmu, terms, &err), -code);
	if (!strstr(err.text, why))
		fprintf(stderr, "%s\n", err.text);
	assert_non_null(strstr(err.text, why));
}

TEST(bad_terms_are_refused)
{
	refuses_terms("gpu", "x", ENOENT,
		      "no PMU 'gpu' on this host; this host has: cpu cpu_atom imc power");
	refuses_terms("..", "x", ENOENT, "no PMU '..'");
	refuses_terms("cpu", "stals", ENOENT,
		      "neither an event nor a term 'stals'; its events: stalls; its terms: ");
	refuses_terms("cpu", "event=0x200", EINVAL, "event=0x200 does not fit into config:0-7,32");
	refuses_terms("cpu", "umask=many", EINVAL, "umask=many is not a number");
	refuses_terms("cpu", "umask=", EINVAL, "is not a number");
	refuses_terms("cpu", "umask=-1", EINVAL, "is not a number");
	refuses_terms("cpu", "odd=1", EBADMSG, "its format of 'odd' is 'config9:0-7'");
	refuses_terms("cpu", "../type", ENOENT, "neither an event nor a term");
	refuses_terms("cpu", "", ENOENT, "neither an event nor a term ''");
}

/* Events that another host may have pass. Events that no host has are refused. */
TEST(check_refuses_only_what_no_host_can_have)
{
	assert_int_equal(event_list_check("gpu/x/,sys:point,cycles", NULL), 0);
	assert_int_equal(event_list_check("cyles", NULL), -EINVAL);
	assert_int_equal(event_list_check("{gpu/x/", NULL), -EINVAL);
}

TEST(ring_buffers_of_all_cpus_take_512_mib_at_most)
{
	for (unsigned int n = 1; n <= 1024; n++) {
		size_t size = perf_event_ring_pages(n) * (size_t)sysconf(_SC_PAGESIZE);

		assert_true(n * size <= 512 << 20 && size >= 512 << 10 && size <= 16 << 20);
	}
}

static void set_up(void)
{
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
	put("imc/type", "30\n");
	put("imc/cpumask", "0,28\n");
	put("imc/format/event", "config:0-7\n");
	put("imc/format/umask", "config:8-15\n");
	put("imc/events/reads", "event=0x04,umask=0x03\n");
	put("imc/events/reads.scale", "6.103515625e-5\n");
	put("imc/events/reads.unit", "MiB\n");
	put("imc/events/writes", "event=0x04,umask=0x0c\n");
}

AROUND_TESTS(set_up, NULL)
