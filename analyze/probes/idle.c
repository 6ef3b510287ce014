// SPDX-License-Identifier: GPL-2.0-only
/*
 * idle.snap: a row "cpu<tab>number<tab>name<tab>entries<tab>us" for each idle state of each of the
 * side's CPUs. The kernel adds the time of a sleep when the CPU wakes. If a span holds more sleep
 * than it is long, the rest was slept before the span. That rest is subtracted from the state with
 * the most time, because that is where the CPU slept.
 */
#include "analyze/probes/ingest.h"
#include "analyze/scope/results.h"
#include "analyze/probes/snapshots.h"
#include "analyze/probes/tsv.h"
#include "analyze/scope/changes.h"

struct state {
	unsigned int cpu;
	uint64_t entries, us;		  /* as last read */
	unsigned int round;		  /* the round of the reading they are from */
	double change_us, change_entries; /* those of the current span; below 0: not known */
	double sum_us, sum_entries, known_s;
};

struct idle_states {
	struct intern names; /* "CPU NUMBER NAME" */
	struct state *s;     /* by the name's id; a CPU's states stand together */
	size_t cap;
	unsigned int round;
	bool back;
};

static struct state *idle_find_state(struct idle_states *d, unsigned int cpu, const char *number,
				     const char *name)
{
	autofree char *key = xasprintf("%u %s %s", cpu, number, name);
	size_t before = d->names.n;
	uint32_t id = intern_str(&d->names, key);

	if (d->names.n > before) {
		array_grow(d->s, id, d->cap);
		d->s[id] = (struct state){.cpu = cpu};
	}
	return &d->s[id];
}

static bool idle_read_row(char *line, void *idle)
{
	struct idle_states *d = idle;
	const char *cpu = str_token(&line, '\t'), *number = str_token(&line, '\t');
	const char *name = str_token(&line, '\t'), *entries = str_token(&line, '\t');
	const char *us = str_token(&line, '\t');
	uint64_t c, n, e, t;
	struct state *s;

	if (!us || !parse_u64(cpu, &c) || c >= CPUSET_MAX || !parse_u64(number, &n) ||
	    !parse_u64(entries, &e) || !parse_u64(us, &t))
		return false;
	s = idle_find_state(d, (unsigned int)c, number, name);
	s->change_us = s->change_entries = -1;
	if (s->round == d->round)
		return true;
	if (s->round && s->round == d->round - 1) {
		d->back |= t < s->us || e < s->entries;
		if (t >= s->us && e >= s->entries) {
			s->change_us = (double)(t - s->us);
			s->change_entries = (double)(e - s->entries);
		}
	}
	s->us = t;
	s->entries = e;
	s->round = d->round;
	return true;
}

/* Subtracts from a CPU's states the time it slept before the span. */
static void idle_cut_early_sleep(struct idle_states *d, size_t first, size_t end, double span_us)
{
	struct state *most = NULL;
	double all = 0;

	for (size_t i = first; i < end; i++) {
		struct state *s = &d->s[i];

		if (s->round != d->round || s->change_us < 0)
			continue;
		all += s->change_us;
		if (!most || s->change_us > most->change_us)
			most = s;
	}
	if (!most || all <= span_us)
		return;
	most->change_us -= all - span_us;
	if (most->change_us < 0)
		most->change_us = 0;
}

static void idle_add_span(struct idle_states *d, double span_us, double share)
{
	size_t first = 0;

	for (size_t i = 1; i <= d->names.n; i++) {
		if (i < d->names.n && d->s[i].cpu == d->s[first].cpu)
			continue;
		idle_cut_early_sleep(d, first, i, span_us);
		first = i;
	}
	for (size_t i = 0; i < d->names.n; i++) {
		struct state *s = &d->s[i];

		if (s->round != d->round || s->change_us < 0)
			continue;
		s->sum_us += share * s->change_us;
		s->sum_entries += share * s->change_entries;
		s->known_s += share * span_us / 1e6;
	}
}

