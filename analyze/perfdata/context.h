/* SPDX-License-Identifier: GPL-2.0-only */
/* Where kernel code ran, told by the names in its call chain. The names are a table. */
#ifndef ZC_PERFDATA_CONTEXT_H
#define ZC_PERFDATA_CONTEXT_H

#include "analyze/profile.h"

/*
 * What a kernel function says of the context it and its callees run in; CTX_UNKNOWN: nothing. The
 * context of a sample is that of the function nearest to the leaf that says something: softirq
 * work inside a system call is softirq.
 */
enum context context_of_function(const char *name);

#endif
