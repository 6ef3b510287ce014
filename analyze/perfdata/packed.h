/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The packed bytes of a COMPRESSED or COMPRESSED2 record.
 *
 * COMPRESSED2 says how many of its bytes are data; the rest pads it to 8. perf since 6.16 writes
 * what one push gave as one such record. Where that is 64 KiB or more, the 16 bits of the header's
 * size wrap, there is no padding, and several records may lie in it one behind the other: the
 * first one's header says the length of all, the others' sizes are right and their data_size is
 * whatever was in memory.
 */
#ifndef ZC_PACKED_H
#define ZC_PACKED_H

#include "lib/cursor.h"

/* The true length of the record that `c` begins with, header included, if its size wrapped; or 0.
 */
uint64_t packed_wrapped(struct cursor c);

/* Walks the pieces of packed bytes in a record. */
struct packed {
	struct cursor rest; /* at first the record without its header */
	bool sized;	    /* COMPRESSED2 */
	bool later;	    /* the first piece is taken */
};

/* False: there are no more. */
bool packed_next(struct packed *p, struct cursor *piece);

#endif
