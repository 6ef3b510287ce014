// SPDX-License-Identifier: GPL-2.0-only
#include "collect/events/events.h"

#include "collect/host.h"
#include "lib/alloc.h"
#include "lib/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <perf/core.h>
#include <perf/cpumap.h>
#include <perf/evlist.h>
#include <perf/evsel.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- what the kernel allows --- */

static long perf_event_sysctl_number(const char *name, long otherwise)
{
	char *text = host_fact("/proc/sys/kernel/%s", name);
	long n = text ? strtol(text, NULL, 10) : otherwise;

	free(text);
	return n;
}

int perf_event_paranoid(void)
{
	return (int)perf_event_sysctl_number("perf_event_paranoid", 2);
}

unsigned int perf_event_max_rate(void)
{
	long n = perf_event_sysctl_number("perf_event_max_sample_rate", 0);

	return n > 0 ? (unsigned int)n : 0;
}

int perf_event_denied(int code, struct error *err)
{
	if (code == EACCES || code == EPERM)
		return error_set(
			err, code,
			"not permitted: run as root, or with CAP_PERFMON, or set kernel.perf_event_paranoid to -1 (it is %d)",
			perf_event_paranoid());
	if (code == ENOSYS)
		return error_set(err, code, "this kernel was built without CONFIG_PERF_EVENTS");
	return error_sys(err, code, "perf_event_open");
}

