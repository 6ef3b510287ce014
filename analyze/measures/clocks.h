/* SPDX-License-Identifier: GPL-2.0-only */
/* Sides on two hosts have two clocks: how they were compared, and what of it reports say. */
#ifndef ZC_CLOCKS_H
#define ZC_CLOCKS_H

#include "analyze/measures/measure.h"

/* A host's clock against that of the host that steered. */
struct clock_facts {
	bool known;
	double offset, error;	   /* s, in the first run; certainly within +- error */
	double drift, drift_error; /* ppm, between the first and the last run; NAN: one run */
	double seconds;		   /* that is the distance of these */
};

/* Of all runs on that host. 0 or -errno. */
int clocks_of_host(struct store *s, const char *host, struct clock_facts *f, struct error *err);

/* A note: how far apart the windows of two sides were. Nothing for sides on one host. */
int clocks_note(struct store *s, struct table *t, struct error *err);

/* "65.3 us", "+100.000000001 s"; the caller frees. */
char *clocks_text(double seconds);

#endif