static size_t idle_read_snap(struct ingest *in, void *idle, char *text, uint64_t before_ns,
			     uint64_t t_ns)
{
	struct idle_states *d = idle;
	size_t bad;

	d->round++;
	bad = snap_lines(text, idle_read_row, d);
	if (before_ns && t_ns > before_ns)
		idle_add_span(d, (double)(t_ns - before_ns) / 1e3,
			      span_inside(before_ns, t_ns, in->run.start_ns, in->run.end_ns));
	return bad;
}

/* The sum over all CPUs, by "NUMBER NAME". */
struct sum {
	double pct, entries;
};

static void idle_add_metrics(struct ingest *in, const struct idle_states *d)
{
	freed(intern_free) struct intern names = {0};
	struct sum *sums = xcalloc(d->names.n + 1, sizeof(*sums)), *sum;
	double window_s = (double)(in->run.end_ns - in->run.start_ns) / 1e9;

	for (size_t i = 0; i < d->names.n; i++) {
		const struct state *s = &d->s[i];
		const char *name = strchr(intern_get(&d->names, (uint32_t)i), ' ') + 1;
		double pct = s->sum_us / 1e4 / s->known_s;

		if (!(s->known_s >= 0.9 * window_s) || !ingest_has_cpu(in, s->cpu))
			continue;
		ingest_metric_of(in, "cstate_pct", name, (int)s->cpu, "%", pct);
		ingest_metric_of(in, "cstate_entries", name, (int)s->cpu, "1", s->sum_entries);
		sum = &sums[intern_str(&names, name)];
		sum->pct += pct;
		sum->entries += s->sum_entries;
	}
	for (size_t i = 0; i < names.n; i++) {
		const char *name = intern_get(&names, (uint32_t)i);

		ingest_metric_of(in, "cstate_pct", name, NO_CPU, "%", sums[i].pct);
		ingest_metric_of(in, "cstate_entries", name, NO_CPU, "1", sums[i].entries);
	}
	free(sums);
}

/* Below nine tenths of the window the states have no figures. */
static void idle_note_partial(struct ingest *in, const struct state *s, double window_s)
{
	char what[48];

	snprintf(what, sizeof(what), "the idle states of CPU %u", s->cpu);
	note_add(&in->notes, known_partly, "idle", what, s->known_s, window_s)->severity =
		s->known_s < 0.9 * window_s ? SEVERITY_LOSSY : SEVERITY_WARNING;
}

static void idle_note_states(struct ingest *in, const struct idle_states *d)
{
	double window_s = (double)(in->run.end_ns - in->run.start_ns) / 1e9;

	for (size_t i = 0; i < d->names.n; i++)
		if (d->s[i].known_s < 0.99 * window_s && (!i || d->s[i].cpu != d->s[i - 1].cpu))
			idle_note_partial(in, &d->s[i], window_s);
	if (d->back)
		note_add(&in->notes, counter_reset, "idle", "of cpuidle");
}

static void idle_finish(struct ingest *in, void *idle, double covered_s)
{
	if (!(covered_s > 0))
		return;
	idle_add_metrics(in, idle);
	idle_note_states(in, idle);
}

static void idle_release(void *idle)
{
	struct idle_states *d = idle;

	intern_free(&d->names);
	free(d->s);
}

const struct parser parser_idle = {
	.files = {"idle.snap"},
	.snaps = {"idle", "idle.snap", false, sizeof(struct idle_states), idle_read_snap,
		  idle_finish, idle_release},
};

/* --- the table --- */

/*
 * idle: busy, idle and iowait time from /proc/stat, then the idle states from cpuidle, for the
 * side and for each of its CPUs. Waits of io_uring count as iowait. The CPU is idle in these
 * waits, and cpuidle cannot separate them from other idle time.
 */

