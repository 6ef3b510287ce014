// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/probes/ingest.h"

#include "lib/alloc.h"
#include "lib/snap.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int window_narrow(struct ingest *in, struct error *err)
{
	const struct time_slice *s = &in->how.slice;
	uint64_t start = in->run.start_ns, length = in->run.end_ns - start;
	uint64_t from = s->from.given ? s->from.ns : 0, to = s->to.given ? s->to.ns : length;

	in->sliced = (s->from.given || s->to.given) && in->run.end_ns > start;
	if (!in->sliced)
		return 0;
	if (from >= length)
		return error_set(err, ERANGE, "--from %.10g: its window is %.2f s long",
				 (double)from / 1e9, (double)length / 1e9);
	if (to > length) {
		if ((double)(to - length) > 0.01 * (double)(length - from))
			note_add(&in->notes, window_before_to, (double)length / 1e9,
				 (double)to / 1e9);
		to = length;
	}
	in->run.start_ns = start + from;
	in->run.end_ns = start + to;
	return 0;
}

void window_absent(struct ingest *in, const char *what, const char *why)
{
	size_t i;

	note_add(&in->notes, not_in_slice, what, why);
	for (i = 0; i < in->nabsent; i++)
		if (!strcmp(in->absent[i], what))
			return;
	array_add(in->absent, in->nabsent, in->absent_cap, arena_strdup(&in->arena, what));
}

/* The times of readings; each is the first member of a struct of `size` bytes. */
struct times {
	const void *first;
	size_t n, size;
};

static uint64_t times_at(const struct times *t, size_t i)
{
	return *(const uint64_t *)((const char *)t->first + i * t->size);
}

/* Returns how far `at` is from the nearer of the two readings around it. */
static double times_distance(const struct times *t, uint64_t at)
{
	size_t i;

	for (i = 1; i < t->n; i++)
		if (times_at(t, i - 1) <= at && at <= times_at(t, i))
			return fmin((double)(at - times_at(t, i - 1)),
				    (double)(times_at(t, i) - at));
	return 0; /* outside all readings: ingest_cover checks how much they cover */
}

static bool times_any_inside(const struct times *t, uint64_t from, uint64_t to)
{
	uint64_t margin = (to - from) / 20;
	size_t i;

	for (i = 0; i < t->n; i++)
		if (times_at(t, i) >= from + margin && times_at(t, i) + margin <= to)
			return true;
	return false;
}

bool window_resolves(struct ingest *in, const char *what, const void *first, size_t n, size_t size)
{
	const struct times t = {first, n, size};
	uint64_t from = in->run.start_ns, to = in->run.end_ns;
	double length = (double)(to - from), off;

	if (!in->sliced)
		return true;
	off = (times_distance(&t, from) + times_distance(&t, to)) / length;
	if (off > 0.01 && (off > 0.4 || !times_any_inside(&t, from, to))) {
		window_absent(in, what, "its readings are too far apart");
		return false;
	}
	if (off > 0.05)
		note_add(&in->notes, slice_interpolated, what, 100 * off);
	return true;
}

bool window_resolves_snaps(struct ingest *in, const char *what, const char *path)
{
	struct error damage = {0};
	struct snaps snaps;
	int rc = snaps_read(&snaps, path, &damage);
	bool known = false;

	if (rc && rc != -EBADMSG)
		note_add(&in->notes, file_damaged, what, damage.text);
	else
		known = window_resolves(in, what, snaps.snap, snaps.n, sizeof(*snaps.snap));
	snaps_free(&snaps);
	return known;
}

void window_cut_series(struct ingest *in)
{
	size_t i, kept = 0;

	for (i = 0; i < in->nseries && in->sliced; i++)
		if (in->series[i].t_ns > in->run.start_ns && in->series[i].t_ns <= in->run.end_ns)
			in->series[kept++] = in->series[i];
	if (in->sliced)
		in->nseries = kept;
}
