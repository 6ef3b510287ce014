/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What several readings of a .snap file tell of the window. Between two neighbouring readings a
 * counter is taken to move evenly, so a span that lies half in the window gives half its change.
 */
#ifndef ZC_SNAPSHOTS_H
#define ZC_SNAPSHOTS_H

#include "analyze/ingest/ingest.h"
#include "lib/intern.h"
#include "lib/snap.h"

/* Returns the share of [a, b] that lies in [from, to], 0 to 1. */
static inline double span_inside(uint64_t a, uint64_t b, uint64_t from, uint64_t to)
{
	uint64_t lo = a > from ? a : from, hi = b < to ? b : to;

	return b > a && hi > lo ? (double)(hi - lo) / (double)(b - a) : 0;
}

/*
 * Reads a .snap file for `what`, its collector. A damaged tail is a lossy note; fewer than two
 * snapshots are -ENODATA. The caller calls snaps_free.
 */
int snaps_open(struct ingest *in, const char *what, const char *path, struct snaps *snaps,
	       struct error *err);

/* Drops the snapshots before the window but the last one, which shows the state at its start. */
void snaps_skip_early(struct snaps *snaps, uint64_t start);

/* Calls `parse` for each line that is not empty, cut up in place. Returns the unreadable lines. */
size_t snap_lines(char *text, bool (*parse)(char *line, void *arg), void *arg);

/* How to read a .snap file of lines into one reading, of `size` bytes, per snapshot. */
struct lines_reader {
	const char *what; /* the collector */
	size_t size;
	bool (*parse)(char *line, void *reading);
	/* `bad`: unreadable lines in all readings. */
	void (*evaluate)(struct ingest *in, const struct snaps *snaps, void *readings, size_t bad);
	void (*release)(void *reading);
};

int lines_reader_read(const struct lines_reader *r, struct ingest *in, const char *path,
		      struct error *err);

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
	bool back, between; /* set back in the window; was not there at its start */
};

struct deltas {
	struct intern names;
	struct delta *d; /* by the name's id */
	size_t cap;
	uint64_t from, to; /* the window */
	uint64_t t_ns;	   /* of the last reading, 0: none */
	unsigned int round;
	double share,
		span_s; /* of the span since the reading before: what of it is in the window */
};

void deltas_init(struct deltas *d, const struct ingest *in);
void deltas_free(struct deltas *d);

/* A reading begins; the counters of it follow. */
void deltas_reading(struct deltas *d, uint64_t t_ns);

/* What it counted since the reading before, window or not; NAN: not known. */
double deltas_put(struct deltas *d, const char *name, uint64_t value);

/* What was read before belongs to something else: the last reading starts anew. */
void deltas_restart(struct deltas *d);

static inline const char *deltas_name(const struct deltas *d, size_t i)
{
	return intern_get(&d->names, (uint32_t)i);
}

/* Did it vanish before the last reading? */
static inline bool delta_gone(const struct deltas *d, const struct delta *c)
{
	return c->round != d->round;
}

/* Names of counters that were set back, three at most and how many more; NULL: none. To be freed.
 */
char *deltas_set_back(const struct deltas *d);

#endif
