// SPDX-License-Identifier: GPL-2.0-only
/*
 * drops: what was dropped, by every source that counts drops. One packet may be in several sources,
 * so rows of different sources do not add up.
 */
#include "analyze/probes/kinds.h"
#include "analyze/scope/changes.h"
#include "analyze/scope/runs.h"

#include <math.h>

static const struct column drops_columns[] = {
	SIDE_COLUMNS,
	{"whose", .type = V_STR,
	 .what = "workload (its sockets), namespace (the workload's network namespace, or sockets there that zcost does not know as the workload's), host (all others)"},
	{"source", .type = V_STR,
	 .what = "kfree_skb (the kernel freed a packet as dropped), softnet, qdisc, socket (counters of the network stack) or nic; one packet may be in several"},
	{"reason", .type = V_STR, .what = "the kernel's name, or that of the counter"},
	{"place", .type = V_STR, .what = "function, or interface"},
	{"drops", .type = V_REAL, .digits = 1, .spread = SPREAD_RANGE,
	 .what = "count in the window; estimate over the runs"},
	{"segments", .type = V_REAL, .digits = 1,
	 .what = "packets of the wire: an aggregate (GSO, GRO) has more than one"},
	{"bytes", "B", V_REAL, .what = "with the headers that were still in front"},
	{"per_s", "1/s", V_REAL, .digits = 2},
	{"per_mib", "1/MiB", V_REAL, .digits = 4, .what = "drops per MiB of the workload's bytes"},
	{"cpu_us", "us", V_REAL, .digits = 2,
	 .why_empty = "no run of the syscalls pass timed a dropped packet",
	 .what = "mean time from the protocols' receipt of a packet to its drop; empty where no such packet was timed"},
	{"cpu_pct", "%", V_REAL, .digits = 2, .optional = true,
	 .what = "share of one CPU that the dropped packets took: per_s x cpu_us"},
	{"runs", .type = V_INT, .what = "runs that measured it"},
};

/* What a counter's name says. The texts are parts of `copy`. */
struct drop {
	const char *whose, *source, *reason, *place;
};

typedef bool drop_reader(struct drop *d, char *copy, const char *name);

/* "namespace NO_SOCKET udp_unicast_rcv_skb" */
static bool drop_of_kfree_skb(struct drop *d, char *copy, const char *name)
{
	(void)name;
	d->whose = str_token(&copy, ' ');
	d->reason = str_token(&copy, ' ');
	d->place = copy;
	return d->place;
}

static bool drop_of_softnet(struct drop *d, char *copy, const char *name)
{
	*d = (struct drop){"host", d->source, copy, NULL};
	return !strcmp(name, "dropped") || !strcmp(name, "flow_limit");
}

/* Every error of a packet drops it. */
static bool drop_of_snmp(struct drop *d, char *copy, const char *name)
{
	const char *kind = snmp_kind(name);

	*d = (struct drop){"namespace", d->source, copy, NULL};
	return kind && (!strcmp(kind, "drop") || !strcmp(kind, "error"));
}

/* "host/eth0/link/rx_dropped" */
static bool drop_of_nic(struct drop *d, char *copy, const char *name)
{
	const char *kind;

	(void)name;
	if (str_starts(str_token(&copy, '/'), "workload"))
		d->whose = "namespace";
	d->place = str_token(&copy, '/');
	d->source = copy && str_starts(copy, "qdisc") ? "qdisc" : "nic";
	str_token(&copy, '/');
	d->reason = copy;
	kind = copy ? nic_kind(copy) : NULL;
	return kind && !strcmp(kind, "drop");
}

/* Metrics of a source, and the columns that they fill. */
enum { COUNTS = 3 };
static const char *const count_columns[COUNTS] = {"drops", "segments", "bytes"};

/* In the runs of every pass: packets that were timed, and for how long the kernel worked for them.
 */
enum { TIMED, TIMED_NS, TIMES };

/* What a source counted. */
struct drops {
	struct changes counts[COUNTS], times[TIMES];
};

/* The sources. A counter of an interface may be known for a part of the window. */
static const struct drop_source {
	const char *name, *metrics[COUNTS], *known;
	drop_reader *read;
	const char *times[TIMES];
} drop_sources[] = {
	{"kfree_skb",
	 {"drops", "drops_segments", "drops_bytes"},
	 NULL,
	 drop_of_kfree_skb,
	 {"drops_timed", "drops_ns"}},
	{"softnet", {"softnet"}, NULL, drop_of_softnet, {NULL}},
	{"socket", {"snmp"}, NULL, drop_of_snmp, {NULL}},
	{"nic", {"nic"}, "nic_known_s", drop_of_nic, {NULL}},
};

/* A run that counted drops and has none of this reason and place has 0 of them. */
static void drops_fill_zeros(struct changes *c)
{
	const struct change_row *total = changes_find(c, "total", NO_CPU);

	for (size_t i = 0; total && i < c->n; i++)
		for (int r = 0; r < c->b->n; r++)
			if (isnan(c->row[i].x[r]) && !isnan(total->x[r]))
				c->row[i].x[r] = 0;
}

/*
 * Returns how long the kernel worked for a packet, in us, or NAN if it timed none. Times have no
 * owner: "namespace NO_SOCKET __udp4_lib_rcv" has that of "NO_SOCKET __udp4_lib_rcv".
 */
