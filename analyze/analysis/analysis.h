/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Analyzes a capture folder into its store. Several threads read the run folders, and one thread
 * writes the runs in the capture's order. So the same capture always gives the same store.
 */
#ifndef ZC_ANALYSIS_H
#define ZC_ANALYSIS_H

#include "analyze/analysis/damage.h"
#include "analyze/probes/ingest.h"
#include "analyze/probes/layout.h"
#include "analyze/store/store.h"
#include "lib/str.h"

struct analysis {
	const char *capture;
	int jobs; /* threads; 0 means one per CPU */
	const struct meter *meters;
	size_t nmeters;
	bool inlines;		 /* gives each inlined function a frame */
	struct time_slice slice; /* the part of each run's window (probes/window.c) */
	char *units;		 /* as in struct ingest_options; owned */
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

/* --- meters.c: the power meters of an analysis --- */

/* Checks the meters and units. Returns -EINVAL if the capture lacks a side that they name. */
int meters_check(const struct analysis *a, const struct layout *l, struct error *err);

/*
 * Returns the meters in the existing store of the capture, or NULL. Returns NULL if the store is
 * missing or of another version. The caller frees the string.
 */
char *meters_remembered(const char *capture);

/* Stores the meters of this analysis. */
int meters_remember(const struct analysis *a, struct store *s, struct error *err);

/* --- skew.c: did both sides of a run measure at the same time? --- */

/*
 * Adds the metric window_skew_us to both sides of every run. It is the distance of the windows'
 * starts or of their ends, the larger one. The sides must share a clock or have compared clocks
 * (clock_offset). A skew above a thousandth of the window, beyond the error of the comparison,
 * adds a warning. A skew above the limit in lib/clock.h adds another warning. Sides with windows
 * that do not overlap fail, and *left_out counts them. Returns 0 or -errno.
 */
int skew_store(struct store *s, size_t *left_out, struct error *err);

#endif
