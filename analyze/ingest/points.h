/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A workload's cumulative points: how much was done by when. Work in the window is the difference
 * between its two ends, interpolated linearly between the points around each; never extrapolated.
 */
#ifndef ZC_POINTS_H
#define ZC_POINTS_H

#include "analyze/ingest/ingest.h"

enum work { WORK_BYTES, WORK_MESSAGES, WORK_PACKETS, WORK_N };

struct points {
	struct point {
		uint64_t t_ns;
		double n[WORK_N];
	} * p;
	size_t n, cap;
	bool has[WORK_N];
	size_t backwards; /* points left out: time or a count went back */
};

void points_add(struct points *ps, const struct point *p);
void points_free(struct points *ps);
double points_at(const struct points *ps, enum work w, uint64_t t_ns); /* t inside the points */

/* Metric stalled_s, and a warning, where the work stood still (stall.c). */
void points_stalls(struct ingest *in, const struct points *ps);

/* The metrics of the work done in the window: bytes, throughput, rate_kib and so on. */
int points_metrics(struct ingest *in, const struct points *ps, const char *path, struct error *err);

/*
 * Adapters: the text of workload.out into points, and what else it says into metrics. `arg` is
 * what stands after the colon in "units". 0, or -errno with the reason.
 */
int adapter_tcpzc(struct ingest *in, char *text, const char *arg, struct points *ps,
		  struct error *err);
int adapter_iperf3(struct ingest *in, char *text, const char *arg, struct points *ps,
		   struct error *err);
int adapter_pps(struct ingest *in, char *text, const char *arg, struct points *ps,
		struct error *err);
int adapter_regex(struct ingest *in, char *text, const char *arg, struct points *ps,
		  struct error *err);

#endif
