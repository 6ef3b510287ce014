// SPDX-License-Identifier: GPL-2.0-only
/* The table syscalls, from a capture, a perf.data, or the text of perf trace -s. */
#include "analyze/probes/syscalls/table.h"

#include "analyze/perfdata/tracepoints.h"
#include "analyze/scope/changes.h"
#include "analyze/scope/runs.h"
#include "analyze/scope/results.h"
#include "analyze/texts/text.h"
#include "lib/syscall_facts.h"

#include <errno.h>
#include <math.h>

/* The keys of a row in addition to the call. comm is the default; syscall adds no key. */
enum { SYSCALLS_BY_COMM = 1, SYSCALLS_BY_PID = 2, SYSCALLS_BY_TID = 4 };

struct syscall_sums {
	struct syscall_row *rows;
	size_t n, cap;
	unsigned int keys;
	const struct work_kind *unit;
	double work; /* done in the counted time, in its unit; NAN if not known */
};

const struct work_kind *syscalls_unit(const struct query *q, struct error *err)
{
	const struct work_kind *unit = work_kind_find(q->unit);

	if (unit && unit->rate)
		return unit;
	error_set(err, ENODATA,
		  "--unit %s: system calls have costs per " WORK_UNITS(WORK_UNIT_COMMA) "KiB",
		  q->unit);
	return NULL;
}

/* --- percentiles --- */

static double hist_within(double x, double min, double max)
{
	return x < min ? min : x > max ? max : x;
}

/*
 * Returns the value below which the share `p` (0 to 1) of the values lie, or NAN for an empty
 * histogram. Assumes an even spread in each bucket, between min and max.
 */
static double hist_quantile(const uint64_t hist[64], double p, double min, double max)
{
	double all = 0, below = 0, want, lo, hi;
	int b;

	for (b = 0; b < 64; b++)
		all += (double)hist[b];
	if (!(all > 0))
		return NAN;
	want = p * all;
	for (b = 0; b < 63 && below + (double)hist[b] < want; b++)
		below += (double)hist[b];
	lo = hist_within(b ? ldexp(1, b) : 0, min, max);
	hi = hist_within(ldexp(1, b + 1), min, max);
	return hist[b] ? lo + (hi - lo) * (want - below) / (double)hist[b] : lo;
}

/* --- rows --- */

enum { LIMIT = 30 };

/* --- keys --- */

static const struct {
	const char *name;
	unsigned int keys;
} by_names[] = {
	{"comm", SYSCALLS_BY_COMM},
	{"pid", SYSCALLS_BY_COMM | SYSCALLS_BY_PID},
	{"tid", SYSCALLS_BY_COMM | SYSCALLS_BY_PID | SYSCALLS_BY_TID},
	{"thread", SYSCALLS_BY_COMM | SYSCALLS_BY_PID | SYSCALLS_BY_TID},
	{"syscall", 0},
	{"variant", SYSCALLS_BY_COMM},
	{"side", SYSCALLS_BY_COMM},
};

/* Parses the keys of q->by and ignores "variant" and "side". Returns -EINVAL for an unknown key. */
static int syscalls_keys(const struct query *q, unsigned int *keys, struct error *err)
{
	char *word;
	size_t i;

	*keys = 0;
	each_part (word, q->by ? q->by : "comm", ',') {
		for (i = 0; i < array_size(by_names) && strcmp(by_names[i].name, word); i++)
			;
		if (i < array_size(by_names))
			*keys |= by_names[i].keys;
		else if (*word)
			return error_set(
				err, EINVAL,
				"--by: syscalls have no key '%s'; there are: comm pid tid syscall variant side",
				word);
	}
	return 0;
}

