// SPDX-License-Identifier: GPL-2.0-only
/* Instruments: perf, system call accounting, events, power. */
#include "collect/collect.h"
#include "collect/doctor/doctor.h"
#include "collect/run/run.h"
#include "collect/syscalls/methods.h"
#include "collect/events/events.h"
#include "lib/alloc.h"
#include "lib/json.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

extern const struct collector collector_perf, collector_power;

/*
 * Runs a collector's probe, and `finish`, which releases what the probe opened. Returns the reason
 * when it fails, and the `info` of run.json when it succeeds.
 */
static bool doctor_ask(const struct collector *is, const char *info, char why[512])
{
	struct run run = {.dir = "/nonexistent", .pass = "measure"};
	struct collect c = {.is = is, .run = &run, .info = json_object()};
	bool there = !cpuset_online(&run.cpus, &c.err) && !is->probe(&c);
	const char *text = there ? json_str(c.info, info) : c.err.text;

	snprintf(why, 512, "%.511s", text ? text : "");
	if (there) {
		c.state = COLLECT_UNSUPPORTED; /* there is nothing to save */
		is->finish(&c);
	}
	free(c.why);
	json_decref(c.info);
	return there;
}

static void doctor_put_sampling_rate(struct doctor *d)
{
	unsigned int rate = perf_event_max_rate();

	if (rate && rate < 4999)
		doctor_put(d, "sample rate", STATE_PARTLY,
			   "sysctl kernel.perf_event_max_sample_rate=100000",
			   "at most %u samples per second and CPU; capture takes 4999", rate);
	else if (rate)
		doctor_put(d, "sample rate", STATE_YES, NULL, "up to %u samples per second and CPU",
			   rate);
}

static void doctor_kernel_names(struct doctor *d)
{
	double kptr = doctor_sysctl_number("kernel.kptr_restrict", 0);

	if (kptr > 1 || (kptr > 0 && geteuid()))
		doctor_put(
			d, "kernel symbols", STATE_NO,
			kptr > 1 ? "sysctl kernel.kptr_restrict=0"
				 : "run as root, or sysctl kernel.kptr_restrict=0",
			"kernel.kptr_restrict is %.0f: /proc/kallsyms has no addresses, and profiles no names of kernel functions",
			kptr);
	else
		doctor_put(d, "kernel symbols", STATE_YES, NULL, "kernel.kptr_restrict is %.0f",
			   kptr);
	if (access("/proc/kcore", R_OK))
		doctor_put(
			d, "kernel code", STATE_PARTLY, NULL,
			"/proc/kcore cannot be read: report hotspots shows the kernel's instructions as offsets, without their code");
	else
		doctor_put(d, "kernel code", STATE_YES, NULL, "/proc/kcore can be copied");
}

static void doctor_check_perf(struct doctor *d)
{
	struct cpuset cpus;
	const char *event;
	struct error err = {0};
	char why[512];

	if (!doctor_ask(&collector_perf, "version", why)) {
		doctor_put(d, "perf record", STATE_NO, NULL, "%s", why);
		return;
	}
	doctor_put(d, "perf record", STATE_YES, NULL, "%s", why);
	if (!cpuset_online(&cpus, &err) && !perf_event_choose(&cpus, &event, &err)) {
		if (!strcmp(event, "cycles"))
			doctor_put(d, "event", STATE_YES, NULL, "profiles are of cycles");
		else
			doctor_put(
				d, "event", STATE_PARTLY,
				"measure on hardware, or give the virtual machine a PMU",
				"there is no PMU: profiles use %s, which counts time with interrupts off where interrupts are switched on again",
				event);
	}
	doctor_put_sampling_rate(d);
	doctor_kernel_names(d);
}

const struct check check_perf = {
	.name = "perf",
	.what = "perf record, its event and sample rate, the symbols and code of the kernel",
	.needed = true,
	.run = doctor_check_perf,
};

static void doctor_check_syscalls(struct doctor *d)
{
	static const char *const names[] = {"raw_syscalls/sys_enter", "raw_syscalls/sys_exit"};
	struct error err = {0}, refused = {0};
	void *self = NULL;
	int ids[2];

	if (syscalls_bpf.open(&self, &refused))
		doctor_put(
			d, "bpf", STATE_PARTLY,
			"accounting falls back to tracepoints, which cost more and can lose calls",
			"%s", refused.text);
	else
		doctor_put(d, "bpf", STATE_YES, NULL, "loads and attaches");
	if (self)
		syscalls_bpf.close(self);
	if (tracefs_ids(names, ids, 2, &err))
		doctor_put(d, "tracepoints", refused.code ? STATE_NO : STATE_PARTLY, NULL, "%s",
			   err.text);
	else
		doctor_put(d, "tracepoints", STATE_YES, NULL, "raw_syscalls can be read");
}

const struct check check_syscalls = {
	.name = "syscalls",
	.what = "the ways of accounting system calls: BPF, tracepoints",
	.needed = true,
	.run = doctor_check_syscalls,
};

static const struct {
	const char *name, *lost; /* what zcost report lacks without it */
	uint32_t type;
	uint64_t config;
} events[] = {
	{"cycles", "cycles per byte, --in cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"instructions", "IPC, --in instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	{"cache-misses", "cache miss ratio", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
	{"branch-misses", "branch miss ratio", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
	{"context-switches", "context switches", PERF_TYPE_SOFTWARE,
	 PERF_COUNT_SW_CONTEXT_SWITCHES},
};

/* Counts the event on the first CPU. Returns 0 or its errno. */
static int doctor_try_event(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .type = type, .config = config};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static void doctor_check_events(struct doctor *d)
{
	double watchdog = doctor_sysctl_number("kernel.nmi_watchdog", 0);
	size_t i;

	for (i = 0; i < array_size(events); i++) {
		int rc = doctor_try_event(events[i].type, events[i].config);
		struct error err = {0};

		if (rc == ENOENT || rc == EOPNOTSUPP || rc == ENODEV)
			error_set(
				&err, rc,
				"this CPU has no such counter, or the virtual machine has no PMU");
		else if (rc)
			perf_event_denied(rc, &err);
		if (rc)
			doctor_put(d, events[i].name, STATE_NO, NULL, "%s; absent: %s", err.text,
				   events[i].lost);
		else
			doctor_put(d, events[i].name, STATE_YES, NULL, "counts");
	}
	if (watchdog > 0 && !doctor_try_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES))
		doctor_put(d, "nmi_watchdog", STATE_PARTLY, "sysctl kernel.nmi_watchdog=0",
			   "it occupies one hardware counter; other events share the rest");
}

const struct check check_events = {
	.name = "events",
	.what = "hardware and software events that perf can count",
	.run = doctor_check_events,
};

static void doctor_check_power(struct doctor *d)
{
	char why[512];

	if (doctor_ask(&collector_power, "source", why))
		doctor_put(d, "power", STATE_YES, NULL, "%s",
			   *why ? why : "a source is there: zcost collect --list, report power");
	else
		doctor_put(
			d, "power", STATE_NO,
			"give an external meter's log (analyze --power-csv) or a model (report --power-model); without either there is no T^2/P",
			"%s", why);
}

const struct check check_power = {
	.name = "power",
	.what = "sources of power readings",
	.run = doctor_check_power,
};
