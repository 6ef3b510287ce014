/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel's program and user space know of batches. Both include this header. */
#ifndef ZC_BATCHES_H
#define ZC_BATCHES_H

#ifdef __bpf__
typedef unsigned char uint8_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#else
#include <stdint.h>
#endif

enum { BATCHES_PLACES = 1024 }; /* distinct struct batch_key */

enum batch_kind {
	BATCH_POLL,	/* a poll of NAPI; segments: its work, as its driver counts */
	BATCH_RECEIVE,	/* a packet, maybe an aggregate, enters the protocols */
	BATCH_TRANSMIT, /* a packet, maybe an aggregate, goes to a device */
	BATCH_KINDS
};

struct batch_key {
	uint32_t kind;
	uint32_t netns;	    /* inode; 0: the device is none, as of the queue of a CPU */
	uint32_t interface; /* its number in the namespace */
};

/* On each CPU. */
struct batch_count {
	uint64_t batches, segments, bytes;
	uint64_t full; /* polls that used up their budget */
	char name[16]; /* the interface */
};

#endif
