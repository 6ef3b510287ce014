/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters by name that were read at some instants: what they counted in the window. A counter
 * counts between two readings that both have it, evenly (spans.h). One that went backwards was set
 * back, by how much nobody knows: that span counts nothing, and is remembered.
 */
#ifndef ZC_DELTAS_H
#define ZC_DELTAS_H

#include "analyze/ingest/ingest.h"
#include "lib/intern.h"

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

/*
 * Reads a .snap file; a damaged tail leaves a lossy note. -ENODATA below two readings. The caller
 * calls snaps_free.
 */
struct snaps;
int deltas_snaps(struct ingest *in, const char *what, const char *path, struct snaps *snaps,
		 struct error *err);

#endif
