/* SPDX-License-Identifier: GPL-2.0-only */
/* The same work on several threads at once. */
#ifndef ZC_WORKERS_H
#define ZC_WORKERS_H

#include <stddef.h>

enum { WORKERS_MAX = 64 };

/* How many threads to use for `parts` parts of work: `asked`, or 0: what CPUs and parts are worth.
 */
size_t workers_count(unsigned int asked, size_t parts, size_t parts_worth_a_thread);

/*
 * Calls work(arg, 0) ... work(arg, n - 1) at once and waits for all; the caller's thread takes
 * number 0. A number whose thread cannot be started is not called: the work must be such that the
 * others then do its share.
 */
void workers_run(size_t n, void (*work)(void *arg, size_t number), void *arg);

#endif
