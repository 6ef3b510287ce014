/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory of the modes: pages, the slots of zero-copy senders, and the limits on pinned memory.
 */
#ifndef TCPZC_MEMORY_H
#define TCPZC_MEMORY_H

#include "cuda.h"
#include "tcpzc.h"

#include "lib/genl.h"

#include <unistd.h>

/* Returns the bytes of a page of this kernel. */
static inline size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/*
 * Returns page-aligned memory that the kernel has already backed with pages, or NULL after
 * flow_fail. flow_close frees it, after the mode's close.
 */
void *memory_get(struct flow *f, size_t size);
void memory_free(struct flow *f);

/* --- limits on pinned memory --- */

/*
 * The kernel refuses a zero-copy send with ENOBUFS for one of two reasons and does not say which.
 * optmem_max bounds the notifications of a socket that nobody has read yet. RLIMIT_MEMLOCK bounds
 * the memory that all sends of this user pin, unless the process may lock any amount.
 */
struct limits {
	unsigned long optmem_max, memlock; /* ULONG_MAX: no limit */
};

/* Reads the limits. Call it before the data: its system calls are not counted. */
void limits_read(struct limits *l);
/* Returns the limit that a send has just hit, by the memory that the socket has in use. */
enum limit limits_hit(struct flow *f, const struct limits *l);
/* Returns both limits as text, for messages about ENOBUFS and ENOMEM. */
const char *limits_text(void);

/* --- slots --- */

/*
 * A zero-copy sender puts each message into the next slot. It uses a slot again only after the
 * kernel has reported that it no longer reads from the slot. Sending one buffer over and over would
 * be faster, but a program that sends real data cannot do that. The pool has 4 MiB, which fits into
 * the usual RLIMIT_MEMLOCK, unless messages are very large or very small.
 */
struct slot {
	uint64_t handed_ns;   /* when the kernel last got it */
	unsigned int pending; /* completions still to come */
	uint32_t round;	      /* how often the slot was used; it tells a late completion apart */
	bool accepted;	      /* the kernel accepted the send, so its notification counts */
};

struct slots {
	char *mem;
	size_t size;	      /* bytes of a slot: one message */
	unsigned int n, next; /* the next message goes into slot `next` */
	struct slot *slot;
	unsigned int in_flight; /* completions still to come, over all slots */
};

/* Takes --depth and --offset. */
int slots_open(struct flow *f, struct slots *s);

static inline char *slots_mem(const struct slots *s, unsigned int slot)
{
	return s->mem + s->size * slot;
}

static inline bool slots_free(const struct slots *s)
{
	return !s->slot[s->next].pending;
}

/* Moves on to the slot of the next message. */
static inline void slots_advance(struct slots *s)
{
	s->next = s->next + 1 == s->n ? 0 : s->next + 1;
}

static inline void slots_hold(struct slots *s, unsigned int slot, uint64_t now)
{
	s->slot[slot].pending++;
	s->slot[slot].round++;
	s->slot[slot].handed_ns = now;
	s->in_flight++;
}

static inline void slots_release(struct slots *s, unsigned int slot)
{
	s->slot[slot].pending--;
	s->in_flight--;
}

/* Counts the pages of 4 KiB that a send of these bytes pins, and that it needs. */
static inline void slots_count_pins(struct flow *f, const char *p, size_t n)
{
	f->pinned_pages += ((uintptr_t)p + n - 1) / 4096 - (uintptr_t)p / 4096 + 1;
	f->needed_pages += (n + 4095) / 4096;
}

/* --- a dmabuf: memory that a NIC gets by a descriptor --- */

struct dmabuf {
	int fd, memory; /* the dmabuf and the memfd behind it; memory is -1 without a memfd */
	char *map;	/* NULL when this process cannot map it */
	size_t size;
	struct genl netdev; /* a binding lasts as long as its socket */
	uint32_t id;	    /* the number of the binding */
	struct cuda *gpu;   /* whose memory it is; NULL: host memory, or inherited */
};

/*
 * Takes --dmabuf-fd, or makes a dmabuf of at least `size` bytes out of --memory. Returns 0, or
 * -errno after flow_fail.
 */
int dmabuf_open(struct flow *f, struct dmabuf *d, size_t size);
/*
 * Binds it to --nic for sending, or to the flow's receive queue. Returns 0, or -errno after
 * flow_fail.
 */
int dmabuf_bind(struct flow *f, struct dmabuf *d);
/* Begins or ends reading, or writing, memory that the device shares. */
void dmabuf_sync(const struct dmabuf *d, bool begin, bool write);
void dmabuf_close(struct dmabuf *d); /* accepts one that is all zeroes */

#endif
