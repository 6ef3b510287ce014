/* SPDX-License-Identifier: GPL-2.0-only */
/* The integers of headers that the kernel's programs and user space include. */
#ifndef ZC_INTEGERS_H
#define ZC_INTEGERS_H

#ifdef __bpf__
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef int int32_t;
typedef long long int64_t;
#else
#include <stdint.h>
#endif

#endif
