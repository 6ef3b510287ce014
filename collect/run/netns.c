// SPDX-License-Identifier: GPL-2.0-only
#include "collect/run/netns.h"

#include "collect/run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PROCESSES = 64 }; /* of a workload that are checked */

static const char own[] = "/proc/thread-self/ns/net";

void netns_init(struct netns *n)
{
	struct stat st;

	*n = (struct netns){.fd = -1};
	if (!stat(own, &st))
		n->id = n->ours = st.st_ino;
}

void netns_close(struct netns *n)
{
	if (n->fd >= 0)
		close(n->fd);
	n->fd = -1;
}

static uint64_t netns_id(pid_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	return stat(path, &st) ? 0 : st.st_ino;
}

/* Adds the children of `pid`. A kernel without CONFIG_PROC_CHILDREN lists none. */
static size_t netns_add_children(pid_t pid, pid_t *list, size_t n)
{
	char path[64];
	FILE *f;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	f = fopen(path, "re");
	while (f && n < PROCESSES && fscanf(f, "%d", &child) == 1)
		list[n++] = child;
	if (f)
		fclose(f);
	return n;
}

static int netns_open(pid_t pid, uint64_t id)
{
	char path[64];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && !fstat(fd, &st) && st.st_ino == id)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Returns the process to follow, or 0 when all processes are in our namespace. */
static pid_t netns_find(struct netns *n, pid_t first, uint64_t *id)
{
	pid_t list[PROCESSES] = {first}, found = 0;
	size_t count = 1, i;

	n->others = 0;
	for (i = 0; i < count; i++) {
		uint64_t its = netns_id(list[i]);

		if (its && its != n->ours && !found) {
			found = list[i];
			*id = its;
		} else if (its && its != n->ours && its != *id) {
			n->others++;
		}
		count = netns_add_children(list[i], list, count);
	}
	return found;
}

/*
 * Looks for the first of the process and its descendants that is not in our namespace. Returns true
 * when one was found now. A namespace that was found stays, also when the process ends.
 */
static bool netns_follow(struct netns *n, pid_t pid)
{
	uint64_t id = 0;
	pid_t found;
	int fd;

	if (!n->ours || n->fd >= 0)
		return false;
	found = netns_find(n, pid, &id);
	fd = found ? netns_open(found, id) : -1;
	if (fd < 0)
		return false;
	n->fd = fd;
	n->id = id;
	return true;
}

static int netns_inside(const struct netns *n, netns_work *work, void *arg, struct error *err)
{
	int back, rc;

	back = open(own, O_RDONLY | O_CLOEXEC);
	if (back < 0 || setns(n->fd, CLONE_NEWNET)) {
		rc = error_sys(err, errno,
			       "the workload's network namespace cannot be entered: run as root");
	} else {
		rc = work(arg, err);
		/* Without the way back, all later readings would be of the wrong interfaces. */
		if (setns(back, CLONE_NEWNET))
			abort();
	}
	if (back >= 0)
		close(back);
	return rc;
}

void netns_enter(struct netns *n, struct collect *c, netns_work *work, void *arg)
{
	struct error err = {0};

	if (netns_follow(n, c->run->pid) && netns_inside(n, work, arg, &err))
		collect_degraded(c, "%s", err.text);
	if (n->others)
		collect_degraded(
			c,
			"the workload's processes are in several network namespaces: only the first is read");
}
