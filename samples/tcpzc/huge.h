/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --huge-pages: memory in pages that were set aside (hugetlb), and where too few of those are free
 * in transparent ones. The kernel gives the latter when it can and says nothing when it cannot, so
 * that it is asked what was got.
 */
#ifndef TCPZC_HUGE_H
#define TCPZC_HUGE_H

#include "tcpzc.h"

/* At least `size` bytes; NULL after flow_fail when there are no huge pages of either kind. */
void *huge_get(struct flow *f, size_t size);
/* False: not huge_get's. */
bool huge_put(struct flow *f, void *p);

#endif
