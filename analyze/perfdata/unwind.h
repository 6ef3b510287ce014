/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unwinds user stacks of `perf record --call-graph dwarf`. Each sample has the registers and a copy
 * of the top of the stack. Frame by frame, the unwind tables (cfi.h) of the object mapped there
 * lead to the caller. As in perf report, a stack has at most 127 frames, and a caller's address is
 * that of its call (return address - 1) unless it was interrupted.
 */
#ifndef ZC_PERFDATA_UNWIND_H
#define ZC_PERFDATA_UNWIND_H

#include "analyze/model/profile.h"
#include "analyze/perfdata/recording.h"

enum { UNWIND_FRAMES = 127 };

struct recording;
struct perfdata_options;

/* Returns what all threads share, or NULL if no event records user stacks. */
struct unwinding *unwinding_new(const struct recording *r, const struct perfdata_options *o);
/* Reports the number of stacks and shortfalls in the profile, after all unwinders have finished. */
void unwinding_finish(struct unwinding *with, struct profile *p);

/* Creates the unwinder of one thread. Returns NULL for NULL. */
struct unwinder *unwinder_new(struct unwinding *with);
void unwinder_finish(struct unwinder *u);

/*
 * If the sample has a user stack, appends the unwound frames to `s->chain`, in the file's
 * endianness. The next call with the same slot overwrites the chain. `rest` is the sample after the
 * recorded chain. `space` is where to look up addresses.
 */
void unwinder_chain(struct unwinder *u, unsigned int slot, struct sample *s, const struct event *e,
		    struct cursor rest, struct side_space space);

#endif
