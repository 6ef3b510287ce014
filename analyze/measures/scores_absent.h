/* SPDX-License-Identifier: GPL-2.0-only */
/* Which scores have no value, for whom, and why: gathered, so that it is said once. */
#ifndef ZC_SCORES_ABSENT_H
#define ZC_SCORES_ABSENT_H

#include "lib/str.h"
#include "lib/table.h"

struct absence {
	char *reason;		  /* NULL: the workload sent datagrams */
	struct str blocks, names; /* "a receiver, b total"; "ipc, cycles_per_byte" */
	size_t nblocks, nnames;
};

struct absences {
	struct absence *list;
	size_t n, cap;
	size_t first; /* of the score at hand */
};

/* The score at hand has no value in this block; reason NULL: the workload sent datagrams. */
void absences_add(struct absences *a, const char *score, const char *variant, const char *side,
		  const char *reason);
/* The score at hand is done; `blocks`: how many it was wanted for. */
void absences_next(struct absences *a, size_t blocks);
void absences_say(const struct absences *a, struct table *t);
void absences_free(struct absences *a);

#endif
