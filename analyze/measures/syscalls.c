// SPDX-License-Identifier: GPL-2.0-only
/*
 * syscalls: as perf trace -s has them, by command and call; the threads of one command, and the
 * runs of one block, are added up. stddev_pct is perf's: 100 x the standard error of the mean /
 * mean, sqrt(m2 / (n - 1) / n). Sums of squares are merged by Chan's formula.
 */
#include "analyze/measures/tables.h"

#include "analyze/measures/block_table.h"
#include "analyze/measures/zero_copy.h"
#include "analyze/measures/hist.h"
#include "analyze/measures/syscalls_trace.h"
#include "lib/alloc.h"
#include "lib/str.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SYSCALL_COLUMNS                                                                          \
	{"comm", NULL, V_STR, 0, "command"}, {"syscall", NULL, V_STR, 0, NULL},                  \
		{"calls", NULL, V_INT, 0, NULL},                                                 \
		{"errors", NULL, V_INT, 0, "of these with a negative result"},                   \
		{"total_ms", "ms", V_REAL, 3, "time in all calls"},                              \
		{"min_ms", "ms", V_REAL, 3, NULL}, {"avg_ms", "ms", V_REAL, 3, NULL},            \
		{"max_ms", "ms", V_REAL, 3, NULL},                                               \
		{"stddev_pct", "%", V_REAL, 2, "standard error of the mean / mean"},             \
		{"p50_ms", "ms", V_REAL, 3, "median, from log2 buckets"},                        \
		{"p99_ms", "ms", V_REAL, 3, "99th percentile, from log2 buckets"},               \
		{"bytes_per_call", "B", V_REAL, 0, "bytes moved / calls"},                       \
		{"calls_per_mib", "1/MiB", V_REAL, 2, "calls / MiB of work done in the window"}, \
	{                                                                                        \
		"ns_per_kib", "ns/KiB", V_REAL, 1, "time in it / KiB of work done in the window" \
	}

const struct column syscalls_columns[14] = {SYSCALL_COLUMNS};
static const struct column keyed[] = {
	{"variant", NULL, V_STR, 0, NULL}, {"side", NULL, V_STR, 0, NULL}, SYSCALL_COLUMNS};

enum { LIMIT = 30 };

struct sums {
	struct syscall_row *rows;
	size_t n, cap;
	double kib; /* work done in the windows of the runs added; NAN: not known */
	int runs;
};

static double mean_of(const struct syscall_row *r)
{
	return r->calls ? (double)r->total_ns / (double)r->calls : 0;
}

/* Two sets of calls as one. */
static void merge(struct syscall_row *a, const struct syscall_row *b)
{
	double na = (double)a->calls, nb = (double)b->calls, delta = mean_of(b) - mean_of(a);
	int i;

	if (nb > 0) {
		a->m2 += b->m2 + delta * delta * na * nb / (na + nb);
		a->min_ns = na > 0 && a->min_ns < b->min_ns ? a->min_ns : b->min_ns;
		a->max_ns = a->max_ns > b->max_ns ? a->max_ns : b->max_ns;
	}
	a->calls += b->calls;
	a->errors += b->errors;
	a->total_ns += b->total_ns;
	a->unfinished += b->unfinished;
	a->bytes += b->bytes;
	a->has_bytes |= b->has_bytes;
	for (i = 0; i < 64; i++) {
		a->time_hist[i] += b->time_hist[i];
		a->size_hist[i] += b->size_hist[i];
	}
}

static void add_row(struct sums *s, const struct syscall_row *r)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (!strcmp(s->rows[i].comm, r->comm) && !strcmp(s->rows[i].name, r->name))
			break;
	if (i < s->n) {
		merge(&s->rows[i], r);
		return;
	}
	array_grow(s->rows, s->n, s->cap);
	s->rows[s->n++] = *r;
}

static int add_run(struct store *s, const struct query *q, const struct run *run, struct sums *sums,
		   struct error *err)
{
	struct syscall_row *rows;
	int n = store_syscalls(s, run->id, &rows, err), i;

	if (n < 0)
		return n;
	for (i = 0; i < n; i++)
		if (!q->comm || !fnmatch(q->comm, rows[i].comm, 0))
			add_row(sums, &rows[i]);
	free(rows);
	sums->kib += figure_metric(s, run, "bytes") / 1024;
	sums->runs++;
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct syscall_row *x = a, *y = b;
	int c;

	if (x->total_ns != y->total_ns)
		return x->total_ns < y->total_ns ? 1 : -1;
	c = strcmp(x->name, y->name);
	return c ? c : strcmp(x->comm, y->comm);
}

static double stddev_pct(const struct syscall_row *r)
{
	double n = (double)r->calls, mean = mean_of(r);

	if (n < 2 || !(mean > 0))
		return 0;
	return 100 * sqrt(r->m2 / (n - 1) / n) / mean;
}

