// SPDX-License-Identifier: GPL-2.0-only
/*
 * throttle.snap: what slowed down the side's CPUs between the window's ends. A line per counter:
 * "cpu1 core_throttle_count 12" or "/a/b nr_throttled 3". The counters of a package appear at each
 * of its CPUs, so the largest counts. Of nested cgroups the strictest counts. A counter that is
 * missing from a snapshot, or that went backwards (its CPU was offline), gives no figure.
 */
#include "analyze/probes/snapshots.h"

#include "lib/alloc.h"
#include "lib/snap.h"
#include "lib/str.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAT, HEAT_MS, QUOTA, QUOTA_NS, KINDS };

/* How a counter of a CPU or cgroup adds to a figure. */
static const struct {
	const char *name;
	int kind;
	bool largest; /* the largest of all; else their sum */
	double scale;
} counters[] = {
	{"core_throttle_count", HEAT, false, 1},
	{"core_throttle_total_time_ms", HEAT_MS, false, 1},
	{"package_throttle_count", HEAT, true, 1},
	{"nr_throttled", QUOTA, true, 1},
	{"throttled_usec", QUOTA_NS, true, 1000}, /* unified hierarchy */
	{"throttled_time", QUOTA_NS, true, 1},	  /* the older one, ns */
};

/* sscanf() would measure the whole text first, at every line. */
static bool throttle_count_at(const char *p, uint64_t *value)
{
	char *end;

	*value = strtoull(p, &end, 10);
	return end > p;
}

/* The first snapshot, and the line behind the one that was found last. */
struct throttle_before {
	const char *text, *next;
};

/*
 * Finds the value of the same label and counter in the first snapshot. Both snapshots have their
 * lines in the same order, so the search starts behind the line that was found last.
 */
static bool throttle_find_earlier(struct throttle_before *b, const char *name, size_t len,
				  uint64_t *value)
{
	const char *p = b->next, *stop = NULL;

	while (p != stop) {
		const char *end = strchr(p, '\n'), *next = end && end[1] ? end + 1 : b->text;

		if (!strncmp(p, name, len) && p[len] == ' ') {
			b->next = next;
			return throttle_count_at(p + len, value);
		}
		stop = stop ? stop : b->next;
		p = next;
	}
	return false;
}

static void throttle_add_line(const char *line, struct throttle_before *before,
			      double sum[array_size(counters)], bool seen[KINDS])
{
	const char *last = strrchr(line, ' '), *name = last;
	uint64_t a, b;
	size_t i;

	if (!last || !throttle_count_at(last, &b))
		return;
	while (name > line && name[-1] != ' ')
		name--;
	for (i = 0; i < array_size(counters); i++) {
		size_t len = strlen(counters[i].name);
		double d;

		if ((size_t)(last - name) != len || strncmp(name, counters[i].name, len) ||
		    !throttle_find_earlier(before, line, (size_t)(last - line), &a) || b < a)
			continue;
		d = (double)(b - a) * counters[i].scale;
		seen[counters[i].kind] = true;
		sum[i] = counters[i].largest ? (d > sum[i] ? d : sum[i]) : sum[i] + d;
	}
}

static void throttle_add_metric(struct ingest *in, const double of[KINDS], const bool seen[KINDS])
{
	double window = (double)(in->run.end_ns - in->run.start_ns) / 1e9;

	if (seen[HEAT])
		ingest_metric(in, "throttled_heat", "1", of[HEAT]);
	if (seen[HEAT_MS])
		ingest_metric(in, "throttled_heat_s", "s", of[HEAT_MS] / 1e3);
	if (seen[QUOTA])
		ingest_metric(in, "throttled_quota", "1", of[QUOTA]);
	if (seen[QUOTA_NS])
		ingest_metric(in, "throttled_quota_s", "s", of[QUOTA_NS] / 1e9);
	if (of[HEAT] > 0)
		note_add(&in->notes, throttled_heat, of[HEAT], window);
	if (of[QUOTA] > 0)
		note_add(&in->notes, throttled_quota, of[QUOTA], of[QUOTA_NS] / 1e9, window);
}

static int throttle_read_file(struct ingest *in, const char *path, struct error *err)
{
	double sum[array_size(counters)] = {0}, of[KINDS] = {0};
	bool seen[KINDS] = {0};
	struct throttle_before before;
	struct snaps snaps;
	char *rest, *line, *first = NULL;
	size_t i;
	int rc = snaps_read(&snaps, path, err);

	if (!rc && snaps.n < 2)
		rc = error_set(err, ENODATA, "%s: %zu snapshots; two are needed", path, snaps.n);
	if (!rc) {
		before.text = before.next = first = xstrdup(snaps_text(&snaps, 0));
		rest = snaps_text(&snaps, snaps.n - 1);
		while ((line = str_token(&rest, '\n')))
			throttle_add_line(line, &before, sum, seen);
		for (i = 0; i < array_size(counters); i++)
			of[counters[i].kind] += sum[i];
		throttle_add_metric(in, of, seen);
	}
	free(first);
	snaps_close(in, &snaps);
	return rc;
}

const struct parser parser_throttle = {.files = {"throttle.snap"}, .read = throttle_read_file};
