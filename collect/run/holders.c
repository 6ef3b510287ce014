// SPDX-License-Identifier: GPL-2.0-only
#include "collect/run/holders.h"

#include "lib/clock.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/*
 * A run that gets SIGTERM takes two seconds to end its workload, and then some time to write its
 * files.
 */
enum { TERM_MS = 10000, KILL_MS = 5000, TICK_MS = 20, MS = 1000000 };

int holders_join(const char *dir)
{
	int fd = open(dir, O_PATH | O_DIRECTORY);

	return fd < 0 ? -errno : fd;
}

static bool holder_holds(const char *pid, const struct stat *dir)
{
	char path[64];
	struct dirent *e;
	struct stat st;
	bool found = false;
	DIR *fds;

	snprintf(path, sizeof(path), "/proc/%.20s/fd", pid);
	fds = opendir(path);
	while (fds && !found && (e = readdir(fds)))
		found = *e->d_name != '.' && !fstatat(dirfd(fds), e->d_name, &st, 0) &&
			st.st_dev == dir->st_dev && st.st_ino == dir->st_ino;
	if (fds)
		closedir(fds);
	return found;
}

/*
 * The pid may belong to another process by now. A pidfd stays with its process, which is checked
 * again.
 */
static void holder_signal(const char *pid, const struct stat *dir, int sig)
{
	int fd = (int)syscall(SYS_pidfd_open, atoi(pid), 0);

	if (fd < 0)
		return;
	if (holder_holds(pid, dir)) {
		syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0);
		if (sig == SIGTERM)
			syscall(SYS_pidfd_send_signal, fd, SIGCONT, NULL, 0);
	}
	close(fd);
}

/* Sends sig to all holders and returns their number. Signal 0 only counts. */
static int holders_signal_all(const char *dir, int sig)
{
	struct dirent *e;
	struct stat st;
	int n = 0;
	DIR *proc;

	if (stat(dir, &st))
		return 0;
	proc = opendir("/proc");
	while (proc && (e = readdir(proc))) {
		pid_t pid = isdigit((unsigned char)*e->d_name) ? (pid_t)atoi(e->d_name) : 0;

		if (!pid || pid == getpid() || !holder_holds(e->d_name, &st))
			continue;
		n++;
		if (sig)
			holder_signal(e->d_name, &st, sig);
	}
	if (proc)
		closedir(proc);
	return n;
}

int holders_count(const char *dir)
{
	return holders_signal_all(dir, 0);
}

static int holders_await(const char *dir, int sig, int ms)
{
	uint64_t deadline = clock_mono_ns() + (uint64_t)ms * MS;
	int n = holders_signal_all(dir, sig);

	while (n && clock_mono_ns() < deadline) {
		usleep(TICK_MS * 1000);
		n = holders_signal_all(
			dir, sig == SIGKILL ? sig : 0); /* catches children that start just now */
	}
	return n;
}

int holders_end(const char *dir, int patience_ms)
{
	int n = holders_await(dir, 0, patience_ms);

	if (n)
		n = holders_await(dir, SIGTERM, TERM_MS);
	return n ? holders_await(dir, SIGKILL, KILL_MS) : 0;
}