/* Names the columns of costs after the unit: calls_per_mib becomes calls_per_message. */
static void syscalls_name_unit(struct table *t, const struct work_kind *unit)
{
	size_t size = (size_t)t->ncolumns * sizeof(*t->columns);
	struct column *list = arena_dup(&t->arena, t->columns, size);

	for (int i = 0; i < t->ncolumns; i++) {
		bool calls = !strcmp(list[i].name, "calls_per_mib");

		if (!calls && strcmp(list[i].name, "ns_per_kib") != 0)
			continue;
		list[i].name =
			arena_printf(&t->arena, "%s_per_%s", calls ? "calls" : "ns", unit->word);
		list[i].unit = arena_printf(&t->arena, "%s/%s", calls ? "1" : "ns", unit->unit);
		list[i].digits = calls ? 4 : 1;
	}
	t->columns = list;
}

/* Sets the columns. by_block adds variant and side in front. */
static void syscalls_set_columns(struct table *t, const struct work_kind *unit, unsigned int keys,
				 bool by_block)
{
	freed(str_free) struct str others = {0};

	if (strcmp(unit->word, "kib") != 0)
		syscalls_name_unit(t, unit);
	str_printf(&others, "%s%s%s%s-", by_block ? "" : "variant side ",
		   keys & SYSCALLS_BY_PID ? "" : "pid ", keys & SYSCALLS_BY_TID ? "" : "tid ",
		   keys & SYSCALLS_BY_COMM ? "" : "comm ");
	table_drop_columns(t, others.buf);
}

/* --- adding up: sums of squares are merged by Chan's formula --- */

static double syscall_rows_mean_of(const struct syscall_row *r)
{
	return r->calls ? (double)r->total_ns / (double)r->calls : 0;
}

/* Merges b into a. */
static void syscall_rows_merge(struct syscall_row *a, const struct syscall_row *b)
{
	double na = (double)a->calls, nb = (double)b->calls,
	       delta = syscall_rows_mean_of(b) - syscall_rows_mean_of(a);

	if (nb > 0) {
		a->m2 += b->m2 + delta * delta * na * nb / (na + nb);
		a->min_ns = na > 0 && a->min_ns < b->min_ns ? a->min_ns : b->min_ns;
		a->max_ns = a->max_ns > b->max_ns ? a->max_ns : b->max_ns;
	}
	a->calls += b->calls;
	a->errors = a->errors == ERRORS_UNKNOWN || b->errors == ERRORS_UNKNOWN
			    ? ERRORS_UNKNOWN
			    : a->errors + b->errors;
	a->total_ns += b->total_ns;
	a->unfinished += b->unfinished;
	a->bytes += b->bytes;
	a->has_bytes |= b->has_bytes;
	for (int i = 0; i < 64; i++) {
		a->time_hist[i] += b->time_hist[i];
		a->size_hist[i] += b->size_hist[i];
	}
}

static bool syscall_rows_same(unsigned int keys, const struct syscall_row *a,
			      const struct syscall_row *b)
{
	return !strcmp(a->name, b->name) && (!(keys & SYSCALLS_BY_PID) || a->pid == b->pid) &&
	       (!(keys & SYSCALLS_BY_TID) || a->tid == b->tid) &&
	       (!(keys & SYSCALLS_BY_COMM) || !strcmp(a->comm, b->comm));
}

/* Adds the calls to the row with the same keys. */
static void syscalls_add(struct syscall_sums *s, const struct syscall_row *r)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (syscall_rows_same(s->keys, &s->rows[i], r))
			break;
	if (i < s->n) {
		syscall_rows_merge(&s->rows[i], r);
		return;
	}
	array_add(s->rows, s->n, s->cap, *r);
}

/* --- printing --- */

static int syscall_rows_by_time(const void *a, const void *b)
{
	const struct syscall_row *x = a, *y = b;

	return descending(x->total_ns, y->total_ns)
		       ?: strcmp(x->name, y->name)
		       ?: strcmp(x->comm, y->comm) ?: ascending(x->tid, y->tid);
}

static double syscall_rows_stddev_pct(const struct syscall_row *r)
{
	double n = (double)r->calls, mean = syscall_rows_mean_of(r);

	if (n < 2 || !(mean > 0))
		return 0;
	return 100 * sqrt(r->m2 / (n - 1) / n) / mean;
}

