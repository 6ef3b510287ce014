// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long threads waited for a CPU, from sched.snap (collect/sched.c). The counters count from
 * the thread's birth. A thread that is first seen after the first snapshot was born since the
 * snapshot before, unless it ran and waited longer than that; then it counts from there on. What a
 * thread did after it was last seen is lost.
 */
#include "analyze/perfdata/tracepoints.h"
#include "analyze/probes/ingest.h"
#include "analyze/probes/snapshots.h"
#include "analyze/probes/threads/groups.h"
#include "analyze/probes/tsv.h"

#include <ctype.h>
#include <errno.h>

enum { RUN, WAIT, SLICES, VOLUNTARY, INVOLUNTARY, FIGURES }; /* as in enum thread_figure */

struct seen {
	int64_t pid, tid;
	double f[FIGURES]; /* NAN: not known */
	const char *comm;
};

struct reading {
	struct seen *all;
	size_t n, cap;
	struct map by_tid; /* place + 1 */
};

struct sums {
	struct reading last;
	double f[FIGURES]; /* in the window; NAN: never known */
	bool back;
	size_t late, ended;
};

/* Parses "<pid> <tid> <run> <waited> <slices> <voluntary> <involuntary> <name>"; "-": not known. */
static bool sched_parse_line(char *line, void *arg)
{
	struct reading *r = arg;
	struct seen s;
	char *word;

	word = str_token(&line, ' ');
	s.pid = strtoll(word, NULL, 10);
	word = str_token(&line, ' ');
	s.tid = word ? strtoll(word, NULL, 10) : 0;
	for (int i = 0; i < FIGURES; i++) {
		word = str_token(&line, ' ');
		if (!word)
			return false;
		s.f[i] = real_or_nan(word);
	}
	s.comm = line;
	if (s.pid <= 0 || s.tid <= 0 || !line || isnan(s.f[RUN]))
		return false;
	array_add(r->all, r->n, r->cap, s);
	*map_at(&r->by_tid, (uint64_t)s.tid) = r->n;
	return true;
}

static const struct seen *sched_find(const struct reading *r, const struct seen *like)
{
	uint64_t *at = map_get(&r->by_tid, (uint64_t)like->tid);
	const struct seen *s = at ? &r->all[*at - 1] : NULL;

	return s && s->pid == like->pid ? s : NULL;
}

/* Adds a thread's growth in the window. Returns how long it waited in the whole span. */
static double sched_add_thread(struct ingest *in, struct sums *sums, const struct seen *was,
			       const struct seen *s, uint64_t end, double ns, double share)
{
	struct thread_row *row = ingest_thread(in, s->pid, s->tid);
	double by;

	thread_seen(in, row, s->comm, end);
	if (was && was->f[RUN] > s->f[RUN])
		was = NULL; /* another thread of that number */
	if (!was && s->f[RUN] + s->f[WAIT] > 1.05 * ns + 1e7) {
		sums->late++;
		return 0;
	}
	for (int i = 0; i < FIGURES; i++) {
		by = s->f[i] - (was ? was->f[i] : 0);
		sums->back |= by < 0;
		by = by < 0 ? 0 : by * share;
		figure_add(&row->f[THREAD_SCHED_RUN + i], by);
		figure_add(&sums->f[i], by);
	}
	by = s->f[WAIT] - (was ? was->f[WAIT] : 0);
	return by > 0 ? by : 0;
}

/* Adds the span between two readings. Returns how many ns all threads waited in it. */
static double sched_add_span(struct ingest *in, struct sums *sums, const struct reading *a,
			     const struct reading *b, uint64_t from, uint64_t to)
{
	double share = span_inside(from, to, in->run.start_ns, in->run.end_ns), waited = 0;

	for (size_t i = 0; i < b->n; i++)
		waited += sched_add_thread(in, sums, sched_find(a, &b->all[i]), &b->all[i], to,
					   (double)(to - from), share);
	for (size_t i = 0; i < a->n; i++)
		sums->ended += !sched_find(b, &a->all[i]);
	return waited;
}

