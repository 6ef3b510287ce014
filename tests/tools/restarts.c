// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes system calls that signals interrupt, DELAY_MS after its start. Prints the kernel entries
 * of each call: "name calls errors".
 *
 *   restarts DELAY_MS
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE = 5000 }; /* about 10 s; then the counts show the failure */

/* The number of runs of the handler, in memory that children share. */
static volatile int *handled;

/* LeakSanitizer would make system calls at exit. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

static void caught(int sig)
{
	(void)sig;
	++*handled;
}

static void handle(int flags)
{
	struct sigaction sa = {.sa_handler = caught, .sa_flags = flags};

	sigaction(SIGUSR1, &sa, NULL);
}

/* Waits until the thread is in the state: 'S' asleep in its call, 'T' stopped. */
static void await(pid_t pid, pid_t tid, char state)
{
	char path[64], line[256], *p;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	for (int tries = 0; tries < PATIENCE; tries++, poll(NULL, 0, 2)) {
		f = fopen(path, "r");
		p = f && fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
		if (f)
			fclose(f);
		if (p && p[1] == ' ' && p[2] == state)
			return;
	}
}

/* Forks a child that signals this process as soon as it is in its call. */
static pid_t disturb(void (*how)(pid_t us, int fd), int fd)
{
	pid_t us = getpid(), pid = fork();

	if (pid)
		return pid;
	await(us, us, 'S');
	how(us, fd);
	_exit(0);
}

static void signal_and_send(pid_t us, int fd)
{
	int before = *handled;

	kill(us, SIGUSR1);
	for (int tries = 0; *handled == before && tries < PATIENCE; tries++)
		poll(NULL, 0, 2);
	await(us, us, 'S');
	if (write(fd, "x", 1) != 1)
		_exit(1);
}

static void only_signal(pid_t us, int fd)
{
	(void)fd;
	kill(us, SIGUSR1);
}

static void stop_and_continue(pid_t us, int fd)
{
	(void)fd;
	kill(us, SIGSTOP);
	await(us, us, 'T');
	kill(us, SIGCONT);
}

static long receive(int fd)
{
	char byte;

	return syscall(SYS_recvfrom, fd, &byte, 1, 0, NULL, NULL);
}

/* The kernel restarts the call with the same arguments. */
static int again(const int *sock)
{
	pid_t pid;
	long n;

	handle(SA_RESTART);
	pid = disturb(signal_and_send, sock[1]);
	n = receive(sock[0]);
	waitpid(pid, NULL, 0);
	return n == 1;
}

/* The call fails with EINTR. */
static int interrupted(const int *sock)
{
	pid_t pid;
	long n;

	handle(0);
	pid = disturb(only_signal, -1);
	n = receive(sock[0]);
	n = n < 0 && errno == EINTR;
	waitpid(pid, NULL, 0);
	return (int)n;
}

/* restart_syscall continues the call for the rest of the time. */
static int continued(void)
{
	struct timespec ts = {.tv_sec = 2}; /* the child sends the signal before that */
	pid_t pid = disturb(stop_and_continue, -1);
	long rc = syscall(SYS_nanosleep, &ts, NULL);

	waitpid(pid, NULL, 0);
	return !rc;
}

static void *wait_for_ever(void *tid)
{
	*(volatile pid_t *)tid = (pid_t)syscall(SYS_gettid);
	syscall(SYS_pause);
	return NULL;
}

static void leave_a_thread(void)
{
	volatile pid_t tid = 0;
	pthread_t t;

	pthread_create(&t, NULL, wait_for_ever, (void *)&tid);
	while (!tid)
		poll(NULL, 0, 2);
	await(getpid(), tid, 'S');
	_exit(0);
}

/* Ends inside a call: one process by a signal, one by another thread's exit. */
static int ended(void)
{
	pid_t killed = fork(), left;
	int status;

	if (!killed) {
		syscall(SYS_pause);
		_exit(1);
	}
	left = fork();
	if (!left)
		leave_a_thread();
	await(killed, killed, 'S');
	kill(killed, SIGKILL);
	return waitpid(killed, &status, 0) == killed && WIFSIGNALED(status) &&
	       waitpid(left, &status, 0) == left && WIFEXITED(status);
}

int main(int argc, char **argv)
{
	int sock[2];

	if (argc < 2 || socketpair(AF_UNIX, SOCK_STREAM, 0, sock))
		return 2;
	handled = mmap(NULL, sizeof(*handled), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (handled == MAP_FAILED)
		return 2;
	poll(NULL, 0, atoi(argv[1]));
	if (!again(sock) || !interrupted(sock) || !continued() || !ended())
		return 1;
	printf("recvfrom 3 2\nnanosleep 1 1\nrestart_syscall 1 0\npause 2 2\n");
	return 0;
}
