// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long threads waited for a CPU, from sched.snap (collect/sched.c). The counters count from
 * the thread's birth. A thread that is first seen after the first snapshot was born since the
 * snapshot before, unless it ran and waited longer than that; then it counts from there on. What a
 * thread did after it was last seen is lost.
 */
#include "analyze/probes/ingest.h"
#include "analyze/probes/snapshots.h"

#include "lib/alloc.h"
#include "lib/str.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUN, WAIT, SLICES, VOLUNTARY, INVOLUNTARY, FIGURES }; /* as in enum thread_figure */

struct seen {
	int64_t pid, tid;
	double f[FIGURES]; /* NAN: not known */
	const char *comm;
};

struct reading {
	struct seen *all;
	size_t n, cap;
	struct map by_tid; /* place + 1 */
};

struct sums {
	struct reading last;
	double f[FIGURES]; /* in the window; NAN: never known */
	bool back;
	size_t late, ended;
};

/* Parses "<pid> <tid> <run> <waited> <slices> <voluntary> <involuntary> <name>"; "-": not known. */
static bool sched_parse_line(char *line, void *arg)
{
	struct reading *r = arg;
	struct seen s;
	char *word, *end;
	int i;

	word = str_token(&line, ' ');
	s.pid = strtoll(word, NULL, 10);
	word = str_token(&line, ' ');
	s.tid = word ? strtoll(word, NULL, 10) : 0;
	for (i = 0; i < FIGURES; i++) {
		word = str_token(&line, ' ');
		if (!word)
			return false;
		s.f[i] = strtod(word, &end);
		if (end == word || *end || !isfinite(s.f[i]) || s.f[i] < 0)
			s.f[i] = NAN;
	}
	s.comm = line;
	if (s.pid <= 0 || s.tid <= 0 || !line || isnan(s.f[RUN]))
		return false;
	array_add(r->all, r->n, r->cap, s);
	*map_at(&r->by_tid, (uint64_t)s.tid) = r->n;
	return true;
}

static const struct seen *sched_find(const struct reading *r, const struct seen *like)
{
	uint64_t *at = map_get(&r->by_tid, (uint64_t)like->tid);
	const struct seen *s = at ? &r->all[*at - 1] : NULL;

	return s && s->pid == like->pid ? s : NULL;
}

/* Adds a thread's growth in the window. Returns how long it waited in the whole span. */
static double sched_add_thread(struct ingest *in, struct sums *sums, const struct seen *was,
			       const struct seen *s, uint64_t end, double ns, double share)
{
	struct thread_row *row = ingest_thread(in, s->pid, s->tid);
	double by;
	int i;

	thread_seen(in, row, s->comm, end);
	if (was && was->f[RUN] > s->f[RUN])
		was = NULL; /* another thread of that number */
	if (!was && s->f[RUN] + s->f[WAIT] > 1.05 * ns + 1e7) {
		sums->late++;
		return 0;
	}
	for (i = 0; i < FIGURES; i++) {
		by = s->f[i] - (was ? was->f[i] : 0);
		sums->back |= by < 0;
		by = by < 0 ? 0 : by * share;
		figure_add(&row->f[THREAD_SCHED_RUN + i], by);
		figure_add(&sums->f[i], by);
	}
	by = s->f[WAIT] - (was ? was->f[WAIT] : 0);
	return by > 0 ? by : 0;
}

/* Adds the span between two readings. Returns how many ns all threads waited in it. */
static double sched_add_span(struct ingest *in, struct sums *sums, const struct reading *a,
			     const struct reading *b, uint64_t from, uint64_t to)
{
	double share = span_inside(from, to, in->run.start_ns, in->run.end_ns), waited = 0;
	size_t i;

	for (i = 0; i < b->n; i++)
		waited += sched_add_thread(in, sums, sched_find(a, &b->all[i]), &b->all[i], to,
					   (double)(to - from), share);
	for (i = 0; i < a->n; i++)
		sums->ended += !sched_find(b, &a->all[i]);
	return waited;
}

static const struct {
	const char *name, *unit;
} metrics[FIGURES] = {
	[RUN] = {"sched_run_ns", "ns"},
	[WAIT] = {"sched_wait_ns", "ns"},
	[SLICES] = {"sched_slices", "1"},
	[VOLUNTARY] = {"sched_voluntary", "1"},
	[INVOLUNTARY] = {"sched_involuntary", "1"},
};

static void sched_add_metrics(struct ingest *in, const struct sums *sums)
{
	size_t i;

	for (i = 0; i < array_size(metrics); i++)
		ingest_metric(in, metrics[i].name, metrics[i].unit, sums->f[i]);
	ingest_metric(in, "sched_switches", "1", sums->f[VOLUNTARY] + sums->f[INVOLUNTARY]);
	if (sums->back)
		note_add(&in->notes, counter_reset, "sched", "of a thread");
	if (sums->late)
		note_add(&in->notes, threads_joined, "sched", sums->late);
	if (sums->ended)
		note_add(&in->notes, ended_between, "sched", "threads");
}

static void sched_release(struct reading *r)
{
	free(r->all);
	map_free(&r->by_tid);
}

static size_t sched_read_snap(struct ingest *in, void *arg, char *text, uint64_t before_ns,
			      uint64_t t_ns)
{
	struct sums *sums = arg;
	struct reading now = {0};
	size_t bad = snap_lines(text, sched_parse_line, &now), i;
	double waited;

	for (i = 0; i < FIGURES && !before_ns; i++)
		sums->f[i] = NAN;
	for (i = 0; i < now.n && !before_ns; i++)
		thread_seen(in, ingest_thread(in, now.all[i].pid, now.all[i].tid), now.all[i].comm,
			    t_ns);
	if (before_ns && t_ns > before_ns) {
		waited = sched_add_span(in, sums, &sums->last, &now, before_ns, t_ns);
		ingest_point(in, "sched_wait_pct", t_ns, 100 * waited / (double)(t_ns - before_ns));
	}
	sched_release(&sums->last);
	sums->last = now;
	return bad;
}

static void sched_finish(struct ingest *in, void *sums, double covered_s)
{
	if (covered_s > 0)
		sched_add_metrics(in, sums);
}

static void sched_release_sums(void *sums)
{
	sched_release(&((struct sums *)sums)->last);
}

const struct parser parser_sched = {
	.files = {"sched.snap"},
	.snaps = {"sched", "sched.snap", true, sizeof(struct sums), sched_read_snap, sched_finish,
		  sched_release_sums},
};
