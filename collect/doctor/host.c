// SPDX-License-Identifier: GPL-2.0-only
/* Settings of the host: limits, CPUs, and whether buffers and rings hold a path's data. */
#include "collect/agent.h"
#include "collect/doctor/doctor.h"
#include "collect/host.h"
#include "lib/alloc.h"
#include "lib/cpuset.h"
#include "lib/str.h"

#include <dirent.h>
#include <limits.h>
#include <linux/capability.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

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
	struct rlimit r;

	if (getrlimit(RLIMIT_MEMLOCK, &r))
		return;
	if (r.rlim_cur == RLIM_INFINITY)
		doctor_put(d, "memlock", FINDING_YES, NULL, "unlimited");
	else if (rights_of_this_process().caps >> CAP_IPC_LOCK & 1)
		doctor_put(d, "memlock", FINDING_YES, NULL,
			   "unlimited with CAP_IPC_LOCK; %.1f MiB without",
			   (double)r.rlim_cur / (1 << 20));
	else
		doctor_put(
			d, "memlock", r.rlim_cur < (64 << 20) ? FINDING_PARTLY : FINDING_YES,
			r.rlim_cur < (64 << 20) ? "ulimit -l unlimited" : NULL,
			"%.1f MiB may be pinned without CAP_IPC_LOCK: zero-copy buffers, rings and zcrx areas count",
			(double)r.rlim_cur / (1 << 20));
}

static void doctor_put_hugepages(struct doctor *d)
{
	double n = doctor_sysctl_number("vm.nr_hugepages", 0);
	char *thp = host_fact("%s/kernel/mm/transparent_hugepage/enabled", sysfs_root());

	if (n > 0)
		doctor_put(d, "hugepages", FINDING_YES, NULL, "%.0f reserved", n);
	else if (thp && !strstr(thp, "[never]"))
		doctor_put(d, "hugepages", FINDING_NOTE, "sysctl vm.nr_hugepages=64",
			   "none reserved: tcpzc --huge-pages takes transparent ones (%s)", thp);
	else
		doctor_put(d, "hugepages", FINDING_NOTE, "sysctl vm.nr_hugepages=64",
			   "none reserved, transparent ones %s: tcpzc --huge-pages is refused",
			   thp ? "are off" : "not in this kernel");
	free(thp);
}

static void doctor_check_sysctls(struct doctor *d)
{
	double paranoid = doctor_sysctl_number("kernel.perf_event_paranoid", 0);
	size_t i;

	for (i = 0; i < array_size(limits); i++) {
		double is = doctor_sysctl_number(limits[i].name, limits[i].n);

		if (is < 0)
			doctor_put(d, limits[i].name, FINDING_NOTE, NULL,
				   "not in this network namespace or kernel");
		else if (is < limits[i].least)
			doctor_put(d, limits[i].name, FINDING_PARTLY, limits[i].todo, "%.0f: %s",
				   is, limits[i].why);
		else
			doctor_put(d, limits[i].name, FINDING_YES, NULL, "%.0f", is);
	}
	if (paranoid > -1)
		doctor_put(d, "perf_event_paranoid", FINDING_NOTE, NULL,
			   "%.0f: users other than root may not profile a whole CPU", paranoid);
	doctor_put_memlock(d);
	doctor_put_hugepages(d);
}

const struct check check_sysctls = {
	.name = "sysctls",
	.what = "limits of the kernel: buffers, backlog, mappings, pinned memory, huge pages",
	.run = doctor_check_sysctls,
};

/* --- CPUs --- */

static void doctor_put_governors(struct doctor *d, const struct cpuset *online)
{
	struct str odd = {0};
	unsigned int cpu;
	int n = 0, seen = 0;

	for (cpu = 0; cpu < CPUSET_MAX; cpu++) {
		char *g =
			cpuset_has(online, cpu)
				? host_fact("%s/devices/system/cpu/cpu%u/cpufreq/scaling_governor",
					    sysfs_root(), cpu)
				: NULL;

		seen += g != NULL;
		if (g && strcmp(g, "performance") && !n++)
			str_printf(&odd, "cpu%u: %s", cpu, g);
		free(g);
	}
	if (!seen)
		doctor_put(d, "governor", FINDING_NOTE, NULL,
			   "the kernel does not govern the clock rate here");
	else if (n)
		doctor_put(
			d, "governor", FINDING_PARTLY, "cpupower frequency-set -g performance",
			"%d CPUs are not on 'performance' (%s): ns per unit follow the clock rate",
			n, odd.buf);
	else
		doctor_put(d, "governor", FINDING_YES, NULL, "performance, on all CPUs");
	str_free(&odd);
}

