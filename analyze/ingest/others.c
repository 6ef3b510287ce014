// SPDX-License-Identifier: GPL-2.0-only
/*
 * User time of the side's CPUs that no thread of the workload had: other programs. Time in the
 * kernel is left out, since interrupts, softirqs and the kernel's own threads do the workload's
 * work and belong to nobody's thread.
 *
 * Of what ended between two readings only the whole time is known: it is all taken for user time,
 * so that the figure is the least there can be. Where a part of the workload is not known, there is
 * none.
 */
#include "analyze/ingest/others.h"

#include <math.h>
#include <string.h>

enum { TICK_NS = 10000000 }; /* USER_HZ is 100 on everything this runs on */

/* Percent of one CPU: the two clocks (/proc/stat and the scheduler's) do not agree more closely. */
static const double clocks_apart = 2;

/* Part of the busy time, percent, that is worth a word. */
static const double worth_a_word = 10;

static double others_find_metric(const struct ingest *in, const char *name)
{
	size_t i;

	for (i = 0; i < in->nmetrics; i++)
		if (!strcmp(in->metrics[i].name, name))
			return in->metrics[i].value;
	return NAN;
}

/* User time of the workload, ns; `more`: what the whole ticks of its threads may have left out. */
static double others_workload_user_ns(const struct ingest *in, double *more)
{
	double sum = 0, rest;
	size_t i;

	*more = 0;
	for (i = 0; i < in->nthreads_seen; i++) {
		const struct thread_row *row = &in->threads_seen[i];

		if (isnan(row->run_ns))
			continue;
		sum += isnan(row->user_ns) ? row->run_ns : row->user_ns;
		rest = isnan(row->user_ns) ? 0 : row->run_ns - row->user_ns;
		*more += rest > 0 ? fmin(rest, TICK_NS) : 0;
	}
	return sum;
}

void ingest_others(struct ingest *in)
{
	double to_pct = 100 / (double)(in->run.end_ns - in->run.start_ns), more;
	double others = others_find_metric(in, "cpu_user_pct") -
			others_workload_user_ns(in, &more) * to_pct;
	double busy = others_find_metric(in, "cpu_pct"), surely;

	if (!in->workload_whole || isnan(others))
		return;
	/* Ticks tell user from system by chance: it is no more than all that others had. */
	if (others_find_metric(in, "workload_confined") == 1)
		others = fmin(others, busy - others_find_metric(in, "workload_cpu_pct"));
	/* Far below zero: the workload was on other CPUs, and what was on these is not known. */
	if (others < -clocks_apart)
		return;
	ingest_metric(in, "others_user_pct", "%", fmax(others, 0), NULL);
	surely = others - more * to_pct;
	if (surely > clocks_apart && 100 * surely > worth_a_word * busy)
		note_add(&in->notes, cpu_others, 100 * others / busy);
}
