// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes a known number of system calls, in threads, children and across exec, and prints them:
 * "name calls errors bytes". Calls are made by number, and only calls that no library makes.
 *
 *   calls DELAY_MS          makes all calls, DELAY_MS after its start, when the window is open
 *   calls DELAY_MS block    then enters a call that does not return
 *   calls loop N [DELAY_MS] N calls of getppid, prints ns per call
 *   calls many THREADS PROCESSES
 *                           starts THREADS short threads one after the other, then PROCESSES
 *   calls crowd THREADS     starts THREADS threads at once
 *   calls touch PAGES       writes into PAGES new pages that are not huge
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 3, CHILDREN = 2, SIGNALS = 20 };

/* LeakSanitizer would make system calls at exit. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

static void getppid_times(int n)
{
	while (n--)
		syscall(SYS_getppid);
}

static void *thread(void *arg)
{
	prctl(PR_SET_NAME, "named");
	getppid_times(500);
	return arg;
}

/* A thread that is not the leader execs: it becomes the leader. */
static void *exec_thread(void *arg)
{
	getppid_times(10);
	execl("/proc/self/exe", "calls", "-", NULL);
	perror("exec");
	_exit(1);
	return arg;
}

static void exec_in_thread(void)
{
	pthread_t t;

	pthread_create(&t, NULL, exec_thread, NULL);
	pthread_join(t, NULL); /* never */
	_exit(1);
}

static int wait_for(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid ? status : -1;
}

static int children(void)
{
	int bad = 0;

	for (int i = 0; i < CHILDREN; i++) {
		pid_t pid = fork();

		if (!pid) {
			getppid_times(200);
			_exit(0);
		}
		bad |= wait_for(pid);
	}
	for (int i = 0; i < 2; i++) {
		pid_t pid = fork();

		if (!pid && i)
			exec_in_thread();
		if (!pid)
			execl("/proc/self/exe", "calls", "-", NULL);
		bad |= wait_for(pid);
	}
	return bad;
}

static void threads(void)
{
	pthread_t t[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, thread, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}

static void data(void)
{
	char buf[4096] = {0};
	int fd = (int)syscall(SYS_memfd_create, "calls", 0);

	for (int i = 0; i < 10; i++)
		syscall(SYS_pwrite64, fd, buf, 100, 0); /* 2^6 .. 2^7 */
	for (int i = 0; i < 5; i++)
		syscall(SYS_pwrite64, fd, buf, 4096, 0); /* 2^12 */
	for (int i = 0; i < 7; i++)
		syscall(SYS_pwrite64, -1, buf, 100, 0); /* EBADF */
	syscall(SYS_pwrite64, fd, buf, 0, 0);		/* 0 bytes is no size */
}

/* Calls whose second argument is a number of bytes. */
static void ranges(void)
{
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < 4; i++)
		syscall(SYS_msync, p, 8192, MS_SYNC);
	for (int i = 0; i < 2; i++)
		syscall(SYS_msync, p, 8192, -1); /* EINVAL */
}

static void on_signal(int sig)
{
	(void)sig;
}

/* A signal interrupts each call, and its handler returns to an error. */
static void signals(int n)
{
	struct sigaction sa = {.sa_handler = on_signal};
	uint64_t none = 0;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaction(SIGUSR1, &sa, NULL);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	while (n--) {
		syscall(SYS_tkill, syscall(SYS_gettid), SIGUSR1);
		syscall(SYS_rt_sigsuspend, &none, sizeof(none));
	}
}

static void naps(void)
{
	struct timespec ts = {.tv_nsec = 10000000};

	for (int i = 0; i < 5; i++)
		syscall(SYS_nanosleep, &ts, NULL);
}

static int loop(long n)
{
	struct timespec a, b;

	clock_gettime(CLOCK_MONOTONIC, &a);
	getppid_times((int)n);
	clock_gettime(CLOCK_MONOTONIC, &b);
	printf("%.1f\n",
	       ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) / (double)n);
	return 0;
}

/* One good call, one that fails, one that moves bytes. */
static void *brief(void *arg)
{
	char buf[100];
	struct iovec to = {buf, sizeof(buf)};

	syscall(SYS_getppid);
	syscall(SYS_pwrite64, -1, buf, sizeof(buf), 0);
	syscall(SYS_preadv, *(int *)arg, &to, 1, 0L, 0L);
	return arg;
}

static int many(int threads, int processes)
{
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC), i;
	pthread_attr_t small;
	pthread_t t;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	usleep(300000); /* the window is open by then */
	for (i = 0; i < threads; i++)
		if (pthread_create(&t, &small, brief, &fd) || pthread_join(t, NULL))
			return 1;
	for (i = 0; i < processes; i++) {
		pid_t pid = fork();

		if (!pid) {
			brief(&fd);
			_exit(0);
		}
		if (wait_for(pid))
			return 1;
	}
	i = threads + processes;
	printf("getppid %d 0\npwrite64 %d %d\npreadv %d 0 %d\n", i, i, i, i, i * 100);
	return 0;
}

static pthread_barrier_t together;

static void *wait_for_all(void *arg)
{
	syscall(SYS_getppid);
	pthread_barrier_wait(&together);
	return arg;
}

static int crowd(int threads)
{
	pthread_t *t = calloc((size_t)threads, sizeof(*t));
	pthread_attr_t small;
	int n = 0;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 16384);
	pthread_barrier_init(&together, NULL, (unsigned int)threads);
	usleep(300000);
	while (t && n < threads && !pthread_create(&t[n], &small, wait_for_all, NULL))
		n++;
	if (n < threads)
		return 1;
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	free(t);
	printf("getppid %d 0\n", n);
	return 0;
}

static int touch(size_t pages)
{
	const size_t size = (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, pages * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);

	if (p == MAP_FAILED)
		return 1;
	madvise(p, pages * size,
		MADV_NOHUGEPAGE); /* fails on a kernel without huge pages, which does not matter */
	while (pages--)
		*(volatile char *)(p + pages * size) = 1;
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	if (!strcmp(argv[1], "-")) {
		getppid_times(300);
		return 0;
	}
	if (!strcmp(argv[1], "loop") && argc > 3)
		usleep((useconds_t)atoi(argv[3]) * 1000);
	if (!strcmp(argv[1], "loop"))
		return loop(argc > 2 ? atol(argv[2]) : 1000000);
	if (!strcmp(argv[1], "many") && argc > 3)
		return many(atoi(argv[2]), atoi(argv[3]));
	if (!strcmp(argv[1], "crowd") && argc > 2)
		return crowd(atoi(argv[2]));
	if (!strcmp(argv[1], "touch") && argc > 2)
		return touch((size_t)atol(argv[2]));
	usleep((useconds_t)atoi(argv[1]) * 1000);
	getppid_times(1000);
	data();
	ranges();
	naps();
	signals(SIGNALS);
	threads();
	if (children())
		return 1;
	printf("getppid %d 0\n", 1000 + THREADS * 500 + CHILDREN * 200 + 2 * 300 + 10);
	printf("pwrite64 23 7 %d\n", 10 * 100 + 5 * 4096);
	printf("msync 6 2 %d\n", 4 * 8192);
	printf("nanosleep 5 0\n");
	printf("rt_sigsuspend %d %d\nrt_sigreturn %d 0\n", SIGNALS, SIGNALS, SIGNALS);
	fflush(stdout);
	if (argc > 2)
		pause();
	return 0;
}
