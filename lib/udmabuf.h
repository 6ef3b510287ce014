/* SPDX-License-Identifier: GPL-2.0-only */
/* A dmabuf out of host memory, by /dev/udmabuf: what a NIC can be given to receive into or send. */
#ifndef ZC_UDMABUF_H
#define ZC_UDMABUF_H

#include <stddef.h>

/*
 * The dmabuf's descriptor, or -errno (refusal_udmabuf explains it). *memory, where it is not NULL,
 * is the memfd behind it, to be closed too: the same bytes, to be mapped.
 */
int udmabuf_make(size_t size, int *memory);

#endif
