// SPDX-License-Identifier: GPL-2.0-only
/*
 * Instruments (perf, system call accounting, events, power), and settings of the host: limits,
 * CPUs, and whether buffers and rings hold a path's data.
 */
#include "collect/agent.h"
#include "collect/collect.h"
#include "collect/doctor/doctor.h"
#include "collect/events/events.h"
#include "collect/host.h"
#include "collect/run/run.h"
#include "collect/syscalls/methods.h"
#include "lib/file.h"
#include "lib/json.h"

#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/resource.h>
#include <fcntl.h>
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

static void doctor_kernel_names(struct doctor *d)
{
	autofree char *kcore = xasprintf("%s/kcore", proc_root());
	autoclose int fd = open(kcore, O_RDONLY | O_CLOEXEC);
	double kptr = host_sysctl_number("kernel.kptr_restrict", 0);
	char byte;

	if (!host_has_addresses(proc_root()))
		doctor_put(
			d, "kernel symbols", STATE_NO,
			kptr > 1
				? "sysctl kernel.kptr_restrict=0"
				: "run as root with CAP_SYSLOG, or sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1",
			"/proc/kallsyms has no addresses (kernel.kptr_restrict is %.0f), and profiles no names of kernel functions",
			kptr);
	else
		doctor_put(d, "kernel symbols", STATE_YES, NULL, "kernel.kptr_restrict is %.0f",
			   kptr);
	if (fd < 0 || read(fd, &byte, 1) != 1)
		doctor_put(
			d, "kernel code", STATE_PARTLY, NULL,
			"/proc/kcore cannot be read: report hotspots shows the kernel's instructions as offsets, without their code");
	else
		doctor_put(d, "kernel code", STATE_YES, NULL, "/proc/kcore can be copied");
}

void doctor_check_perf(struct doctor *d)
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
	doctor_kernel_names(d);
}

void doctor_check_syscalls(struct doctor *d)
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

void doctor_check_events(struct doctor *d)
{
	double watchdog = host_sysctl_number("kernel.nmi_watchdog", 0);
	freed(event_list_free) struct event_list list = {0};
	struct cpuset online;
	struct error err = {0};

	if (cpuset_online(&online, &err) || event_list_read(&list, events_default, &err)) {
		doctor_put(d, "events", STATE_NO, NULL, "%s", err.text);
		return;
	}
	for (size_t i = 0; i < list.n; i++) {
		struct counting c;
		int rc = counting_open(&c, &list.e[i], &online, NULL);

		err = (struct error){0};
		if (rc == -ENOENT || rc == -EOPNOTSUPP || rc == -ENODEV)
			error_set(
				&err, -rc,
				"this CPU has no such counter, or the virtual machine has no PMU");
		else if (rc)
			perf_event_denied(-rc, &err);
		doctor_put(d, list.e[i].name, rc ? STATE_NO : STATE_YES, NULL, "%s",
			   rc ? err.text : "counts");
		if (!rc && !i && watchdog > 0)
			doctor_put(d, "nmi_watchdog", STATE_PARTLY, "sysctl kernel.nmi_watchdog=0",
				   "it occupies one hardware counter; other events share the rest");
		counting_close(&c);
	}
}

void doctor_check_power(struct doctor *d)
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

/* --- limits --- */

/* A sysctl, and the least value that a workload or an instrument wants. */
static const struct {
	const char *name;
	int n; /* index of the number in the value */
	double least;
	const char *why, *todo;
} limits[] = {
	{"net.core.rmem_max", 0, 4 << 20, "SO_RCVBUF cannot set more",
	 "sysctl net.core.rmem_max=268435456"},
	{"net.core.wmem_max", 0, 4 << 20, "SO_SNDBUF cannot set more",
	 "sysctl net.core.wmem_max=268435456"},
	{"net.ipv4.tcp_rmem", 2, 6 << 20, "the receive window stops growing there",
	 "sysctl net.ipv4.tcp_rmem='4096 131072 268435456'"},
	{"net.ipv4.tcp_wmem", 2, 4 << 20, "what is in flight stops growing there",
	 "sysctl net.ipv4.tcp_wmem='4096 16384 268435456'"},
	{"net.core.netdev_max_backlog", 0, 1000, "packets steered to another CPU are dropped above",
	 "sysctl net.core.netdev_max_backlog=10000"},
	{"vm.max_map_count", 0, 65530, "mappings of receive buffers fail above",
	 "sysctl vm.max_map_count=1048576"},
	{"kernel.perf_event_mlock_kb", 0, 516, "without root, perf's buffers stay small",
	 "sysctl kernel.perf_event_mlock_kb=2048"},
};

static void doctor_put_memlock(struct doctor *d)
{
	bool unlimited = rights_of_this_process().caps >> CAP_IPC_LOCK & 1, few;
	struct rlimit r;
	double mb;

	if (getrlimit(RLIMIT_MEMLOCK, &r))
		return;
	mb = (double)r.rlim_cur / (1 << 20);
	few = !unlimited && mb < 64;
	if (r.rlim_cur == RLIM_INFINITY)
		doctor_put(d, "memlock", STATE_YES, NULL, "unlimited");
	else
		doctor_put(
			d, "memlock", few ? STATE_PARTLY : STATE_YES,
			few ? "ulimit -l unlimited" : NULL,
			unlimited
				? "unlimited with CAP_IPC_LOCK; %.1f MiB without"
				: "%.1f MiB may be pinned without CAP_IPC_LOCK: zero-copy buffers, rings and zcrx areas count",
			mb);
}

