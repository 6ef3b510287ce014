/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A capture folder into its store. Run folders are read by several threads and written in the
 * capture's order by one, so the same capture gives the same store.
 */
#ifndef ZC_ANALYSIS_H
#define ZC_ANALYSIS_H

#include "analyze/analysis/damage.h"
#include "analyze/ingest/ingest.h"
#include "analyze/store/store.h"
#include "lib/str.h"

struct analysis {
	const char *capture;
	int jobs; /* threads; 0: one per CPU */
	const struct meter *meters;
	size_t nmeters;
	bool inlines;		 /* inlined functions are frames of their own */
	struct time_slice slice; /* of each run's window (ingest/window.h) */
	const char *variant;	 /* the raw files of other variants are not read; NULL: all are */

	/* what it found */
	size_t runs, failed, lossy, warnings;
	size_t shed;	   /* sides whose workload lost datagrams */
	struct str absent; /* collectors without a figure in the slice: "counters, syscalls" */
	char *forgotten;   /* meters that the store had before and this analysis was not given; or
			      NULL */
	char *damage[DAMAGE_KINDS]; /* files that are not as capture left them: damage_of_all */
};

/* 0: CAPTURE/zcost.db is complete, whatever the runs lack. -errno: it is as it was before. */
int analyze(struct analysis *a, struct error *err);

/* The same into memory; the capture is left as it is. The caller closes the store. */
int analyze_in_memory(struct analysis *a, struct store **store, struct error *err);

void analysis_free(struct analysis *a); /* what it found */

#endif
