// SPDX-License-Identifier: GPL-2.0-only
#include "collect/perf_event.h"

#include "lib/file.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static long perf_event_sysctl_number(const char *path, long otherwise)
{
	char *text;
	long n;

	if (file_read(path, &text, NULL, NULL))
		return otherwise;
	n = strtol(text, NULL, 10);
	free(text);
	return n;
}

unsigned int perf_event_max_rate(void)
{
	long n = perf_event_sysctl_number("/proc/sys/kernel/perf_event_max_sample_rate", 0);

	return n > 0 ? (unsigned int)n : 0;
}

int perf_event_denied(int code, struct error *err)
{
	if (code == EACCES || code == EPERM)
		return error_set(
			err, code,
			"not permitted: run as root, or with CAP_PERFMON, or set "
			"kernel.perf_event_paranoid to -1 (it is %ld)",
			perf_event_sysctl_number("/proc/sys/kernel/perf_event_paranoid", 2));
	if (code == ENOSYS)
		return error_set(err, code, "this kernel was built without CONFIG_PERF_EVENTS");
	return error_sys(err, code, "perf_event_open");
}

/* 0 or -errno. */
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
