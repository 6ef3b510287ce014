/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A child of ours that does nothing until we die without having said goodbye (SIGKILL, out of
 * memory): then it ends what we had started, found by its mark (lib/marked.h): the workload with
 * all that left its group or session, and perf. What we were ourselves (BPF programs, events,
 * pipes) the kernel ends.
 */
#ifndef ZC_GUARD_H
#define ZC_GUARD_H

#include "lib/error.h"

#include <sys/types.h>

struct guard {
	pid_t pid; /* 0: there is none */
	int fd;
};

/* `mark` is "NAME=VALUE". Call before anything is started that carries it. */
int guard_start(struct guard *g, const char *mark, struct error *err);
void guard_stop(struct guard *g);

#endif