static const struct {
	const char *name, *unit;
} metrics[FIGURES] = {
	[RUN] = {"sched_run_ns", "ns"},
	[WAIT] = {"sched_wait_ns", "ns"},
	[SLICES] = {"sched_slices", "1"},
	[VOLUNTARY] = {"sched_voluntary", "1"},
	[INVOLUNTARY] = {"sched_involuntary", "1"},
};

static void sched_add_metrics(struct ingest *in, const struct sums *sums)
{
	for (size_t i = 0; i < array_size(metrics); i++)
		ingest_metric(in, metrics[i].name, metrics[i].unit, sums->f[i]);
	ingest_metric(in, "sched_switches", "1", sums->f[VOLUNTARY] + sums->f[INVOLUNTARY]);
	if (sums->back)
		note_add(&in->notes, counter_reset, "sched", "of a thread");
	if (sums->late)
		note_add(&in->notes, threads_joined, "sched", sums->late);
	if (sums->ended)
		note_add(&in->notes, ended_between, "sched", "threads");
}

static void sched_release(struct reading *r)
{
	free(r->all);
	map_free(&r->by_tid);
}

static size_t sched_read_snap(struct ingest *in, void *arg, char *text, uint64_t before_ns,
			      uint64_t t_ns)
{
	struct sums *sums = arg;
	struct reading now = {0};
	size_t bad = snap_lines(text, sched_parse_line, &now);
	double waited;

	for (size_t i = 0; i < FIGURES && !before_ns; i++)
		sums->f[i] = NAN;
	for (size_t i = 0; i < now.n && !before_ns; i++)
		thread_seen(in, ingest_thread(in, now.all[i].pid, now.all[i].tid), now.all[i].comm,
			    t_ns);
	if (before_ns && t_ns > before_ns) {
		waited = sched_add_span(in, sums, &sums->last, &now, before_ns, t_ns);
		ingest_point(in, "sched_wait_pct", t_ns, 100 * waited / (double)(t_ns - before_ns));
	}
	sched_release(&sums->last);
	sums->last = now;
	return bad;
}

static void sched_finish(struct ingest *in, void *sums, double covered_s)
{
	if (covered_s > 0)
		sched_add_metrics(in, sums);
}

static void sched_release_sums(void *sums)
{
	sched_release(&((struct sums *)sums)->last);
}

const struct parser parser_sched = {
	.files = {"sched.snap"},
	.snaps = {"sched", "sched.snap", true, sizeof(struct sums), sched_read_snap, sched_finish,
		  sched_release_sums},
};

/* --- the table --- */

/*
 * How long threads ran and how long they waited for a CPU. The first part is the table of a
 * perf.data, by the rules of perf sched latency (tools/perf/builtin-sched.c): a delay begins when
 * a task wakes up, or leaves its CPU while it is runnable, and ends when the task is on a CPU
 * again. Tasks with the same name add up; --by tid separates them. The second part is the table of
 * a capture.
 */

static const struct column sched_columns[] = {
	{"comm", .type = V_STR, .what = "command"},
	{"threads", .type = V_INT, .what = "threads of that name"},
	{"tid", .type = V_INT, .what = "thread"},
	{"runtime_ms", "ms", V_REAL, .digits = 3, .what = "time on a CPU"},
	{"switches", .type = V_INT, .what = "times the thread waited for a CPU and got one"},
	{"avg_delay_ms", "ms", V_REAL, .digits = 3, .what = "mean wait for a CPU"},
	{"max_delay_ms", "ms", V_REAL, .digits = 3, .what = "longest wait for a CPU"},
	{"max_start_s", "s", V_REAL, .digits = 6,
	 .what = "start of the longest wait, perf's clock"},
	{"max_end_s", "s", V_REAL, .digits = 6, .what = "end of the longest wait, perf's clock"},
};

enum { LIMIT = 30 };
enum { SWITCH, WAKE, WAKE_NEW, RUNTIME, NWANTS };
enum { PREV, NEXT, STATE };
enum { TASK, TASK_RUNTIME };

/* The state of a task. A task sleeps until its first event. */
enum where { SLEEPING, WAITING, RUNNING };

struct sched_task {
	enum where where;
	bool known;
	bool ran, on_cpu; /* an event put the task on a CPU; no event took the task off again */
	uint64_t out, waiting_since;
	uint64_t runtime, delay, max, max_start, max_end, switches;
};

