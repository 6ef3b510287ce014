// SPDX-License-Identifier: GPL-2.0-only
#include "collect/events/events.h"

#include "collect/host.h"
#include "lib/alloc.h"
#include "lib/file.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- what the kernel allows --- */

int perf_event_paranoid(void)
{
	autofree char *text = host_fact("/proc/sys/kernel/perf_event_paranoid");

	return text ? atoi(text) : 2;
}

unsigned int perf_event_ring_pages(unsigned int n)
{
	enum { LEAST = 512 << 10, MOST = 16 << 20, ALL = 512 << 20 };
	unsigned int size = geteuid() ? LEAST : MOST;

	while (size > LEAST && size > ALL / n)
		size /= 2;
	return size / (unsigned int)sysconf(_SC_PAGESIZE);
}

unsigned int perf_event_max_rate(void)
{
	double n = host_sysctl_number("kernel.perf_event_max_sample_rate", 0);

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

/* Opens an event on a CPU. Returns its descriptor or -errno. */
static int perf_event_fd(const struct perf_event_attr *attr, unsigned int cpu, int leader)
{
	long fd = syscall(SYS_perf_event_open, attr, -1, cpu, leader, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

/* Returns 0 or -errno. */
static int perf_event_try_sampling(unsigned int cpu, uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {.size = sizeof(attr),
				       .type = type,
				       .config = config,
				       .freq = 1,
				       .sample_freq = 1, /* below any limit */
				       .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN,
				       .disabled = 1};
	autoclose int fd = perf_event_fd(&attr, cpu, -1);

	return fd < 0 ? fd : 0;
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

/* --- counters --- */

int counting_open(struct counting *c, const struct event *e, const struct cpuset *cpus,
		  const struct counting *leader)
{
	struct perf_event_attr attr = e->attr;
	struct counted one;

	*c = (struct counting){.rc = -ENODEV, .leads = !leader};
	attr.size = sizeof(attr);
	attr.disabled = !leader;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	for (one.cpu = 0; one.cpu < CPUSET_MAX; one.cpu++) {
		bool ours = cpuset_has(cpus, one.cpu), its = cpuset_has(&e->cpus, one.cpu);

		/* That of a socket is on the CPU that counts for it, whatever the side's are. */
		if (e->some_cpus ? !its || !(ours || e->per_socket) : !ours)
			continue;
		one.fd = perf_event_fd(&attr, one.cpu, leader ? leader->on[c->n].fd : -1);
		c->rc = one.fd < 0 ? one.fd : 0;
		if (c->rc)
			break;
		array_add(c->on, c->n, c->cap, one);
	}
	if (c->rc)
		counting_close(c);
	return c->rc;
}

int counting_switch(const struct counting *c, bool on)
{
	for (size_t i = 0; i < c->n; i++)
		if (ioctl(c->on[i].fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0))
			return -errno;
	return 0;
}

void counting_close(struct counting *c)
{
	array_free(e, c->on, c->n, close(e->fd));
	c->on = NULL;
	c->n = c->cap = 0;
}