static void put_times(struct table *t, struct value *row, const struct syscall_row *r)
{
	double min = (double)r->min_ns, max = (double)r->max_ns;

	table_set(t, row, "total_ms", value_real((double)r->total_ns / 1e6));
	if (!r->calls)
		return;
	table_set(t, row, "min_ms", value_real(min / 1e6));
	table_set(t, row, "avg_ms", value_real(mean_of(r) / 1e6));
	table_set(t, row, "max_ms", value_real(max / 1e6));
	table_set(t, row, "stddev_pct", value_real(stddev_pct(r)));
	table_set(t, row, "p50_ms", value_real(hist_quantile(r->time_hist, 0.5, min, max) / 1e6));
	table_set(t, row, "p99_ms", value_real(hist_quantile(r->time_hist, 0.99, min, max) / 1e6));
	if (r->has_bytes)
		table_set(t, row, "bytes_per_call",
			  value_real((double)r->bytes / (double)r->calls));
}

static void put_row(struct table *t, const struct block *b, const struct syscall_row *r, double kib)
{
	struct value *row = table_row(t);

	table_set(t, row, "variant", value_str(t, b->variant));
	table_set(t, row, "side", value_str(t, b->side));
	table_set(t, row, "comm", value_str(t, r->comm));
	table_set(t, row, "syscall", value_str(t, r->name));
	table_set(t, row, "calls", value_int((int64_t)r->calls));
	table_set(t, row, "errors", value_int((int64_t)r->errors));
	put_times(t, row, r);
	if (kib > 0) {
		table_set(t, row, "calls_per_mib", value_real((double)r->calls / (kib / 1024)));
		table_set(t, row, "ns_per_kib", value_real((double)r->total_ns / kib));
	}
}

static void note_block(struct table *t, const struct block *b, const struct sums *s, size_t shown)
{
	struct str open = {0};
	uint64_t calls = 0;
	double ns = 0;
	size_t i;

	for (i = 0; i < s->n; i++) {
		calls += s->rows[i].calls;
		ns += (double)s->rows[i].total_ns;
		if (s->rows[i].unfinished)
			str_printf(&open, "%s%s %llu", open.len ? ", " : "", s->rows[i].name,
				   (unsigned long long)s->rows[i].unfinished);
	}
	if (!s->runs)
		table_note(t, "%s %s: no syscalls were counted", b->variant, b->side);
	else
		table_note(t, "%s %s: %llu calls in all, %.3f ms, in %d run%s; %zu of %zu rows%s",
			   b->variant, b->side, (unsigned long long)calls, ns / 1e6, s->runs,
			   s->runs == 1 ? "" : "s", shown, s->n,
			   shown < s->n ? "; --all shows all" : "");
	if (open.len)
		table_note(t, "%s %s: not returned when the window ended: %s", b->variant, b->side,
			   open.buf);
	str_free(&open);
}

static int put_block(struct store *s, const struct query *q, const struct block_runs *b,
		     struct table *t, struct error *err)
{
	size_t shown, limit = q->limit > 0 ? (size_t)q->limit : LIMIT, i;
	struct sums sums = {0};
	int k, rc = 0;

	for (k = 0; k < b->n && !rc; k++)
		rc = add_run(s, q, &b->runs[k], &sums, err);
	if (sums.n)
		qsort(sums.rows, sums.n, sizeof(*sums.rows), by_time);
	shown = q->all || sums.n < limit ? sums.n : limit;
	for (i = 0; i < shown && !rc; i++)
		put_row(t, &b->block, &sums.rows[i], sums.kib);
	if (!rc)
		note_block(t, &b->block, &sums, shown);
	free(sums.rows);
	return rc;
}

static int run_store(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	struct block_list list;
	int rc = block_list_read(&list, s, q, FOR_SYSCALLS, err), i;

	if (!rc)
		zero_copy_title(s, q, t);
	if (list.n > 1 || (q->by && strstr(q->by, "variant")) || (q->by && strstr(q->by, "side"))) {
		t->columns = keyed;
		t->ncolumns = (int)array_size(keyed);
	}
	for (i = 0; i < list.n && !rc; i++)
		rc = put_block(s, q, &list.blocks[i], t, err);
	if (!rc)
		table_note(t, "p50 and p99 are interpolated in log2 buckets; ns_per_kib is time in "
			      "the call, waiting included, not CPU time");
	for (i = 0; i < list.n && !rc; i++)
		scope_notes(s, &list.blocks[i].block, list.blocks[i].runs, list.blocks[i].n, t);
	if (!rc)
		scope_capture_notes(s, t);
	block_list_free(&list);
	return rc;
}

int syscalls_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	if (q->trace)
		return syscalls_from_perf_trace(q->trace, q, t, err);
	if (!s)
		return error_set(err, EINVAL,
				 "table 'syscalls' is made from a capture, --perf-trace or "
				 "--strace-c");
	return run_store(s, q, t, err);
}
