/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Idle states of CPUs: devices/system/cpu/cpu<n>/cpuidle/state<m>/ below /sys. The folder of a CPU
 * goes with the CPU, so that a file may close and open again.
 */
#ifndef ZC_IDLE_FIND_H
#define ZC_IDLE_FIND_H

#include "lib/cpuset.h"
#include "lib/str.h"

#include <stddef.h>

struct idle_state {
	unsigned int cpu, number;
	char *dir, *name; /* "C1"; a name may hold blanks */
	int usage, time;  /* open files; below 0: not open */
};

struct idle_states {
	struct idle_state *s;
	size_t n, cap;
};

/* The states of these CPUs, their files not open yet. `root` is "/sys". */
void idle_find(struct idle_states *list, const char *root, const struct cpuset *cpus);
void idle_free(struct idle_states *list);

/*
 * A row "cpu<tab>number<tab>name<tab>entries<tab>us" for every state that can be read now; opens
 * what is not open. Returns how many could not be read.
 */
size_t idle_read(struct idle_states *list, struct str *rows);

/* Why there are none: of the driver that `root` names. Never NULL; freed by the caller. */
char *idle_why(const char *root);

#endif
