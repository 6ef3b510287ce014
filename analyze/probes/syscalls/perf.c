// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/texts/perf_trace.h"
#include "analyze/probes/syscalls/table.h"
#include "analyze/perfdata/tracepoints.h"
#include "lib/hash.h"
#include "lib/intern.h"
#include "lib/str.h"
#include "lib/syscall_names.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTER, EXIT };
enum { NR, RESULT };

static const struct tracepoint_want raw_wants[] = {
	[ENTER] = {"raw_syscalls", "sys_enter", {[NR] = "id"}},
	[EXIT] = {"raw_syscalls", "sys_exit", {[NR] = "id", [RESULT] = "ret"}},
};

/* One event for each call. Linux before 3.15 names the number `nr`. */
static const struct tracepoint_want single_wants[] = {
	[ENTER] = {"syscalls", "sys_enter_*", {[NR] = "__syscall_nr|nr"}},
	[EXIT] = {"syscalls", "sys_exit_*", {[NR] = "__syscall_nr|nr", [RESULT] = "ret"}},
};

enum { RECENT_CALLS = 8 };

/* A thread's open call, and the rows of its recent calls. */
struct syscalls_perf_thread {
	uint64_t entered; /* time of the entry, valid only if `open` */
	uint32_t nr;
	uint16_t event;	     /* event of the entry */
	bool open, left_out; /* left_out: --comm excludes the thread */
	uint32_t group;	     /* number + 1; 0 if not known yet */
	struct {
		uint32_t nr, row; /* row + 1; 0 for a free entry */
	} recent[RECENT_CALLS];	  /* rows of the thread's recent calls, by number */
};

struct syscalls_perf_calls {
	struct tracepoints *tp;
	const struct query *q;
	struct syscalls_perf_thread *threads;
	size_t nthreads;
	struct intern strings, groups; /* groups: see syscalls_perf_set_group */
	struct map cells;	       /* group and call -> row + 1 */
	struct syscall_sums sums;
	unsigned __int128 *squares; /* sum of squared times of each row, ns^2 */
	size_t squares_cap;
	uint64_t no_entry; /* returns without an entry */
	uint64_t unnamed;
};

static struct syscalls_perf_thread *syscalls_perf_state_of(struct syscalls_perf_calls *c,
							   uint32_t thread)
{
	size_t n = c->nthreads;

	if (thread >= n) {
		c->nthreads = thread * 2ULL + 16;
		c->threads = xrealloc(c->threads, c->nthreads * sizeof(*c->threads));
		memset(c->threads + n, 0, (c->nthreads - n) * sizeof(*c->threads));
	}
	return &c->threads[thread];
}

/* Sets the thread's group. Rows add up the threads of a group. */
static void syscalls_perf_set_group(struct syscalls_perf_calls *c, struct syscalls_perf_thread *s,
				    uint32_t thread)
{
	const char *comm = tracepoints_comm(c->tp, thread);
	uint32_t key[3] = {0};

	s->left_out = !str_matches(c->q->comm, comm);
	if (c->sums.keys & SYSCALLS_BY_COMM)
		key[0] = intern_str(&c->strings, comm) + 1;
	if (c->sums.keys & SYSCALLS_BY_PID)
		key[1] = tracepoints_thread(c->tp, thread)->pid;
	if (c->sums.keys & SYSCALLS_BY_TID)
		key[2] = thread;
	s->group = intern_bytes(&c->groups, key, sizeof(key)) + 1;
}

static const char *syscalls_perf_name_of(struct syscalls_perf_calls *c, uint32_t nr, uint16_t entry)
{
	const char *name = syscall_name_on(tracepoints_arch(c->tp), nr);
	const char *own = tracepoints_event(c->tp, entry);
	char number[32];

	if (!name && !strncmp(own, "sys_enter_", 10))
		name = own + 10;
	if (!name) {
		snprintf(number, sizeof(number), "syscall_%u", nr);
		name = number;
		c->unnamed++;
	}
	return intern_get(&c->strings, intern_str(&c->strings, name));
}

