// SPDX-License-Identifier: GPL-2.0-only
/*
 * sockstat.snap: a line "netns NUMBER", then /proc/net/sockstat and sockstat6, whose lines are a
 * group and pairs of a name and a gauge: "TCP: inuse 5 orphan 0 tw 1 alloc 7 mem 3".
 */
#include "analyze/probes/snapshots.h"
#include "analyze/scope/changes.h"

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
		gauges_put(sockstat, full, x);
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
	const struct gauges *s = sockstat;

	for (size_t i = 0; i < s->n && covered_s > 0; i++) {
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
	gauges_reading(sockstat, in, before_ns, t_ns);
	return snap_lines(text, sockstat_parse_line, sockstat);
}

const struct parser parser_sockstat = {
	.files = {"sockstat.snap"},
	.snaps = {"sockstat", "/proc/net/sockstat", false, sizeof(struct gauges),
		  sockstat_read_snap, sockstat_finish, gauges_free},
};

/* --- the table --- */

/* sockstat: sockets in use and their memory, the mean and the maximum over the window. */

static const struct column sockstat_columns[] = {
	SIDE_COLUMNS,
	{"name", .type = V_STR, .what = "group and name in /proc/net/sockstat and sockstat6"},
	{"unit", .type = V_STR, .shape = STAYS_WHOLE, .what = "1, pages or B"},
	{"scope", .type = V_STR, .what = "scope of the kernel's count: the namespace or the host"},
	{"mean", .type = V_REAL, .digits = 2, .spread = SPREAD_RANGE,
	 .what = "mean over the window; estimate over the runs"},
	{"max", .type = V_REAL, .digits = 1,
	 .what = "maximum in the window; estimate over the runs"},
	{"runs", .type = V_INT, .what = "runs that measured it"},
};

/*
 * Returns the scope of a counter. The kernel counts some of them once for all namespaces
 * (net/ipv4/proc.c, sockstat_seq_show).
 */
static const char *sockstat_scope(const char *name)
{
	static const char *const of_host[] = {"TCP.orphan", "TCP.alloc", "TCP.mem", "UDP.mem"};

	return str_index(of_host, array_size(of_host), name) < 0 ? "namespace" : "host";
}

static void sockstat_add_row(const struct changes *means, const struct change_row *r,
			     const struct estimate *most, struct table *t)
{
	struct estimate mean = changes_estimate(means, r, AS_COUNT);
	struct value *row = block_row(t, &means->b->block);

	table_set(t, row, "name", value_str(t, r->name));
	table_set(t, row, "unit", value_str(t, r->unit));
	table_set(t, row, "scope", value_str(t, sockstat_scope(r->name)));
	put_estimate(t, row, "mean", &mean);
	table_set(t, row, "max", value_real(most->value));
	table_set(t, row, "runs", value_int((int64_t)mean.n));
}

/* Adds the rows of a block. A gauge that was always 0 has a row only with --all. */
static int sockstat_add_block(struct block_table *k, struct error *err)
{
	freed(changes_free) struct changes means, maxima = {0};
	int rc = changes_read(&means, k, "sockstat_mean", OF_SIDE, err);

	rc = rc ?: changes_read(&maxima, k, "sockstat_max", OF_SIDE, err);
	for (size_t i = 0; i < means.n && !rc; i++) {
		const struct change_row *r = changes_find(&maxima, means.row[i].name, NO_CPU);
		struct estimate most = changes_estimate(&maxima, r, AS_COUNT);

		if (k->q->all || change_happened(&maxima, r))
			sockstat_add_row(&means, &means.row[i], &most, k->t);
	}
	return rc;
}

const struct measure measure_sockstat = {
	.name = "sockstat",
	.what = "sockets in use, TCP and UDP memory",
	MEASURE_COLUMNS(sockstat_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS "all"},
	.whole = WHOLE_NAMESPACE,
	.spare = "runs",
	.flags = MEASURE_UNTITLED,
	.block = sockstat_add_block,
	.how = "",
};