static struct syscall_cost syscall_rows_cost(const struct syscall_row *r,
					     const struct syscall_sums *s)
{
	double work = s->work > 0 ? s->work : NAN;

	return (struct syscall_cost){
		.name = r->name,
		.ns_per_work = (double)r->total_ns / work,
		.calls_per_work =
			(double)r->calls / work * (strcmp(s->unit->word, "kib") ? 1 : PER_MIB),
	};
}

static void syscall_rows_put_row(struct table *t, const struct syscall_row *r,
				 const struct syscall_sums *s, const struct block *b)
{
	double min = (double)r->min_ns, max = (double)r->max_ns, calls = (double)r->calls;
	const struct syscall_cost cost = syscall_rows_cost(r, s);
	struct syscalls_row row = {
		.block = *b,
		.pid = r->pid > 0 ? (double)r->pid : NAN,
		.tid = r->tid > 0 ? (double)r->tid : NAN,
		.comm = *r->comm ? r->comm : NULL,
		.syscall = r->name,
		.calls = (int64_t)r->calls,
		.errors = r->errors == ERRORS_UNKNOWN ? NAN : (double)r->errors,
		.total_ms = (double)r->total_ns / 1e6,
		.min_ms = r->calls ? min / 1e6 : NAN,
		.avg_ms = r->calls ? syscall_rows_mean_of(r) / 1e6 : NAN,
		.max_ms = r->calls ? max / 1e6 : NAN,
		.stddev_pct = r->calls ? syscall_rows_stddev_pct(r) : NAN,
		.p50_ms = r->calls ? hist_quantile(r->time_hist, 0.5, min, max) / 1e6 : NAN,
		.p99_ms = r->calls ? hist_quantile(r->time_hist, 0.99, min, max) / 1e6 : NAN,
		.bytes_per_call = r->calls && r->has_bytes ? (double)r->bytes / calls : NAN,
		.calls_per_work = cost.calls_per_work,
		.ns_per_work = cost.ns_per_work,
	};

	table_add(t, struct syscalls_row, &row);
}

/* Notes the calls that never returned: "exit_group 5, read 1". */
static void syscalls_note_unfinished(struct table *t, const struct block *b,
				     const struct syscall_sums *s)
{
	freed(str_free) struct str text = {0};
	freed(intern_free) struct intern names = {0};
	autofree uint64_t *sums = xcalloc(s->n + 1, sizeof(*sums));

	for (size_t i = 0; i < s->n; i++)
		if (s->rows[i].unfinished)
			sums[intern_str(&names, s->rows[i].name)] += s->rows[i].unfinished;
	for (uint32_t k = 0; k < names.n; k++)
		str_printf(&text, "%s%s %llu", k ? ", " : "", intern_get(&names, k),
			   (unsigned long long)sums[k]);
	if (text.len)
		note_add_block(&t->notes, b, syscalls_open, text.buf);
}

/*
 * Prints the rows by total time, within the query's limit, and notes on all of them. The block of
 * a file is empty.
 */
static void syscalls_put(struct table *t, const struct query *q, struct syscall_sums *s,
			 const struct block *b)
{
	size_t limit = query_limit(q, LIMIT);
	unsigned long long calls = 0, ended = 0;
	double ns = 0;

	array_sort(s->rows, s->n, syscall_rows_by_time);
	if (s->n < limit)
		limit = s->n;
	for (size_t i = 0; i < s->n; i++) {
		const struct syscall_row *r = &s->rows[i];

		if (i < limit)
			syscall_rows_put_row(t, r, s, b);
		calls += r->calls;
		ns += (double)r->total_ns;
		if ((s->keys & SYSCALLS_BY_TID && !r->tid) ||
		    (s->keys & SYSCALLS_BY_PID && !r->pid))
			ended += r->calls;
	}
	note_add_block(&t->notes, b, syscalls_sum, calls, ns / 1e6, limit, s->n,
		       limit < s->n ? "; --all shows all" : "");
	if (b->variant && ended)
		note_add_block(&t->notes, b, syscalls_ended, ended);
	syscalls_note_unfinished(t, b, s);
}