struct sched_row {
	const char *comm;
	uint32_t tid;
	uint64_t threads;
	struct sched_task sum;
};

struct sched {
	struct tracepoints *tp;
	const struct query *q;
	struct sched_task *tasks; /* by thread */
	size_t ntasks;
	uint64_t preempted; /* bit of prev_state for a preempted task */
	uint64_t no_out;    /* switches onto a CPU without leaving the last one */
	uint64_t no_in;	    /* switches off a CPU that the task was not on */
	bool has[NWANTS];
	struct intern comms;
	struct sched_row *rows;
	size_t nrows, rows_cap;
};

/* --- events, by the rules of perf sched latency --- */

static struct sched_task *sched_task_of(struct sched *s, uint32_t tid)
{
	uint32_t thread = tracepoints_thread_of(s->tp, tid);
	size_t n = s->ntasks;

	if (thread >= n) {
		s->ntasks = thread * 2ULL + 16;
		s->tasks = xrealloc(s->tasks, s->ntasks * sizeof(*s->tasks));
		memset(s->tasks + n, 0, (s->ntasks - n) * sizeof(*s->tasks));
	}
	return &s->tasks[thread];
}

static void sched_put_off(struct sched_task *t, uint64_t time, bool runnable)
{
	t->known = true;
	t->out = time;
	t->where = runnable ? WAITING : SLEEPING;
	t->waiting_since = time;
}

/* Starts a task that existed before its first event. */
static struct sched_task *sched_first_seen(struct sched_task *t, uint64_t time, bool runnable)
{
	if (!t->known)
		sched_put_off(t, time, runnable);
	return t;
}

static void sched_got_cpu(struct sched_task *t, uint64_t time, bool counts)
{
	uint64_t delay = time - t->waiting_since;

	if (t->where != WAITING)
		return;
	t->where = RUNNING;
	if (time < t->waiting_since || !counts)
		return;
	t->switches++;
	t->delay += delay;
	if (delay <= t->max)
		return;
	t->max = delay;
	t->max_start = t->waiting_since;
	t->max_end = time;
}

static void sched_woken(struct sched_task *t, uint64_t time)
{
	if (t->where != SLEEPING || t->out > time)
		return; /* the task already runs or waits */
	t->where = WAITING;
	t->waiting_since = time;
}

/*
 * Counts missing switches. A task can leave a CPU only after it entered one, and can enter a CPU
 * only after it left the last one. The idle task is an exception: it is on several CPUs at once. A
 * sleeping task that starts to run lacks a wakeup event, not a switch.
 */
static void sched_count_missing(struct sched *s, uint64_t prev, uint64_t next)
{
	struct sched_task *t;

	if (prev) {
		t = sched_task_of(s, (uint32_t)prev);
		s->no_in += t->ran && !t->on_cpu;
		t->on_cpu = false;
	}
	if (next) {
		t = sched_task_of(s, (uint32_t)next);
		s->no_out += t->on_cpu;
		t->on_cpu = t->ran = true;
	}
}

static void sched_deliver(void *ctx, const struct tracepoint *t, uint32_t thread)
{
	struct sched *s = ctx;
	bool counts = !s->q->cpus || cpuset_has(s->q->cpus, t->cpu);

	(void)thread;
	switch (t->want) {
	case SWITCH:
		sched_count_missing(s, t->v[PREV], t->v[NEXT]);
		sched_put_off(sched_task_of(s, (uint32_t)t->v[PREV]), t->time,
			      !t->v[STATE] || t->v[STATE] & s->preempted);
		sched_got_cpu(
			sched_first_seen(sched_task_of(s, (uint32_t)t->v[NEXT]), t->time, true),
			t->time, counts);
		break;
	case WAKE:
	case WAKE_NEW:
		sched_woken(
			sched_first_seen(sched_task_of(s, (uint32_t)t->v[TASK]), t->time, false),
			t->time);
		break;
	case RUNTIME:
		sched_first_seen(sched_task_of(s, (uint32_t)t->v[TASK]), t->time, true)->runtime +=
			counts ? t->v[TASK_RUNTIME] : 0;
		break;
	}
}

