// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/probes/syscalls/table.h"
#include "analyze/perfdata/tracepoints.h"
#include "lib/hash.h"
#include "lib/intern.h"
#include "lib/str.h"
#include "lib/syscall_facts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTER, EXIT };
enum { NR, RESULT };

static const struct tracepoint_want wants[] = {
	[ENTER] = {"raw_syscalls", "sys_enter", {[NR] = "id"}},
	[EXIT] = {"raw_syscalls", "sys_exit", {[NR] = "id", [RESULT] = "ret"}},
};

/* A thread's open call. */
struct syscalls_perf_thread {
	uint64_t entered; /* time of the entry, valid only if `open` */
	uint32_t nr;
	bool open, left_out; /* left_out: --comm excludes the thread */
	uint32_t group;	     /* number + 1; 0 if not known yet */
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
	row.has_bytes = syscall_name_moves_bytes(row.name);
	if (t->pid != UINT32_MAX)
		row.pid = t->pid;
	array_grow(c->sums.rows, c->sums.n, c->sums.cap);
	c->sums.rows[c->sums.n] = row;
	return c->sums.n++;
}

static int hist_bucket(uint64_t v)
{
	return v ? 63 - __builtin_clzll(v) : 0;
}

static void syscalls_perf_count(struct syscalls_perf_calls *c, size_t index, uint64_t ns,
				int64_t result)
{
	struct syscall_row *r = &c->sums.rows[index];
	double mean = r->calls ? (double)r->total_ns / (double)r->calls : 0;

	if (!r->calls++ || ns < r->min_ns)
		r->min_ns = ns;
	if (ns > r->max_ns)
		r->max_ns = ns;
	r->total_ns += ns;
	/* Welford's sum of squared deviations: the difference of two sums would lose digits. */
	r->m2 += ((double)ns - mean) * ((double)ns - (double)r->total_ns / (double)r->calls);
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
	row = syscalls_perf_find_row(c, s, thread); /* this call may move the rows */
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
	syscalls_perf_count(c, syscalls_perf_find_row(c, s, thread),
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

static int syscalls_perf_read_calls(struct syscalls_perf_calls *c, struct error *err)
{
	struct tracepoints_query q = {wants, array_size(wants), syscalls_perf_deliver, c};
	uint32_t i;
	int rc;

	for (i = 0; i < array_size(wants); i++)
		if (!tracepoints_has(c->tp, wants[i].system, wants[i].name))
			return error_set(
				err, ENOENT,
				"%s: has no system calls; record them with perf record -e raw_syscalls:sys_enter -e raw_syscalls:sys_exit (-a, or a command)",
				tracepoints_path(c->tp));
	rc = tracepoints_read(c->tp, &q, err);
	for (i = 0; i < c->nthreads && !rc; i++)
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

int syscalls_from_perf(struct tracepoints *tp, const struct query *q, struct table *t,
		       struct error *err)
{
	struct syscalls_perf_calls c = {.tp = tp, .q = q, .sums.kib = syscalls_work_kib(q)};
	int rc = syscalls_keys(q, &c.sums.keys, err);

	if (!rc)
		rc = syscalls_perf_read_calls(&c, err);
	if (!rc) {
		syscalls_set_columns(t, c.sums.keys, false);
		syscalls_put(t, q, &c.sums, &(struct block){0});
		syscalls_perf_note_calls(t, &c);
		tracepoints_add_notes(tp, &t->notes);
		t->lossy |= notes_have(&t->notes, SEVERITY_LOSSY);
	}
	syscalls_perf_calls_free(&c);
	return rc;
}
