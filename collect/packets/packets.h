/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the collectors drops, batches and pools share. They count packets in the kernel while the
 * window is open. The kernel's programs and user space include this header.
 */
#ifndef ZC_PACKETS_H
#define ZC_PACKETS_H

#include "collect/programs.h"

enum { PACKETS_DROPS = 16384, PACKETS_BATCHES = 1024 }; /* distinct keys with their own counts */
enum { BATCH_TRIES = 16 };				/* places in which a key is looked for */
/* A CPU times one in so many packets that it receives. Requests and replies alternate: it is odd.
 */
enum { TIMED_ONE_IN = 7 };

struct packets_control {
	uint32_t on; /* the window is open */
	uint32_t pad;
	uint64_t lost; /* packets whose key found no room */
};

struct drop_key {
	uint64_t location; /* the address in the kernel that dropped the packet */
	uint64_t socket;   /* its inode; 0: none, or not known */
	uint32_t netns;	   /* inode of the network namespace; 0: not known */
	uint32_t reason;   /* enum skb_drop_reason; upper half: a subsystem with its own enum */
};

struct drop_count {
	uint64_t drops, segments;
	uint64_t bytes; /* with the headers that were still in front at the place of the drop */
	uint64_t ns;	/* the time of timed packets, from the protocols to the drop */
};

/* On each CPU. */
struct timed_packet {
	uint64_t skb;		/* its address while the protocols have it; 0: none */
	uint64_t at;		/* the protocols got it, or dropped another one after that */
	uint64_t task, entered; /* the task that ran, and where it had entered the kernel */
	uint64_t received;
};

enum batch_kind {
	BATCH_POLL,	/* a poll of NAPI; segments: its work, as its driver counts */
	BATCH_RECEIVE,	/* a packet, maybe an aggregate, enters the protocols */
	BATCH_TRANSMIT, /* a packet, maybe an aggregate, goes to a device */
	POOL_HELD,	/* a page comes from the allocator to a page pool */
	POOL_RELEASED,	/* and goes back */
	BATCH_KINDS
};

/*
 * The key of a count: the namespace in the upper half, then the number of the interface (0: none,
 * as of the queue of a CPU) or of the pool, and the kind + 1 in the last bits.
 */
enum { BATCH_KIND_BITS = 3 };

/* On each CPU. */
struct batch_count {
	uint64_t key; /* 0: not in use */
	uint64_t batches, segments, bytes;
	uint64_t full; /* polls that used up their budget */
	char name[16]; /* the interface */
};

#ifndef __bpf__

#include "collect/bpf.h"
#include "collect/collect.h"
#include "collect/run/run.h"

/* The `data` of the collectors. */
struct packets {
	struct bpf_object *obj;
	struct bpf_links links;
	struct btf *btf; /* the kernel's types */
	volatile struct packets_control *control;
	const struct netns *netns;
	struct tree_sockets sockets; /* the workload's; only for drops */
};

/* Hooks. The programs of a collector begin with its name. */
int packets_prepare(struct collect *c);
int packets_follow(struct collect *c); /* looks for the workload's network namespace */
int packets_start(struct collect *c);
int packets_stop(struct collect *c);

typedef void packets_print(struct str *s, const struct packets *p);
packets_print drop_times_print;
/* Writes the collector's files, which `print` fills if there was a window, and frees everything. */
void packets_finish(struct collect *c, packets_print *const print[]);

#endif
#endif