static size_t syscalls_perf_find_row(struct syscalls_perf_calls *c,
				     const struct syscalls_perf_thread *s, uint32_t thread)
{
	uint64_t *at = map_at(&c->cells, (uint64_t)s->group << 32 | s->nr);
	const struct tracepoint_thread *t = tracepoints_thread(c->tp, thread);
	struct syscall_row row = {.nr = s->nr, .tid = t->tid, .pid = -1};
	const char *comm;

	if (*at)
		return *at - 1;
	*at = c->sums.n + 1;
	comm = tracepoints_comm(c->tp, thread);
	row.comm = intern_get(&c->strings, intern_str(&c->strings, comm));
	row.name = syscalls_perf_name_of(c, s->nr, s->event);
	row.has_bytes = syscall_name_moves_bytes(row.name);
	if (t->pid != UINT32_MAX)
		row.pid = t->pid;
	array_grow(c->sums.rows, c->sums.n, c->sums.cap);
	c->sums.rows[c->sums.n] = row;
	array_grow(c->squares, c->sums.n, c->squares_cap);
	c->squares[c->sums.n] = 0;
	return c->sums.n++;
}

static size_t syscalls_perf_row_of(struct syscalls_perf_calls *c, struct syscalls_perf_thread *s,
				   uint32_t thread)
{
	uint32_t i = s->nr % RECENT_CALLS;

	if (s->recent[i].nr != s->nr || !s->recent[i].row) {
		s->recent[i].row = (uint32_t)syscalls_perf_find_row(c, s, thread) + 1;
		s->recent[i].nr = s->nr;
	}
	return s->recent[i].row - 1;
}

static int hist_bucket(uint64_t v)
{
	return v ? 63 - __builtin_clzll(v) : 0;
}

static void syscalls_perf_count(struct syscalls_perf_calls *c, size_t index, uint64_t ns,
				int64_t result)
{
	struct syscall_row *r = &c->sums.rows[index];

	if (!r->calls++ || ns < r->min_ns)
		r->min_ns = ns;
	if (ns > r->max_ns)
		r->max_ns = ns;
	c->squares[index] += (unsigned __int128)ns * ns;
	r->total_ns += ns;
	r->time_hist[hist_bucket(ns)]++;
	r->errors += result < 0;
	if (r->has_bytes && result > 0)
		r->bytes += (uint64_t)result;
}

static void syscalls_perf_add_unfinished(struct syscalls_perf_calls *c,
					 struct syscalls_perf_thread *s, uint32_t thread)
{
	size_t row;

	s->open = false;
	if (s->left_out)
		return;
	row = syscalls_perf_row_of(c, s, thread); /* this call may move the rows */
	c->sums.rows[row].unfinished++;
}

static void syscalls_perf_on_enter(struct syscalls_perf_calls *c, const struct tracepoint *t,
				   uint32_t thread)
{
	struct syscalls_perf_thread *s = syscalls_perf_state_of(c, thread);

	if (!s->group)
		syscalls_perf_set_group(c, s, thread);
	if (s->open)
		syscalls_perf_add_unfinished(c, s, thread);
	if ((int32_t)t->v[NR] < 0)
		return; /* a tracer cancelled the call */
	s->open = true;
	s->nr = (uint32_t)t->v[NR];
	s->event = t->event;
	s->entered = t->time;
}

/*
 * Handles a return. rt_sigreturn returns with number -1 and with the interrupted code's register
 * as its result. A call that a tracer cancelled also returns with number -1.
 */