/* Returns the work from --units, or --rate and --seconds, in the unit of --unit, or NAN. */
static double syscalls_given_work(const struct query *q)
{
	if (!q->unit)
		return NAN;
	if (q->work.units > 0)
		return q->work.units;
	return q->work.rate > 0 && q->work.seconds > 0 ? q->work.rate * q->work.seconds : NAN;
}

/* --- the calls of a perf.data --- */

enum { ENTER, EXIT };
enum { NR, RESULT, SECOND = 1, THIRD };

static const struct tracepoint_want wants[] = {
	[ENTER] = {"raw_syscalls",
		   "sys_enter",
		   {[NR] = "id", [SECOND] = "args[1]", [THIRD] = "args[2]"}},
	[EXIT] = {"raw_syscalls", "sys_exit", {[NR] = "id", [RESULT] = "ret"}},
};

enum { RECENT_CALLS = 8 };

/* A thread's open call, and the rows of its recent calls. */
struct syscalls_perf_thread {
	uint64_t entered; /* time of the entry, valid only if `open`, as `argument` is */
	uint64_t argument[THIRD + 1];
	uint32_t nr;
	bool open, left_out; /* left_out: --comm excludes the thread */
	uint32_t group;	     /* number + 1; 0 if not known yet */
	struct {
		uint32_t nr, row; /* row + 1; 0 for a free entry */
		int bytes;	  /* as of syscall_name_bytes() */
	} recent[RECENT_CALLS];	  /* by the number of the call */
};

