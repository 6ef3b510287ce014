/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the snapshots of a .snap file and computes what changed in the window. A counter is taken
 * to move evenly between two neighbouring readings: a span that lies half in the window gives half
 * its change.
 */
#ifndef ZC_SNAPSHOTS_H
#define ZC_SNAPSHOTS_H

#include "analyze/probes/ingest.h"
#include "lib/intern.h"
#include "lib/snap.h"

/* Returns the share of [a, b] that lies in [from, to], 0 to 1. */
static inline double span_inside(uint64_t a, uint64_t b, uint64_t from, uint64_t to)
{
	uint64_t lo = a > from ? a : from, hi = b < to ? b : to;

	return b > a && hi > lo ? (double)(hi - lo) / (double)(b - a) : 0;
}

/*
 * Opens a .snap file for `what`, its collector. A damaged tail is a lossy note; fewer than two
 * snapshots are -ENODATA. The caller calls snaps_close.
 */
int snaps_open(struct ingest *in, const char *what, const char *path, struct snaps *snaps,
	       struct error *err);

/* Closes the file. A snapshot that could not be read leaves out the run. */
void snaps_close(struct ingest *in, struct snaps *snaps);

/* Drops the snapshots before the window but the last one, which shows the state at its start. */
void snaps_skip_early(struct snaps *snaps, uint64_t start);

/* As ingest_cover, for all readings of `what`. */
double snaps_cover(struct ingest *in, const char *what, const struct snaps *snaps);

/* Calls `parse` for each line that is not empty, cut up in place. Returns the unreadable lines. */
size_t snap_lines(char *text, bool (*parse)(char *line, void *arg), void *arg);

/* How to read a .snap file of lines into one reading, of `size` bytes, per snapshot. */
struct lines_reader {
	const char *what; /* the collector */
	size_t size;
	bool (*parse)(char *line, void *reading);
	/*
	 * Adds the span from reading a to the next one, b. The first reading has no a. The strings
	 * of a are gone.
	 */
	void (*add)(struct ingest *in, void *sums, const void *a, void *b, uint64_t from,
		    uint64_t to);
	void (*release)(void *reading);
};

/* Opens the file and adds all its readings to `sums`. Counts the unreadable lines in *bad. */
int lines_reader_read(const struct lines_reader *r, struct ingest *in, const char *path,
		      struct snaps *snaps, void *sums, size_t *bad, struct error *err);

/*
 * --- counters by name ---
 *
 * A counter counts between two readings that both have it. A counter that went backwards was reset,
 * by how much nobody knows: that span counts nothing, and the reset is remembered.
 */

struct delta {
	uint64_t last;
	unsigned int round; /* of the reading that `last` is from */
	double sum;	    /* in the window */
	double known_s;	    /* of the window that the readings with it span */
	bool back, between; /* reset in the window; absent at its start */
};

struct deltas {
	struct intern names;
	struct delta *d; /* by the name's id */
	size_t cap;
	uint64_t from, to; /* the window */
	uint64_t t_ns;	   /* of the last reading, 0: none */
	unsigned int round;
	uint32_t next;	      /* the id that probably comes next in this reading */
	double share, span_s; /* share: the part of the span since the last reading that lies in the
				 window */
};

void deltas_init(struct deltas *d, const struct ingest *in);
void deltas_free(struct deltas *d);

/* Begins a reading; its counters follow. */
void deltas_reading(struct deltas *d, uint64_t t_ns);

/*
 * Adds a counter of the reading. Returns its growth since the last reading, inside the window or
 * not, or NAN: not known.
 */
double deltas_put(struct deltas *d, const char *name, uint64_t value);

/* The same in two steps, for a parser that remembers the id of the name. */
uint32_t deltas_id(struct deltas *d, const char *name);
double deltas_put_id(struct deltas *d, uint32_t id, uint64_t value);

/* Forgets the last reading, which belongs to something else. */
void deltas_restart(struct deltas *d);

static inline const char *deltas_name(const struct deltas *d, size_t i)
{
	return intern_get(&d->names, (uint32_t)i);
}

/* Returns whether the counter vanished before the last reading. */
static inline bool delta_gone(const struct deltas *d, const struct delta *c)
{
	return c->round != d->round;
}

/*
 * Returns the names of at most three counters that were reset and the number of the others, or
 * NULL. The caller frees.
 */
char *deltas_set_back(const struct deltas *d);

#endif