/* Returns 0 or -errno. */
static int perf_event_try_sampling(unsigned int cpu, uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {.size = sizeof(attr),
				       .type = type,
				       .config = config,
				       .freq = 1,
				       .sample_freq = 1000,
				       .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN,
				       .disabled = 1};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

int perf_event_choose(const struct cpuset *cpus, const char **event, struct error *err)
{
	unsigned int cpu = 0;
	int rc;

	while (cpu < CPUSET_MAX && !cpuset_has(cpus, cpu))
		cpu++;
	*event = "cycles";
	rc = perf_event_try_sampling(cpu, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	if (rc && rc != -EACCES && rc != -EPERM) {
		*event = "cpu-clock";
		rc = perf_event_try_sampling(cpu, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	}
	return rc ? perf_event_denied(-rc, err) : 0;
}

/* --- libperf --- */

static int libperf_print_nothing(enum libperf_print_level level, const char *fmt, va_list ap)
{
	(void)level, (void)fmt, (void)ap;
	return 0;
}

void libperf_quiet(void)
{
	libperf_init(libperf_print_nothing);
}

/* --- groups --- */

/*
 * Makes the counter of an event for all of its CPUs, or, to try the event, for only the first of
 * them. Returns 0, -ENODEV where it has none, or -ENOMEM.
 */
static int counting_make(struct counting *c, const struct event *e, const struct cpuset *cpus,
			 bool first, bool leads)
{
	struct perf_event_attr attr = e->attr;
	struct cpuset set = {0};
	unsigned int cpu;
	char *text;

	for (cpu = 0; cpu < CPUSET_MAX; cpu++) {
		bool ours = cpuset_has(cpus, cpu), its = cpuset_has(&e->cpus, cpu);

		if (e->some_cpus ? its && (ours || e->per_socket) : ours)
			cpuset_add(&set, cpu);
		if (first && cpuset_count(&set))
			break;
	}
	if (!cpuset_count(&set))
		return -ENODEV;
	attr.size = sizeof(attr);
	attr.disabled = leads;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	text = cpuset_format(&set);
	c->cpus = perf_cpu_map__new(text);
	c->evsel = perf_evsel__new(&attr);
	free(text);
	return c->cpus && c->evsel ? 0 : -ENOMEM;
}

/* Opens one event by itself. */
static int counting_open_one(struct counting *c, const struct event *e, const struct cpuset *cpus,
			     bool first)
{
	int rc = counting_make(c, e, cpus, first, true);

	if (!rc)
		rc = perf_evsel__open(c->evsel, c->cpus, NULL);
	if (rc)
		counting_close(c);
	return rc;
}

/* libperf makes a group of a list's events. After that the list is not needed. */
static int counting_lead(struct counting *of, size_t n)
{
	struct perf_evlist *list = perf_evlist__new();
	size_t i;

	if (!list)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		if (of[i].evsel)
			perf_evlist__add(list, of[i].evsel);
	perf_evlist__set_leader(list);
	for (i = 0; i < n; i++)
		if (of[i].evsel)
			perf_evlist__remove(list, of[i].evsel);
	perf_evlist__delete(list);
	return 0;
}

/* Opens those of the events that the host has as one group, or none of them. */
static int counting_open_together(struct counting *of, const struct event *events, size_t n,
				  const struct cpuset *cpus)
{
	bool led = false;
	size_t i;
	int rc = 0;

	for (i = 0; i < n && !rc; i++) {
		if (of[i].state == NOT_SUPPORTED)
			continue;
		rc = counting_make(&of[i], &events[i], cpus, false, !led);
		of[i].leads = !led;
		of[i].group = events[i].group;
		led = true;
	}
	if (!rc)
		rc = counting_lead(of, n);
	for (i = 0; i < n && !rc; i++)
		if (of[i].evsel)
			rc = perf_evsel__open(of[i].evsel, of[i].cpus, NULL);
	for (i = 0; i < n && rc; i++)
		counting_close(&of[i]);
	return rc;
}

void counting_open_group(struct counting *of, const struct event *events, size_t n,
			 const struct cpuset *cpus, bool *fits)
{
	size_t i, have = 0;
	int rc = 0;

	for (i = 0; i < n; i++) {
		of[i].rc = counting_open_one(&of[i], &events[i], cpus, true);
		of[i].state = of[i].rc ? NOT_SUPPORTED : COUNTING;
		counting_close(&of[i]);
		have += !of[i].rc;
	}
	if (have > 1)
		rc = counting_open_together(of, events, n, cpus);
	/* Without memory, the hardware may well count them together. */
	*fits = !rc || rc == -ENOMEM;
	if (have > 1 && !rc)
		return;
	for (i = 0; i < n; i++) {
		if (of[i].state == NOT_SUPPORTED)
			continue;
		of[i].rc = rc == -ENOMEM ? rc : counting_open_one(&of[i], &events[i], cpus, false);
		of[i].state = of[i].rc ? NOT_SUPPORTED : COUNTING;
		of[i].leads = !of[i].rc;
	}
}

void counting_close(struct counting *c)
{
	if (c->evsel) {
		perf_evsel__close(c->evsel);
		perf_evsel__delete(c->evsel);
	}
	perf_cpu_map__put(c->cpus);
	c->evsel = NULL;
	c->cpus = NULL;
	c->leads = false;
	c->group = 0;
}

uint64_t counting_more_files(void)
{
	struct rlimit r;
	rlim_t was;

	if (getrlimit(RLIMIT_NOFILE, &r))
		return 0;
	was = r.rlim_cur;
	r.rlim_cur = r.rlim_max;
	setrlimit(RLIMIT_NOFILE, &r);
	return was;
}

/* libperf opens events without O_CLOEXEC. */
void counting_own_files(uint64_t limit)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *d;
	struct rlimit r;
	char target[64];
	ssize_t n;

	while (dir && (d = readdir(dir))) {
		n = readlinkat(dirfd(dir), d->d_name, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = '\0';
		if (strstr(target, "[perf_event]"))
			fcntl(atoi(d->d_name), F_SETFD, FD_CLOEXEC);
	}
	if (dir)
		closedir(dir);
	if (limit && !getrlimit(RLIMIT_NOFILE, &r)) {
		r.rlim_cur = limit;
		setrlimit(RLIMIT_NOFILE, &r);
	}
}
