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
#include "analyze/probes/threads/groups.h"
#include "analyze/scope/results.h"

#include <errno.h>

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

	if (b->f[IDLE] >= a->f[IDLE] && b->f[IOWAIT] >= a->f[IOWAIT])
		return elapsed > idle ? elapsed - idle : 0;
	for (int i = 0; i < FIELDS; i++)
		ticks += part_is_busy(i) ? counter_advance(a, b, i) : 0;
	return ticks;
}

static void sums_add_cpu(struct proc_stat *s, unsigned int cpu, const struct cpu_times *a,
			 const struct cpu_times *b, double busy, double share)
{
	for (int i = 0; i < FIELDS; i++) {
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

	for (unsigned int cpu = 0; cpu < s->n; cpu++) {
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
	unsigned int seen = 0;

	for (unsigned int cpu = 0; cpu < s->n; cpu++)
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

	for (int i = 0; i < FIELDS; i++)
		ticks += part_is_busy(i) ? f[i] : 0;
	return ticks > 0 ? busy / ticks : 1;
}

/* Adds the parts of the busy time of one of the side's CPUs or, with NO_CPU, of all. */
static void proc_stat_add_parts(struct ingest *in, const double f[FIELDS], double busy,
				double covered_s, int cpu)
{
	double ns, scale = sums_scale(f, busy), to_pct = 100 / (covered_s * 1e9);

	for (size_t i = 0; i < array_size(parts); i++) {
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

	proc_stat_add_parts(in, s->f, s->all_busy, covered_s, NO_CPU);
	ingest_metric(in, "busy_ns", "ns", s->all_busy * window_s / covered_s);
	for (unsigned int cpu = 0; cpu < s->n; cpu++) {
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
	double expected = covered_s * 1e9 * seen,
	       stolen = s->f[STEAL] * sums_scale(s->f, s->all_busy);

	if (stolen > expected / 100)
		note_add(&in->notes, cpu_stolen, 100 * stolen / expected);
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

	*more = 0;
	for (size_t i = 0; i < in->nthreads_seen; i++) {
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
	double others = ingest_find_metric(in, "cpu_user_pct", NULL) -
			others_workload_user_ns(in, &more) * to_pct;
	double busy = ingest_find_metric(in, "cpu_pct", NULL), surely;

	if (!in->workload_whole || isnan(others))
		return;
	/* Ticks split user and system time by chance, so all busy time of others is the limit. */
	if (ingest_find_metric(in, "workload_confined", NULL) == 1)
		others = fmin(others, busy - ingest_find_metric(in, "workload_cpu_pct", NULL));
	/* Far below zero, the workload ran on other CPUs too, and the work on the side's is not
	 * known. */
	if (others < -clocks_apart)
		return;
	ingest_metric(in, "others_user_pct", "%", fmax(others, 0));
	surely = others - more * to_pct;
	if (surely > clocks_apart && 100 * surely > note_from_pct * busy)
		note_add(&in->notes, cpu_others, 100 * others / busy);
}

/* --- the table --- */

/*
 * cpu --by cpu has a row for each CPU of the side. cpu --by comm, process or thread has a row for
 * each group of the workload's threads, with its part of the side's busy time. One more row has
 * everything else: softirqs, other processes, kernel threads. That row is busy - threads, so the
 * rows add up to busy.
 *
 * Where threads may leave the side's CPUs, a part of their time may be on other CPUs. The row for
 * everything else is then a lower limit.
 */

#define PART_COLUMN(name, of, meaning)                                                       \
	{                                                                                    \
		MEMBER_NAMED(name, struct cpu_row, part[of]), "%", V_REAL, .digits = 1,      \
									   .what = (meaning) \
	}
#define TIME_COLUMNS                                                                                            \
	PART_COLUMN(                                                                                            \
		"app_pct", CPU_APP,                                                                             \
		"user space, of all programs; guests too, except where the frame measured it"),                 \
		PART_COLUMN(                                                                                    \
			"sys_pct", CPU_SYS,                                                                     \
			"kernel, on behalf of processes; with the frame also the idle task while it is awake"), \
		PART_COLUMN("soft_pct", CPU_SOFT, "softirqs"),                                                  \
		PART_COLUMN("irq_pct", CPU_IRQ, "hardware interrupts"),                                         \
		PART_COLUMN("steal_pct", CPU_STEAL, "taken by the hypervisor"),                                 \
		PART_COLUMN("iowait_pct", CPU_IOWAIT,                                                           \
			    "idle while I/O was pending; io_uring waits count here"),                           \
		PART_COLUMN("idle_pct", CPU_IDLE, "idle"),                                                      \
	{                                                                                                       \
		MEMBER(struct cpu_row, busy_pct), "%", V_REAL,                                                  \
			.digits = 1, .spread = SPREAD_RANGE, .stem = "busy",                                    \
			.what = "all but idle and iowait"                                                       \
	}

static const struct column by_cpu_columns[] = {
	BLOCK_COLUMNS(struct cpu_row),
	{MEMBER(struct cpu_row, cpu), .type = V_INT},
	{MEMBER(struct cpu_row, runs), .type = V_INT, .what = "number of runs with a value"},
	TIME_COLUMNS,
};

static const struct column by_thread_columns[] = {
	SIDE_COLUMNS,
	{"run", .type = V_INT, .what = "the repeat with this process"},
	{"comm", .type = V_STR, .what = "command"},
	{"pid", .type = V_INT},
	{"tid", .type = V_INT},
	{"threads", .type = V_INT, .what = "number of threads in a run"},
	{"cpu_pct", "%", V_REAL, .digits = 2, .spread = SPREAD_RANGE, .stem = "cpu",
	 .what = "time on a CPU, 100 = one CPU"},
	{"user_pct", "%", V_REAL, .digits = 1, .what = "part of cpu_pct in user space, by ticks"},
	{"sys_pct", "%", V_REAL, .digits = 1, .what = "part of cpu_pct in the kernel, by ticks"},
	{"busy_share", "%", V_REAL, .digits = 1, .what = "part of the side's busy time"},
	{"migrations", .type = V_REAL, .digits = 1, .what = "moves to another CPU, in the window"},
	{"cpus", .type = V_STR, .shape = STAYS_WHOLE, .what = "CPUs that the threads were seen on"},
};

enum { LIMIT = 30 };

/* --- by cpu --- */

/* Adds the row of one CPU of the block, or of all its CPUs added up. */
static void cpu_put_row(struct block_table *k, int cpu)
{
	struct cpu_row row = {.block = k->b->block, .cpu = cpu, .runs = k->b->n};

	row.busy_pct =
		block_estimate(k, figure_metric_of, &(struct metric_key){"cpu_pct", NULL, cpu});
	if (cpu != NO_CPU && !row.busy_pct.n)
		return;
	if (row.busy_pct.n)
		row.runs = (int64_t)row.busy_pct.n;
	row.workload_pct = block_estimate(k, figure_metric, "workload_cpu_pct").value;
	for (int i = 0; i < CPU_PARTS; i++)
		row.part[i] = busy_part(k->s, k->q, k->b, k->list.estimator, (enum cpu_part)i, cpu);
	table_add(k->t, struct cpu_row, &row);
}

static void cpu_by_add_cpus(struct block_table *k)
{
	const struct cpuset *wanted = k->q->cpus;
	struct cpuset set = {0};

	block_cpus_add(k, "cpu_pct", &set);
	for (unsigned int cpu = 0; cpu < CPUSET_MAX; cpu++)
		if (cpuset_has(&set, cpu) && (!wanted || cpuset_has(wanted, cpu)))
			cpu_put_row(k, (int)cpu);
}

/* --- by thread --- */

/* Converts ns in the window to percent of one CPU. */
static void cpu_by_to_percent(struct store *s, const struct block_runs *b,
			      struct thread_groups *list)
{
	static const enum thread_figure times[] = {THREAD_RUN, THREAD_USER, THREAD_SYSTEM};
	double seconds;

	for (int k = 0; k < b->n; k++) {
		seconds = figure_metric(s, &b->runs[k], "seconds");
		for (size_t i = 0; i < list->n; i++)
			for (size_t f = 0; f < array_size(times); f++)
				list->g[i].of[k][times[f]] /= seconds * 1e7;
	}
}

struct cpu_by_side {
	const struct block_table *k;
	struct thread_groups groups;
};

/* Returns whether the threads could run only on the side's CPUs. run -1 asks for all runs. */
static bool cpu_by_confined(const struct cpu_by_side *side, int run)
{
	for (int i = 0; i < side->k->b->n; i++)
		if ((run < 0 || i == run) &&
		    figure_metric(side->k->s, &side->k->b->runs[i], "workload_confined") == 0)
			return false;
	return true;
}

/* Adds a row with a time and its share of the busy time of the group's run or runs. */
static struct value *cpu_by_put_row(const struct cpu_by_side *side, const struct thread_group *g,
				    const struct estimate *e)
{
	const struct block_table *k = side->k;
	struct value *row = thread_group_row(k, g);
	double busy = g->run < 0 ? block_estimate(k, figure_metric, "cpu_pct").value
				 : figure_metric(k->s, &k->b->runs[g->run], "cpu_pct");

	put_estimate(k->t, row, "cpu_pct", e);
	table_set(k->t, row, "busy_share", value_real(100 * e->value / busy));
	return row;
}

static struct estimate cpu_by_estimate(const struct cpu_by_side *side, const struct thread_group *g,
				       enum thread_figure figure)
{
	return thread_estimate(&side->groups, g, figure, side->k->list.estimator);
}

static void cpu_by_add_group(const struct cpu_by_side *side, const struct thread_group *g)
{
	static const struct {
		const char *column;
		enum thread_figure figure;
	} more[] = {{"user_pct", THREAD_USER},
		    {"sys_pct", THREAD_SYSTEM},
		    {"migrations", THREAD_MIGRATIONS}};
	struct estimate e = cpu_by_estimate(side, g, THREAD_RUN);
	struct value *row = cpu_by_put_row(side, g, &e);

	for (size_t i = 0; i < array_size(more); i++) {
		e = cpu_by_estimate(side, g, more[i].figure);
		table_set(side->k->t, row, more[i].column, value_real(e.value));
	}
}

/*
 * Adds the row for everything else. The two times have different clocks: busy time is elapsed time
 * minus idle time, and threads' time is counted directly. A negative difference below 2 % of one
 * CPU is 0.
 */
static void cpu_by_add_others(const struct cpu_by_side *side, int run)
{
	const struct block_table *k = side->k;
	bool confined = cpu_by_confined(side, run);
	const struct thread_group others = {
		.comm = confined ? "(everything else)" : "(everything else, at least)", .run = run};
	struct estimate e =
		scope_estimate(k->s, run < 0 ? k->b->runs : &k->b->runs[run], run < 0 ? k->b->n : 1,
			       k->list.estimator, busy_others, NULL);

	if (!e.n)
		return;
	if (e.value < -2) {
		note_add_block(&k->t->notes, &k->b->block, threads_exceed_cpus, -e.value,
			       confined ? "" : ", so they ran on other CPUs too");
		return;
	}
	e.value = e.value < 0 ? 0 : e.value;
	e.lo = e.lo < 0 ? 0 : e.lo;
	e.hi = e.hi < 0 ? 0 : e.hi;
	cpu_by_put_row(side, &others, &e);
}

/* Adds the groups of one run (all runs with -1), and the row for everything else. */
static size_t cpu_by_add_run(const struct cpu_by_side *side, int run)
{
	const struct query *q = side->k->q;
	size_t limit = query_limit(q, LIMIT), all = 0;
	struct estimate e, rest = {.lo = NAN, .hi = NAN};

	for (size_t i = 0; i < side->groups.n; i++) {
		const struct thread_group *g = &side->groups.g[i];

		if (g->run != run)
			continue;
		if (all++ < limit) {
			cpu_by_add_group(side, g);
			continue;
		}
		e = cpu_by_estimate(side, g, THREAD_RUN);
		rest.value += isnan(e.value) ? 0 : e.value;
	}
	if (rest.value >
	    0) /* one row for the groups beyond the limit, so that the rows still add up */
		cpu_by_put_row(side, &(struct thread_group){.comm = "(rows left out)", .run = run},
			       &rest);
	if (!q->comm && !q->workload_only)
		cpu_by_add_others(side, run);
	return all < limit ? all : limit;
}

static void cpu_by_note_side(const struct cpu_by_side *side, size_t shown)
{
	const struct block_table *k = side->k;
	const struct block *b = &k->b->block;
	struct table *t = k->t;

	if (!side->groups.n) {
		note_add_block(&t->notes, b, table_not_measured,
			       "no collector saw a thread; see 'zcost report runs'");
		return;
	}
	if (shown < side->groups.n)
		note_add_block(&t->notes, b, rows_shown, shown, side->groups.n);
	note_add(
		&t->notes, table_how,
		"user and sys are the kernel's ticks and cpu is the scheduler's clock, so they need not add up");
	if (k->b->n && figure_metric(k->s, k->b->runs, "threads_hold_irq") == 1)
		note_add(&t->notes, interrupts_of_threads, INTERRUPTS_IN_THREADS);
	if (!cpu_by_confined(side, -1))
		note_add_block(&t->notes, b, threads_unconfined);
}

static int cpu_by_put_block(struct block_table *k, struct error *err)
{
	struct cpu_by_side side = {.k = k};
	enum thread_key key;
	size_t shown = 0;
	int rc;

	if (!thread_key_find(k->q->by, &key)) {
		cpu_by_add_cpus(k);
		return 0;
	}
	rc = thread_groups_read(&side.groups, k->s, k->b, key, k->q->comm, THREAD_RUN, err);
	if (!rc) {
		cpu_by_to_percent(k->s, k->b, &side.groups);
		if (key == BY_COMM)
			shown = cpu_by_add_run(&side, -1);
		for (int run = 0; key != BY_COMM && run < k->b->n; run++)
			shown += cpu_by_add_run(&side, run);
		cpu_by_note_side(&side, shown);
	}
	thread_groups_free(&side.groups);
	return rc;
}

/* --- the table --- */

static int cpu_by_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	enum thread_key key;
	bool threads = thread_key_find(q->by, &key);

	if (threads && q->cpus)
		return error_set(err, EINVAL,
				 "--cpu needs --by cpu: a thread's time is not measured per CPU");
	if (!threads && q->comm)
		return error_set(err, EINVAL, "--comm needs --by comm, process or thread");
	if (!threads && q->workload_only)
		return error_set(
			err, EINVAL,
			"--workload-only needs --by comm, process or thread: the workload's time is not measured per CPU");
	if (threads)
		thread_columns(t, by_thread_columns, array_size(by_thread_columns), key);
	return block_table_run(s, q, t, &(struct measure){.block = cpu_by_put_block}, err);
}

static const struct measure measure_cpu_by = {
	.name = "cpu --by",
	MEASURE_COLUMNS(by_cpu_columns),
	.keys = "cpu comm process pid thread tid",
	.options = {[SOURCE_CAPTURE] = OPT_RUNS "cpu comm workload-only by limit all"},
	.spare = "runs iowait_pct steal_pct",
	.run = cpu_by_run,
};

/* --- the table without --by --- */

/* cpu: how the side's CPUs spent the window. 100 % is one CPU. */

static const struct column cpu_columns[] = {
	BLOCK_COLUMNS(struct cpu_row),
	{MEMBER(struct cpu_row, runs), .type = V_INT, .what = "number of runs with a value"},
	TIME_COLUMNS,
	{MEMBER(struct cpu_row, workload_pct), "%", V_REAL, .digits = 1,
	 .what = "CPU time of the workload's processes, on any CPU"},
};

static const struct column workload_columns[] = {
	SIDE_COLUMNS,
	{"runs", .type = V_INT, .what = "number of runs with a value"},
	{"cpu_pct", "%", V_REAL, .digits = 1, .spread = SPREAD_RANGE, .stem = "cpu",
	 .what = "CPU time of the workload's processes, on any CPU, 100 = one CPU"},
	{"user_pct", "%", V_REAL, .digits = 1,
	 .what = "part of cpu_pct in user space, in proportion to the ticks"},
	{"sys_pct", "%", V_REAL, .digits = 1,
	 .what = "part of cpu_pct in the kernel, in proportion to the ticks"},
};

static void cpu_put_workload(struct block_table *k)
{
	static const struct {
		const char *column, *metric;
	} parts[] = {{"user_pct", "workload_cpu_user_pct"}, {"sys_pct", "workload_cpu_system_pct"}};
	struct estimate e = block_estimate(k, figure_metric, "workload_cpu_pct");
	struct value *row = block_row(k->t, &k->b->block);

	table_set(k->t, row, "runs", value_int((int64_t)e.n));
	put_estimate(k->t, row, "cpu_pct", &e);
	for (size_t i = 0; i < array_size(parts); i++) {
		e = block_estimate(k, figure_metric, parts[i].metric);
		table_set(k->t, row, parts[i].column, value_real(e.value));
	}
}

static int cpu_put_block(struct block_table *k, struct error *err)
{
	(void)err;
	if (k->q->workload_only)
		cpu_put_workload(k);
	else
		cpu_put_row(k, NO_CPU);
	return 0;
}

static void cpu_add_notes(struct block_table *k)
{
	if (k->q->workload_only)
		return;
	note_add(&k->t->notes, table_how, "percent of one CPU, summed over the side's CPUs");
	note_add(
		&k->t->notes, table_how,
		"busy_pct and its parts are of all that runs on the side's CPUs, other programs included; workload_pct is of the workload's processes, on any CPU");
	note_add(
		&k->t->notes, table_how,
		"app_pct, sys_pct, soft_pct and irq_pct divide the busy time as the frame does, or without it as the kernel's ticks do, which on a virtual machine give softirqs too much");
}

static int cpu_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	int rc;

	if (q->workload_only) {
		t->columns = workload_columns;
		t->ncolumns = (int)array_size(workload_columns);
	}
	rc = block_table_run(
		s, q, t, &(struct measure){.block = cpu_put_block, .notes = cpu_add_notes}, err);
	return rc ? rc : busy_notes(s, q, NULL, t, err);
}

const struct measure measure_cpu = {
	.name = "cpu",
	.what = "how the side's CPUs spent the window; --by cpu, comm, process or thread",
	MEASURE_COLUMNS(cpu_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS "workload-only"},
	.spare = "runs iowait_pct steal_pct",
	.by = &measure_cpu_by,
	.collectors = "cpu",
	.run = cpu_run,
};