static void doctor_put_turbo(struct doctor *d)
{
	char *intel = host_fact("%s/devices/system/cpu/intel_pstate/no_turbo", sysfs_root());
	char *boost = host_fact("%s/devices/system/cpu/cpufreq/boost", sysfs_root());

	if ((intel && !strcmp(intel, "0")) || (boost && !strcmp(boost, "1")))
		doctor_put(d, "turbo", FINDING_NOTE,
			   intel ? "echo 1 >/sys/devices/system/cpu/intel_pstate/no_turbo"
				 : "echo 0 >/sys/devices/system/cpu/cpufreq/boost",
			   "on: the clock rate depends on heat and on the other CPUs");
	free(intel);
	free(boost);
}

static void doctor_put_smt(struct doctor *d)
{
	char *on = host_fact("%s/devices/system/cpu/smt/active", sysfs_root());

	if (on && !strcmp(on, "1"))
		doctor_put(d, "SMT", FINDING_NOTE, "echo off >/sys/devices/system/cpu/smt/control",
			   "siblings share a core: busy time of one slows the other");
	free(on);
}

/* Adds the CPUs that a device's interrupts may go to. Returns the number of interrupts. */
static int doctor_count_interrupts(const char *dir, struct cpuset *cpus)
{
	DIR *list = opendir(dir);
	struct dirent *e;
	int n = 0;

	while (list && (e = readdir(list))) {
		char *text = *e->d_name == '.' ? NULL
					       : host_fact("%s/irq/%s/smp_affinity_list",
							   proc_root(), e->d_name);
		struct cpuset one;
		unsigned int cpu;

		if (text && !cpuset_parse(&one, text, NULL)) {
			n++;
			for (cpu = 0; cpu < CPUSET_MAX; cpu++)
				if (cpuset_has(&one, cpu))
					cpuset_add(cpus, cpu);
		}
		free(text);
	}
	if (list)
		closedir(list);
	return n;
}

/*
 * Puts the CPUs of each interface with a device. The interrupts of a virtio device belong to the
 * device above it.
 */
static void doctor_put_interrupts(struct doctor *d)
{
	char *class = xasprintf("%s/class/net", sysfs_root());
	DIR *list = opendir(class);
	struct dirent *e;

	while (list && (e = readdir(list))) {
		char *own = xasprintf("%s/%s/device/msi_irqs", class, e->d_name);
		char *above = xasprintf("%s/%s/device/../msi_irqs", class, e->d_name);
		struct cpuset cpus = {0};
		int n = *e->d_name == '.' ? 0 : doctor_count_interrupts(own, &cpus);
		char *text;

		if (!n && *e->d_name != '.')
			n = doctor_count_interrupts(above, &cpus);
		text = cpuset_format(&cpus);
		if (n)
			doctor_put(
				d, "interrupts", FINDING_NOTE, NULL,
				"%s: %d, on CPUs %s (/proc/irq/N/smp_affinity_list; irqbalance moves them)",
				e->d_name, n, text);
		free(text);
		free(above);
		free(own);
	}
	if (list)
		closedir(list);
	free(class);
}

static void doctor_check_cpus(struct doctor *d)
{
	struct cpuset online;
	struct error err = {0};
	char *idle = host_fact("%s/devices/system/cpu/cpuidle/current_driver", sysfs_root());
	char *isolated = host_fact("%s/devices/system/cpu/isolated", sysfs_root());

	if (cpuset_online(&online, &err)) {
		doctor_put(d, "cpus", FINDING_NO, NULL, "%s", err.text);
		return;
	}
	doctor_put_governors(d, &online);
	doctor_put_turbo(d);
	doctor_put_smt(d);
	if (!idle || !strcmp(idle, "none"))
		doctor_put(d, "cpuidle", FINDING_NOTE, NULL,
			   "no driver: the kernel does not count idle states");
	else
		doctor_put(d, "cpuidle", FINDING_YES, NULL, "%s", idle);
	if (isolated)
		doctor_put(d, "isolated", FINDING_NOTE, NULL, "CPUs %s", isolated);
	doctor_put_interrupts(d);
	free(isolated);
	free(idle);
}

