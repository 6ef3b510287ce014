/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a capture stands, with the time left: one line of its width (80 columns where unknown) that
 * is written anew, on a terminal only; times are learned from the runs that ended. With `verbose`,
 * a line for each run that ended, anywhere.
 */
#ifndef ZC_CAPTURE_PROGRESS_H
#define ZC_CAPTURE_PROGRESS_H

#include "capture/order.h"

#include <stdint.h>

struct progress {
	const struct plan *plan;
	bool tty, verbose, shown;
	size_t total, done;
	double left_s; /* of the runs not begun */
	bool learned[PASS_COUNT];
	double extra_s[PASS_COUNT];  /* a run takes this much more than warm-up and window */
	double switch_s;	     /* to another combination of settings */
	const struct run_id *run;    /* the one going on */
	const struct run_id *before; /* the last one begun */
	bool switching;
	uint64_t began_ns;
};

void progress_init(struct progress *p, const struct plan *plan, bool verbose);
/* From a run that took so long. */
void progress_learn(struct progress *p, enum pass pass, double took_s);
/* The same from those that are in the capture already (history.c). */
struct manifest;
void history_learn(const struct manifest *m, struct progress *p);
/* Seconds a run is expected to take. */
double progress_expect(const struct progress *p, const struct run_id *id);
/* From the settings of one run to those of the next; 0 where they are the same. */
double progress_expect_switch(const struct progress *p, const struct run_id *from,
			      const struct run_id *to);
/* Around the setting up of a run; left_s is what comes after that run. */
void progress_begin_switch(struct progress *p, const struct run_id *id, double left_s);
void progress_end_switch(struct progress *p);
void progress_begin(struct progress *p, const struct run_id *id, double left_s);
void progress_tick(struct progress *p);
void progress_end(struct progress *p, bool ok);
void progress_clear(struct progress *p); /* before anything else is printed */

/* "1:05" or "2:00:00"; static buffer. */
const char *progress_time(double seconds);

#endif
