/* SPDX-License-Identifier: GPL-2.0-only */
/* A set of CPU numbers. Its text form is that of the kernel: "0-3,8". */
#ifndef ZC_CPUSET_H
#define ZC_CPUSET_H

#include "lib/error.h"

#include <stdint.h>

enum { CPUSET_MAX = 4096 };

struct cpuset {
	uint64_t bits[CPUSET_MAX / 64];
};

int cpuset_parse(struct cpuset *set, const char *text, struct error *err);
void cpuset_add(struct cpuset *set, unsigned int cpu);
bool cpuset_has(const struct cpuset *set, unsigned int cpu);
unsigned int cpuset_count(const struct cpuset *set);
int cpuset_online(struct cpuset *set, struct error *err); /* /sys/devices/system/cpu/online */
char *cpuset_format(const struct cpuset *set);		  /* the caller frees */

#endif
