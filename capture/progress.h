/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows the progress of a capture and the time left. On a terminal it is one line that is printed
 * again and again, elsewhere at most nine lines. The times are learned from the runs that ended.
 * `verbose` prints one line for each run that ended, on any output.
 */
#ifndef ZC_CAPTURE_PROGRESS_H
#define ZC_CAPTURE_PROGRESS_H

#include "capture/order.h"

#include <stdint.h>

struct progress {
	const struct plan *plan;
	bool tty, verbose, shown;
	size_t total, done;
	double left_s; /* of the runs that have not begun */
	bool learned[PASS_COUNT];
	double extra_s[PASS_COUNT];  /* time of a run without warm-up and window */
	double switch_s;	     /* time of a change of settings */
	const struct run_id *run;    /* the run that goes on; NULL: none */
	const struct run_id *before; /* the last run that began */
	bool switching;
	uint64_t began_ns;
};

void progress_init(struct progress *p, const struct plan *plan, bool verbose);
/* Learns from a run that took took_s. */
void progress_learn(struct progress *p, enum pass pass, double took_s);
/* Learns from the runs that the capture has. */
struct manifest;
void history_learn(const struct manifest *m, struct progress *p);
/* Returns the seconds that a run is expected to take. */
double progress_expect(const struct progress *p, const struct run_id *id);
/* Returns the seconds that the change of settings between two runs is expected to take. */
double progress_expect_switch(const struct progress *p, const struct run_id *from,
			      const struct run_id *to);
/* Call these before and after settings change. left_s is the time of the runs after this one. */
void progress_begin_switch(struct progress *p, const struct run_id *id, double left_s);
void progress_end_switch(struct progress *p);
void progress_begin(struct progress *p, const struct run_id *id, double left_s);
void progress_tick(struct progress *p);
void progress_end(struct progress *p, bool ok);
void progress_clear(struct progress *p); /* call it before another line is printed */

/* Returns "1:05" or "2:00:00" in a static buffer. */
const char *progress_time(double seconds);

#endif
