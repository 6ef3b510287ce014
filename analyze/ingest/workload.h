/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A workload's cumulative points: how much work was done by when. The work in the window is the
 * difference between its two ends, interpolated between the points around each end. Nothing is
 * extrapolated.
 */
#ifndef ZC_WORKLOAD_H
#define ZC_WORKLOAD_H

#include "analyze/ingest/ingest.h"

enum work { WORK_BYTES, WORK_MESSAGES, WORK_PACKETS, WORK_N };

struct points {
	struct point {
		uint64_t t_ns;
		double n[WORK_N];
	} * p;
	size_t n, cap;
	bool has[WORK_N];
	size_t backwards; /* points that were left out because time or a count went back */
};

void points_add(struct points *ps, const struct point *p);
void points_free(struct points *ps);
double points_at(const struct points *ps, enum work w, uint64_t t_ns); /* t inside the points */

/* Adds the metrics of the work in the window: bytes, throughput, rate_kib and so on. */
int points_metrics(struct ingest *in, const struct points *ps, const char *path, struct error *err);

/*
 * An adapter of a workload, in a file of its own and in one row of the list in workload.c. "units"
 * of run.json names it, with its argument after a colon.
 */
struct adapter {
	const char *name;
	const char *argument; /* its name in messages; NULL: the adapter takes none */
	/*
	 * Fills the points, and adds what else the text of workload.out says. NULL: the workload
	 * gives no account of its work. Returns 0, or -errno with the reason.
	 */
	int (*parse)(struct ingest *in, char *text, const char *arg, struct points *ps,
		     struct error *err);
};

/* Returns whether workload.out is to be read: also where `units` names no adapter, to say so. */
bool workload_has_account(const char *units);

/* Reads workload.out through the adapter that in->units names. */
int ingest_workload(struct ingest *in, const char *path, struct error *err);

#endif
