// SPDX-License-Identifier: GPL-2.0-only
/*
 * sockstat.snap: a line "netns NUMBER", then /proc/net/sockstat and sockstat6, whose lines are a
 * group and pairs of a name and a gauge: "TCP: inuse 5 orphan 0 tw 1 alloc 7 mem 3". A gauge is
 * taken to move on a straight line between two readings: its mean and its maximum are those of that
 * line in the window.
 */
#include "analyze/probes/snapshots.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct gauge {
	double last, area, seconds, most; /* area: gauge x seconds in the window */
	size_t reading;			  /* that `last` is from, counted from 1 */
};

struct sockstat {
	uint64_t from, to; /* the window */
	uint64_t t_ns[2];  /* the times of the previous reading and of this one */
	size_t reading;
	struct intern names;
	struct gauge *gauges; /* by the id of the name */
	size_t n, cap;
};

/* Returns the gauge at time t between the last two readings. */
static double gauge_at(const struct sockstat *s, double before, double now, uint64_t t)
{
	double share = (double)(t - s->t_ns[0]) / (double)(s->t_ns[1] - s->t_ns[0]);

	return before + share * (now - before);
}

static void gauge_add_span(const struct sockstat *s, struct gauge *g, double now)
{
	uint64_t lo = s->t_ns[0] > s->from ? s->t_ns[0] : s->from;
	uint64_t hi = s->t_ns[1] < s->to ? s->t_ns[1] : s->to;
	double a, b, seconds;

	if (g->reading + 1 != s->reading || hi <= lo)
		return;
	a = gauge_at(s, g->last, now, lo);
	b = gauge_at(s, g->last, now, hi);
	seconds = (double)(hi - lo) / 1e9;
	g->area += (a + b) / 2 * seconds;
	g->seconds += seconds;
	g->most = fmax(g->most, fmax(a, b));
}

static void sockstat_add_gauge(struct sockstat *s, const char *name, double value)
{
	uint32_t id = intern_str(&s->names, name);
	struct gauge *g;

	if (id >= s->n)
		array_add(s->gauges, s->n, s->cap, (struct gauge){0});
	g = &s->gauges[id];
	gauge_add_span(s, g, value);
	g->last = value;
	g->reading = s->reading;
}

/* "TCP: inuse 5 orphan 0"; the line "netns 7" has no group. */
static bool sockstat_parse_line(char *line, void *sockstat)
{
	char *group = str_token(&line, ':'), *name, *value, *end, *full;
	double x;

	if (!line)
		return str_starts(group, "netns ");
	line = str_trim(line);
	while ((name = str_token(&line, ' ')) && (value = str_token(&line, ' '))) {
		x = strtod(value, &end);
		if (end == value || *end)
			return false;
		full = xasprintf("%s.%s", group, name);
		sockstat_add_gauge(sockstat, full, x);
		free(full);
	}
	return !name;
}

static const char *sockstat_unit(const char *name)
{
	return str_ends(name, ".mem") ? "pages" : str_ends(name, ".memory") ? "B" : "1";
}

static void sockstat_finish(struct ingest *in, void *sockstat, double covered_s)
{
	const struct sockstat *s = sockstat;
	size_t i;

	for (i = 0; i < s->n && covered_s > 0; i++) {
		const struct gauge *g = &s->gauges[i];
		const char *name = intern_get(&s->names, (uint32_t)i);
		const char *unit = sockstat_unit(name);

		if (!(g->seconds > 0))
			continue;
		ingest_metric_of(in, "sockstat_mean", name, NO_CPU, unit, g->area / g->seconds);
		ingest_metric_of(in, "sockstat_max", name, NO_CPU, unit, g->most);
	}
}

static size_t sockstat_read_snap(struct ingest *in, void *sockstat, char *text, uint64_t before_ns,
				 uint64_t t_ns)
{
	struct sockstat *s = sockstat;

	(void)in;
	s->t_ns[0] = before_ns;
	s->t_ns[1] = t_ns;
	s->reading++;
	return snap_lines(text, sockstat_parse_line, s);
}

static int sockstat_read_file(struct ingest *in, const char *path, struct error *err)
{
	static const struct snap_reader reader = {"sockstat", "/proc/net/sockstat",
						  .reading = sockstat_read_snap,
						  .finish = sockstat_finish};
	struct sockstat s = {.from = in->run.start_ns, .to = in->run.end_ns};
	int rc = snaps_parse(&reader, in, path, &s, err);

	free(s.gauges);
	intern_free(&s.names);
	return rc;
}

const struct parser parser_sockstat = {.files = {"sockstat.snap"}, .read = sockstat_read_file};