static void syscalls_perf_on_exit(struct syscalls_perf_calls *c, const struct tracepoint *t,
				  uint32_t thread)
{
	struct syscalls_perf_thread *s = syscalls_perf_state_of(c, thread);
	bool no_number = (int32_t)t->v[NR] < 0;

	if (s->open && !no_number && s->nr != (uint32_t)t->v[NR])
		syscalls_perf_add_unfinished(c, s, thread);
	if (!s->open) {
		c->no_entry += !no_number;
		return;
	}
	s->open = false;
	if (s->left_out || (c->q->cpus && !cpuset_has(c->q->cpus, t->cpu)))
		return;
	syscalls_perf_count(c, syscalls_perf_row_of(c, s, thread),
			    t->time > s->entered ? t->time - s->entered : 0,
			    no_number ? 0 : (int64_t)t->v[RESULT]);
}

static void syscalls_perf_deliver(void *ctx, const struct tracepoint *t, uint32_t thread)
{
	if (t->want == ENTER)
		syscalls_perf_on_enter(ctx, t, thread);
	else
		syscalls_perf_on_exit(ctx, t, thread);
}

/*
 * Computes the squared deviations from the mean in integers, because the two terms are nearly
 * equal.
 */
static void syscalls_perf_set_deviations(struct syscalls_perf_calls *c)
{
	unsigned __int128 total2, whole;
	struct syscall_row *r;
	size_t i;

	for (i = 0; i < c->sums.n; i++) {
		r = &c->sums.rows[i];
		if (!r->calls)
			continue;
		total2 = (unsigned __int128)r->total_ns * r->total_ns;
		whole = total2 / r->calls;
		r->m2 = (double)(c->squares[i] - whole) -
			(double)(total2 % r->calls) / (double)r->calls;
	}
}

static int syscalls_perf_missing(const struct tracepoints *tp, struct error *err)
{
	return error_set(
		err, ENOENT,
		"%s: has no system calls; record them with perf record -e raw_syscalls:sys_enter -e raw_syscalls:sys_exit (-a, or a command)",
		tracepoints_path(tp));
}

static bool syscalls_perf_has_both(const struct tracepoints *tp,
				   const struct tracepoint_want *wants)
{
	return tracepoints_has(tp, wants[ENTER].system, wants[ENTER].name) &&
	       tracepoints_has(tp, wants[EXIT].system, wants[EXIT].name);
}

static int syscalls_perf_read_calls(struct syscalls_perf_calls *c, struct error *err)
{
	struct tracepoints_query q = {.n = 2, .deliver = syscalls_perf_deliver, .ctx = c};
	uint32_t i;
	int rc;

	if (syscalls_perf_has_both(c->tp, raw_wants))
		q.wants = raw_wants;
	else if (syscalls_perf_has_both(c->tp, single_wants))
		q.wants = single_wants;
	else
		return syscalls_perf_missing(c->tp, err);
	rc = tracepoints_read(c->tp, &q, err);
	for (i = 0; i < c->nthreads && !rc; i++)
		if (c->threads[i].open)
			syscalls_perf_add_unfinished(c, &c->threads[i], i);
	syscalls_perf_set_deviations(c);
	return rc;
}

static void syscalls_perf_note_calls(struct table *t, const struct syscalls_perf_calls *c,
				     size_t shown)
{
	char *open = syscalls_unfinished(&c->sums);
	const char *arch = tracepoints_arch(c->tp);
	unsigned long long calls = 0;
	double ns = 0;
	size_t i;

	for (i = 0; i < c->sums.n; i++) {
		calls += c->sums.rows[i].calls;
		ns += (double)c->sums.rows[i].total_ns;
	}
	note_add(&t->notes, syscalls_sum, calls, ns / 1e6, shown, c->sums.n,
		 shown < c->sums.n ? "; --all shows all" : "");
	if (*open)
		note_add(&t->notes, syscalls_open_recording, open);
	if (c->no_entry)
		note_add(&t->notes, syscalls_no_entry, (unsigned long long)c->no_entry);
	if (c->unnamed && !syscall_arch_known(arch))
		note_add(&t->notes, syscalls_no_names,
			 arch ? arch : "a recording that does not name its architecture");
	note_add(
		&t->notes, table_how,
		"a call's time runs from its entry to its return and includes waiting: it is not CPU time; p50 and p99 are interpolated in log2 buckets");
	free(open);
}

