/* SPDX-License-Identifier: GPL-2.0-only */
/* The context that a sample ran in, and the kernel functions that reveal it. */
#ifndef ZC_MODEL_CONTEXT_H
#define ZC_MODEL_CONTEXT_H

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
	CTX_N
};
extern const char *const context_names[CTX_N];

/*
 * Returns the context that a kernel function and its callees run in, or CTX_UNKNOWN when the name
 * reveals none. The function nearest to the leaf decides: softirq work inside a system call is
 * softirq.
 */
enum context context_of_function(const char *name);

/* Returns the context with this name in context_names, or CTX_UNKNOWN. */
enum context context_of_name(const char *name);

#endif