struct syscalls_perf_calls {
	struct tracepoints *tp;
	const struct query *q;
	struct syscalls_perf_thread *threads;
	size_t nthreads;
	struct intern strings, groups; /* groups: see syscalls_perf_set_group */
	struct map cells;	       /* group and call -> row + 1 */
	struct syscall_sums sums;
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

static const char *syscalls_perf_name_of(struct syscalls_perf_calls *c, uint32_t nr)
{
	const char *name = syscall_name_on(tracepoints_arch(c->tp), nr);
	char number[32];

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
	row.name = syscalls_perf_name_of(c, s->nr);
	row.has_bytes = syscall_name_bytes(row.name) != SYSCALL_BYTES_NOWHERE;
	if (t->pid != UINT32_MAX)
		row.pid = t->pid;
	array_add(c->sums.rows, c->sums.n, c->sums.cap, row);
	return c->sums.n - 1;
}

static size_t syscalls_perf_row_of(struct syscalls_perf_calls *c, struct syscalls_perf_thread *s,
				   uint32_t thread)
{
	uint32_t i = s->nr % RECENT_CALLS;

	if (s->recent[i].nr != s->nr || !s->recent[i].row) {
		s->recent[i].row = (uint32_t)syscalls_perf_find_row(c, s, thread) + 1;
		s->recent[i].nr = s->nr;
		s->recent[i].bytes = syscall_name_bytes(c->sums.rows[s->recent[i].row - 1].name);
	}
	return s->recent[i].row - 1;
}

static int hist_bucket(uint64_t v)
{
	return v ? 63 - __builtin_clzll(v) : 0;
}

static void syscalls_perf_count(struct syscalls_perf_calls *c, size_t index, uint64_t ns,
				int64_t result, int64_t bytes)
{
	struct syscall_row *r = &c->sums.rows[index];
	double before = (double)r->calls; /* the number of calls */
	double off = (double)ns * before - (double)r->total_ns;

	if (!r->calls++ || ns < r->min_ns)
		r->min_ns = ns;
	if (ns > r->max_ns)
		r->max_ns = ns;
	r->total_ns += ns;
	/*
	 * Sum of squared deviations (Youngs and Cramer 1971): the difference of two sums would lose
	 * digits.
	 */
	if (before > 0)
		r->m2 += off * off / (before * (before + 1));
	r->time_hist[hist_bucket(ns)]++;
	r->errors += result < 0;
	if (r->has_bytes && result >= 0 && bytes > 0)
		r->bytes += (uint64_t)bytes;
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
	s->entered = t->time;
	memcpy(s->argument, t->v, sizeof(s->argument));
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
	int64_t result = no_number ? 0 : (int64_t)t->v[RESULT];
	size_t row;
	int from;

	if (s->open && !no_number && s->nr != (uint32_t)t->v[NR])
		syscalls_perf_add_unfinished(c, s, thread);
	if (!s->open) {
		c->no_entry += !no_number;
		return;
	}
	s->open = false;
	if (s->left_out || (c->q->cpus && !cpuset_has(c->q->cpus, t->cpu)))
		return;
	row = syscalls_perf_row_of(c, s, thread);
	from = s->recent[s->nr % RECENT_CALLS].bytes;
	syscalls_perf_count(c, row, t->time > s->entered ? t->time - s->entered : 0, result,
			    from == SECOND || from == THIRD ? (int64_t)s->argument[from] : result);
}

static void syscalls_perf_deliver(void *ctx, const struct tracepoint *t, uint32_t thread)
{
	if (t->want == ENTER)
		syscalls_perf_on_enter(ctx, t, thread);
	else
		syscalls_perf_on_exit(ctx, t, thread);
}

static int syscalls_perf_read_calls(struct syscalls_perf_calls *c, struct error *err)
{
	struct tracepoints_query q = {wants, array_size(wants), syscalls_perf_deliver, c};
	int rc;

	for (uint32_t i = 0; i < array_size(wants); i++)
		if (!tracepoints_has(c->tp, wants[i].system, wants[i].name))
			return error_set(
				err, ENOENT,
				"%s: has no system calls; record them with perf record -e raw_syscalls:sys_enter -e raw_syscalls:sys_exit (-a, or a command)",
				tracepoints_path(c->tp));
	rc = tracepoints_read(c->tp, &q, err);
	for (uint32_t i = 0; i < c->nthreads && !rc; i++)
		if (c->threads[i].open)
			syscalls_perf_add_unfinished(c, &c->threads[i], i);
	return rc;
}

static void syscalls_perf_note_calls(struct table *t, const struct syscalls_perf_calls *c)
{
	const char *arch = tracepoints_arch(c->tp);

	if (c->no_entry)
		note_add(&t->notes, syscalls_no_entry, (unsigned long long)c->no_entry);
	if (c->unnamed && !syscall_arch_known(arch))
		note_add(&t->notes, syscalls_no_names,
			 arch ? arch : "a recording that does not name its architecture");
}

static void syscalls_perf_calls_free(struct syscalls_perf_calls *c)
{
	free(c->threads);
	free(c->sums.rows);
	map_free(&c->cells);
	intern_free(&c->strings);
	intern_free(&c->groups);
}

/*
 * Fills `t` from raw_syscalls:sys_enter and sys_exit. A call counts if the recording has both its
 * entry and its return. The row uses the thread's last name. docs/method.md lists the differences
 * from perf trace -s.
 */
static int syscalls_from_perf(struct tracepoints *tp, const struct query *q, struct table *t,
			      struct error *err)
{
	freed(syscalls_perf_calls_free) struct syscalls_perf_calls c = {
		.tp = tp,
		.q = q,
		.sums = {.work = syscalls_given_work(q), .unit = work_kind_find(q->unit)}};
	int rc = syscalls_keys(q, &c.sums.keys, err);