static const struct column idle_columns[] = {
	BLOCK_COLUMNS(struct idle_row),
	{MEMBER(struct idle_row, cpu), .type = V_STR, .shape = STANDS_RIGHT,
	 .what = "the CPU's number, or all for the sum over the side's CPUs"},
	{MEMBER(struct idle_row, source), .type = V_STR, .what = "/proc/stat or cpuidle"},
	{MEMBER(struct idle_row, state), .type = V_STR,
	 .what = "busy, idle, iowait, or a cpuidle state; the shallowest state comes first"},
	{MEMBER(struct idle_row, time_pct), "%", V_REAL, .digits = 2, .spread = SPREAD_RANGE,
	 .stem = "time", .what = "share of one CPU's time; estimate over the runs"},
	{MEMBER(struct idle_row, entries_per_s), "1/s", V_REAL, .digits = 1,
	 .what = "how often a CPU entered the state"},
	{MEMBER(struct idle_row, mean_us), "us", V_REAL, .digits = 1,
	 .what = "mean time of one stay in the state"},
	{MEMBER(struct idle_row, runs), .type = V_INT, .what = "runs that measured it"},
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
static void idle_add_row(struct idle *d, int cpu, struct idle_row row)
{
	struct table *t = d->k->t;
	struct value *cells;

	row.block = d->k->b->block;
	row.cpu = cpu == NO_CPU ? IDLE_ALL : NULL;
	row.runs = (int64_t)row.time_pct.n;
	cells = table_add(t, struct idle_row, &row);
	if (cpu != NO_CPU)
		table_set(t, cells, "cpu", value_int(cpu));
}

static void idle_put_proc_stat(struct idle *d, int cpu)
{
	struct estimate e;

	for (size_t i = 0; i < array_size(parts); i++) {
		e = block_estimate(d->k, figure_metric_of,
				   &(struct metric_key){parts[i].metric, NULL, cpu});
		if (e.n)
			idle_add_row(d, cpu,
				     (struct idle_row){.source = IDLE_STAT,
						       .state = parts[i].state,
						       .time_pct = e,
						       .entries_per_s = NAN,
						       .mean_us = NAN});
	}
}

static void idle_put_state(struct idle *d, const struct change_row *pct)
{
	const struct change_row *entries = changes_find(&d->entries, pct->name, pct->cpu);
	const char *state = strchr(pct->name, ' ');
	struct idle_row row = {.source = IDLE_CPUIDLE,
			       .state = state ? state + 1 : pct->name,
			       .time_pct = changes_estimate(&d->pct, pct, AS_COUNT),
			       .entries_per_s = NAN,
			       .mean_us = NAN};

	if (entries)
		row.entries_per_s = changes_estimate(&d->entries, entries, AS_PER_SECOND).value;
	if (row.entries_per_s > 0)
		row.mean_us = row.time_pct.value * 1e4 / row.entries_per_s;
	idle_add_row(d, pct->cpu, row);
}

static void idle_put_cpu(struct idle *d, int cpu)
{
	idle_put_proc_stat(d, cpu);
	for (size_t i = 0; i < d->pct.n; i++)
		if (d->pct.row[i].cpu == cpu)
			idle_put_state(d, &d->pct.row[i]);
}

static void idle_put_cpus(struct idle *d)
{
	const struct query *q = d->k->q;
	struct cpuset set = {0};

	block_cpus_add(d->k, "cstate_pct", &set);
	block_cpus_add(d->k, "cpu_idle_pct", &set);
	if (!q->cpus && !q->by)
		idle_put_cpu(d, NO_CPU);
	if (!q->cpus && !q->by && cpuset_count(&set) > CPUS_SHOWN) {
		note_add(&d->k->t->notes, table_how,
			 "--by cpu shows each CPU, --cpu SET picks some");
		return;
	}
	for (unsigned int cpu = 0; cpu < CPUSET_MAX; cpu++)
		if (cpuset_has(&set, cpu) && (!q->cpus || cpuset_has(q->cpus, cpu)))
			idle_put_cpu(d, (int)cpu);
}

static int idle_put_block(struct block_table *k, struct error *err)
{
	struct idle d = {.k = k};
	int rc = changes_read(&d.pct, k, "cstate_pct", OF_ALL, err);

	rc = rc ?: changes_read(&d.entries, k, "cstate_entries", OF_ALL, err);
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
		changes_nothing(k->s, k->t, NULL);
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
