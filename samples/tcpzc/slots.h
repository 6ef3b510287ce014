/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory of a zero-copy sender: messages take one slot after the other, and a slot is taken again
 * only when the kernel has said that it no longer reads from it. Sending from one buffer again
 * and again would be faster, but no program that sends real data can do so. The pool is 4 MiB
 * where messages are not too large or too small for that: within the usual RLIMIT_MEMLOCK.
 */
#ifndef TCPZC_SLOTS_H
#define TCPZC_SLOTS_H

#include "tcpzc.h"

struct slot {
	uint64_t handed_ns;   /* to the kernel, when it was last held */
	unsigned int pending; /* completions to come */
	uint32_t round;	      /* counts the times it was held: tells late completions apart */
	bool accepted;	      /* the send was: its notification counts */
};

struct slots {
	char *mem;
	size_t size;	      /* of a slot: one message */
	unsigned int n, next; /* `next` is taken by the next message */
	struct slot *slot;
	unsigned int in_flight; /* completions to come in all */
};

int slots_open(struct flow *f, struct slots *s);
void slots_close(struct flow *f, struct slots *s);

static inline char *slots_mem(const struct slots *s, unsigned int slot)
{
	return s->mem + s->size * slot;
}

static inline bool slots_free(const struct slots *s)
{
	return !s->slot[s->next].pending;
}

/* The next message may begin. */
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

#endif
