// SPDX-License-Identifier: GPL-2.0-only
/*
 * sched of a capture: how long the workload's threads ran and waited for a CPU in the window, by
 * the kernel's own counters (schedstat): a row for each thread of each run; --by comm adds up.
 */
#include "analyze/measures/tables.h"

#include "analyze/measures/block_table.h"
#include "analyze/measures/thread_groups.h"
#include "analyze/measures/zero_copy.h"
#include "lib/alloc.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct column columns[] = {
	{"variant", NULL, V_STR, 0, NULL},
	{"side", NULL, V_STR, 0, NULL},
	{"run", NULL, V_INT, 0, "the repeat that has this thread"},
	{"comm", NULL, V_STR, 0, "command"},
	{"pid", NULL, V_INT, 0, NULL},
	{"tid", NULL, V_INT, 0, NULL},
	{"threads", NULL, V_INT, 0, "seen in a run"},
	{"runtime_ms", "ms", V_REAL, 3, "time on a CPU"},
	{"delay_ms", "ms", V_REAL, 3, "time runnable, but waiting for a CPU"},
	{"delay_ms_lo", "ms", V_REAL, 3, "its interval over the runs"},
	{"delay_ms_hi", "ms", V_REAL, 3, NULL},
	{"slices", NULL, V_REAL, 0, "times it got a CPU"},
	{"us_per_slice", "us", V_REAL, 2, "delay / slices"},
	{"voluntary", NULL, V_REAL, 0, "times it slept"},
	{"involuntary", NULL, V_REAL, 0, "times it was put off the CPU"},
};

enum { LIMIT = 30 };

static void put_group(struct table *t, const struct block_list *list, const struct block_runs *b,
		      const struct thread_groups *groups, const struct thread_group *g)
{
	struct value *row = table_row(t);
	struct estimate run = thread_estimate(groups, g, THREAD_SCHED_RUN, list->estimator),
			wait = thread_estimate(groups, g, THREAD_WAIT, list->estimator),
			slices = thread_estimate(groups, g, THREAD_SLICES, list->estimator);

	table_set(t, row, "variant", value_str(t, b->block.variant));
	table_set(t, row, "side", value_str(t, b->block.side));
	if (g->run >= 0)
		table_set(t, row, "run", value_int(b->runs[g->run].repeat));
	table_set(t, row, "comm", value_str(t, g->comm));
	if (g->pid)
		table_set(t, row, "pid", value_int(g->pid));
	if (g->tid)
		table_set(t, row, "tid", value_int(g->tid));
	table_set(t, row, "threads", value_int(g->threads));
	table_set(t, row, "runtime_ms", value_real(run.value / 1e6));
	wait.value /= 1e6, wait.lo /= 1e6, wait.hi /= 1e6;
	put_estimate(t, row, "delay_ms", "delay_ms", &wait);
	table_set(t, row, "slices", value_real(slices.value));
	table_set(t, row, "us_per_slice", value_real(1e3 * wait.value / slices.value));
	table_set(t, row, "voluntary",
		  value_real(thread_estimate(groups, g, THREAD_VOLUNTARY, list->estimator).value));
	table_set(
		t, row, "involuntary",
		value_real(thread_estimate(groups, g, THREAD_INVOLUNTARY, list->estimator).value));
}

/* Threads that ended unseen have no row here. */
static bool shows(const struct thread_groups *groups, const struct thread_group *g)
{
	int k;

	for (k = 0; k < groups->nruns; k++)
		if (!isnan(g->of[k][THREAD_WAIT]))
			return true;
	return false;
}

/* Why there is nothing: what the collector said. */
static void note_absent(struct store *s, const struct block_runs *b, struct table *t)
{
	struct collector_row *rows;
	int i, k, n;

	for (i = 0; i < b->n; i++) {
		n = store_collectors(s, b->runs[i].id, &rows, NULL);
		for (k = 0; k < n; k++) {
			if (strcmp(rows[k].name, "sched") || !rows[k].why)
				continue;
			table_note(t, "%s %s: run-queue delay was not measured: %s",
				   b->block.variant, b->block.side, rows[k].why);
			free(rows);
			return;
		}
		if (n >= 0)
			free(rows);
	}
	table_note(t,
		   "%s %s: run-queue delay was not measured (collector 'sched', of the measure "
		   "pass)",
		   b->block.variant, b->block.side);
}

static int put_side(struct store *s, const struct query *q, const struct block_list *list,
		    const struct block_runs *b, enum thread_key key, struct table *t,
		    struct error *err)
{
	size_t limit = q->limit > 0 ? (size_t)q->limit : LIMIT, all = 0, shown = 0, i;
	struct thread_groups groups;
	int rc = thread_groups_read(&groups, s, b, key, q->comm, THREAD_WAIT, err);

	for (i = 0; i < groups.n && !rc; i++) {
		if (!shows(&groups, &groups.g[i]) || (all++ >= limit && !q->all))
			continue;
		put_group(t, list, b, &groups, &groups.g[i]);
		shown++;
	}
	if (!rc && !all)
		note_absent(s, b, t);
	if (shown < all)
		table_note(t, "%s %s: %zu of %zu rows; --all shows all", b->block.variant,
			   b->block.side, shown, all);
	thread_groups_free(&groups);
	return rc;
}

static int find_key(const char *by, enum thread_key *key, struct error *err)
{
	*key = BY_THREAD;
	if (!by || !strcmp(by, "thread") || !strcmp(by, "tid"))
		return 0;
	*key = BY_PROCESS;
	if (!strcmp(by, "process") || !strcmp(by, "pid"))
		return 0;
	*key = BY_COMM;
	if (!strcmp(by, "comm"))
		return 0;
	return error_set(err, EINVAL,
			 "--by: table 'sched' has the keys comm, process and thread, not '%s'", by);
}

int sched_capture_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	struct block_list list = {0};
	enum thread_key key;
	int rc = find_key(q->by, &key, err), i;

	if (!rc)
		thread_columns(t, columns, array_size(columns), key);
	if (!rc)
		rc = block_list_read(&list, s, q, FOR_FIGURES, err);
	if (!rc)
		zero_copy_title(s, q, t);
	for (i = 0; i < list.n && !rc; i++)
		rc = put_side(s, q, &list, &list.blocks[i], key, t, err);
	if (!rc) {
		table_note(t, "over the window, by /proc/PID/task/TID/schedstat and status; of a "
			      "thread that ended in it, until it was seen last");
		block_list_notes(&list, s, t);
	}
	block_list_free(&list);
	return rc;
}
