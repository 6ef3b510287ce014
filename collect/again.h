/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Newer kernels, such as Linux 7.3, may preempt a program of a system call. Until its thread runs
 * again, they skip this program for all other threads of the CPU: a quarter of the calls, where two
 * busy threads share a CPU. There, such a program is attached three times under three names, and
 * does nothing where one of the others has run. bpf_choose_again() leaves the copies out elsewhere.
 */
#ifndef ZC_AGAIN_H
#define ZC_AGAIN_H

#include "collect/integers.h"

enum { PREEMPTS_MAJOR = 6, PREEMPTS_MINOR = 19 }; /* Linux 6.18 does not, and 7.3 does */

#ifdef __bpf__
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#define AGAIN(section, name, type, call)         \
	SEC(section) int name##_again1(type ctx) \
	{                                        \
		return call;                     \
	}                                        \
	SEC(section) int name##_again2(type ctx) \
	{                                        \
		return call;                     \
	}

extern int LINUX_KERNEL_VERSION __kconfig;
extern void bpf_preempt_disable(void) __weak __ksym;
extern void bpf_preempt_enable(void) __weak __ksym;

/* The kernel knows the version as it loads a program, and drops what never runs. */
static __always_inline int is_preempted(void)
{
	return LINUX_KERNEL_VERSION >= KERNEL_VERSION(PREEMPTS_MAJOR, PREEMPTS_MINOR, 0);
}

/* Begins to change what belongs to the CPU. Ends with release_cpu(). */
static __always_inline void hold_cpu(void)
{
	if (is_preempted())
		bpf_preempt_disable();
}

static __always_inline void release_cpu(void)
{
	if (is_preempted())
		bpf_preempt_enable();
}
#endif

#endif