static void syscalls_perf_calls_free(struct syscalls_perf_calls *c)
{
	free(c->threads);
	free(c->squares);
	free(c->sums.rows);
	map_free(&c->cells);
	intern_free(&c->strings);
	intern_free(&c->groups);
}

int syscalls_from_perf(struct tracepoints *tp, const struct query *q, struct table *t,
		       struct error *err)
{
	struct syscalls_perf_calls c = {.tp = tp, .q = q, .sums.kib = syscalls_work_kib(q)};
	int rc = syscalls_keys(q, &c.sums.keys, err);

	if (!rc)
		rc = syscalls_perf_read_calls(&c, err);
	if (!rc) {
		syscalls_set_columns(t, c.sums.keys, false);
		syscalls_perf_note_calls(t, &c, syscalls_put(t, q, &c.sums, NULL, NULL));
		tracepoints_add_notes(tp, &t->notes);
		t->lossy |= notes_have(&t->notes, SEVERITY_LOSSY);
	}
	syscalls_perf_calls_free(&c);
	return rc;
}

/* --- the text of perf trace -s --- */

/*
 * Calls of one system call by one command. m2 is the sum of squared deviations from the mean,
 * ms^2.
 */
struct syscalls_trace_sum {
	struct trace_row row;
	double m2;
	unsigned threads;
};

static bool syscalls_trace_same(const struct trace_row *a, const struct trace_row *b)
{
	if (!a->comm != !b->comm || (a->comm && strcmp(a->comm, b->comm)))
		return false;
	return !a->syscall == !b->syscall && (!a->syscall || !strcmp(a->syscall, b->syscall));
}

/* Parses --by, with the default "comm,syscall". */
static int syscalls_trace_read_keys(const struct query *q, bool *by_comm, bool *by_syscall,
				    struct error *err)
{
	char *copy = xstrdup(q->by ? q->by : "comm,syscall"), *rest = copy, *word;
	int rc = 0;

	*by_comm = *by_syscall = false;
	while (!rc && (word = str_token(&rest, ','))) {
		word = str_trim(word);
		*by_comm |= !strcmp(word, "comm");
		*by_syscall |= !strcmp(word, "syscall");
		if (strcmp(word, "comm") && strcmp(word, "syscall"))
			rc = error_set(
				err, EINVAL,
				"a text of system calls can be split by comm and syscall, not by '%s'",
				word);
	}
	free(copy);
	return rc;
}

/* Returns the mean, from the total if known, because the printed mean has only three digits. */
static double syscalls_trace_mean_of(const struct trace_row *r)
{
	return isnan(r->total_ms) ? r->avg_ms : r->total_ms / (double)r->calls;
}

/* Recovers m2 from perf's 100 x sqrt(m2 / (n - 1) / n) / mean. */
static double syscalls_trace_m2_of(const struct trace_row *r)
{
	double n = (double)r->calls, se = r->stddev_pct / 100 * syscalls_trace_mean_of(r);

	return se * se * n * (n - 1);
}

/* `calls` is at least 2: those of two rows. */
static double syscalls_trace_stddev_of(double m2, double calls, double mean)
{
	if (!(mean > 0))
		return 0;
	return 100 * sqrt(m2 / (calls - 1) / calls) / mean;
}

/* Merges a row into a sum with Chan's formula. */
static void syscalls_trace_merge(struct syscalls_trace_sum *s, const struct trace_row *r)
{
	double na = (double)s->row.calls, nb = (double)r->calls;
	double delta = syscalls_trace_mean_of(r) - syscalls_trace_mean_of(&s->row);

	s->m2 += syscalls_trace_m2_of(r) + delta * delta * na * nb / (na + nb);
	s->row.avg_ms =
		(syscalls_trace_mean_of(&s->row) * na + syscalls_trace_mean_of(r) * nb) / (na + nb);
	s->row.calls += r->calls;
	s->row.total_ms += r->total_ms;
	if (s->row.errors >= 0)
		s->row.errors = r->errors < 0 ? -1 : s->row.errors + r->errors;
	s->row.min_ms = r->min_ms < s->row.min_ms ? r->min_ms : s->row.min_ms;
	s->row.max_ms = r->max_ms > s->row.max_ms ? r->max_ms : s->row.max_ms;
	s->row.stddev_pct = syscalls_trace_stddev_of(s->m2, (double)s->row.calls, s->row.avg_ms);
	s->threads++;
}