	rc = rc ?: syscalls_perf_read_calls(&c, err);
	if (!rc) {
		syscalls_set_columns(t, c.sums.unit, c.sums.keys, false);
		syscalls_put(t, q, &c.sums, &(struct block){0});
		syscalls_perf_note_calls(t, &c);
		tracepoints_add_notes(tp, &t->notes);
		t->lossy |= notes_have(&t->notes, SEVERITY_LOSSY);
	}
	return rc;
}

/* --- the table of a capture --- */

/*
 * syscalls: the table of perf trace -s, by command and call. Each row adds up the threads of one
 * command and the runs of one block. stddev_pct has perf's definition: 100 x the standard error of
 * the mean / mean, with the standard error sqrt(m2 / (n - 1) / n).
 */

static const struct column syscalls_columns[] = {
	BLOCK_COLUMNS(struct syscalls_row),
	{MEMBER(struct syscalls_row, pid), .type = V_INT, .what = "process"},
	{MEMBER(struct syscalls_row, tid), .type = V_INT, .what = "thread"},
	{MEMBER(struct syscalls_row, comm), .type = V_STR, .what = "command"},
	{MEMBER(struct syscalls_row, syscall), .type = V_STR},
	{MEMBER(struct syscalls_row, calls), .type = V_INT,
	 .what = "calls of the workload's processes, on any CPU"},
	{MEMBER(struct syscalls_row, errors), .type = V_INT,
	 .what = "calls with a negative result"},
	{MEMBER(struct syscalls_row, total_ms), "ms", V_REAL, .digits = 3,
	 .what = "time in all calls"},
	{MEMBER(struct syscalls_row, min_ms), "ms", V_REAL, .digits = 3},
	{MEMBER(struct syscalls_row, avg_ms), "ms", V_REAL, .digits = 3},
	{MEMBER(struct syscalls_row, max_ms), "ms", V_REAL, .digits = 3},
	{MEMBER(struct syscalls_row, stddev_pct), "%", V_REAL, .digits = 2,
	 .what = "standard error of the mean / mean"},
	{MEMBER(struct syscalls_row, p50_ms), "ms", V_REAL, .digits = 3,
	 .what = "median, from log2 buckets"},
	{MEMBER(struct syscalls_row, p99_ms), "ms", V_REAL, .digits = 3,
	 .what = "99th percentile, from log2 buckets"},
	{MEMBER(struct syscalls_row, bytes_per_call), "B", V_REAL,
	 .what = "bytes moved, or of a range of addresses, / calls"},
	{MEMBER_NAMED("calls_per_mib", struct syscalls_row, calls_per_work), "1/MiB", V_REAL,
	 .digits = 2,
	 .what = "calls / MiB of work done in the window; calls_per_message with --unit message"},
	{MEMBER_NAMED("ns_per_kib", struct syscalls_row, ns_per_work), "ns/KiB", V_REAL,
	 .digits = 1,
	 .what = "time in the call / KiB of work done in the window; or ns_per_message"},
};

static int syscalls_add_run(struct store *s, const struct query *q, const struct run *run,
			    struct syscall_sums *sums, struct error *err)
{
	autofree struct syscall_row *rows = NULL;
	int n = store_syscalls(s, run->id, &rows, err);

	if (n < 0)
		return n;
	for (int i = 0; i < n; i++)
		if (str_matches(q->comm, rows[i].comm))
			syscalls_add(sums, &rows[i]);
	sums->work += work_in_window(s, run, sums->unit->rate);
	return 0;
}

static int syscalls_add_block(struct store *s, const struct query *q, const struct block_runs *b,
			      struct syscall_sums *sums, struct error *err)
{
	int rc = 0;

	for (int k = 0; k < b->n && !rc; k++)
		rc = syscalls_add_run(s, q, &b->runs[k], sums, err);
	return rc;
}

int syscall_costs_read(struct store *s, const struct query *q, struct syscall_cost **costs,
		       struct table *notes, struct error *err)
{
	freed(block_list_free) struct block_list list = {0};
	struct syscall_sums sums = {.keys = SYSCALLS_BY_COMM, .unit = syscalls_unit(q, err)};
	int rc = sums.unit ? block_list_read(&list, s, q, FOR_SYSCALLS, err) : -ENODATA;

