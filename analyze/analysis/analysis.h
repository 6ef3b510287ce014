/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Analyzes a capture folder into its store. Several threads read the run folders, and one thread
 * writes the runs in the capture's order. So the same capture always gives the same store.
 */
#ifndef ZC_ANALYSIS_H
#define ZC_ANALYSIS_H

#include "analyze/analysis/damage.h"
#include "analyze/ingest/ingest.h"
#include "analyze/store/store.h"
#include "lib/str.h"

struct analysis {
	const char *capture;
	int jobs; /* threads; 0 means one per CPU */
	const struct meter *meters;
	size_t nmeters;
	bool inlines;		 /* gives each inlined function a frame */
	struct time_slice slice; /* the part of each run's window (ingest/window.h) */
	const char *variant;	 /* reads the raw files of this variant only; NULL reads all */

	/* results */
	size_t runs, failed, lossy, warnings;
	size_t shed;	   /* sides where the workload lost datagrams */
	struct str absent; /* collectors without data in the slice: "counters, syscalls" */
	char *forgotten; /* meters of the previous store that this analysis does not use, or NULL */
	char *damage[DAMAGE_KINDS]; /* messages about changed files, from damage_of_all() */
};

/*
 * Writes CAPTURE/zcost.db. Returns 0 if the store is complete, even if some runs failed. Returns
 * -errno if an error stopped the analysis, and leaves the old store unchanged.
 */
int analyze(struct analysis *a, struct error *err);

/*
 * Analyzes into a store in memory and leaves the capture unchanged. The caller closes the store.
 */
int analyze_in_memory(struct analysis *a, struct store **store, struct error *err);

void analysis_free(struct analysis *a); /* results */

#endif
