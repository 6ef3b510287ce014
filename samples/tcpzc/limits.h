/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which limit it was that made the kernel refuse a zero-copy send with ENOBUFS: optmem_max bounds a
 * socket's notifications that were not yet read, RLIMIT_MEMLOCK the memory that all sends of this
 * user pin, unless it may lock what it likes. The kernel does not say which; the socket's own
 * account of the first does.
 */
#ifndef TCPZC_LIMITS_H
#define TCPZC_LIMITS_H

#include "tcpzc.h"

struct limits {
	unsigned long optmem_max, memlock; /* ULONG_MAX: none */
};

void limits_read(struct limits *l); /* beforehand: it takes calls that are not counted */
enum limit limits_hit(struct flow *f, const struct limits *l);
const char *limits_text(const struct limits *l, enum limit which); /* "... is 65536" */

#endif
