// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPU time out of snapshots of /proc/stat. The kernel counts user and nice with the guests' time
 * already in them, so guest and guest_nice are left alone. idle and iowait may go backwards (a CPU
 * went offline and came back, iowait is only an estimate): a step back counts as no time. A CPU
 * that is missing from a snapshot is not busy before or after it.
 *
 * Busy is the time that passed less idle and iowait, not the sum of the busy fields. The kernel
 * times idle periods with a clock (CONFIG_NO_HZ), but counts busy time in ticks. Ticks get lost: on
 * virtual machines a quarter of them. So the ticks only tell how busy time is divided among user,
 * system, softirq, irq and steal, which are scaled to add up to it. A profile by cpu-clock need not
 * agree with busy time. coverage.c compares the two.
 */
#include "analyze/probes/ingest.h"

#include "analyze/probes/snapshots.h"
#include "lib/alloc.h"
#include "lib/str.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum field { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, FIELDS };

enum { TICK_NS = 10000000 }; /* USER_HZ is 100 on everything this runs on */

struct cpu_times {
	bool there;
	uint64_t f[FIELDS];
};

struct proc_stat {
	struct cpu_times t[2][CPUSET_MAX]; /* this reading and the last, in turns */
	size_t reading;
	unsigned int n;	  /* the highest CPU number, plus one */
	double f[FIELDS]; /* ns as the kernel counted, all CPUs of S, in the window */
	double all_busy;  /* ns, all CPUs of S */
	struct cpu_sums {
		double busy, f[FIELDS];
		bool seen;
	} cpu[CPUSET_MAX];
	bool offline;
};

/* Parses "1 10 0 20 900 ...", what follows "cpu". Fields behind idle may be missing. */
static void proc_stat_parse_line(const char *at, struct proc_stat *s, struct cpu_times *t)
{
	struct cpu_times now = {.there = true};
	char *end;
	unsigned long cpu = strtoul(at, &end, 10);
	int i;

	if (end == at || cpu >= CPUSET_MAX)
		return;
	for (i = 0; i < FIELDS; i++) {
		at = end;
		now.f[i] = strtoull(at, &end, 10);
		if (end == at)
			break;
	}
	if (i <= IDLE)
		return;
	s->n = cpu >= s->n ? (unsigned int)cpu + 1 : s->n;
	s->cpu[cpu].seen = true;
	t[cpu] = now;
}

/* Replaces the times of an earlier reading. */
static void proc_stat_parse(const char *text, struct proc_stat *s, struct cpu_times *t)
{
	memset(t, 0, s->n * sizeof(*t));
	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (str_starts(text, "cpu") && text[3] != ' ')
			proc_stat_parse_line(text + 3, s, t);
	}
}

static bool part_is_busy(int field)
{
	return field != IDLE && field != IOWAIT;
}

static double counter_advance(const struct cpu_times *a, const struct cpu_times *b, int field)
{
	return b->f[field] > a->f[field] ? (double)(b->f[field] - a->f[field]) * TICK_NS : 0;
}

/* Returns the elapsed time less the idle time; after a reset of the idle counters, the busy ticks.
 */
static double cpu_busy_ns(const struct cpu_times *a, const struct cpu_times *b, double elapsed)
{
	double idle = counter_advance(a, b, IDLE) + counter_advance(a, b, IOWAIT), ticks = 0;
	int i;

	if (b->f[IDLE] >= a->f[IDLE] && b->f[IOWAIT] >= a->f[IOWAIT])
		return elapsed > idle ? elapsed - idle : 0;
	for (i = 0; i < FIELDS; i++)
		ticks += part_is_busy(i) ? counter_advance(a, b, i) : 0;
	return ticks;
}

static void sums_add_cpu(struct proc_stat *s, unsigned int cpu, const struct cpu_times *a,
			 const struct cpu_times *b, double busy, double share)
{
	int i;

	for (i = 0; i < FIELDS; i++) {
		s->f[i] += share * counter_advance(a, b, i);
		s->cpu[cpu].f[i] += share * counter_advance(a, b, i);
	}
	s->cpu[cpu].busy += share * busy;
	s->all_busy += share * busy;
}

