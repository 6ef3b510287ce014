/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the snapshots of a .snap file and computes what changed in the window. A counter is taken
 * to move evenly between two neighbouring readings: a span that lies half in the window gives half
 * its change.
 */
#ifndef ZC_SNAPSHOTS_H
#define ZC_SNAPSHOTS_H

#include "analyze/probes/ingest.h"
#include "lib/snap.h"

/* Returns the share of [a, b] that lies in [from, to], 0 to 1. */
static inline double span_inside(uint64_t a, uint64_t b, uint64_t from, uint64_t to)
{
	uint64_t lo = a > from ? a : from, hi = b < to ? b : to;

	return b > a && hi > lo ? (double)(hi - lo) / (double)(b - a) : 0;
}

/* Closes the file. A snapshot that could not be read leaves out the run. */
void snaps_close(struct ingest *in, struct snaps *snaps);

/* Calls `parse` for each line that is not empty, cut up in place. Returns the unreadable lines. */
size_t snap_lines(char *text, bool (*parse)(char *line, void *arg), void *arg);

/* Opens the file, reads all its snapshots, and finishes. Returns 0 or -errno. */
int snaps_parse(const struct snap_reader *r, struct ingest *in, const char *path,
		struct error *err);

/*
 * --- counters by name and CPU ---
 *
 * A counter counts between two readings that both have it. A counter that went backwards was reset,
 * by how much nobody knows: that span counts nothing, and the reset is remembered.
 */

struct delta {
	const char *name;
	int cpu; /* NO_CPU: not of one CPU */
	uint64_t last;
	unsigned int round; /* the round of the reading that `last` is from */
	double sum;	    /* in the window */
	double known_s;	    /* the part of the window that the readings with it span */
	bool back, between; /* reset in the window; absent at its start */
};

struct deltas {
	struct delta *d;
	size_t n, cap;
	struct map index; /* hash of name and CPU: place + 1 */
	struct arena names;
	uint64_t from;		   /* the start of the window */
	uint64_t t_ns;		   /* the time of the last reading; 0: none */
	unsigned int round, start; /* start: of the last reading in front of the window */
	bool wraps;		   /* the counters have 32 bits, and begin again at 0 */
	bool whole;		   /* all spans count, in the window or not */
	size_t next;		   /* the place that probably comes next in this reading */
	double share, span_s; /* share: the part of the span since the last reading that lies in the
				 window */
};

/* Takes a void pointer, to be the `release` of a reader whose struct begins with the deltas. */
void deltas_free(void *deltas);

/* Begins a reading; its counters follow. */
void deltas_reading(struct deltas *d, const struct ingest *in, uint64_t t_ns);

/*
 * Adds a counter of the reading. Returns its growth since the last reading, inside the window or
 * not, or NAN: not known.
 */
double deltas_put(struct deltas *d, const char *name, int cpu, uint64_t value);

/* Forgets the last reading, which belongs to something else. */
void deltas_restart(struct deltas *d);

/* Returns whether the counter vanished in the window. */
static inline bool delta_gone(const struct deltas *d, const struct delta *c)
{
	return c->round != d->round && c->round >= d->start;
}

/*
 * Adds a metric for each counter, with its name as the object. A counter of CPUs has one for each
 * CPU that counted anything, and for the sum over the side's CPUs. Adds a note on counters that
 * were reset. Returns the sum of all counters of the side's CPUs, or NAN.
 */
double deltas_add_metrics(struct ingest *in, struct deltas *d, const char *what,
			  const char *metric);
/* Adds the note on the counters that were reset. */
void deltas_note_resets(struct ingest *in, const struct deltas *d, const char *what);

/*
 * --- gauges by name ---
 *
 * A gauge is taken to move on a straight line between two readings that both have it: its mean and
 * its maximum are those of that line in the window.
 */

struct gauge {
	double last, area, seconds, most; /* area: gauge x seconds in the window */
	uint64_t first_ns, last_ns;	  /* the first and the last reading above 0; 0: none */
	size_t reading;			  /* that `last` is from, counted from 1 */
};

struct gauges {
	uint64_t from, to; /* the window */
	uint64_t t_ns[2];  /* the times of the previous reading and of this one */
	size_t reading;
	struct intern names;
	struct gauge *gauges; /* by the id of the name */
	size_t n, cap;
};

void gauges_free(void *gauges);
/* Begins a reading; its gauges follow. before_ns is 0 at the first one. */
void gauges_reading(struct gauges *s, const struct ingest *in, uint64_t before_ns, uint64_t t_ns);
/* Returns the gauge, which is valid until the next call. */
const struct gauge *gauges_put(struct gauges *s, const char *name, double value);

#endif
