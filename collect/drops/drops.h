/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel's program and user space know of dropped packets. Both include this header. */
#ifndef ZC_DROPS_H
#define ZC_DROPS_H

#ifdef __bpf__
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#else
#include <stdint.h>
#endif

enum { DROPS_PLACES = 16384 }; /* distinct struct drop_key with counts of their own */

struct drop_key {
	uint64_t location; /* the address in the kernel that dropped the packet */
	uint64_t socket;   /* its inode; 0: none, or not known */
	uint32_t netns;	   /* inode of the network namespace; 0: not known */
	uint32_t reason;   /* enum skb_drop_reason; upper half: a subsystem with its own enum */
};

struct drop_count {
	uint64_t drops;
	uint64_t segments; /* an aggregate has more than one */
	uint64_t bytes;	   /* with the headers that were still in front at the place of the drop */
};

#endif