/*
 * Returns the prev_state bit of a preempted task. The event format prints that bit as "+":
 * `REC->prev_state & 2048 ? "+" : ""`, or, since Linux 4.14, an expression that is 0x100.
 */
static uint64_t sched_preempted_bit(const struct tracepoints *tp)
{
	size_t len;
	const char *text = tracepoints_print_format(tp, "sched", "sched_switch", &len);
	const char *plus = text ? memmem(text, len, " ? \"+\"", 6) : NULL;
	uint64_t bit = 0, digit = 1;

	/* "print fmt:" precedes the text, so the search for digits ends there at the latest. */
	for (; plus && isdigit((unsigned char)plus[-1]); digit *= 10)
		bit += digit * (uint64_t)(*--plus - '0');
	return bit ? bit : 0x100;
}

/* Returns the waking event: the one that --event names, else sched_waking if it was recorded. */
static const char *sched_wake_event(const struct tracepoints *tp, const struct query *q)
{
	if (q->event)
		return strncmp(q->event, "sched:", 6) ? q->event : q->event + 6;
	return tracepoints_has(tp, "sched", "sched_waking") ? "sched_waking" : "sched_wakeup";
}

static int sched_read_events(struct sched *s, struct error *err)
{
	const struct tracepoint_want wants[NWANTS] = {
		[SWITCH] = {"sched", "sched_switch", {"prev_pid", "next_pid", "prev_state"}},
		[WAKE] = {"sched", sched_wake_event(s->tp, s->q), {"pid"}},
		[WAKE_NEW] = {"sched", "sched_wakeup_new", {"pid"}},
		[RUNTIME] = {"sched", "sched_stat_runtime", {"pid", "runtime"}},
	};
	struct tracepoints_query q = {wants, NWANTS, sched_deliver, s};

	for (int i = 0; i < NWANTS; i++)
		s->has[i] = tracepoints_has(s->tp, wants[i].system, wants[i].name);
	if (!s->has[SWITCH])
		return error_set(
			err, ENOENT,
			"%s: has no sched:sched_switch; record with perf sched record, or perf record -a -e sched:sched_switch,sched:sched_waking,sched:sched_wakeup_new,sched:sched_stat_runtime",
			tracepoints_path(s->tp));
	s->preempted = sched_preempted_bit(s->tp);
	return tracepoints_read(s->tp, &q, err);
}

/* --- rows --- */

static void sched_row_add_task(struct sched_row *row, const struct sched_task *t)
{
	row->threads++;
	row->sum.runtime += t->runtime;
	row->sum.delay += t->delay;
	row->sum.switches += t->switches;
	if (t->max <= row->sum.max)
		return;
	row->sum.max = t->max;
	row->sum.max_start = t->max_start;
	row->sum.max_end = t->max_end;
}

/* Makes the rows and skips the idle task, which never waits. */
static void sched_make_rows(struct sched *s, bool by_tid)
{
	uint32_t comm;
	struct sched_row *row;

	for (uint32_t i = 0; i < s->ntasks; i++) {
		const char *name;

		if (!s->tasks[i].known)
			continue;
		name = tracepoints_comm(s->tp, i);
		if (!strcmp(name, "swapper") || !str_matches(s->q->comm, name))
			continue;
		comm = intern_str(&s->comms, name);
		if (by_tid || comm == s->nrows) {
			array_add(s->rows, s->nrows, s->rows_cap,
				  (struct sched_row){.comm = intern_get(&s->comms, comm),
						     .tid = tracepoints_thread(s->tp, i)->tid});
		}
		row = &s->rows[by_tid ? s->nrows - 1 : comm];
		sched_row_add_task(row, &s->tasks[i]);
	}
}

static double sched_mean_delay(const struct sched_task *t)
{
	return t->switches ? (double)t->delay / (double)t->switches : -1;
}

static int sched_compare_delay(const void *a, const void *b)
{
	const struct sched_row *x = a, *y = b;

	return descending(sched_mean_delay(&x->sum), sched_mean_delay(&y->sum))
		       ?: descending(x->sum.max, y->sum.max)
		       ?: descending(x->sum.runtime, y->sum.runtime)
		       ?: strcmp(x->comm, y->comm) ?: ascending(x->tid, y->tid);
}

