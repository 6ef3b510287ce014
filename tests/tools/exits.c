// SPDX-License-Identifier: GPL-2.0-only
/*
 * exits CALLS SLEEPS: makes work for a hypervisor on two CPUs. A thread spins on CPU 1. Whenever
 * CPU 0 sees the thread run, it makes a memory barrier, which interrupts CPU 1: CALLS times. Then
 * CPU 0 sleeps SLEEPS times for 100 us.
 */
#include "lib/error.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile bool stopped;
static volatile unsigned long turns; /* counts the rounds of the thread */

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
		turns++;
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
	unsigned long seen;
	pthread_t spinner;

	pin(0);
	prctl(PR_SET_TIMERSLACK, 1);
	if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) ||
	    pthread_create(&spinner, NULL, spin, NULL))
		return 1;
	usleep(300000);
	while (calls-- > 0) {
		for (seen = turns; seen == turns;)
			;
		membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
	}
	stopped = true;
	pthread_join(spinner, NULL);
	while (sleeps-- > 0)
		nanosleep(&pause, NULL);
	return 0;
}
