// SPDX-License-Identifier: GPL-2.0-only
/*
 * waiter N: threads that wait for known things, N times each, and prints what a clock says of each
 * thread: its name, its wall time and its CPU time in user mode and in the kernel, in us.
 *
 *   naps           sleeps 1 ms, in two functions in turn
 *   left, right    take turns by a futex
 *   reads          reads a pipe that `writes` fills every ms
 *   spins          spins on the first CPU, beside `hogs` on the same CPU, until the others are done
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int n, ends[2];
static atomic_int turn, done;

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static __attribute__((noinline)) void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	__asm__ volatile("");
}

/* A C library without frame pointers hides the caller of its function, here nap(). */
static __attribute__((noinline)) void even_naps(void)
{
	nap();
	__asm__ volatile("");
}

static __attribute__((noinline)) void odd_naps(void)
{
	nap();
	__asm__ volatile("");
}

static void take_turns(int mine)
{
	for (int i = 0; i < n; i++) {
		while (turn != mine)
			syscall(SYS_futex, &turn, FUTEX_WAIT, !mine, NULL, NULL, 0);
		turn = !mine;
		syscall(SYS_futex, &turn, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
}

static void move_bytes(const char *writes)
{
	char byte = 0;

	for (int i = 0; i < n; i++) {
		if (!writes && read(ends[0], &byte, 1) == 1)
			continue;
		nap();
		if (write(ends[1], &byte, 1) != 1)
			exit(1);
	}
}

static void spin(void)
{
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	sched_setaffinity(0, sizeof(first), &first);
	while (!done)
		;
}

static void *work(void *name)
{
	const char *is = name;
	double from = now_us();
	struct rusage use;

	prctl(PR_SET_NAME, is);
	switch (*is) {
	case 'n':
		for (int i = 0; i < n; i++)
			(i % 2 ? odd_naps : even_naps)();
		break;
	case 'l':
		take_turns(0);
		break;
	case 'r':
		if (is[1] == 'i')
			take_turns(1);
		else
			move_bytes(NULL);
		break;
	case 'w':
		move_bytes(is);
		break;
	default:
		spin();
	}
	getrusage(RUSAGE_THREAD, &use);
	printf("%s %.0f %.0f %.0f\n", is, now_us() - from,
	       (double)use.ru_utime.tv_sec * 1e6 + (double)use.ru_utime.tv_usec,
	       (double)use.ru_stime.tv_sec * 1e6 + (double)use.ru_stime.tv_usec);
	return NULL;
}

int main(int argc, char **argv)
{
	static char names[][8] = {"naps", "left", "right", "reads", "writes", "spins", "hogs"};
	enum { THREADS = sizeof(names) / sizeof(*names), ENDLESS = 2 };
	pthread_t threads[THREADS];

	n = argc > 1 ? atoi(argv[1]) : 100;
	if (pipe(ends))
		return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, names[i]);
	for (int i = 0; i < THREADS; i++) {
		done = i >= THREADS - ENDLESS;
		pthread_join(threads[i], NULL);
	}
	return 0;
}
