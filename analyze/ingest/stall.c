// SPDX-License-Identifier: GPL-2.0-only
/*
 * A workload that stood still in its window. Rates between its points are compared with their
 * median (weighted by time; their mean where more than half of the time nothing was done): a
 * stretch of STALL_NS or more below a tenth of it is a stall. A point that came late because the
 * workload was blocked makes a long span with little in it, which counts the same way.
 */
#include "analyze/ingest/points.h"

#include "lib/alloc.h"

#include <stdlib.h>

enum { STALL_NS = 200000000 };

struct span {
	uint64_t from, to;
	double rate; /* per ns */
};

struct stalls {
	uint64_t all, longest, at; /* ns; `at`: where the longest begins */
};

static int span_compare_rate(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return (x->rate > y->rate) - (x->rate < y->rate);
}

/* What lies between neighbouring points, cut to the window. */
static size_t points_find_spans(const struct points *ps, enum work w, uint64_t start, uint64_t end,
				struct span *spans)
{
	size_t i, n = 0;

	for (i = 1; i < ps->n; i++) {
		const struct point *a = &ps->p[i - 1], *b = &ps->p[i];
		struct span s = {a->t_ns, b->t_ns, 0};

		if (b->t_ns <= a->t_ns || b->t_ns <= start || a->t_ns >= end)
			continue;
		s.rate = (b->n[w] - a->n[w]) / (double)(b->t_ns - a->t_ns);
		s.from = s.from < start ? start : s.from;
		s.to = s.to > end ? end : s.to;
		spans[n++] = s;
	}
	return n;
}

static double spans_usual_rate(const struct span *spans, size_t n)
{
	struct span *sorted = xmemdup(spans, n * sizeof(*spans));
	double time = 0, work = 0, half = 0, rate = 0;
	size_t i;

	qsort(sorted, n, sizeof(*sorted), span_compare_rate);
	for (i = 0; i < n; i++) {
		time += (double)(spans[i].to - spans[i].from);
		work += spans[i].rate * (double)(spans[i].to - spans[i].from);
	}
	for (i = 0; i < n && half < time / 2; i++) {
		half += (double)(sorted[i].to - sorted[i].from);
		rate = sorted[i].rate;
	}
	free(sorted);
	return rate > 0 ? rate : work / time;
}

static void stalls_add_stretch(struct stalls *st, uint64_t from, uint64_t to)
{
	if (to - from < STALL_NS)
		return;
	st->all += to - from;
	if (to - from > st->longest) {
		st->longest = to - from;
		st->at = from;
	}
}

static struct stalls spans_find_stalls(const struct span *spans, size_t n, double slow)
{
	struct stalls st = {0};
	size_t i, k;

	for (i = 0; i < n; i = k) {
		for (k = i; k < n && spans[k].rate < slow; k++)
			;
		if (k > i)
			stalls_add_stretch(&st, spans[i].from, spans[k - 1].to);
		else
			k++;
	}
	return st;
}

void points_stalls(struct ingest *in, const struct points *ps)
{
	struct span *spans = xcalloc(ps->n + 1, sizeof(*spans));
	double window = (double)(in->run.end_ns - in->run.start_ns) / 1e9;
	enum work w = WORK_BYTES;
	struct stalls st = {0};
	size_t n;

	while (w < WORK_N && !ps->has[w])
		w++;
	n = w < WORK_N ? points_find_spans(ps, w, in->run.start_ns, in->run.end_ns, spans) : 0;
	if (n)
		st = spans_find_stalls(spans, n, spans_usual_rate(spans, n) / 10);
	free(spans);
	if (!n)
		return;
	ingest_metric(in, "stalled_s", "s", (double)st.all / 1e9, NULL);
	if (st.all)
		note_add(&in->notes, workload_stalled, (double)st.all / 1e9, window,
			 (double)st.longest / 1e9, (double)(st.at - in->run.start_ns) / 1e9);
}
