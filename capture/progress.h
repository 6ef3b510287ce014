/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a capture stands, with the time left: one line that is written anew, on a terminal only.
 * With `verbose`, a line for each run that ended, anywhere.
 */
#ifndef ZC_CAPTURE_PROGRESS_H
#define ZC_CAPTURE_PROGRESS_H

#include "capture/order.h"

#include <stdint.h>

struct progress {
	const struct plan *plan;
	bool tty, verbose, shown;
	size_t total, done;
	double left_s;		    /* of the runs not begun */
	double extra_s[PASS_COUNT]; /* a run takes this much more than warm-up and window */
	const struct run_id *run;   /* the one going on */
	uint64_t began_ns;
};

void progress_init(struct progress *p, const struct plan *plan, bool verbose);
/* Seconds a run is expected to take. */
double progress_expect(const struct progress *p, const struct run_id *id);
void progress_begin(struct progress *p, const struct run_id *id, double left_s);
void progress_tick(struct progress *p);
void progress_end(struct progress *p, bool ok);
void progress_clear(struct progress *p); /* before anything else is printed */

/* "1:05" or "2:00:00"; static buffer. */
const char *progress_time(double seconds);

#endif
