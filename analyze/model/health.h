/* SPDX-License-Identifier: GPL-2.0-only */
/* What a profile has lost, and what is doubtful about it. */
#ifndef ZC_MODEL_HEALTH_H
#define ZC_MODEL_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

/* User stacks that the reader unwound from copies in the samples; those that end too early. */
struct profile_unwinds {
	uint64_t stacks;
	uint64_t cut;  /* the copy in the sample is shorter than the stack */
	uint64_t lost; /* an address has no unwind table, or a value makes no sense */
	uint64_t deep; /* more frames than the reader stores */
};

enum { SYMBOL_NAME_MOST = 4096 }; /* bytes; the reader cuts longer names */

struct profile_health {
	uint64_t lost_records; /* without those that lost_samples counts */
	uint64_t lost_samples, throttled, unknown_ids, unknown_records, bad_chains;
	uint64_t backwards;	 /* counter values below the one before; they are not counted */
	uint64_t cut_names;	 /* symbols with names longer than SYMBOL_NAME_MOST */
	uint64_t outside_window; /* samples that the time filter leaves out */
	struct profile_unwinds unwinds;
	bool truncated; /* the file ends early or is damaged; `why` says where */
	char why[256];
};

struct notes;
struct profile;

/* Adds what a reader of the profile must know: losses, throttling, missing symbols. */
void profile_add_notes(const struct profile *p, struct notes *notes);

#endif
