/* SPDX-License-Identifier: GPL-2.0-only */
/* A dmabuf of host memory, made by /dev/udmabuf. A NIC can receive into it or send from it. */
#ifndef ZC_UDMABUF_H
#define ZC_UDMABUF_H

#include <stddef.h>

/*
 * Returns the descriptor of a new dmabuf, or -errno, which refusal_udmabuf explains. Unless memory
 * is NULL, *memory becomes the memfd behind it: the same bytes, for mmap. The caller closes both.
 */
int udmabuf_make(size_t size, int *memory);

#endif