static double drop_time_of(const struct changes times[TIMES], const char *name)
{
	const char *place = strchr(name, ' ');
	const struct change_row *row;
	double sums[TIMES] = {0};

	for (size_t i = 0; i < TIMES && place; i++) {
		row = changes_find(&times[i], place + 1, NO_CPU);
		for (int r = 0; row && r < times[i].b->n; r++)
			sums[i] += isnan(row->x[r]) ? 0 : row->x[r];
	}
	return sums[TIMED_NS] / sums[TIMED] / 1e3;
}

static void drops_put_row(struct block_table *k, const struct drops *all,
			  const struct change_row *r, const struct drop *d)
{
	const struct changes *c = all->counts;
	double us = drop_time_of(all->times, r->name);
	struct value *row = block_row(k->t, &k->b->block);
	const struct change_row *same;
	struct estimate e;

	table_set(k->t, row, "whose", value_str(k->t, d->whose));
	table_set(k->t, row, "source", value_str(k->t, d->source));
	table_set(k->t, row, "reason", value_str(k->t, d->reason));
	table_set(k->t, row, "place", value_str(k->t, d->place));
	changes_put(&c[0], r, k->t, row);
	for (size_t i = 0; i < COUNTS; i++) {
		same = changes_find(&c[i], r->name, NO_CPU);
		if (!same)
			continue;
		e = changes_estimate(&c[i], same, AS_COUNT);
		put_estimate(k->t, row, count_columns[i], &e);
	}
	e = changes_estimate(&c[0], r, AS_PER_SECOND);
	table_set(k->t, row, "cpu_us", value_real(us));
	table_set(k->t, row, "cpu_pct", value_real(e.value * us / 1e4));
}

/* Adds the rows of a source, the highest rate first. Without a drop, its total says so. */
static void drops_put_source(struct block_table *k, const struct drop_source *source,
			     const struct drops *all, long *left)
{
	const struct changes *c = all->counts;
	autofree struct change_rate *ranked = changes_rank(&c[0]);
	const struct change_row *total = changes_find(&c[0], "total", NO_CPU);
	bool entered = false; /* the workload has a namespace of its own */

	for (size_t i = 0; i < c[0].n; i++)
		entered |= str_starts(c[0].row[i].name, "workload/");
	for (size_t i = 0; i < c[0].n && *left; i++) {
		const struct change_row *r = ranked[i].row;
		autofree char *copy = xstrdup(r->name);
		struct drop d = {entered ? "host" : "namespace", source->name, NULL, NULL};
		bool shown = k->q->all || change_happened(&c[0], r);

		if (r->cpu != NO_CPU || (k->found && !shown) || !source->read(&d, copy, r->name))
			continue;
		k->found++;
		if (!shown)
			continue;
		drops_put_row(k, all, r, &d);
		--*left;
	}
	if (total && !change_happened(&c[0], total))
		drops_put_row(k, all, total, &(struct drop){.source = source->name});
}

static int drops_read(struct drops *all, const struct block_table *k,
		      const struct block_table *every, const struct drop_source *source,
		      struct error *err)
{
	int rc = 0;

	for (size_t i = 0; i < COUNTS && source->metrics[i] && !rc; i++) {
		rc = changes_read(&all->counts[i], k, source->metrics[i], OF_SIDE, err);
		drops_fill_zeros(&all->counts[i]);
	}
	for (size_t i = 0; i < TIMES && source->times[i] && !rc; i++)
		rc = changes_read(&all->times[i], every, source->times[i], OF_SIDE, err);
	if (!rc && source->known)
		rc = changes_known(&all->counts[0], k, source->known, err);
	return rc;
}

static void drops_free(struct drops *all)
{
	for (size_t i = 0; i < COUNTS; i++)
		changes_free(&all->counts[i]);
	for (size_t i = 0; i < TIMES; i++)
		changes_free(&all->times[i]);
}

static int drops_put_block(struct block_table *k, struct error *err)
{
	long left = query_limit(k->q, LONG_MAX);
	freed(block_runs_free) struct block_runs runs;
	struct block_table every = *k;
	int rc = block_every_pass(k->s, k->q, &k->b->block, &runs, err);

	every.b = &runs;
	for (size_t s = 0; s < array_size(drop_sources) && !rc; s++) {
		freed(drops_free) struct drops all = {0};

		rc = drops_read(&all, k, &every, &drop_sources[s], err);
		if (!rc)
			drops_put_source(k, &drop_sources[s], &all, &left);
	}
	return rc;
}

const struct measure measure_drops = {
	.name = "drops",
	.what = "dropped packets by reason and place, and every counter of drops beside them",
	MEASURE_COLUMNS(drops_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS "limit all"},
	.whole = "the kernel drops packets of sockets, namespaces and interfaces, not of a thread",
	.spare = "runs per_s per_mib bytes cpu_us",
	.collectors = "drops batches softnet snmp nic workload",
	.block = drops_put_block,
	.notes = changes_note,
	.how = "one packet may be in several sources, so add up no rows of different sources; counters of softnet, qdisc and nic are those of all programs; cpu_us comes from the syscalls pass",
};
