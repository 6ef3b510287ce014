/* SPDX-License-Identifier: GPL-2.0-only */
/* Collects the figures that a table cannot give, and why, for one note per reason. */
#ifndef ZC_ABSENCES_H
#define ZC_ABSENCES_H

#include "lib/str.h"
#include "lib/table.h"

/* A reason, and the scores and blocks that have no value for this reason. */
struct absence {
	char *reason;		  /* NULL if the workload sent datagrams */
	struct str blocks, names; /* "a receiver, b total"; "ipc, cycles_per_byte" */
	size_t nblocks, nnames;
};

struct absences {
	struct absence *list;
	size_t n, cap;
	size_t first; /* first absence of the current score */
};

/*
 * Records that the current score has no value in this block. A NULL reason means that the workload
 * sent datagrams.
 */
void absences_add(struct absences *a, const char *score, const char *variant, const char *side,
		  const char *reason);
/* Ends the current score. `blocks` is the number of blocks that should have the score. */
void absences_next(struct absences *a, size_t blocks);
void absences_add_notes(const struct absences *a, struct table *t);
void absences_free(struct absences *a);

#endif