static size_t syscalls_trace_gather(const struct trace *tr, const struct query *q, bool by_comm,
				    bool by_syscall, struct syscalls_trace_sum *sums)
{
	size_t i, j, n = 0;

	for (i = 0; i < tr->n; i++) {
		struct trace_row r = tr->rows[i];

		if (q->comm && (!r.comm || !str_matches(q->comm, r.comm)))
			continue;
		r.comm = by_comm ? r.comm : NULL;
		r.syscall = by_syscall ? r.syscall : NULL;
		for (j = 0; j < n && !syscalls_trace_same(&sums[j].row, &r); j++)
			;
		if (j == n)
			sums[n++] = (struct syscalls_trace_sum){r, syscalls_trace_m2_of(&r), 1};
		else
			syscalls_trace_merge(&sums[j], &r);
	}
	return n;
}

static double syscalls_trace_time_of(const struct syscalls_trace_sum *s)
{
	return syscalls_trace_mean_of(&s->row) * (double)s->row.calls;
}

static int syscalls_trace_by_time(const void *a, const void *b)
{
	double x = syscalls_trace_time_of(a), y = syscalls_trace_time_of(b);

	return (x < y) - (x > y);
}

static void syscalls_trace_put_row(struct table *t, const struct syscalls_trace_sum *s, double kib)
{
	struct value *row = table_row(t);
	const struct trace_row *r = &s->row;

	table_set(t, row, "comm", value_str(t, r->comm));
	table_set(t, row, "syscall", value_str(t, r->syscall));
	table_set(t, row, "calls", value_int((int64_t)r->calls));
	table_set(t, row, "errors", r->errors < 0 ? value_none() : value_int(r->errors));
	table_set(t, row, "total_ms", value_real(r->total_ms));
	table_set(t, row, "min_ms", value_real(r->min_ms));
	table_set(t, row, "avg_ms", value_real(syscalls_trace_mean_of(r)));
	table_set(t, row, "max_ms", value_real(r->max_ms));
	table_set(t, row, "stddev_pct", value_real(r->stddev_pct));
	table_set(t, row, "calls_per_mib", value_real((double)r->calls / (kib / 1024)));
	table_set(t, row, "ns_per_kib", value_real(r->total_ms * 1e6 / kib));
}

int syscalls_from_perf_trace(const struct trace *tr, const struct query *q, struct table *t,
			     struct error *err)
{
	struct syscalls_trace_sum *sums;
	bool by_comm, by_syscall;
	size_t n, i, shown;
	int rc = syscalls_trace_read_keys(q, &by_comm, &by_syscall, err);

	if (rc)
		return rc;
	sums = xcalloc(tr->n + 1, sizeof(*sums));
	n = syscalls_trace_gather(tr, q, by_comm, by_syscall, sums);
	qsort(sums, n, sizeof(*sums), syscalls_trace_by_time);
	shown = q->limit > 0 && !q->all && (size_t)q->limit < n ? (size_t)q->limit : n;
	for (i = 0; i < shown; i++)
		syscalls_trace_put_row(t, &sums[i], syscalls_work_kib(q));
	if (shown < n)
		note_add(&t->notes, more_rows, n - shown);
	note_add(&t->notes, table_how, SYSCALLS_TIMES);
	if (tr->events)
		note_add(&t->notes, trace_events, (unsigned long long)tr->events);
	free(sums);
	return 0;
}
