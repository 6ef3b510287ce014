// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPU time of the workload's threads, from threads.snap (collect/threads.c). A thread that is
 * first seen after the first snapshot began to run since the snapshot before, unless it ran longer
 * than that; then its past does not belong to the window.
 *
 * A thread that ended between two readings was last seen before its end. The rest of its time is
 * in the clock of its process, which includes ended threads: a row of thread 0 of that process.
 * The rest of an ended process is in its parent's account of children waited for, in ticks: the
 * row of thread 0 of process 0. So the rows add up to what the workload ran.
 */
#include "analyze/probes/ingest.h"
#include "analyze/probes/snapshots.h"
#include "analyze/probes/tsv.h"

#include "lib/file.h"
#include "lib/str.h"

#include <stdio.h>

enum { TICK_NS = 10000000 }; /* USER_HZ is 100 on everything this runs on */

/* Fields of stat behind the name, by their numbers in proc(5). */
enum { UTIME = 14, STIME, CUTIME, CSTIME, START = 22, CPU = 39, FIELDS = 40 };

/* A process (tid 0) or a thread in one snapshot. */
struct seen {
	int64_t pid, tid;
	uint64_t start;
	double run_ns, user_ns, system_ns, children_ns, migrations; /* NAN: not known */
	double grew; /* the growth of a process's threads */
	unsigned int cpu;
	char *comm, *allowed;
	bool late; /* a process that is new to the workload and ran before */
};

struct reading {
	struct seen *all;
	size_t n, cap;
	struct map by_id; /* tid, of processes pid | 1 << 32: place + 1 */
};

struct sums {
	struct reading last;
	size_t bad;
	double total;	     /* ns in the window */
	double span;	     /* the same of one span, all of it */
	double user, system; /* ticks of the processes in the window, in ns */
	bool back, outside, ticks, elsewhere;
	size_t late, most;
	const char *checked;  /* the allowed CPUs that were checked last; of a row */
	struct map cpus_seen; /* id << 12 | cpu */
};

static double ticks_to_ns(long long n)
{
	return n > 0 ? (double)n * TICK_NS : 0;
}

/* Parses "77 (a (name)) S 1 2 ..." into `s`, and cuts up the text. */
static bool thread_parse_stat(char *stat, struct seen *s)
{
	char *open = strchr(stat, '('), *close = strrchr(stat, ')'), *rest, *word;
	long long f[FIELDS] = {0};
	int i = 3;

	if (!open || !close || close < open)
		return false;
	*close = '\0';
	s->comm = open + 1;
	s->tid = strtoll(stat, NULL, 10);
	rest = str_trim(close + 1);
	for (; i < FIELDS && (word = str_token(&rest, ' ')); i++)
		f[i] = strtoll(word, NULL, 10);
	s->user_ns = ticks_to_ns(f[UTIME]);
	s->system_ns = ticks_to_ns(f[STIME]);
	s->children_ns = ticks_to_ns(f[CUTIME]) + ticks_to_ns(f[CSTIME]);
	s->start = (uint64_t)f[START];
	s->cpu = f[CPU] >= 0 && f[CPU] < CPUSET_MAX ? (unsigned int)f[CPU] : CPUSET_MAX;
	return i == FIELDS && s->tid > 0;
}

/* "p <ns> <stat>" */
static bool threads_parse_process(char *rest, struct seen *s)
{
	char *ns = str_token(&rest, ' ');

	if (!ns || !rest || !thread_parse_stat(rest, s))
		return false;
	s->run_ns = real_or_nan(ns);
	s->migrations = NAN;
	s->pid = s->tid;
	s->tid = 0;
	return true;
}

/* "t <pid> <ns> <migrations> <CPUs> <stat>" */
static bool threads_parse_thread(char *rest, struct seen *s)
{
	char *pid = str_token(&rest, ' '), *ns = str_token(&rest, ' ');
	char *migrations = str_token(&rest, ' ');

	s->allowed = str_token(&rest, ' ');
	if (!s->allowed || !rest || !thread_parse_stat(rest, s))
		return false;
	s->pid = strtoll(pid, NULL, 10);
	s->run_ns = real_or_nan(ns);
	s->migrations = real_or_nan(migrations);
	return s->pid > 0;
}