void doctor_check_sysctls(struct doctor *d)
{
	for (size_t i = 0; i < array_size(limits); i++) {
		double is = host_sysctl_number(limits[i].name, limits[i].n);

		if (is < 0)
			doctor_put(d, limits[i].name, STATE_NOTE, NULL,
				   "not in this network namespace or kernel");
		else if (is < limits[i].least)
			doctor_put(d, limits[i].name, STATE_PARTLY, limits[i].todo, "%.0f: %s", is,
				   limits[i].why);
		else
			doctor_put(d, limits[i].name, STATE_YES, NULL, "%.0f", is);
	}
	doctor_put_memlock(d);
}

/* --- CPUs --- */

static void doctor_put_governors(struct doctor *d, const struct cpuset *online)
{
	int n = 0, seen = 0;

	for (unsigned int cpu = 0; cpu < CPUSET_MAX; cpu++) {
		autofree char *g = NULL;

		if (cpuset_has(online, cpu))
			g = host_fact("%s/devices/system/cpu/cpu%u/cpufreq/scaling_governor",
				      sysfs_root(), cpu);
		seen += g != NULL;
		n += g && strcmp(g, "performance");
	}
	if (n)
		doctor_put(d, "governor", STATE_PARTLY, "cpupower frequency-set -g performance",
			   "%d CPUs are not on 'performance': ns per unit follow the clock rate",
			   n);
	else
		doctor_put(d, "governor", seen ? STATE_YES : STATE_NOTE, NULL, "%s",
			   seen ? "performance, on all CPUs"
				: "the kernel does not govern the clock rate here");
}

/* Facts of sysfs that matter where the file below devices/system/cpu has this value. */
static const struct {
	const char *file, *value, *what, *why, *todo;
} cpu_facts[] = {
	{"intel_pstate/no_turbo", "0", "turbo",
	 "on: the clock rate depends on heat and on the other CPUs",
	 "echo 1 >/sys/devices/system/cpu/intel_pstate/no_turbo"},
	{"cpufreq/boost", "1", "turbo", "on: the clock rate depends on heat and on the other CPUs",
	 "echo 0 >/sys/devices/system/cpu/cpufreq/boost"},
	{"smt/active", "1", "SMT", "siblings share a core: busy time of one slows the other",
	 "echo off >/sys/devices/system/cpu/smt/control"},
};

void doctor_check_cpus(struct doctor *d)
{
	struct cpuset online;
	struct error err = {0};

	if (cpuset_online(&online, &err)) {
		doctor_put(d, "cpus", STATE_NO, NULL, "%s", err.text);
		return;
	}
	doctor_put_governors(d, &online);
	for (size_t i = 0; i < array_size(cpu_facts); i++) {
		autofree char *is =
			host_fact("%s/devices/system/cpu/%s", sysfs_root(), cpu_facts[i].file);

		if (is && !strcmp(is, cpu_facts[i].value))
			doctor_put(d, cpu_facts[i].what, STATE_NOTE, cpu_facts[i].todo, "%s",
				   cpu_facts[i].why);
	}
}

/* --- the path --- */

/* Suggests a maximum, and leaves the smallest and the default size of this host. */
static void doctor_put_buffer(struct doctor *d, const char *name, double bdp)
{
	double least = host_sysctl_number(name, 0), usual = host_sysctl_number(name, 1);
	double most = host_sysctl_number(name, 2);
	/* The kernel needs half of the memory itself (tcp_adv_win_scale 1, skb overhead). */
	double want = fmin(2 * bdp + 65536, INT_MAX);
	bool fits = most >= 2 * bdp, never = !fits && 2 * bdp + 65536 > INT_MAX;
	autofree char *todo = fits || most >= INT_MAX ? NULL
						      : xasprintf("sysctl %s='%.0f %.0f %.0f'",
								  name, least, usual, want);

	if (most < 0)
		doctor_put(d, name, STATE_NOTE, NULL, "this kernel does not report it");
	else
		doctor_put(
			d, name, fits ? STATE_YES : STATE_PARTLY, todo,
			"at most %.2f MB; twice the bandwidth-delay product is %.2f MB%s",
			most / 1e6, 2 * bdp / 1e6,
			never ? ", more than the kernel accepts (2147.48 MB): one flow cannot fill this path"
			      : "");
}

void doctor_check_path(struct doctor *d)
{
	double bdp = d->rate_gbps * 1e9 / 8 * d->rtt_ms / 1e3;

	if (d->rate_gbps)
		doctor_put_rings(d);
	if (!d->rate_gbps || !d->rtt_ms) {
		doctor_put(d, "path", STATE_NOTE, "--rate 100 --rtt 0.1, in Gbit/s and ms",
			   "rate and round-trip time were not given");
		return;
	}
	doctor_put(d, "product", STATE_NOTE, NULL, "%g Gbit/s x %g ms = %.3f MB in flight",
		   d->rate_gbps, d->rtt_ms, bdp / 1e6);
	doctor_put_buffer(d, "net.ipv4.tcp_rmem", bdp);
	doctor_put_buffer(d, "net.ipv4.tcp_wmem", bdp);
}
