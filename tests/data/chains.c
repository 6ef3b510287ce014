// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program whose call chains are known: every do_*() below main burns CPU time at the end of a
 * chain of its own kind. tests/cmd/unwind.t knows what each must look like.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))
volatile unsigned long sink;
static double slice = 0.03; /* seconds of each */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

#define FOR_A_SLICE for (double until = now() + slice; now() < until;)

NOINLINE void burn(int n)
{
	for (int i = 0; i < n; i++)
		sink += (unsigned long)i;
}

NOINLINE int recurse(int depth)
{
	if (!depth) {
		burn(200000);
		return 1;
	}
	depth = recurse(depth - 1);
	__asm__ volatile("" : "+r"(depth)); /* no loop can do that */
	return depth + 1;
}

NOINLINE void do_recursion(void)
{
	FOR_A_SLICE sink += (unsigned long)recurse(20);
}

/* More frames than are kept. */
NOINLINE void do_deep(void)
{
	FOR_A_SLICE sink += (unsigned long)recurse(200);
}

static int compare(const void *a, const void *b)
{
	burn(5000);
	return *(const int *)a - *(const int *)b;
}

NOINLINE void do_callback(void)
{
	int v[64];

	FOR_A_SLICE
	{
		for (int i = 0; i < 64; i++)
			v[i] = rand();
		qsort(v, 64, sizeof(v[0]), compare);
	}
}

/* The frame's size is not known before: its address is kept in a register. */
NOINLINE void variable_frame(size_t n)
{
	char *p = __builtin_alloca(n);

	memset(p, 1, n);
	burn(200000);
	sink += (unsigned long)p[n / 2];
}

NOINLINE void do_alloca(void)
{
	FOR_A_SLICE variable_frame(64 + sink % 64);
}

/* A frame on a boundary of 64 bytes. */
NOINLINE void aligned_frame(void)
{
	volatile char p[64] __attribute__((aligned(64)));

	p[0] = 1;
	burn(200000);
	sink += (unsigned long)p[0];
}

NOINLINE void do_aligned(void)
{
	FOR_A_SLICE aligned_frame();
}

NOINLINE void tail_target(int n)
{
	burn(n);
	sink++;
}

NOINLINE void tail_caller(int n)
{
	sink++;
	tail_target(n); /* a jump: no frame of this one is left */
}

NOINLINE void do_tail(void)
{
	FOR_A_SLICE tail_caller(200000);
}

static volatile sig_atomic_t handled;

NOINLINE static void handler(int signum)
{
	(void)signum;
	burn(200000);
	handled++;
}

NOINLINE void interrupted(void)
{
	handled = 0;
	raise(SIGUSR1);
	sink++;
}

NOINLINE void do_signal(void)
{
	struct sigaction act = {.sa_handler = handler};

	sigaction(SIGUSR1, &act, NULL);
	FOR_A_SLICE interrupted();
}

static void *worker(void *arg)
{
	FOR_A_SLICE burn(200000);
	return arg;
}

NOINLINE void do_thread(void)
{
	pthread_t t;

	if (!pthread_create(&t, NULL, worker, NULL))
		pthread_join(t, NULL);
}

NOINLINE void do_vdso(void)
{
	struct timespec t;

	FOR_A_SLICE for (int i = 0; i < 10000; i++) clock_gettime(CLOCK_MONOTONIC, &t);
}

/* Short functions of another object, through the PLT: prologues and epilogues are hit often. */
NOINLINE void do_plt(void)
{
	FOR_A_SLICE for (int i = 0; i < 10000; i++) sink += (unsigned long)rand();
}

int main(int argc, char **argv)
{
	static void (*const all[])(void) = {
		do_recursion, do_deep,	 do_callback, do_alloca, do_aligned,
		do_tail,      do_signal, do_thread,   do_vdso,	 do_plt,
	};

	if (argc > 1)
		slice = atof(argv[1]);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		all[i]();
	return 0;
}
