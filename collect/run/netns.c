// SPDX-License-Identifier: GPL-2.0-only
#include "collect/run/run.h"
#include "lib/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PROCESSES = 64 }; /* the most of a workload that are checked */

static const char own[] = "/proc/thread-self/ns/net";

void netns_close(struct netns *n)
{
	if (n->fd > 0)
		close(n->fd);
	n->fd = 0;
}

/* Returns the process to follow, or 0 when all processes are in our namespace. */
static pid_t netns_find(struct netns *n, const struct tree *tree, uint64_t *id)
{
	pid_t found = 0;
	struct stat st;
	char path[64];

	n->others = 0;
	for (size_t i = 0; i < tree->nprocesses && i < PROCESSES; i++) {
		uint64_t its;

		snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)tree->processes[i].pid);
		its = stat(path, &st) ? 0 : st.st_ino;
		if (its && its != n->ours && !found) {
			found = tree->processes[i].pid;
			*id = its;
		} else if (its && its != n->ours && its != *id) {
			n->others++;
		}
	}
	return found;
}

/*
 * Looks for the first process of the workload that is not in our namespace. Returns true when one
 * was found now. A namespace that was found stays, also when the process ends.
 */
static bool netns_follow(struct netns *n, struct run *r)
{
	uint64_t id = 0;
	struct stat st;
	char path[64];
	pid_t found;
	int fd;

	if (!n->ours && !stat(own, &st))
		n->id = n->ours = st.st_ino;
	if (!n->ours || n->fd > 0)
		return false;
	found = netns_find(n, tree_of(r), &id);
	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)found);
	fd = found ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd >= 0 && (fstat(fd, &st) || st.st_ino != id))
		fd_close(&fd);
	if (fd < 0)
		return false;
	n->fd = fd;
	n->id = id;
	return true;
}

int netns_inside(const struct netns *n, netns_work *work, void *arg, struct error *err)
{
	autoclose int back = open(own, O_RDONLY | O_CLOEXEC);
	int rc;

	if (back < 0 || setns(n->fd, CLONE_NEWNET)) {
		rc = error_sys(err, errno,
			       "the workload's network namespace cannot be entered: run as root");
	} else {
		rc = work(arg, err);
		/* Without the way back, all later readings would be of the wrong interfaces. */
		if (setns(back, CLONE_NEWNET))
			abort();
	}
	return rc;
}

void netns_enter(struct collect *c, netns_work *work, void *arg)
{
	struct error err = {0};

	if (netns_follow(&c->netns, c->run) && work && netns_inside(&c->netns, work, arg, &err))
		collect_degraded(c, "%s", err.text);
	if (c->netns.others)
		collect_degraded(
			c,
			"the workload's processes are in several network namespaces: only the first is read");
}
