// SPDX-License-Identifier: GPL-2.0-only
/*
 * idle: busy, idle and iowait time from /proc/stat, then the idle states from cpuidle, for the
 * side and for each of its CPUs. Waits of io_uring count as iowait. The CPU is idle in these
 * waits, and cpuidle cannot separate them from other idle time.
 */
#include "analyze/scope/changes.h"
#include "lib/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct column idle_columns[] = {
	{"variant", .type = V_STR},
	{"side", .type = V_STR},
	{"cpu", .type = V_STR, .shape = STANDS_RIGHT,
	 .what = "the CPU's number, or all for the sum over the side's CPUs"},
	{"source", .type = V_STR, .what = "/proc/stat or cpuidle"},
	{"state", .type = V_STR,
	 .what = "busy, idle, iowait, or a cpuidle state; the shallowest state comes first"},
	{"time_pct", "%", V_REAL, .digits = 2, .spread = SPREAD_RANGE, .stem = "time",
	 .what = "share of one CPU's time; estimate over the runs"},
	{"entries_per_s", "1/s", V_REAL, .digits = 1, .what = "how often a CPU entered the state"},
	{"mean_us", "us", V_REAL, .digits = 1, .what = "mean time of one stay in the state"},
	{"runs", .type = V_INT, .what = "runs that measured it"},
};

enum { CPUS_SHOWN = 8 }; /* the limit unless --by cpu lists all */

static const struct {
	const char *state, *metric;
} parts[] = {{"busy", "cpu_pct"}, {"idle", "cpu_idle_pct"}, {"iowait", "cpu_iowait_pct"}};

struct idle {
	struct block_table *k;
	struct changes pct, entries; /* those of "3 C6", of all CPUs and of each */
};

/* Adds a row of a CPU or, with NO_CPU, of the sum over the side's CPUs. */
static struct value *idle_add_row(struct idle *d, int cpu, const char *source, const char *state,
				  const struct estimate *e)
{
	struct table *t = d->k->t;
	struct value *row = block_row(t, &d->k->b->block);

	table_set(t, row, "cpu", cpu == NO_CPU ? value_str(t, "all") : value_int(cpu));
	table_set(t, row, "source", value_str(t, source));
	table_set(t, row, "state", value_str(t, state));
	table_set(t, row, "runs", value_int((int64_t)e->n));
	put_estimate(t, row, "time_pct", e);
	return row;
}

static void idle_put_proc_stat(struct idle *d, int cpu)
{
	struct estimate e;
	size_t i;

	for (i = 0; i < array_size(parts); i++) {
		e = block_estimate(d->k, figure_metric_of,
				   &(struct metric_key){parts[i].metric, NULL, cpu});
		if (e.n)
			idle_add_row(d, cpu, "/proc/stat", parts[i].state, &e);
	}
}

static void idle_put_state(struct idle *d, const struct change_row *pct)
{
	const struct change_row *entries = changes_find(&d->entries, pct->name, pct->cpu);
	struct estimate e = changes_estimate(&d->pct, pct, AS_COUNT), per_s;
	const char *state = strchr(pct->name, ' ');
	struct value *row = idle_add_row(d, pct->cpu, "cpuidle", state ? state + 1 : pct->name, &e);

	if (!entries)
		return;
	per_s = changes_estimate(&d->entries, entries, AS_PER_SECOND);
	table_set(d->k->t, row, "entries_per_s", value_real(per_s.value));
	if (per_s.value > 0)
		table_set(d->k->t, row, "mean_us", value_real(e.value * 1e4 / per_s.value));
}

static void idle_put_cpu(struct idle *d, int cpu)
{
	size_t i;

	idle_put_proc_stat(d, cpu);
	for (i = 0; i < d->pct.n; i++)
		if (d->pct.row[i].cpu == cpu)
			idle_put_state(d, &d->pct.row[i]);
}

/* Collects the CPUs that have at least one metric. */
static void idle_cpus_of(const struct idle *d, struct cpuset *set)
{
	struct metric_row *rows;
	int r, n, i;
	size_t k;

	for (k = 0; k < d->pct.n; k++)
		if (d->pct.row[k].cpu != NO_CPU)
			cpuset_add(set, (unsigned int)d->pct.row[k].cpu);
	for (r = 0; r < d->k->b->n; r++) {
		n = store_metrics(d->k->s, d->k->b->runs[r].id, "cpu_idle_pct", OF_EACH_CPU, &rows,
				  NULL);
		for (i = 0; i < n; i++)
			cpuset_add(set, (unsigned int)rows[i].key.cpu);
		free(rows);
	}
}

static void idle_put_cpus(struct idle *d)
{
	const struct query *q = d->k->q;
	struct cpuset set = {0};
	unsigned int cpu;

	idle_cpus_of(d, &set);
	if (!q->cpus && !q->by)
		idle_put_cpu(d, NO_CPU);
	if (!q->cpus && !q->by && cpuset_count(&set) > CPUS_SHOWN) {
		note_add(&d->k->t->notes, table_how,
			 "--by cpu shows each CPU, --cpu SET picks some");
		return;
	}
	for (cpu = 0; cpu < CPUSET_MAX; cpu++)
		if (cpuset_has(&set, cpu) && (!q->cpus || cpuset_has(q->cpus, cpu)))
			idle_put_cpu(d, (int)cpu);
}

static int idle_put_block(struct block_table *k, struct error *err)
{
	struct idle d = {.k = k};
	int rc = changes_read(&d.pct, k, "cstate_pct", OF_ALL, err);

	if (!rc)
		rc = changes_read(&d.entries, k, "cstate_entries", OF_ALL, err);
	if (!rc)
		idle_put_cpus(&d);
	k->found += d.pct.n;
	changes_free(&d.pct);
	changes_free(&d.entries);
	return rc;
}

static void idle_add_notes(struct block_table *k)
{
	if (k->found)
		note_add(
			&k->t->notes, table_how,
			"cpuidle counts a sleep when it ends, and iowait like any other idle time");
	else
		changes_nothing(k->s, k->t);
	if (k->t->rows)
		note_add(&k->t->notes, table_how,
			 "percent of one CPU, summed over the side's CPUs");
}

const struct measure measure_idle = {
	.name = "idle",
	.what = "time in busy, idle, iowait and in each idle state",
	MEASURE_COLUMNS(idle_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS "by cpu"},
	.whole = WHOLE_IDLE,
	.spare = "runs source",
	.keys = "cpu",
	.block = idle_put_block,
	.notes = idle_add_notes,
};
