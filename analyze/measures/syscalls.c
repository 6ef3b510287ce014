// SPDX-License-Identifier: GPL-2.0-only
/*
 * syscalls: as perf trace -s has them, by command and call; the threads of one command, and the
 * runs of one block, are added up. stddev_pct is perf's: 100 x the standard error of the mean /
 * mean, sqrt(m2 / (n - 1) / n).
 */
#include "analyze/measures/measure.h"

#include "analyze/measures/block_table.h"
#include "analyze/measures/syscalls_perf.h"
#include "analyze/measures/syscalls_rows.h"
#include "analyze/measures/syscalls_trace.h"
#include "analyze/measures/manner.h"
#include "analyze/measures/zero_copy.h"
#include "lib/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct column syscalls_columns[] = {
	{"comm", .type = V_STR, .what = "command"},
	{"syscall", .type = V_STR},
	{"calls", .type = V_INT},
	{"errors", .type = V_INT, .what = "of these with a negative result"},
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
	 .what = "time in it / KiB of work done in the window"},
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
	sums->kib += figure_metric(s, run, "bytes") / 1024;
	sums->runs++;
	return 0;
}

static void syscalls_note_block(struct store *store, struct table *t, const struct block *b,
				const struct syscall_sums *s, size_t shown)
{
	const char *sliced = manner_absent(store, "syscalls");
	char *open = syscalls_unfinished(s);
	uint64_t calls = 0, ended = syscalls_of_ended(s);
	double ns = 0;
	size_t i;

	for (i = 0; i < s->n; i++) {
		calls += s->rows[i].calls;
		ns += (double)s->rows[i].total_ns;
	}
	if (!s->runs)
		note_add_of(&t->notes, b->variant, b->side, syscalls_none,
			    sliced ? "are known: " : "were counted", sliced ? sliced : "");
	else
		note_add_of(&t->notes, b->variant, b->side, syscalls_sum_runs,
			    (unsigned long long)calls, ns / 1e6, s->runs, shown, s->n,
			    shown < s->n ? "; --all shows all" : "");
	if (ended)
		note_add_of(&t->notes, b->variant, b->side, syscalls_ended,
			    (unsigned long long)ended);
	if (*open)
		note_add_of(&t->notes, b->variant, b->side, syscalls_open, open);
	free(open);
}

static int syscalls_put_block(struct store *s, const struct query *q, const struct block_runs *b,
			      unsigned int keys, struct table *t, struct error *err)
{
	struct syscall_sums sums = {.keys = keys};
	int k, rc = 0;

	for (k = 0; k < b->n && !rc; k++)
		rc = syscalls_add_run(s, q, &b->runs[k], &sums, err);
	if (!rc)
		syscalls_note_block(s, t, &b->block, &sums,
				    syscalls_put(t, q, &sums, b->block.variant, b->block.side));
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
	if (!rc)
		zero_copy_title(s, q, t);
	syscalls_set_columns(t, keys,
			     list.n > 1 || (q->by && strstr(q->by, "variant")) ||
				     (q->by && strstr(q->by, "side")));
	for (i = 0; i < list.n && !rc; i++)
		rc = syscalls_put_block(s, q, &list.blocks[i], keys, t, err);
	if (!rc)
		note_add(&t->notes, syscalls_times_hist);
	for (i = 0; i < list.n && !rc; i++)
		scope_notes(s, list.blocks[i].runs, list.blocks[i].n, t);
	if (!rc)
		scope_capture_notes(s, t);
	block_list_free(&list);
	return rc;
}

static int syscalls_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	if (q->trace)
		return syscalls_from_perf_trace(q->trace, q, t, err);
	if (q->tracepoints)
		return syscalls_from_perf(q->tracepoints, q, t, err);
	if (!s)
		return error_set(err, EINVAL,
				 "table 'syscalls' is made from a capture, --perf, --perf-trace or "
				 "--strace-c");
	return syscalls_run_store(s, q, t, err);
}

#define CALLS "comm by limit all unit units rate seconds"

const struct measure measure_syscalls = {
	.name = "syscalls",
	.what = "calls, errors, times and sizes of system calls",
	MEASURE_COLUMNS(syscalls_columns),
	.options = {[SOURCE_CAPTURE] = OPT_SLICE "variant side run comm by limit all",
		    [SOURCE_PERF] = "from to cpu " CALLS,
		    [SOURCE_TEXT] = CALLS},
	.spare = "stddev_pct min_ms p50_ms bytes_per_call total_ms",
	.collectors = "syscalls workload",
	.flags = MEASURE_TRACEPOINTS,
	.run = syscalls_run,
};
