/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Analyzes a capture folder into its store. Several threads read the run folders, and one thread
 * writes the runs in the capture's order. So the same capture always gives the same store.
 */
#ifndef ZC_ANALYSIS_H
#define ZC_ANALYSIS_H

#include "analyze/archive/archive.h"
#include "analyze/probes/ingest.h"
#include "analyze/probes/layout.h"
#include "analyze/store/store.h"

/* --- damage.c: files that changed after the capture, by the checksums in the manifest --- */

enum damage_kind { DAMAGE_DIFFERS, DAMAGE_MISSING, DAMAGE_UNREADABLE, DAMAGE_KINDS };

struct damage {
	size_t n[DAMAGE_KINDS];
	const char *first[DAMAGE_KINDS]; /* a name in the list of files */
};

/* Lists the files that the manifest names, without those of failed runs. Returns 0 or -errno. */
int damage_list(struct members *named, const struct layout *l, const char *capture,
		struct error *err);
/*
 * Checks the files in a side's folder, "runs/VARIANT/PASS-NN/SIDE/". A NULL folder means the files
 * in none of these.
 */
void damage_check(struct damage *d, const struct members *named, const char *capture,
		  const char *folder);
void damage_add(struct damage *sum, const struct damage *d);
/*
 * Returns a message such as "2 files (first perf.data) differ from ...", or NULL if there is no
 * such file. `skip` bytes of the name are not printed. The caller frees the message.
 */
char *damage_text(const struct damage *d, enum damage_kind kind, size_t skip);

/* --- analysis.c --- */

struct analysis {
	const char *capture;
	int jobs; /* threads; 0 means one per CPU */
	const struct meter *meters;
	size_t nmeters;
	char *meter_options;	 /* the options of the meters as typed, or NULL; owned */
	bool inlines;		 /* gives each inlined function a frame */
	struct time_slice slice; /* the part of each run's window (probes/ingest.h) */
	char *units;		 /* as in struct ingest_options; owned */
	const char *variant;	 /* reads the raw files of this variant only; NULL reads all */

	/* results */
	size_t runs, failed, lossy;
	struct str absent; /* collectors without data in the slice: "counters, syscalls" */
	char *forgotten; /* meters of the previous store that this analysis does not use, or NULL */
	struct members named; /* the files of the capture with their checksums */
	struct damage rest;   /* what is wrong with the files that belong to no side of a run */
	struct damage damage; /* what is wrong with all files */
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

/* --- skew.c: did both sides measure at the same time, and did perf see their time? --- */

/*
 * Adds the metric window_skew_us to both sides of every run. It is the distance of the windows'
 * starts or of their ends, the larger one. The sides must share a clock or have compared clocks
 * (clock_offset). A skew above a thousandth of the window, beyond the error of the comparison,
 * adds a warning. A skew above the limit in lib/clock.h adds another warning. Sides with windows
 * that do not overlap fail, and are added to *left_out. Returns 0 or -errno.
 */
int skew_store(struct store *s, const struct run *runs, int n, size_t *left_out, struct error *err);

/*
 * Adds a warning to each run whose metric coverage_pct is an outlier among the runs of its variant,
 * side and pass. Returns 0 or -errno.
 */
int coverage_store(struct store *s, const struct run *runs, int n, struct error *err);

/*
 * --- work_share.c ---
 *
 * Gives a side the work that another side of the same run counted. A server's cost per request
 * needs the count of its client.
 */

/* One side of one run. */
struct work_side {
	int64_t run;
	const char *work; /* the sides that the plan names, or NULL */
	bool counts;	  /* its workload accounts for its work, readable or not */
};

/*
 * Copies the rates of work to each run of a side that does not count, or for which the plan names
 * other sides. Adds a note to the run. Returns 0 or -errno.
 */
int work_share_store(struct store *s, const struct run *runs, int n, const struct work_side *sides,
		     size_t nsides, struct error *err);

/*
 * --- open.c ---
 *
 * Opens the store of a capture for a command. For a part of each run's window (--from, --to), makes
 * a store in memory from the raw files.
 */

struct open_options {
	struct time_slice slice; /* empty: opens the existing store */
	const char *variant;	 /* the only variant to read; NULL reads all */
	int jobs;		 /* threads; 0 means one per CPU */
};

int capture_open(struct store **store, const char *capture, const struct open_options *o,
		 struct error *err);

/*
 * Returns what the existing store of the capture records under a key: how it was analyzed. Returns
 * NULL without it, or without a store of this version. The caller frees the string.
 */
char *store_remembered(const char *capture, const char *key);

/* Checks the meters and units. Returns -EINVAL if the capture lacks a side that they name. */
int meters_check(const struct analysis *a, const struct layout *l, struct error *err);

#endif
