/* SPDX-License-Identifier: GPL-2.0-only */
/* What BPF programs lack: the integers of headers that user space includes, too, and a map in one
 * line. */
#ifndef ZC_INTEGERS_H
#define ZC_INTEGERS_H

#ifdef __bpf__
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef int int32_t;
typedef long long int64_t;

#define MAP(name, kind, entries, key_type, value_type, flags) \
	struct {                                              \
		__uint(type, BPF_MAP_TYPE_##kind);            \
		__uint(max_entries, entries);                 \
		__uint(map_flags, flags);                     \
		__type(key, key_type);                        \
		__type(value, value_type);                    \
	} name SEC(".maps")
#else
#include <stdint.h>
#endif

#endif
