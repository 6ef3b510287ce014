// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/probes/syscalls/table.h"

#include "analyze/texts/text.h"
#include "analyze/scope/changes.h"
#include "analyze/scope/work.h"
#include "lib/intern.h"
#include "lib/str.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

int syscalls_keys(const struct query *q, unsigned int *keys, struct error *err)
{
	char *text = xstrdup(q->by ? q->by : "comm"), *state = NULL, *word;
	size_t i;
	int rc = 0;

	*keys = 0;
	for (word = strtok_r(text, ",", &state); word && !rc; word = strtok_r(NULL, ",", &state)) {
		for (i = 0; i < array_size(by_names) && strcmp(by_names[i].name, word); i++)
			;
		if (i < array_size(by_names))
			*keys |= by_names[i].keys;
		else
			rc = error_set(
				err, EINVAL,
				"--by: syscalls have no key '%s'; there are: comm pid tid syscall variant side",
				word);
	}
	free(text);
	return rc;
}

void syscalls_set_columns(struct table *t, unsigned int keys, bool by_block)
{
	struct str others = {0};

	str_printf(&others, "%s%s%s%s-", by_block ? "" : "variant side ",
		   keys & SYSCALLS_BY_PID ? "" : "pid ", keys & SYSCALLS_BY_TID ? "" : "tid ",
		   keys & SYSCALLS_BY_COMM ? "" : "comm ");
	table_drop_columns(t, others.buf);
	str_free(&others);
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
	int i;

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
	for (i = 0; i < 64; i++) {
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

void syscalls_add(struct syscall_sums *s, const struct syscall_row *r)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		if (syscall_rows_same(s->keys, &s->rows[i], r))
			break;
	if (i < s->n) {
		syscall_rows_merge(&s->rows[i], r);
		return;
	}
	array_grow(s->rows, s->n, s->cap);
	s->rows[s->n++] = *r;
}

/* --- printing --- */

static int syscall_rows_by_time(const void *a, const void *b)
{
	const struct syscall_row *x = a, *y = b;
	int c;

	if (x->total_ns != y->total_ns)
		return x->total_ns < y->total_ns ? 1 : -1;
	c = strcmp(x->name, y->name);
	if (!c)
		c = strcmp(x->comm, y->comm);
	return c ? c : (x->tid > y->tid) - (x->tid < y->tid);
}

static double syscall_rows_stddev_pct(const struct syscall_row *r)
{
	double n = (double)r->calls, mean = syscall_rows_mean_of(r);

	if (n < 2 || !(mean > 0))
		return 0;
	return 100 * sqrt(r->m2 / (n - 1) / n) / mean;
}

static void syscall_rows_put_times(struct table *t, struct value *row, const struct syscall_row *r)
{
	double min = (double)r->min_ns, max = (double)r->max_ns;

	table_set(t, row, "total_ms", value_real((double)r->total_ns / 1e6));
	if (!r->calls)
		return;
	table_set(t, row, "min_ms", value_real(min / 1e6));
	table_set(t, row, "avg_ms", value_real(syscall_rows_mean_of(r) / 1e6));
	table_set(t, row, "max_ms", value_real(max / 1e6));
	table_set(t, row, "stddev_pct", value_real(syscall_rows_stddev_pct(r)));
	table_set(t, row, "p50_ms", value_real(hist_quantile(r->time_hist, 0.5, min, max) / 1e6));
	table_set(t, row, "p99_ms", value_real(hist_quantile(r->time_hist, 0.99, min, max) / 1e6));
	if (r->has_bytes)
		table_set(t, row, "bytes_per_call",
			  value_real((double)r->bytes / (double)r->calls));
}

static void syscall_rows_put_row(struct table *t, const struct syscall_row *r, double kib,
				 const struct block *b)
{
	struct value *row = block_row(t, b);

	table_set(t, row, "pid", r->pid <= 0 ? value_none() : value_int(r->pid));
	table_set(t, row, "tid", r->tid <= 0 ? value_none() : value_int(r->tid));
	table_set(t, row, "comm", value_str(t, *r->comm ? r->comm : NULL));
	table_set(t, row, "syscall", value_str(t, r->name));
	table_set(t, row, "calls", value_int((int64_t)r->calls));
	table_set(t, row, "errors",
		  r->errors == ERRORS_UNKNOWN ? value_none() : value_int((int64_t)r->errors));
	syscall_rows_put_times(t, row, r);
	if (kib > 0) {
		table_set(t, row, "calls_per_mib", value_real((double)r->calls / (kib / 1024)));
		table_set(t, row, "ns_per_kib", value_real((double)r->total_ns / kib));
	}
}

/* Notes the calls that never returned: "exit_group 5, read 1". */
static void syscalls_note_unfinished(struct table *t, const struct block *b,
				     const struct syscall_sums *s)
{
	struct str text = {0};
	struct intern names = {0};
	uint64_t *sums = xcalloc(s->n + 1, sizeof(*sums));
	uint32_t k;
	size_t i;

	for (i = 0; i < s->n; i++)
		if (s->rows[i].unfinished)
			sums[intern_str(&names, s->rows[i].name)] += s->rows[i].unfinished;
	for (k = 0; k < names.n; k++)
		str_printf(&text, "%s%s %llu", k ? ", " : "", intern_get(&names, k),
			   (unsigned long long)sums[k]);
	if (text.len)
		note_add_block(&t->notes, b, syscalls_open, text.buf);
	str_free(&text);
	intern_free(&names);
	free(sums);
}

void syscalls_put(struct table *t, const struct query *q, struct syscall_sums *s,
		  const struct block *b)
{
	size_t limit = query_limit(q, LIMIT), i;
	unsigned long long calls = 0, ended = 0;
	double ns = 0;

	if (s->n)
		qsort(s->rows, s->n, sizeof(*s->rows), syscall_rows_by_time);
	if (s->n < limit)
		limit = s->n;
	for (i = 0; i < s->n; i++) {
		const struct syscall_row *r = &s->rows[i];

		if (i < limit)
			syscall_rows_put_row(t, r, s->kib, b);
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

double syscalls_work_kib(const struct query *q)
{
	if (!q->unit || strcmp(q->unit, "KiB"))
		return NAN;
	if (q->work.units > 0)
		return q->work.units;
	return q->work.rate > 0 && q->work.seconds > 0 ? q->work.rate * q->work.seconds : NAN;
}

/* --- the table of a capture --- */

/*
 * syscalls: the table of perf trace -s, by command and call. Each row adds up the threads of one
 * command and the runs of one block. stddev_pct has perf's definition: 100 x the standard error of
 * the mean / mean, with the standard error sqrt(m2 / (n - 1) / n).
 */

static const struct column syscalls_columns[] = {
	{"variant", .type = V_STR},
	{"side", .type = V_STR},
	{"pid", .type = V_INT, .what = "process"},
	{"tid", .type = V_INT, .what = "thread"},
	{"comm", .type = V_STR, .what = "command"},
	{"syscall", .type = V_STR},
	{"calls", .type = V_INT, .what = "calls of the workload's processes, on any CPU"},
	{"errors", .type = V_INT, .what = "calls with a negative result"},
	{"total_ms", "ms", V_REAL, .digits = 3, .what = "time in all calls"},
	{"min_ms", "ms", V_REAL, .digits = 3},
	{"avg_ms", "ms", V_REAL, .digits = 3},
	{"max_ms", "ms", V_REAL, .digits = 3},
	{"stddev_pct", "%", V_REAL, .digits = 2, .what = "standard error of the mean / mean"},
	{"p50_ms", "ms", V_REAL, .digits = 3, .what = "median, from log2 buckets"},
	{"p99_ms", "ms", V_REAL, .digits = 3, .what = "99th percentile, from log2 buckets"},
	{"bytes_per_call", "B", V_REAL, .what = "bytes moved / calls"},
	{"calls_per_mib", "1/MiB", V_REAL, .digits = 2,
	 .what = "calls / MiB of work done in the window"},
	{"ns_per_kib", "ns/KiB", V_REAL, .digits = 1,
	 .what = "time in the call / KiB of work done in the window"},
};

static int syscalls_add_run(struct store *s, const struct query *q, const struct run *run,
			    struct syscall_sums *sums, struct error *err)
{
	struct syscall_row *rows;
	int n = store_syscalls(s, run->id, &rows, err), i;

	if (n < 0)
		return n;
	for (i = 0; i < n; i++)
		if (str_matches(q->comm, rows[i].comm))
			syscalls_add(sums, &rows[i]);
	free(rows);
	sums->kib += work_in_window(s, run, "rate_kib");
	return 0;
}

static int syscalls_put_block(struct store *s, const struct query *q, const struct block_runs *b,
			      unsigned int keys, struct table *t, struct error *err)
{
	struct syscall_sums sums = {.keys = keys};
	int k, rc = 0;

	for (k = 0; k < b->n && !rc; k++)
		rc = syscalls_add_run(s, q, &b->runs[k], &sums, err);
	if (!rc && b->n)
		syscalls_put(t, q, &sums, &b->block);
	free(sums.rows);
	return rc;
}

static int syscalls_run_store(struct store *s, const struct query *q, struct table *t,
			      struct error *err)
{
	struct block_list list = {0};
	unsigned int keys;
	int rc = syscalls_keys(q, &keys, err), i;

	if (!rc)
		rc = block_list_read(&list, s, q, FOR_SYSCALLS, err);
	syscalls_set_columns(t, keys,
			     list.n > 1 || (q->by && strstr(q->by, "variant")) ||
				     (q->by && strstr(q->by, "side")));
	for (i = 0; i < list.n && !rc; i++)
		rc = syscalls_put_block(s, q, &list.blocks[i], keys, t, err);
	if (!rc && !t->rows)
		changes_nothing(s, t);
	if (!rc)
		block_list_run_notes(&list, s, t);
	block_list_free(&list);
	return rc;
}

/* The table from the text of perf trace -s: each row adds up the threads of a command. */
static int syscalls_from_perf_trace(const struct trace *tr, const struct query *q, struct table *t,
				    struct error *err)
{
	struct syscall_sums sums = {.kib = syscalls_work_kib(q)};
	int rc = syscalls_keys(q, &sums.keys, err);
	size_t i;

	for (i = 0; i < tr->n && !rc; i++)
		if (str_matches(q->comm, tr->rows[i].comm))
			syscalls_add(&sums, &tr->rows[i]);
	if (!rc) {
		syscalls_set_columns(t, sums.keys, false);
		syscalls_put(t, q, &sums, &(struct block){0});
	}
	free(sums.rows);
	return rc;
}

static int syscalls_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	int rc;

	if (q->bare.trace)
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
	.options = {[SOURCE_CAPTURE] = OPT_SLICE "variant side run comm workload-only by limit all",
		    [SOURCE_PERF] = "from to cpu " CALLS,
		    [SOURCE_TEXT] = CALLS},
	.spare = "stddev_pct min_ms p50_ms bytes_per_call total_ms",
	.collectors = "syscalls workload",
	.flags = MEASURE_TRACEPOINTS,
	.run = syscalls_run,
};