/*
 * Adds the part of a span between two snapshots that lies in the window. Returns all of its busy
 * ns, or NAN if none of the side's CPUs is in both.
 */
static double sums_add_span(struct ingest *in, struct proc_stat *s, const struct cpu_times *a,
			    const struct cpu_times *b, double elapsed, double share)
{
	double all = NAN, busy;
	unsigned int cpu;

	for (cpu = 0; cpu < s->n; cpu++) {
		if (!ingest_has_cpu(in, cpu) || (!a[cpu].there && !b[cpu].there))
			continue;
		if (a[cpu].there != b[cpu].there) {
			s->offline |= share > 0;
			continue;
		}
		busy = cpu_busy_ns(&a[cpu], &b[cpu], elapsed);
		figure_add(&all, busy);
		if (share > 0)
			sums_add_cpu(s, cpu, &a[cpu], &b[cpu], busy, share);
	}
	return all;
}

/* Returns how many of the side's CPUs any reading has. */
static unsigned int sums_count_seen(const struct ingest *in, const struct proc_stat *s)
{
	unsigned int cpu, seen = 0;

	for (cpu = 0; cpu < s->n; cpu++)
		seen += s->cpu[cpu].seen && ingest_has_cpu(in, cpu);
	return seen;
}

static const struct {
	enum field field, field2;
	const char *name;
} parts[] = {
	{USER, NICE, "cpu_user_pct"},	      {SYSTEM, FIELDS, "cpu_system_pct"},
	{SOFTIRQ, FIELDS, "cpu_softirq_pct"}, {IRQ, FIELDS, "cpu_irq_pct"},
	{STEAL, FIELDS, "cpu_steal_pct"},     {IOWAIT, FIELDS, "cpu_iowait_pct"},
	{IDLE, FIELDS, "cpu_idle_pct"},
};

/* Returns the factor that makes the busy fields add up to the busy time. */
static double sums_scale(const double f[FIELDS], double busy)
{
	double ticks = 0;
	int i;

	for (i = 0; i < FIELDS; i++)
		ticks += part_is_busy(i) ? f[i] : 0;
	return ticks > 0 ? busy / ticks : 1;
}

/* Adds the parts of the busy time of one of the side's CPUs or, with NO_CPU, of all. */
static void proc_stat_add_parts(struct ingest *in, const double f[FIELDS], double busy,
				double covered_s, int cpu)
{
	double ns, scale = sums_scale(f, busy), to_pct = 100 / (covered_s * 1e9);
	size_t i;

	for (i = 0; i < array_size(parts); i++) {
		ns = f[parts[i].field];
		if (parts[i].field2 != FIELDS)
			ns += f[parts[i].field2];
		if (part_is_busy((int)parts[i].field))
			ns *= scale;
		ingest_metric_of(in, parts[i].name, NULL, cpu, "%", ns * to_pct);
	}
	ingest_metric_of(in, "cpu_pct", NULL, cpu, "%", busy * to_pct);
}

static void proc_stat_add_metrics(struct ingest *in, const struct proc_stat *s, double covered_s)
{
	double window_s = (double)(in->run.end_ns - in->run.start_ns) / 1e9;
	unsigned int cpu;

	proc_stat_add_parts(in, s->f, s->all_busy, covered_s, NO_CPU);
	ingest_metric(in, "busy_ns", "ns", s->all_busy * window_s / covered_s);
	for (cpu = 0; cpu < s->n; cpu++) {
		if (!ingest_has_cpu(in, cpu))
			continue;
		ingest_metric_of(in, "busy_ns", NULL, (int)cpu, "ns",
				 s->cpu[cpu].busy * window_s / covered_s);
		proc_stat_add_parts(in, s->cpu[cpu].f, s->cpu[cpu].busy, covered_s, (int)cpu);
	}
}

static void proc_stat_add_notes(struct ingest *in, const struct proc_stat *s, unsigned int seen,
				double covered_s)
{
	double expected = covered_s * 1e9 * seen;

	if (s->f[STEAL] > expected / 100)
		note_add(&in->notes, cpu_stolen, 100 * s->f[STEAL] / expected);
	if (s->offline)
		note_add(&in->notes, cpu_hotplug, "cpu");
}

