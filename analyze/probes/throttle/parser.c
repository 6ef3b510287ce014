// SPDX-License-Identifier: GPL-2.0-only
/*
 * throttle.snap: what slowed down the side's CPUs between the window's ends. A line per counter:
 * "cpu1 core_throttle_count 12" or "/a/b nr_throttled 3". The counters of a package appear at each
 * of its CPUs, so the largest counts. Of nested cgroups the strictest counts. A counter that is
 * missing from a snapshot, or that went backwards (its CPU was offline), gives no figure.
 */
#include "analyze/probes/snapshots.h"
#include "analyze/probes/tsv.h"

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

/* "cpu1 core_throttle_count 12": the counter's name in `deltas` is all but the value. */
static bool throttle_parse_line(char *line, void *deltas)
{
	char *last = strrchr(line, ' ');
	uint64_t value;

	if (!last || !parse_u64(last + 1, &value))
		return false;
	*last = '\0';
	deltas_put(deltas, line, NO_CPU, value);
	return true;
}

static void throttle_add_count(const struct delta *d, double sum[array_size(counters)],
			       bool seen[KINDS])
{
	const char *space = strrchr(d->name, ' '), *name = space ? space + 1 : d->name;
	double x = d->sum;

	for (size_t i = 0; i < array_size(counters) && d->known_s > 0 && !d->back; i++) {
		if (strcmp(counters[i].name, name) != 0)
			continue;
		x *= counters[i].scale;
		seen[counters[i].kind] = true;
		sum[i] = counters[i].largest ? fmax(sum[i], x) : sum[i] + x;
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

static size_t throttle_read_snap(struct ingest *in, void *deltas, char *text, uint64_t before_ns,
				 uint64_t t_ns)
{
	struct deltas *d = deltas;

	(void)before_ns;
	d->whole = true;
	deltas_reading(d, in, t_ns);
	return snap_lines(text, throttle_parse_line, deltas);
}

static void throttle_finish(struct ingest *in, void *deltas, double covered_s)
{
	double sum[array_size(counters)] = {0}, of[KINDS] = {0};
	const struct deltas *d = deltas;
	bool seen[KINDS] = {0};

	(void)covered_s;
	for (size_t i = 0; i < d->n; i++)
		throttle_add_count(&d->d[i], sum, seen);
	for (size_t i = 0; i < array_size(counters); i++)
		of[counters[i].kind] += sum[i];
	throttle_add_metric(in, of, seen);
}

const struct parser parser_throttle = {
	.files = {"throttle.snap"},
	.snaps = {"throttle", NULL, false, sizeof(struct deltas), throttle_read_snap,
		  throttle_finish, deltas_free},
};