const struct check check_cpus = {
	.name = "cpus",
	.what = "clock rate, SMT, idle states, isolated CPUs, interrupts of the network cards",
	.run = doctor_check_cpus,
};

/* --- the path --- */

/* Suggests a maximum and leaves the smallest and the default size of this host. */
static char *doctor_buffer_todo(const char *name, double want)
{
	double least = doctor_sysctl_number(name, 0), usual = doctor_sysctl_number(name, 1);

	if (least < 0 || usual < 0)
		return NULL;
	return xasprintf("sysctl %s='%.0f %.0f %.0f'", name, least, usual, want);
}

static void doctor_put_buffer(struct doctor *d, const char *name, double bdp)
{
	double most = doctor_sysctl_number(name, 2), want = 2 * bdp + 65536;
	/* The kernel needs half of the memory itself (tcp_adv_win_scale 1, skb overhead). */
	bool fits = most >= 2 * bdp, takes = want <= INT_MAX;
	char *todo;

	if (most < 0) {
		doctor_put(d, name, FINDING_NOTE, NULL, "this kernel does not report it");
		return;
	}
	todo = fits || (!takes && most >= INT_MAX)
		       ? NULL
		       : doctor_buffer_todo(name, takes ? want : (double)INT_MAX);
	doctor_put(
		d, name, fits ? FINDING_YES : FINDING_PARTLY, todo,
		"at most %.2f MB; twice the bandwidth-delay product is %.2f MB%s", most / 1e6,
		2 * bdp / 1e6,
		takes || fits
			? ""
			: ", more than the kernel accepts (2147.48 MB): one flow cannot fill this path");
	free(todo);
}

enum { PAGE = 4096, ZCRX_ENTRIES = 32768 /* IO_RQ_MAX_ENTRIES */ };

/* Data in flight needs memory, and each page of it an entry of the refill ring. */
static void doctor_put_zcrx_area(struct doctor *d, double bdp)
{
	double pages = floor(bdp / PAGE) + 1;

	if (pages <= ZCRX_ENTRIES)
		doctor_put(
			d, "zcrx area", FINDING_NOTE, NULL,
			"at least %.0f pages of 4 KiB (tcpzc --area), and a refill ring of as many entries",
			pages);
	else
		doctor_put(
			d, "zcrx area", FINDING_PARTLY, NULL,
			"%.0f pages of 4 KiB would be in flight, and a refill ring has %d entries at most: one queue cannot fill this path",
			pages, ZCRX_ENTRIES);
}

static void doctor_check_path(struct doctor *d)
{
	double bdp = d->rate_gbps * 1e9 / 8 * d->rtt_ms / 1e3;

	if (d->rate_gbps)
		doctor_put_rings(d);
	if (!d->rate_gbps || !d->rtt_ms) {
		doctor_put(d, "path", FINDING_NOTE,
			   d->rate_gbps ? "--rtt 0.1, in ms"
			   : d->rtt_ms	? "--rate 100, in Gbit/s"
					: "--rate 100 --rtt 0.1, in Gbit/s and ms",
			   "%s",
			   d->rate_gbps ? "the rate was given, but no round-trip time"
			   : d->rtt_ms	? "the round-trip time was given, but no rate"
					: "rate and round-trip time were not given");
		return;
	}
	doctor_put(d, "product", FINDING_NOTE, NULL, "%g Gbit/s x %g ms = %.3f MB in flight",
		   d->rate_gbps, d->rtt_ms, bdp / 1e6);
	doctor_put_buffer(d, "net.ipv4.tcp_rmem", bdp);
	doctor_put_buffer(d, "net.ipv4.tcp_wmem", bdp);
	doctor_put_zcrx_area(d, bdp);
}

const struct check check_path = {
	.name = "path",
	.what = "buffers and rings for the path that --rate and --rtt describe",
	.options = DOCTOR_NIC | DOCTOR_RATE | DOCTOR_RTT,
	.run = doctor_check_path,
};
