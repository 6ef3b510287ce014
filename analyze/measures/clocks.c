// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/clocks.h"

#include "lib/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A kernel slews its clock by 500 ppm and no more: beyond, two captures had two references. */
#define FASTEST_PPM 1000

struct reading {
	double at, offset, error; /* s; at: by the host's own clock */
};

/* false: the run's side was on the host that steered, or nothing is known of its clock. */
static bool read_clock(struct store *s, const struct run *r, struct reading *c)
{
	*c = (struct reading){.at = (double)r->start_ns / 1e9};
	return r->start_ns && store_metric(s, r->id, "clock_offset", &c->offset, NULL) &&
	       store_metric(s, r->id, "clock_error", &c->error, NULL);
}

static void put_drift(struct clock_facts *f, const struct reading *first,
		      const struct reading *last)
{
	f->seconds = last->at - first->at;
	f->drift = f->drift_error = NAN;
	if (f->seconds <= 0)
		return;
	f->drift = 1e6 * (last->offset - first->offset) / f->seconds;
	f->drift_error = 1e6 * (last->error + first->error) / f->seconds;
	if (fabs(f->drift) - f->drift_error > FASTEST_PPM)
		f->drift = f->drift_error = NAN;
}

int clocks_of_host(struct store *s, const char *host, struct clock_facts *f, struct error *err)
{
	struct run_filter all = {0};
	struct reading first = {0}, last = {0}, c;
	struct run *runs;
	int n = store_runs(s, &all, &runs, err), i;

	*f = (struct clock_facts){0};
	if (n < 0)
		return n;
	for (i = 0; i < n; i++) {
		if (!runs[i].host || strcmp(runs[i].host, host) || !read_clock(s, &runs[i], &c))
			continue;
		first = f->known ? first : c;
		last = c;
		f->known = true;
	}
	f->offset = first.offset;
	f->error = first.error;
	put_drift(f, &first, &last);
	free(runs);
	return 0;
}

char *clocks_text(double seconds)
{
	double x = fabs(seconds);

	if (x >= 1)
		return xasprintf("%.9g s", seconds);
	if (x >= 1e-3)
		return xasprintf("%.3g ms", seconds * 1e3);
	return xasprintf("%.3g us", seconds * 1e6);
}

int clocks_note(struct store *s, struct table *t, struct error *err)
{
	struct run_filter all = {0};
	double most = -1, error = 0, skew;
	struct reading c;
	struct run *runs;
	int n = store_runs(s, &all, &runs, err), i;
	char *apart, *known;

	if (n < 0)
		return n;
	for (i = 0; i < n; i++) {
		if (!read_clock(s, &runs[i], &c) ||
		    !store_metric(s, runs[i].id, "window_skew_us", &skew, NULL))
			continue;
		most = fmax(most, skew / 1e6);
		error = fmax(error, c.error);
	}
	free(runs);
	if (most < 0)
		return 0;
	apart = clocks_text(most);
	known = clocks_text(error);
	note_add(&t->notes, two_hosts, apart, known);
	free(apart);
	free(known);
	return 0;
}
