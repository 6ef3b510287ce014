/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The network namespace that the workload lives in, as under `ip netns exec`, which enters it some
 * time after it was started. A file or a socket opened while in a namespace stays with it.
 */
#ifndef ZC_NETNS_H
#define ZC_NETNS_H

#include "lib/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct netns {
	int fd;		     /* of the namespace; -1: our own */
	uint64_t id, ours;   /* as in /proc/PID/ns/net: net:[ID]; 0: not known */
	unsigned int others; /* further namespaces that the workload's processes are in */
};

void netns_init(struct netns *n);
void netns_close(struct netns *n);

/*
 * Looks where the process and its descendants are, for the first that is not in our namespace.
 * True when that is another than before. Once it was found it stays, also when the process ends.
 */
bool netns_follow(struct netns *n, pid_t pid);

/* Calls `work` inside the namespace. Its result, or -errno with `err` filled: it cannot be entered.
 */
int netns_inside(const struct netns *n, int (*work)(void *arg), void *arg, struct error *err);

#endif
