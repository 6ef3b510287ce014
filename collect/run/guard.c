// SPDX-License-Identifier: GPL-2.0-only
#include "collect/run/run.h"

#include "lib/clock.h"
#include "lib/spawn.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- the guard --- */

enum { GRACE_MS = 2000 };

/*
 * Waits for our end in its own process group, so that a signal to our group does not end it. Never
 * returns.
 */
static void guard_watch(int from, const char *mark)
{
	sigset_t all;
	int null, i;
	char byte;
	ssize_t n;

	setpgid(0, 0);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	prctl(PR_SET_NAME, "zcost-guard");
	/*
	 * Other descriptors stay open, so a program that waits for all of us by a lock waits for
	 * the guard too.
	 */
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (i = 0; null >= 0 && i <= STDERR_FILENO; i++)
		dup2(null, i);
	do
		n = read(from, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		marked_end(mark, false, GRACE_MS);
	_exit(0);
}

int guard_start(struct guard *g, const char *mark, struct error *err)
{
	int fds[2], e;

	*g = (struct guard){.fd = -1};
	if (pipe2(fds, O_CLOEXEC))
		return error_sys(err, errno, "cannot make a pipe");
	g->pid = fork();
	e = errno;
	if (!g->pid) {
		close(fds[1]);
		guard_watch(fds[0], mark);
	}
	close(fds[0]);
	g->fd = fds[1];
	if (g->pid > 0)
		return 0;
	close(g->fd);
	*g = (struct guard){.fd = -1};
	return error_sys(err, e, "cannot fork");
}

void guard_stop(struct guard *g)
{
	if (!g->pid)
		return;
	if (write(g->fd, "", 1) == 1)
		waitpid(g->pid, NULL, 0);
	close(g->fd);
	*g = (struct guard){.fd = -1};
}

/* --- orphans --- */

/* KILL_MS limits the wait for a process that hangs in the kernel, or forks without end. */
enum { MS = 1000000, KILL_MS = 5000 };

void orphans_adopt(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* Sends sig to all our children except one and returns their number. Signal 0 only counts. */
static int orphans_signal(int sig, pid_t except)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;
	int n = 0;

	while (dir && (e = readdir(dir))) {
		pid_t pid = isdigit((unsigned char)e->d_name[0]) ? (pid_t)atoi(e->d_name) : 0;

		if (!pid || pid == except || tree_parent(pid) != getpid())
			continue;
		kill(pid, sig);
		n++;
	}
	if (dir)
		closedir(dir);
	return n;
}

/* Reaps the children that ended. Returns true while others live. */
static bool orphans_reap(pid_t except)
{
	pid_t pid;

	do
		pid = waitpid(-1, NULL, WNOHANG);
	while (pid > 0);
	return !pid && orphans_signal(0, except);
}

void orphans_end(int grace_ms, pid_t except)
{
	uint64_t deadline = clock_mono_ns() + (uint64_t)grace_ms * MS, now = 0;

	if (!orphans_reap(except))
		return;
	orphans_signal(SIGTERM, except);
	while (orphans_reap(except) && now < deadline + (uint64_t)KILL_MS * MS) {
		now = clock_mono_ns();
		if (now > deadline)
			orphans_signal(SIGKILL, except);
		usleep(5000);
	}
}