static size_t proc_stat_read_snap(struct ingest *in, void *proc_stat, char *text,
				  uint64_t before_ns, uint64_t t_ns)
{
	struct proc_stat *s = proc_stat;
	struct cpu_times *before = s->t[(s->reading + 1) % 2], *now = s->t[s->reading % 2];
	double share = span_inside(before_ns, t_ns, in->run.start_ns, in->run.end_ns), busy;

	s->reading++;
	proc_stat_parse(text, s, now);
	if (!before_ns)
		return 0;
	busy = sums_add_span(in, s, before, now, (double)(t_ns - before_ns), share);
	if (t_ns > before_ns && !isnan(busy))
		ingest_point(in, "cpu_pct", t_ns, 100 * busy / (double)(t_ns - before_ns));
	return 0;
}

static void proc_stat_finish(struct ingest *in, void *proc_stat, double covered_s)
{
	const struct proc_stat *s = proc_stat;
	unsigned int seen = sums_count_seen(in, s);

	if (!seen) {
		note_add(&in->notes, file_damaged, "cpu",
			 "proc_stat.snap has none of the side's CPUs");
		return;
	}
	if (in->has_cpus && seen < (unsigned int)in->run.ncpus)
		note_add(&in->notes, cpu_missing, (unsigned int)in->run.ncpus - seen, in->run.cpus);
	if (!in->has_cpus)
		in->run.ncpus = (int)seen;
	if (covered_s > 0) {
		proc_stat_add_metrics(in, s, covered_s);
		proc_stat_add_notes(in, s, seen, covered_s);
	}
}

const struct parser parser_proc_stat = {
	.files = {"proc_stat.snap"},
	.snaps = {"cpu", "/proc/stat", false, sizeof(struct proc_stat), proc_stat_read_snap,
		  proc_stat_finish, NULL},
};

/*
 * --- user time of the side's CPUs that no thread of the workload used: other programs ---
 *
 * Time in the kernel is left out: interrupts, softirqs and the kernel's own threads do the
 * workload's work and belong to no thread of it.
 *
 * Of a thread that ended between two readings only the whole time is known. All of it counts as
 * user time, so that the figure is the least there can be. Where a part of the workload is not
 * known, there is no figure.
 */

/* Percent of one CPU: the two clocks (/proc/stat and the scheduler's) do not agree more closely. */
static const double clocks_apart = 2;

/* A note is added from this share of the busy time on, in percent. */
static const double note_from_pct = 10;

/* Returns the workload's user time in ns. *more: what whole ticks may have left out. */
static double others_workload_user_ns(const struct ingest *in, double *more)
{
	double sum = 0, rest;
	size_t i;

	*more = 0;
	for (i = 0; i < in->nthreads_seen; i++) {
		const struct thread_row *row = &in->threads_seen[i];

		if (isnan(row->run_ns))
			continue;
		sum += isnan(row->user_ns) ? row->run_ns : row->user_ns;
		rest = isnan(row->user_ns) ? 0 : row->run_ns - row->user_ns;
		*more += rest > 0 ? fmin(rest, TICK_NS) : 0;
	}
	return sum;
}

void ingest_others(struct ingest *in)
{
	double to_pct = 100 / (double)(in->run.end_ns - in->run.start_ns), more;
	double others = ingest_find_metric(in, "cpu_user_pct") -
			others_workload_user_ns(in, &more) * to_pct;
	double busy = ingest_find_metric(in, "cpu_pct"), surely;

	if (!in->workload_whole || isnan(others))
		return;
	/* Ticks split user and system time by chance, so all busy time of others is the limit. */
	if (ingest_find_metric(in, "workload_confined") == 1)
		others = fmin(others, busy - ingest_find_metric(in, "workload_cpu_pct"));
	/* Far below zero, the workload ran on other CPUs too, and the work on the side's is not
	 * known. */
	if (others < -clocks_apart)
		return;
	ingest_metric(in, "others_user_pct", "%", fmax(others, 0));
	surely = others - more * to_pct;
	if (surely > clocks_apart && 100 * surely > note_from_pct * busy)
		note_add(&in->notes, cpu_others, 100 * others / busy);
}
