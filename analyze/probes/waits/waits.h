/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ZC_PROBES_WAITS_H
#define ZC_PROBES_WAITS_H

#include "analyze/probes/ingest.h"
#include "analyze/probes/tsv.h"

/* Parses a time. Returns false for one of more than 30 years, too. */
static inline bool wait_parse_ns(const char *text, uint64_t *ns)
{
	return parse_u64(text, ns) && *ns < 1000000000000000000;
}

/*
 * Adds the event WALL_EVENT to the profile of the run, made from the rows of waits.tsv and from the
 * stacks at that path, which may be missing. Returns 0, or -errno if error_of_machine().
 */
int waits_add_profile(struct ingest *in, const struct tsv *t, const char *stacks,
		      struct error *err);

struct changes;
struct store;

/*
 * Fills in what a run lacks that followed threads: if none was in a state, it has 0 ns and 0 waits
 * of it. Divides AS_PER_MIB by the work at this rate, or by nothing known if there is no rate.
 */
void waits_complete(struct changes *c, struct store *s, const char *rate);

#endif