static uint64_t thread_id(const struct seen *s)
{
	return s->tid ? (uint64_t)s->tid : (uint64_t)s->pid | 1ULL << 32;
}

static bool threads_parse_line(char *line, void *arg)
{
	struct reading *r = arg;
	struct seen s = {0};
	bool good = str_starts(line, "p ")   ? threads_parse_process(line + 2, &s)
		    : str_starts(line, "t ") ? threads_parse_thread(line + 2, &s)
					     : false;

	if (!good)
		return false;
	array_add(r->all, r->n, r->cap, s);
	*map_at(&r->by_id, thread_id(&s)) = r->n;
	return true;
}

static struct seen *threads_find(const struct reading *r, const struct seen *like)
{
	uint64_t *at = map_get(&r->by_id, thread_id(like));
	struct seen *s = at ? &r->all[*at - 1] : NULL;

	return s && s->start == like->start && s->pid == like->pid ? s : NULL;
}

/* --- a span between two readings --- */

struct span {
	double share, ns; /* its share of the window, and the window's length */
	uint64_t end;
};

/* Returns the growth of a counter, or 0 if it went backwards. */
static double counter_growth(struct sums *sums, double before, double now)
{
	sums->back |= now < before;
	return now > before ? now - before : 0;
}

static const char *threads_keep(struct ingest *in, const char *old, const char *now)
{
	return old && !strcmp(old, now) ? old : arena_strdup(&in->arena, now);
}

/*
 * Checks the allowed CPUs at the end of a span: a command may bind itself after the first reading.
 */
static void threads_check_allowed(struct ingest *in, struct sums *sums, const char *allowed)
{
	struct cpuset set;

	if (!in->has_cpus || (sums->checked && !strcmp(sums->checked, allowed)))
		return;
	sums->checked = allowed;
	if (cpuset_parse(&set, allowed, NULL)) {
		sums->outside = true; /* not known */
		return;
	}
	for (unsigned int cpu = 0; cpu < CPUSET_MAX && !sums->outside; cpu++)
		sums->outside = cpuset_has(&set, cpu) && !ingest_has_cpu(in, cpu);
}

/* Records a thread's CPU, its name and when it was seen. */
static struct thread_row *threads_see(struct ingest *in, struct sums *sums, const struct seen *s,
				      uint64_t t_ns)
{
	struct thread_row *row = ingest_thread(in, s->pid, s->tid);

	thread_seen(in, row, s->comm, t_ns);
	row->allowed = threads_keep(in, row->allowed, s->allowed);
	if (s->cpu < CPUSET_MAX)
		map_at(&sums->cpus_seen, (uint64_t)s->tid << 12 | s->cpu);
	return row;
}

/* Returns the thread's CPU time; without schedstat in the kernel, its ticks. */
static double thread_run_ns(struct sums *sums, const struct seen *s)
{
	sums->ticks |= isnan(s->run_ns);
	return isnan(s->run_ns) ? s->user_ns + s->system_ns : s->run_ns;
}

static void threads_add_thread(struct ingest *in, struct sums *sums, const struct reading *b,
			       const struct seen *was, const struct seen *s,
			       const struct span *span)
{
	static const struct seen nothing;
	struct thread_row *row = threads_see(in, sums, s, span->end);
	struct seen process = {.pid = s->pid};
	uint64_t *at = map_get(&b->by_id, thread_id(&process));
	double run;

	threads_check_allowed(in, sums, row->allowed);
	if (!was && thread_run_ns(sums, s) > 1.05 * span->ns + 2 * TICK_NS) {
		sums->late++;
		if (at)
			b->all[*at - 1].late = true;
		return;
	}
	was = was ? was : &nothing;
	run = counter_growth(sums, was->tid ? thread_run_ns(sums, was) : 0, thread_run_ns(sums, s));
	if (at)
		b->all[*at - 1].grew += run;
	figure_add(&row->run_ns, span->share * run);
	figure_add(&row->user_ns, span->share * counter_growth(sums, was->user_ns, s->user_ns));
	figure_add(&row->system_ns,
		   span->share * counter_growth(sums, was->system_ns, s->system_ns));
	if (!isnan(s->migrations))
		figure_add(&row->migrations,
			   span->share * counter_growth(
						 sums, isnan(was->migrations) ? 0 : was->migrations,
						 s->migrations));
}

