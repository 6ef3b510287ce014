// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf_switch on|off PID...: switches the perf events that these processes have open. The
 * processes do not notice. Prints the number of events. Needs Linux 5.6 (pidfd_getfd).
 */
#include <dirent.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int switch_event(int pidfd, int theirs, unsigned long request)
{
	int fd = (int)syscall(SYS_pidfd_getfd, pidfd, theirs, 0), rc;

	if (fd < 0)
		return -1;
	rc = ioctl(fd, request, 0);
	close(fd);
	return rc;
}

/* Returns the number of events, or -1. */
static int switch_all(pid_t pid, unsigned long request)
{
	char folder[64], path[512], to[64];
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), n = 0;
	struct dirent *e;
	ssize_t len;
	DIR *d;

	snprintf(folder, sizeof(folder), "/proc/%d/fd", pid);
	d = opendir(folder);
	while (d && pidfd >= 0 && n >= 0 && (e = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		len = readlink(path, to, sizeof(to) - 1);
		to[len > 0 ? len : 0] = '\0';
		if (!strcmp(to, "anon_inode:[perf_event]"))
			n = switch_event(pidfd, atoi(e->d_name), request) ? -1 : n + 1;
	}
	if (!d || pidfd < 0)
		n = -1;
	if (d)
		closedir(d);
	close(pidfd);
	return n;
}

int main(int argc, char **argv)
{
	unsigned long request;
	int n, all = 0;

	if (argc < 3 || (strcmp(argv[1], "on") && strcmp(argv[1], "off"))) {
		fprintf(stderr, "usage: perf_switch on|off PID...\n");
		return 2;
	}
	request = !strcmp(argv[1], "on") ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;
	for (int i = 2; i < argc; i++) {
		n = switch_all(atoi(argv[i]), request);
		if (n < 0) {
			fprintf(stderr, "perf_switch: the events of process %s: %m\n", argv[i]);
			return 1;
		}
		all += n;
	}
	printf("%d\n", all);
	return 0;
}
