/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User-space call chains out of what `perf record --call-graph dwarf` keeps of them: the registers
 * and a copy of the top of the stack in each sample. Frame by frame, the unwind tables of the
 * object that was mapped there say where the caller is. As perf report does: at most 127 frames;
 * the address of a caller is that of its call, return address - 1, unless it was interrupted.
 *
 *   history.c       what was mapped, at any time
 *   unwind_arch.c   registers of perf and of DWARF
 *   unwind_rules.c  tables of an object, by libdw
 *   unwind_expr.c   expressions in them
 */
#ifndef ZC_PERFDATA_UNWIND_H
#define ZC_PERFDATA_UNWIND_H

#include "analyze/model/profile.h"
#include "analyze/perfdata/recording.h"

enum { UNWIND_FRAMES = 127 };

struct recording;
struct perfdata_options;

/* What all threads share. NULL: no event of the recording keeps stacks. */
struct unwinding *unwinding_new(const struct recording *r, const struct perfdata_options *o);
/* Once all unwinders are finished: says in the profile how many stacks there were, and what of. */
void unwinding_finish(struct unwinding *with, struct profile *p);

/* One per thread; NULL for NULL. */
struct unwinder *unwinder_new(struct unwinding *with);
void unwinder_finish(struct unwinder *u);

/*
 * If the sample keeps a stack, `s->chain` becomes the recorded chain with the unwound frames behind
 * it, in the file's endianness, in memory that the next call with the same slot overwrites. `rest`
 * stands behind the recorded chain; `space` is where its addresses are looked up.
 */
void unwinder_chain(struct unwinder *u, unsigned int slot, struct sample *s, const struct event *e,
		    struct cursor rest, struct side_space space);

#endif
