// SPDX-License-Identifier: GPL-2.0-only
/*
 * exits CALLS SLEEPS: makes work for a hypervisor on two CPUs. While a thread spins on CPU 1, CPU 0
 * makes CALLS memory barriers. Each interrupts CPU 1 if the thread is running there. Then CPU 0
 * sleeps SLEEPS times for 100 us. Prints the part of the barriers' time in which the thread ran.
 */
#include "lib/error.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile bool stopped;

static double seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void pin(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void *spin(void *unused)
{
	pin(1);
	while (!stopped)
		;
	return unused;
}

static long membarrier(int command)
{
	return syscall(SYS_membarrier, command, 0, 0);
}

int main(int argc, char **argv)
{
	long calls = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
	long sleeps = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
	const struct timespec pause = {0, 100000};
	double start, ran;
	pthread_t spinner;
	clockid_t clock;

	pin(0);
	prctl(PR_SET_TIMERSLACK, 1);
	if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) ||
	    pthread_create(&spinner, NULL, spin, NULL) || pthread_getcpuclockid(spinner, &clock))
		return 1;
	usleep(300000);
	start = seconds(CLOCK_MONOTONIC);
	ran = seconds(clock);
	while (calls-- > 0)
		membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
	printf("%.3f\n", (seconds(clock) - ran) / (seconds(CLOCK_MONOTONIC) - start));
	stopped = true;
	pthread_join(spinner, NULL);
	while (sleeps-- > 0)
		nanosleep(&pause, NULL);
	return 0;
}
