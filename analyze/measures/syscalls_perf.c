// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/syscalls_perf.h"

#include "analyze/measures/syscalls_rows.h"
#include "analyze/measures/tracepoint_notes.h"
#include "analyze/perfdata/tracepoints.h"
#include "lib/alloc.h"
#include "lib/str.h"
#include "lib/hash.h"
#include "lib/intern.h"
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

/* One event for each call; the number has been called `nr` before Linux 3.15. */
static const struct tracepoint_want single_wants[] = {
	[ENTER] = {"syscalls", "sys_enter_*", {[NR] = "__syscall_nr|nr"}},
	[EXIT] = {"syscalls", "sys_exit_*", {[NR] = "__syscall_nr|nr", [RESULT] = "ret"}},
};

enum { RECENT_CALLS = 8 };

/* A thread's call under way, and the rows its calls go to. */
struct thread_state {
	uint64_t entered; /* time; only where `open` */
	uint32_t nr;
	uint16_t event;	     /* its entry */
	bool open, left_out; /* left_out: --comm does not want it */
	uint32_t group;	     /* + 1; 0: not known yet */
	struct {
		uint32_t nr, row; /* + 1; 0: free */
	} recent[RECENT_CALLS];	  /* the rows of calls it made last, by number */
};

struct syscalls_perf_calls {
	struct tracepoints *tp;
	const struct query *q;
	struct thread_state *threads;
	size_t nthreads;
	struct intern strings, groups; /* groups: see group_of */
	struct map cells;	       /* group and call -> row + 1 */
	struct syscall_sums sums;
	unsigned __int128 *squares; /* of each row: sum of squared times, ns^2 */
	size_t squares_cap;
	uint64_t no_entry; /* returns whose entry is not there */
	uint64_t unnamed;
};

static struct thread_state *state_of(struct syscalls_perf_calls *c, uint32_t thread)
{
	size_t n = c->nthreads;

	if (thread >= n) {
		c->nthreads = thread * 2ULL + 16;
		c->threads = xrealloc(c->threads, c->nthreads * sizeof(*c->threads));
		memset(c->threads + n, 0, (c->nthreads - n) * sizeof(*c->threads));
	}
	return &c->threads[thread];
}

/* Threads whose calls are added up have the same group. */
static void set_group(struct syscalls_perf_calls *c, struct thread_state *s, uint32_t thread)
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

static size_t syscalls_perf_find_row(struct syscalls_perf_calls *c, const struct thread_state *s,
				     uint32_t thread)
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

static size_t syscalls_perf_row_of(struct syscalls_perf_calls *c, struct thread_state *s,
				   uint32_t thread)
{
	uint32_t i = s->nr % RECENT_CALLS;

	if (s->recent[i].nr != s->nr || !s->recent[i].row) {
		s->recent[i].row = (uint32_t)syscalls_perf_find_row(c, s, thread) + 1;
		s->recent[i].nr = s->nr;
	}
	return s->recent[i].row - 1;
}

static int log2_of(uint64_t v)
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
	r->time_hist[log2_of(ns)]++;
	r->errors += result < 0;
	if (r->has_bytes && result > 0)
		r->bytes += (uint64_t)result;
}

static void never_returned(struct syscalls_perf_calls *c, struct thread_state *s, uint32_t thread)
{
	size_t row;

	s->open = false;
	if (s->left_out)
		return;
	row = syscalls_perf_row_of(c, s, thread); /* which may move the rows */
	c->sums.rows[row].unfinished++;
}

static void on_enter(struct syscalls_perf_calls *c, const struct tracepoint *t, uint32_t thread)
{
	struct thread_state *s = state_of(c, thread);

	if (!s->group)
		set_group(c, s, thread);
	if (s->open)
		never_returned(c, s, thread);
	if ((int32_t)t->v[NR] < 0)
		return; /* a tracer made it no call */
	s->open = true;
	s->nr = (uint32_t)t->v[NR];
	s->event = t->event;
	s->entered = t->time;
}

/*
 * rt_sigreturn returns as number -1, with the interrupted code's register for a result; so does a
 * call that a tracer took away.
 */
static void on_exit_of(struct syscalls_perf_calls *c, const struct tracepoint *t, uint32_t thread)
{
	struct thread_state *s = state_of(c, thread);
	bool no_number = (int32_t)t->v[NR] < 0;

	if (s->open && !no_number && s->nr != (uint32_t)t->v[NR])
		never_returned(c, s, thread);
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
		on_enter(ctx, t, thread);
	else
		on_exit_of(ctx, t, thread);
}

/* Squared deviations from the mean: the two terms are nearly equal, so this is done in integers. */
static void set_deviations(struct syscalls_perf_calls *c)
{
	unsigned __int128 total2;
	struct syscall_row *r;
	size_t i;

	for (i = 0; i < c->sums.n; i++) {
		r = &c->sums.rows[i];
		if (!r->calls)
			continue;
		total2 = (unsigned __int128)r->total_ns * r->total_ns;
		r->m2 = (double)(c->squares[i] - total2 / r->calls) -
			(double)(total2 % r->calls) / (double)r->calls;
	}
}

static int syscalls_perf_missing(const struct tracepoints *tp, struct error *err)
{
	return error_set(err, ENOENT,
			 "%s: has no system calls; record them with perf record -e "
			 "raw_syscalls:sys_enter -e raw_syscalls:sys_exit (-a, or a command)",
			 tracepoints_path(tp));
}

static bool has_both(const struct tracepoints *tp, const struct tracepoint_want *wants)
{
	return tracepoints_has(tp, wants[ENTER].system, wants[ENTER].name) &&
	       tracepoints_has(tp, wants[EXIT].system, wants[EXIT].name);
}

static int syscalls_perf_read_calls(struct syscalls_perf_calls *c, struct error *err)
{
	struct tracepoints_query q = {.n = 2, .deliver = syscalls_perf_deliver, .ctx = c};
	uint32_t i;
	int rc;

	if (has_both(c->tp, raw_wants))
		q.wants = raw_wants;
	else if (has_both(c->tp, single_wants))
		q.wants = single_wants;
	else
		return syscalls_perf_missing(c->tp, err);
	rc = tracepoints_read(c->tp, &q, err);
	for (i = 0; i < c->nthreads && !rc; i++)
		if (c->threads[i].open)
			never_returned(c, &c->threads[i], i);
	set_deviations(c);
	return rc;
}

static void note_calls(struct table *t, const struct syscalls_perf_calls *c, size_t shown)
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
	note_add(&t->notes, syscalls_times_hist);
	free(open);
}

static void calls_free(struct syscalls_perf_calls *c)
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
		note_calls(t, &c, syscalls_put(t, q, &c.sums, NULL, NULL));
		tracepoint_notes(t, tp);
	}
	calls_free(&c);
	return rc;
}