static void sched_put_row(struct table *t, const struct sched *s, const struct sched_row *r)
{
	struct value *row = table_row(t);

	table_set(t, row, "comm", value_str(t, r->comm));
	table_set(t, row, "tid", value_int(r->tid));
	table_set(t, row, "threads", value_int((int64_t)r->threads));
	if (s->has[RUNTIME])
		table_set(t, row, "runtime_ms", value_real((double)r->sum.runtime / 1e6));
	table_set(t, row, "switches", value_int((int64_t)r->sum.switches));
	table_set(t, row, "avg_delay_ms", value_real(sched_mean_delay(&r->sum) / 1e6));
	table_set(t, row, "max_delay_ms", value_real((double)r->sum.max / 1e6));
	if (!r->sum.max)
		return;
	table_set(t, row, "max_start_s", value_real((double)r->sum.max_start / 1e9));
	table_set(t, row, "max_end_s", value_real((double)r->sum.max_end / 1e9));
}

static void sched_note_events(struct table *t, const struct sched *s)
{
	const char *wake = sched_wake_event(s->tp, s->q);

	note_add(&t->notes, table_how,
		 "a delay begins when a task is woken or preempted, inside the kernel (R+) too");
	if (!s->has[WAKE])
		note_add(&t->notes, sched_no_wakeups, wake);
	if (s->has[WAKE] && !strcmp(wake, "sched_waking"))
		note_add(
			&t->notes, table_how,
			"perf sched latency of 6.1 ignores sched_waking; --event sched_wakeup gives its figures");
	if (s->no_out || s->no_in)
		note_add(&t->notes, sched_switches_missing, (unsigned long long)s->no_out,
			 (unsigned long long)s->no_in);
	if (!s->has[RUNTIME])
		note_add(&t->notes, table_not_measured,
			 "no sched:sched_stat_runtime, so there is no runtime");
}

static void sched_put_rows(struct table *t, struct sched *s)
{
	size_t limit = query_limit(s->q, LIMIT), shown = 0, all = 0;
	uint64_t switches = 0, runtime = 0;

	array_sort(s->rows, s->nrows, sched_compare_delay);
	for (size_t i = 0; i < s->nrows && s->rows[i].sum.switches; i++, all++) {
		switches += s->rows[i].sum.switches;
		runtime += s->rows[i].sum.runtime;
		if (all >= limit)
			continue;
		sched_put_row(t, s, &s->rows[i]);
		shown++;
	}
	note_add(&t->notes, sched_sum, (unsigned long long)switches, (double)runtime / 1e6, shown,
		 all, shown < all ? "; --all shows all" : "");
	sched_note_events(t, s);
	tracepoints_add_notes(s->tp, &t->notes);
	t->lossy |= notes_have(&t->notes, SEVERITY_LOSSY);
}

/*
 * The table of a capture: how long the workload's threads ran and waited for a CPU in the window.
 * The source is the kernel's schedstat. Each thread of each run has a row; --by comm adds the
 * threads up.
 */
static const struct column sched_capture_columns[] = {
	SIDE_COLUMNS,
	{"run", .type = V_INT, .what = "the repeat of this thread"},
	{"comm", .type = V_STR, .what = "command"},
	{"pid", .type = V_INT},
	{"tid", .type = V_INT},
	{"threads", .type = V_INT, .what = "largest number of threads in a run"},
	{"runtime_ms", "ms", V_REAL, .digits = 3, .what = "time on a CPU"},
	{"delay_ms", "ms", V_REAL, .digits = 3, .spread = SPREAD_RANGE,
	 .what = "time runnable and waiting for a CPU"},
	{"slices", .type = V_REAL, .what = "times the thread got a CPU"},
	{"us_per_slice", "us", V_REAL, .digits = 2, .what = "delay / slices"},
	{"voluntary", .type = V_REAL, .what = "times the thread went to sleep"},
	{"involuntary", .type = V_REAL, .what = "times the kernel preempted the thread"},
};

