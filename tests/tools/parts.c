// SPDX-License-Identifier: GPL-2.0-only
/*
 * irqs_off EVENTS: until SIGTERM or SIGINT, works by turns in user space, in the kernel with
 * interrupts on (getrandom), and in the kernel with interrupts off (ioctl). Then prints the parts
 * of a turn's CPU time in percent: "<user> <getrandom> <ioctl>". A part that was preempted does not
 * count, because a switch of threads switches all events, too.
 *
 * To switch on an event of a thread, the kernel switches all events of the thread off and on again,
 * with interrupts off. So EVENTS determines how long they are off: about 0.2 ms for 1000.
 */
#include "lib/error.h"

#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { USER, KERNEL, OFF, PARTS, USER_STEPS = 200000, RANDOM_BYTES = 65536 };

static volatile sig_atomic_t stopped;

static void stop(int sig)
{
	(void)sig;
	stopped = 1;
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static long preemptions(void)
{
	struct rusage r;

	getrusage(RUSAGE_THREAD, &r);
	return r.ru_nivcsw;
}

/* Returns the last of `n` events of this thread, or -1. */
static int events_open(unsigned int n)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_DUMMY};
	struct rlimit files = {n + 64, n + 64};
	int fd = -1;

	setrlimit(RLIMIT_NOFILE, &files);
	while (n--) {
		fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
		if (fd < 0)
			return -1;
	}
	return fd;
}

static void work_in(int part, int event)
{
	static char buf[RANDOM_BYTES];
	volatile unsigned int i;

	if (part == USER) {
		for (i = 0; i < USER_STEPS; i++)
			;
	} else if (part == KERNEL) {
		if (getrandom(buf, sizeof(buf), 0) < 0)
			stopped = 1;
	} else {
		ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
		ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
	}
}

/* Returns the CPU time of a part, or 0 if it was preempted. */
static double part_ns(int part, int event)
{
	long switches = preemptions();
	uint64_t before = cpu_ns(), after;

	work_in(part, event);
	after = cpu_ns();
	return preemptions() == switches ? (double)(after - before) : 0;
}

int main(int argc, char **argv)
{
	int event = events_open(argc > 1 ? (unsigned int)atoi(argv[1]) : 1000);
	double mean[PARTS], ns[PARTS] = {0}, n[PARTS] = {0}, sum = 0, one;

	if (event < 0)
		return EXIT_FAILED;
	signal(SIGTERM, stop);
	signal(SIGINT, stop);
	for (int part = 0; !stopped; part = (part + 1) % PARTS) {
		one = part_ns(part, event);
		ns[part] += one;
		n[part] += one > 0;
	}
	for (int part = 0; part < PARTS; part++)
		sum += mean[part] = ns[part] / n[part];
	printf("%.2f %.2f %.2f\n", 100 * mean[USER] / sum, 100 * mean[KERNEL] / sum,
	       100 * mean[OFF] / sum);
	return EXIT_OK;
}
