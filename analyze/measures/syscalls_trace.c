// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/syscalls_trace.h"

#include "analyze/texts/perf_trace.h"
#include "analyze/measures/syscalls_rows.h"
#include "lib/alloc.h"
#include "lib/str.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Calls of one syscall by one command; m2 is the sum of squared deviations from the mean, ms^2. */
struct syscalls_trace_sum {
	struct trace_row row;
	double m2;
	unsigned threads;
};

static bool syscalls_trace_same(const struct trace_row *a, const struct trace_row *b)
{
	if (!a->comm != !b->comm || (a->comm && strcmp(a->comm, b->comm)))
		return false;
	return !a->syscall || !strcmp(a->syscall, b->syscall);
}

/* --by: "comm,syscall" where nothing is asked. */
static int read_keys(const struct query *q, bool *by_comm, bool *by_syscall, struct error *err)
{
	char *copy = xstrdup(q->by ? q->by : "comm,syscall"), *rest = copy, *word;
	int rc = 0;

	*by_comm = *by_syscall = false;
	while (!rc && (word = str_token(&rest, ','))) {
		word = str_trim(word);
		*by_comm |= !strcmp(word, "comm");
		*by_syscall |= !strcmp(word, "syscall");
		if (strcmp(word, "comm") && strcmp(word, "syscall"))
			rc = error_set(err, EINVAL,
				       "a text of system calls can be split by comm and syscall, "
				       "not by '%s'",
				       word);
	}
	free(copy);
	return rc;
}

/* Mean to all digits where the total is known: the printed one has three. */
static double syscalls_trace_mean_of(const struct trace_row *r)
{
	return isnan(r->total_ms) ? r->avg_ms : r->total_ms / (double)r->calls;
}

/* perf prints 100 x sqrt(m2 / (n - 1) / n) / mean. */
static double m2_of(const struct trace_row *r)
{
	double n = (double)r->calls, se = r->stddev_pct / 100 * syscalls_trace_mean_of(r);

	return se * se * n * (n - 1);
}

static double stddev_of(double m2, double calls, double mean)
{
	if (calls < 2 || !(mean > 0))
		return 0;
	return 100 * sqrt(m2 / (calls - 1) / calls) / mean;
}

/* Two sets of calls as one (Chan's formula for the deviations). */
static void syscalls_trace_merge(struct syscalls_trace_sum *s, const struct trace_row *r)
{
	double na = (double)s->row.calls, nb = (double)r->calls;
	double delta = syscalls_trace_mean_of(r) - syscalls_trace_mean_of(&s->row);

	s->m2 += m2_of(r) + delta * delta * na * nb / (na + nb);
	s->row.avg_ms =
		(syscalls_trace_mean_of(&s->row) * na + syscalls_trace_mean_of(r) * nb) / (na + nb);
	s->row.calls += r->calls;
	s->row.total_ms += r->total_ms;
	if (s->row.errors >= 0)
		s->row.errors = r->errors < 0 ? -1 : s->row.errors + r->errors;
	s->row.min_ms = r->min_ms < s->row.min_ms ? r->min_ms : s->row.min_ms;
	s->row.max_ms = r->max_ms > s->row.max_ms ? r->max_ms : s->row.max_ms;
	s->row.stddev_pct = stddev_of(s->m2, (double)s->row.calls, s->row.avg_ms);
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
			sums[n++] = (struct syscalls_trace_sum){r, m2_of(&r), 1};
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

static void put_sum(struct table *t, const struct syscalls_trace_sum *s, double kib)
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
	int rc = read_keys(q, &by_comm, &by_syscall, err);

	if (rc)
		return rc;
	sums = xcalloc(tr->n + 1, sizeof(*sums));
	n = syscalls_trace_gather(tr, q, by_comm, by_syscall, sums);
	qsort(sums, n, sizeof(*sums), syscalls_trace_by_time);
	shown = q->limit > 0 && !q->all && (size_t)q->limit < n ? (size_t)q->limit : n;
	for (i = 0; i < shown; i++)
		put_sum(t, &sums[i], syscalls_work_kib(q));
	if (shown < n)
		note_add(&t->notes, more_rows, n - shown);
	note_add(&t->notes, syscalls_times, tr->says ? tr->says : SYSCALLS_TIMES);
	if (tr->no_total)
		note_add(&t->notes, trace_no_total);
	if (tr->tables > 1)
		note_add(&t->notes, text_tables, tr->tables);
	if (tr->events)
		note_add(&t->notes, trace_events, (unsigned long long)tr->events);
	free(sums);
	return 0;
}
