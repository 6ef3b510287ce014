/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The way of a packet through the kernel. The kernel's programs and user space include this header.
 * All times are in ns of CLOCK_MONOTONIC.
 *
 * One in N packets is followed in a slot. A stage ends where the next one begins, so the times of a
 * packet's stages add up to its time from end to end.
 */
#ifndef ZC_PATH_H
#define ZC_PATH_H

#include "collect/programs.h"

/*
 * The stages of a way are neighbours. A slot in stage FREE has no packet. RECEIVED and SENT are the
 * sums of the stages before them. COMPLETION is after SENT, and not in its time.
 */
// clang-format off
#define PATH_LIST(row) \
	row(FREE, "") \
	row(INTERRUPT, "interrupt") row(SOFTIRQ, "softirq") row(POLL, "poll") row(GRO, "gro") \
	row(PROTOCOL, "protocol") row(BACKLOG, "backlog") row(TCP, "tcp") row(READER, "reader") \
	row(CPU, "wake_up") row(READ, "read") row(RETURN, "return") row(RECEIVED, "end_to_end") \
	row(CALL, "call") row(SNDBUF, "sndbuf") row(BUILD, "build") row(QUEUE, "queue") \
	row(XMIT, "xmit") row(QDISC, "qdisc") row(DRIVER, "driver") row(SENT, "end_to_end") \
	row(COMPLETION, "completion")
// clang-format on
#define PATH_STAGE(id, name) PATH_##id,
enum path_stage { PATH_LIST(PATH_STAGE) PATH_STAGES };

enum path_way { PATH_RECEIVE, PATH_SEND, PATH_WAYS };

enum {
	PATH_SLOTS = 64,	/* packets that are followed at once; a power of two */
	PATH_PERIOD = 20000000, /* ns */
	PATH_CHOSEN = 80,	/* packets of a way to choose in a period */
	PATH_OFTEN = 1 << 16,	/* the largest N */
	PATH_WEIGHT = 256,
	PATH_PROCESSES = 8192, /* that the workload may have */
	PATH_NETNS = 4,
	PATH_GROUP = 16,
	PATH_NEAR = 300,   /* packets: those of a softirq, and of a long call */
	PATH_WAITS = 16,   /* for a CPU: the newest ones that a thread has */
	PATH_SUBS = 64,	   /* buckets in which a time doubles */
	PATH_OCTAVES = 34, /* the last one ends at 2^40 ns, 18 minutes */
	PATH_BUCKETS = (PATH_OCTAVES + 1) * PATH_SUBS,
};

/*
 * Returns the bucket of a time. Buckets below 2 * PATH_SUBS ns are 1 ns wide, and all others are at
 * most 1 / PATH_SUBS of the time wide.
 */
static inline uint32_t path_bucket(uint64_t ns)
{
	uint64_t rest = ns / PATH_SUBS, bucket;
	uint32_t octave = 0;

	for (uint32_t bits = 32; bits; bits /= 2) /* clang 14 cannot count zeros for BPF */
		if (rest >> bits) {
			rest >>= bits;
			octave += bits;
		}
	bucket = octave * PATH_SUBS + (ns >> octave);
	return bucket < PATH_BUCKETS ? (uint32_t)bucket : PATH_BUCKETS - 1;
}

/* Returns the shortest time in a bucket. */
static inline uint64_t path_bucket_start(uint32_t bucket)
{
	uint32_t octave = bucket < 2 * PATH_SUBS ? 0 : bucket / PATH_SUBS - 1;

	return (uint64_t)(bucket - octave * PATH_SUBS) << octave;
}

struct path_slot {
	uint32_t stage; /* since `at` */
	/*
	 * For how many packets it counts, in 1 / PATH_WEIGHT: for the N in force when a byte of a
	 * piece of data was chosen, x the bytes of the piece / those of the packet.
	 */
	uint32_t weight;
	uint64_t at;
	uint64_t bit; /* 1 << its number */
	uint64_t skb;
	uint64_t owner; /* the socket; in PATH_RETURN the task that took the packet */
	/*
	 * A packet is known by its ports, as in its header, and by a byte of its data: skbs are
	 * cloned, merged and split on the way. A packet has been read when its reader is at the
	 * byte `end`.
	 */
	uint32_t ports, byte;
	uint32_t end;	  /* receive */
	uint32_t written; /* send: the next byte that the call writes */
	uint32_t segments, bytes;
	uint32_t in_softirq; /* receive: when it entered the protocols */
	uint32_t piece;	     /* bytes of the piece: of what arrived, or of what the call wrote */
	uint64_t ns[32];     /* by stage; PATH_STAGES of them */
};

struct path_stage_sums {
	uint64_t ns, weight;
	uint64_t passed; /* packets that took time in the stage */
	uint64_t left;	 /* packets that were last seen in it */
	uint64_t hist[PATH_BUCKETS];
};

/* All that user space reads. */
struct path_shared {
	uint32_t on;		    /* packets are chosen */
	uint32_t part;		    /* the number of the present part of the window (path.c) */
	uint32_t scale;		    /* how many times a packet counts that is chosen now */
	uint32_t no_ready;	    /* no sk_data_ready before Linux 6.3: what TCP has is ready */
	uint32_t netns[PATH_NETNS]; /* the workload's network namespaces: inodes */
	struct {
		uint64_t since;	 /* the period began */
		uint32_t chosen; /* packets in it */
		uint32_t n;	 /* N; 0: 1 */
	} choice[PATH_WAYS];
	uint64_t in[32]; /* by stage: the slots whose packets are in it, a bit each */
	uint64_t full;	 /* packets that found no slot */
	uint64_t others; /* packets that another program took */
	struct {
		uint64_t followed, weight; /* to the end */
		uint64_t segments, bytes;  /* weighted */
	} ways[PATH_WAYS];
	struct path_slot slots[PATH_SLOTS];
	struct path_stage_sums stages[PATH_STAGES];
};

struct path_cpu {
	uint64_t irq;		      /* the device's interrupt that is handled began; 0: none */
	uint64_t raised, raised_irq;  /* the next softirq for receiving; 0: not raised */
	uint64_t was_raised, was_irq; /* the one that runs or ran last */
	uint64_t entered;	      /* the softirq began */
	uint32_t in_softirq;
	uint32_t part; /* the part of the window in which all of the above was seen */
	uint32_t seen[PATH_WAYS], next[PATH_WAYS]; /* packets; the one to choose next */
	uint32_t chosen[PATH_WAYS];
};

#endif