/* A process counts the ticks of its ended threads, too. */
static void threads_add_ticks(struct sums *sums, const struct seen *was, const struct seen *s,
			      const struct span *span)
{
	sums->user += span->share * counter_growth(sums, was ? was->user_ns : 0, s->user_ns);
	sums->system += span->share * counter_growth(sums, was ? was->system_ns : 0, s->system_ns);
}

/* Adds what a process ran beyond its living threads. */
static void threads_add_process(struct ingest *in, struct sums *sums, const struct seen *was,
				const struct seen *s, const struct span *span)
{
	double ran = isnan(s->run_ns)
			     ? s->grew
			     : counter_growth(sums, was && !isnan(was->run_ns) ? was->run_ns : 0,
					      s->run_ns);
	struct thread_row *row;

	if (!was && s->late)
		ran = s->grew;
	else
		threads_add_ticks(sums, was, s, span);
	/* The process is read a moment before its threads. */
	if (ran > s->grew + 0.1 * TICK_NS && !sums->ticks) {
		row = ingest_thread(in, s->pid, 0);
		row->comm = threads_keep(in, row->comm, s->comm);
		figure_add(&row->run_ns, span->share * (ran - s->grew));
	} else {
		ran = s->grew;
	}
	sums->span += ran;
}

/* Adds the time of children that were waited for, less the part in their own rows. */
static void threads_add_ended(struct ingest *in, struct sums *sums, const struct reading *a,
			      const struct reading *b, const struct span *span)
{
	double waited = 0, known = 0;
	struct thread_row *row;

	for (size_t i = 0; i < b->n; i++) {
		const struct seen *s = &b->all[i], *was = s->tid ? NULL : threads_find(a, s);

		if (!s->tid && (was || !s->late))
			waited += s->children_ns - (was ? was->children_ns : 0);
	}
	for (size_t i = 0; i < a->n; i++)
		if (!a->all[i].tid && !threads_find(b, &a->all[i]))
			known += (isnan(a->all[i].run_ns) ? 0 : a->all[i].run_ns) +
				 a->all[i].children_ns;
	if (known > waited + 2 * TICK_NS)
		sums->elsewhere = true;
	if (waited <= known + TICK_NS)
		return;
	row = ingest_thread(in, 0, 0);
	figure_add(&row->run_ns, span->share * (waited - known));
	sums->span += waited - known;
}

static void threads_add_span(struct ingest *in, struct sums *sums, const struct reading *a,
			     struct reading *b, const struct span *span)
{
	size_t threads = 0;

	sums->span = 0;
	for (size_t i = 0; i < b->n; i++)
		if (b->all[i].tid) {
			threads_add_thread(in, sums, b, threads_find(a, &b->all[i]), &b->all[i],
					   span);
			threads++;
		}
	for (size_t i = 0; i < b->n; i++)
		if (!b->all[i].tid)
			threads_add_process(in, sums, threads_find(a, &b->all[i]), &b->all[i],
					    span);
	threads_add_ended(in, sums, a, b, span);
	sums->most = threads > sums->most ? threads : sums->most;
	sums->total += span->share * sums->span;
	if (span->ns > 0 && !in->unmatched)
		ingest_point(in, "workload_cpu_pct", span->end, 100 * sums->span / span->ns);
}

/* --- all of them --- */

static void threads_add_cpus(struct ingest *in, struct sums *sums)
{
	for (size_t i = 0; i < in->nthreads_seen; i++) {
		struct thread_row *row = &in->threads_seen[i];
		struct cpuset set = {0};
		autofree char *text = NULL;

		if (!row->tid)
			continue;
		for (unsigned int cpu = 0; cpu < CPUSET_MAX; cpu++)
			if (map_get(&sums->cpus_seen, (uint64_t)row->tid << 12 | cpu))
				cpuset_add(&set, cpu);
		text = cpuset_format(&set);
		row->cpus = *text ? arena_strdup(&in->arena, text) : NULL;
	}
}

/*
 * Adds whether a thread's time includes the interrupts and softirqs that came during it. A kernel
 * with CONFIG_IRQ_TIME_ACCOUNTING subtracts them.
 */
