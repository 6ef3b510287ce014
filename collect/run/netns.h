/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The network namespace that the workload lives in, as under `ip netns exec`, which enters it some
 * time after it was started. A file or a socket opened while in a namespace stays with it.
 */
#ifndef ZC_NETNS_H
#define ZC_NETNS_H

#include "lib/error.h"

#include <stdint.h>

struct collect;

struct netns {
	int fd;		     /* the namespace, open; -1 for our own */
	uint64_t id, ours;   /* the ID in net:[ID] of /proc/PID/ns/net; 0 if not known */
	unsigned int others; /* further namespaces that the workload's processes are in */
};

void netns_init(struct netns *n);
void netns_close(struct netns *n);

/*
 * Follows the workload of c's run. When it has entered another namespace, calls `work` inside that
 * one, once. A namespace that cannot be entered, a failure of `work`, and processes in several
 * namespaces, of which only the first is read, degrade the collector.
 */
typedef int netns_work(void *arg, struct error *err);
void netns_enter(struct netns *n, struct collect *c, netns_work *work, void *arg);

/* Calls `work` inside the namespace that netns_enter() found. */
int netns_inside(const struct netns *n, netns_work *work, void *arg, struct error *err);

#endif