static void sched_capture_put_group(const struct block_table *k, const struct thread_groups *groups,
				    const struct thread_group *g)
{
	struct table *t = k->t;
	struct value *row = thread_group_row(k, g);
	enum estimator est = k->list.estimator;
	struct estimate run = thread_estimate(groups, g, THREAD_SCHED_RUN, est),
			wait = thread_estimate(groups, g, THREAD_WAIT, est),
			slices = thread_estimate(groups, g, THREAD_SLICES, est);

	table_set(t, row, "runtime_ms", value_real(run.value / 1e6));
	wait = estimate_times(wait, 1e-6);
	put_estimate(t, row, "delay_ms", &wait);
	table_set(t, row, "slices", value_real(slices.value));
	table_set(t, row, "us_per_slice", value_real(1e3 * wait.value / slices.value));
	table_set(t, row, "voluntary",
		  value_real(thread_estimate(groups, g, THREAD_VOLUNTARY, est).value));
	table_set(t, row, "involuntary",
		  value_real(thread_estimate(groups, g, THREAD_INVOLUNTARY, est).value));
}

/* Returns false for threads that ended before zcost read them. */
static bool sched_capture_shows(const struct thread_groups *groups, const struct thread_group *g)
{
	return array_find(of, g->of, groups->nruns, !isnan((*of)[THREAD_WAIT]));
}

static enum thread_key sched_key(const struct query *q)
{
	enum thread_key key = BY_THREAD;

	if (q->by)
		thread_key_find(q->by, &key);
	return key;
}

static int sched_capture_put_block(struct block_table *k, struct error *err)
{
	size_t limit = query_limit(k->q, LIMIT), all = 0, shown = 0;
	const struct block *b = &k->b->block;
	freed(thread_groups_free) struct thread_groups groups = {0};
	int rc = thread_groups_read(&groups, k->s, k->b, sched_key(k->q), k->q->comm, THREAD_WAIT,
				    err);

	for (size_t i = 0; i < groups.n && !rc; i++) {
		if (!sched_capture_shows(&groups, &groups.g[i]) || all++ >= limit)
			continue;
		sched_capture_put_group(k, &groups, &groups.g[i]);
		shown++;
	}
	if (!rc && !all) {
		autofree char *reason = block_collector_reason(k->s, k->b, "sched");

		note_add_block(&k->t->notes, b, table_not_measured,
			       reason ? reason : "see collector 'sched' of the measure pass");
	}
	if (shown < all)
		note_add_block(&k->t->notes, b, rows_shown, shown, all);
	return rc;
}

static void sched_capture_add_notes(struct block_table *k)
{
	note_add(
		&k->t->notes, table_how,
		"over the window, from /proc/PID/task/TID/schedstat and status; a thread that ended counts until its last reading");
}

static int sched_run(struct store *store, const struct query *q, struct table *t, struct error *err)
{
	struct sched s = {.tp = q->bare.tracepoints, .q = q};
	bool by_tid = q->by && sched_key(q) != BY_COMM;
	int rc;

	if (store) {
		thread_columns(t, sched_capture_columns, array_size(sched_capture_columns),
			       sched_key(q));
		return block_table_run(store, q, t,
				       &(struct measure){.block = sched_capture_put_block,
							 .notes = sched_capture_add_notes},
				       err);
	}
	if (!s.tp)
		return error_set(err, EINVAL,
				 "table 'sched' is made from a capture, or from --perf FILE");
	if (by_tid && sched_key(q) == BY_PROCESS)
		return error_set(err, EINVAL,
				 "--by: table 'sched' of a perf.data has only comm and tid");
	rc = sched_read_events(&s, err);
	if (!rc) {
		thread_columns(t, sched_columns, array_size(sched_columns),
			       by_tid ? BY_THREAD : BY_COMM);
		sched_make_rows(&s, by_tid);
		sched_put_rows(t, &s);
	}
	free(s.tasks);
	free(s.rows);
	intern_free(&s.comms);
	return rc;
}

const struct measure measure_sched = {
	.name = "sched",
	.what = "run time and wait for a CPU of each thread (or --perf with sched events)",
	MEASURE_COLUMNS(sched_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS "comm workload-only by limit all",
		    [SOURCE_PERF] = "from to cpu comm event by limit all"},
	.spare = "max_end_s max_start_s",
	.keys = "comm process pid thread tid",
	.flags = MEASURE_TRACEPOINTS,
	.run = sched_run,
};