static void threads_add_accounting(struct ingest *in)
{
	static const char key[] = "CONFIG_IRQ_TIME_ACCOUNTING";
	autofree char *path = in->host_dir ? xasprintf("%s/config", in->host_dir) : NULL,
		      *text = NULL;
	struct error err = {0};

	if (path && !file_read(path, &text, NULL, &err) && strstr(text, key))
		ingest_metric(in, "threads_hold_irq", "1",
			      !strstr(text, "CONFIG_IRQ_TIME_ACCOUNTING=y"));
	if (error_of_machine(err.code))
		note_add(&in->notes, file_damaged, "threads", err.text);
}

/* Scales times from the covered part to the whole window, as busy_ns is. */
static void threads_scale(struct ingest *in, double by)
{
	for (size_t i = 0; i < in->nthreads_seen; i++) {
		in->threads_seen[i].run_ns *= by;
		in->threads_seen[i].user_ns *= by;
		in->threads_seen[i].system_ns *= by;
	}
}

static void threads_add_notes(struct ingest *in, const struct sums *s)
{
	if (s->back)
		note_add(&in->notes, counter_reset, "threads", "of a thread");
	if (s->late)
		note_add(&in->notes, threads_joined, "threads", s->late);
	if (s->elsewhere)
		note_add(&in->notes, ended_between, "threads", "processes");
	if (s->ticks)
		note_add(&in->notes, threads_ticks);
}

/*
 * Adds the CPU time of the workload, `rate` ns per second, and its parts in user mode and in the
 * kernel, in the proportions of the ticks.
 */
static void threads_add_time(struct ingest *in, const struct sums *sums, double rate, double window)
{
	double ticks = sums->user + sums->system;

	if (in->unmatched)
		return;
	ingest_metric(in, "workload_cpu_ns", "ns", rate * window);
	ingest_metric(in, "workload_cpu_pct", "%", rate / 1e7);
	if (ticks <= 0)
		return;
	ingest_metric(in, "workload_cpu_user_pct", "%", rate / 1e7 * sums->user / ticks);
	ingest_metric(in, "workload_cpu_system_pct", "%", rate / 1e7 * sums->system / ticks);
}

static void threads_release(struct reading *r)
{
	free(r->all);
	map_free(&r->by_id);
}

static size_t threads_read_snap(struct ingest *in, void *arg, char *text, uint64_t before_ns,
				uint64_t t_ns)
{
	struct span span = {span_inside(before_ns, t_ns, in->run.start_ns, in->run.end_ns),
			    t_ns > before_ns ? (double)(t_ns - before_ns) : 0, t_ns};
	struct sums *sums = arg;
	struct reading now = {0};
	size_t bad = snap_lines(text, threads_parse_line, &now);

	for (size_t i = 0; i < now.n && !before_ns; i++)
		if (now.all[i].tid)
			threads_see(in, sums, &now.all[i], t_ns);
	if (before_ns)
		threads_add_span(in, sums, &sums->last, &now, &span);
	threads_release(&sums->last);
	sums->last = now;
	sums->bad += bad;
	return bad;
}

static void threads_finish(struct ingest *in, void *arg, double covered_s)
{
	double window = (double)(in->run.end_ns - in->run.start_ns) / 1e9;
	struct sums *sums = arg;

	threads_add_cpus(in, sums);
	threads_scale(in, covered_s > 0 ? window / covered_s : NAN);
	if (covered_s > 0 && in->nthreads_seen) {
		ingest_metric(in, "workload_threads", "1", (double)sums->most);
		ingest_metric(in, "workload_confined", "1", !sums->outside);
		threads_add_accounting(in);
		in->workload_whole = !sums->back && !sums->late && !sums->elsewhere &&
				     !sums->ticks && !sums->bad && !in->unmatched;
		threads_add_time(in, sums, sums->total / covered_s, window);
	}
	threads_add_notes(in, sums);
}

static void threads_release_sums(void *arg)
{
	struct sums *sums = arg;

	threads_release(&sums->last);
	map_free(&sums->cpus_seen);
}

const struct parser parser_threads = {
	.files = {"threads.snap"},
	.snaps = {"threads", "threads.snap", true, sizeof(struct sums), threads_read_snap,
		  threads_finish, threads_release_sums},
};
