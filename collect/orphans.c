// SPDX-License-Identifier: GPL-2.0-only
#include "collect/orphans.h"

#include "lib/clock.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MS = 1000000 };

void orphans_adopt(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* The parent of a process, 0 when it is gone. The name in stat may hold anything, ')' included. */
static pid_t parent_of(const char *pid)
{
	char path[300], line[1024], *p;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	n = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	line[n] = '\0';
	p = strrchr(line, ')');
	return p && strlen(p) > 4 ? (pid_t)atoi(p + 4) : 0;
}

static void signal_children(int sig)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (isdigit((unsigned char)e->d_name[0]) && parent_of(e->d_name) == getpid())
			kill((pid_t)atoi(e->d_name), sig);
	if (dir)
		closedir(dir);
}

/* True while there are children. */
static bool reap(void)
{
	pid_t pid;

	do
		pid = waitpid(-1, NULL, WNOHANG);
	while (pid > 0);
	return !pid;
}

void orphans_end(int grace_ms)
{
	uint64_t deadline = clock_mono_ns() + (uint64_t)grace_ms * MS;

	if (!reap())
		return;
	signal_children(SIGTERM);
	while (reap()) {
		if (clock_mono_ns() > deadline)
			signal_children(SIGKILL);
		usleep(5000);
	}
}
