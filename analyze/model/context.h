/* SPDX-License-Identifier: GPL-2.0-only */
/* The context that a sample ran in, and the kernel functions that reveal it. */
#ifndef ZC_MODEL_CONTEXT_H
#define ZC_MODEL_CONTEXT_H

#include <stdbool.h>

/* Databases store these numbers: append only. */
enum context {
	CTX_UNKNOWN,
	CTX_USER,
	CTX_SYSCALL,
	CTX_SOFTIRQ,
	CTX_HARDIRQ,
	CTX_IDLE,
	CTX_KTHREAD,
	CTX_EXCEPTION, /* page faults and other traps that the kernel handles for a process */
	CTX_SOFTIRQ_IN_SYSCALL, /* a system call runs the softirq, without an interrupt between */
	CTX_N
};
extern const char *const context_names[CTX_N];

/*
 * Returns the context that a kernel function and its callees run in, or CTX_UNKNOWN when the name
 * reveals none. The function nearest to the leaf decides. A function alone never reveals
 * CTX_SOFTIRQ_IN_SYSCALL.
 */
enum context context_of_function(const char *name);

/*
 * Returns the context of a softirq. `outer` is the context of the nearest caller that is no softirq
 * and reveals one. Kernel functions below a program's function run in a system call.
 */
enum context context_of_softirq(enum context outer);

bool context_is_softirq(enum context c);

/* Returns the context with this name in context_names, or CTX_UNKNOWN. */
enum context context_of_name(const char *name);

#endif