	for (int i = 0; i < list.n && !rc; i++)
		rc = syscalls_add_block(s, q, &list.blocks[i], &sums, err);
	if (!rc) {
		array_sort(sums.rows, sums.n, syscall_rows_by_time);
		*costs = xcalloc(sums.n + 1, sizeof(**costs));
		for (size_t i = 0; i < sums.n; i++)
			(*costs)[i] = syscall_rows_cost(&sums.rows[i], &sums);
		block_list_run_notes(&list, s, notes);
	}
	free(sums.rows);
	return rc ? rc : (int)sums.n;
}

static int syscalls_put_block(struct store *s, const struct query *q, const struct block_runs *b,
			      unsigned int keys, struct table *t, struct error *err)
{
	struct syscall_sums sums = {.keys = keys, .unit = work_kind_find(q->unit)};
	int rc = syscalls_add_block(s, q, b, &sums, err);

	if (!rc && b->n)
		syscalls_put(t, q, &sums, &b->block);
	free(sums.rows);
	return rc ?: passes_note_conditions(s, q, &b->block, SYSCALLS_PASS, t, err);
}

static int syscalls_run_store(struct store *s, const struct query *q, struct table *t,
			      struct error *err)
{
	freed(block_list_free) struct block_list list = {0};
	unsigned int keys;
	int rc = syscalls_keys(q, &keys, err);

	rc = rc ?: block_list_read(&list, s, q, FOR_SYSCALLS, err);
	syscalls_set_columns(t, work_kind_find(q->unit), keys,
			     list.n > 1 || (q->by && strstr(q->by, "variant")) ||
				     (q->by && strstr(q->by, "side")));
	for (int i = 0; i < list.n && !rc; i++)
		rc = syscalls_put_block(s, q, &list.blocks[i], keys, t, err);
	if (!rc && !t->rows)
		changes_nothing(s, t, NULL);
	if (!rc)
		block_list_run_notes(&list, s, t);
	return rc;
}

/* The table from the text of perf trace -s: each row adds up the threads of a command. */
static int syscalls_from_perf_trace(const struct trace *tr, const struct query *q, struct table *t,
				    struct error *err)
{
	struct syscall_sums sums = {.work = syscalls_given_work(q),
				    .unit = work_kind_find(q->unit)};
	int rc = syscalls_keys(q, &sums.keys, err);

	for (size_t i = 0; i < tr->n && !rc; i++)
		if (str_matches(q->comm, tr->rows[i].comm))
			syscalls_add(&sums, &tr->rows[i]);
	if (!rc) {
		syscalls_set_columns(t, sums.unit, sums.keys, false);
		syscalls_put(t, q, &sums, &(struct block){0});
	}
	free(sums.rows);
	return rc;
}

static int syscalls_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	int rc;

	if (!syscalls_unit(q, err))
		rc = -ENODATA;
	else if (q->bare.trace)
		rc = syscalls_from_perf_trace(q->bare.trace, q, t, err);
	else if (q->bare.tracepoints)
		rc = syscalls_from_perf(q->bare.tracepoints, q, t, err);
	else if (s)
		rc = syscalls_run_store(s, q, t, err);
	else
		rc = error_set(err, EINVAL,
			       "table 'syscalls' is made from a capture, --perf or --perf-trace");
	if (!rc)
		note_add(&t->notes, table_how,
			 SYSCALLS_TIMES "; p50 and p99 are interpolated in log2 buckets");
	return rc;
}

#define CALLS "comm by limit all unit units rate seconds"

const struct measure measure_syscalls = {
	.name = "syscalls",
	.what = "calls, errors, times and sizes of system calls",
	MEASURE_COLUMNS(syscalls_columns),
	.options = {[SOURCE_CAPTURE] =
			    OPT_SLICE "variant side run comm workload-only by limit all unit",
		    [SOURCE_PERF] = "from to cpu " CALLS,
		    [SOURCE_TEXT] = CALLS},
	.spare = "stddev_pct min_ms p50_ms bytes_per_call total_ms",
	.collectors = "syscalls workload",
	.flags = MEASURE_TRACEPOINTS,
	.run = syscalls_run,
};
