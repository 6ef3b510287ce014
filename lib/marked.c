// SPDX-License-Identifier: GPL-2.0-only
#include "lib/marked.h"

#include "lib/clock.h"
#include "lib/file.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* Who does not go when killed hangs in the kernel: it is not waited for for ever. */
enum { MS = 1000000, TICK_US = 10000, KILL_MS = 5000 };

/* Strings with a NUL behind each. */
static bool marked_find_mark(const char *env, size_t len, const char *mark, bool begins)
{
	size_t n = strlen(mark), at = 0;

	while (at < len) {
		size_t one = strnlen(env + at, len - at);

		if (one >= n && !memcmp(env + at, mark, n) && (begins || one == n))
			return true;
		at += one + 1;
	}
	return false;
}

static bool marked_has_mark(const char *pid, const char *mark, bool begins)
{
	char path[300], *env;
	size_t len;
	bool found;

	snprintf(path, sizeof(path), "/proc/%s/environ", pid);
	if (file_read(path, &env, &len, NULL))
		return false;
	found = marked_find_mark(env, len, mark, begins);
	free(env);
	return found;
}

/* The pid may be another process's by now. A pidfd is not: what it names is looked at again. */
static void marked_signal_one(const char *pid, const char *mark, bool begins, int sig)
{
	int fd = (int)syscall(SYS_pidfd_open, atoi(pid), 0);

	if (fd < 0)
		return;
	if (marked_has_mark(pid, mark, begins))
		syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0);
	close(fd);
}

/* Signal 0 counts only. */
static int marked_signal_all(const char *mark, bool begins, int sig)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;
	int n = 0;

	while (dir && (e = readdir(dir))) {
		pid_t pid = isdigit((unsigned char)e->d_name[0]) ? (pid_t)atoi(e->d_name) : 0;

		if (pid > 0 && pid != getpid() && marked_has_mark(e->d_name, mark, begins)) {
			if (sig)
				marked_signal_one(e->d_name, mark, begins, sig);
			n++;
		}
	}
	if (dir)
		closedir(dir);
	return n;
}

static bool marked_end_within(const char *mark, bool begins, int sig, int ms)
{
	uint64_t end = clock_mono_ns() + (uint64_t)ms * MS;

	while (marked_signal_all(mark, begins, sig)) {
		if (clock_mono_ns() > end)
			return false;
		usleep(TICK_US);
	}
	return true;
}

int marked_end(const char *mark, bool begins, int grace_ms)
{
	int n = marked_signal_all(mark, begins, SIGTERM);

	if (n && !marked_end_within(mark, begins, 0, grace_ms))
		marked_end_within(mark, begins, SIGKILL, KILL_MS);
	return n;
}
