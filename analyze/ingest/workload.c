// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/ingest/workload.h"

#include "analyze/ingest/ingest.h"
#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/str.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *rate, *rate_unit;
	double per; /* units of work in one unit of the rate */
} works[WORK_N] = {
	[WORK_BYTES] = {"bytes", "rate_kib", "KiB/s", 1024},
	[WORK_MESSAGES] = {"messages", "rate_messages", "1/s", 1},
	[WORK_PACKETS] = {"packets", "rate_packets", "1/s", 1},
};

void points_add(struct points *ps, const struct point *p)
{
	const struct point *last = ps->n ? &ps->p[ps->n - 1] : NULL;
	int w;

	for (w = 0; last && w < WORK_N; w++) {
		if (p->t_ns < last->t_ns || p->n[w] < last->n[w]) {
			ps->backwards++;
			return;
		}
	}
	array_grow(ps->p, ps->n, ps->cap);
	ps->p[ps->n++] = *p;
}

void points_free(struct points *ps)
{
	free(ps->p);
	*ps = (struct points){0};
}

double points_at(const struct points *ps, enum work w, uint64_t t_ns)
{
	const struct point *a, *b;
	size_t i = 1;

	while (i < ps->n - 1 && ps->p[i].t_ns < t_ns)
		i++;
	a = &ps->p[i - 1];
	b = &ps->p[i];
	if (b->t_ns == a->t_ns)
		return b->n[w];
	return a->n[w] +
	       (b->n[w] - a->n[w]) * ((double)(t_ns - a->t_ns) / (double)(b->t_ns - a->t_ns));
}

/* Adds the throughput in Gbit/s between neighbouring points, at the later point. */
static void points_add_throughput(struct ingest *in, const struct points *ps)
{
	size_t i;

	for (i = 1; i < ps->n; i++) {
		const struct point *a = &ps->p[i - 1], *b = &ps->p[i];

		if (b->t_ns > a->t_ns)
			ingest_point(in, "throughput", b->t_ns,
				     8 * (b->n[WORK_BYTES] - a->n[WORK_BYTES]) /
					     (double)(b->t_ns - a->t_ns));
	}
}

static void points_add_metrics(struct ingest *in, const struct points *ps, enum work w,
			       uint64_t from, uint64_t to, double seconds)
{
	double n = points_at(ps, w, to) - points_at(ps, w, from);

	ingest_metric(in, works[w].name, "1", n, NULL);
	ingest_metric(in, works[w].rate, works[w].rate_unit, n / works[w].per / seconds, NULL);
	if (w == WORK_BYTES)
		ingest_metric(in, "throughput", "Gbit/s", 8 * n / seconds / 1e9, NULL);
}

static bool points_resolve_slice(struct ingest *in, const struct points *ps)
{
	uint64_t *t = xcalloc(ps->n + 1, sizeof(*t));
	bool known;
	size_t i;

	for (i = 0; i < ps->n; i++)
		t[i] = ps->p[i].t_ns;
	known = window_resolves(in, "workload", t, ps->n);
	free(t);
	return known;
}

/*
 * --- stalls ---
 *
 * Rates between the points are compared with their median (weighted by time; with their mean where
 * nothing was done in more than half of the time). A stretch of STALL_NS or more below a tenth of
 * it is a stall. A point that came late because the workload was blocked makes a long span with
 * little work in it, which counts the same way.
 */

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

/* Fills the spans between neighbouring points, cut to the window. Returns their number. */
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

static void points_add_stalls(struct ingest *in, const struct points *ps)
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

/* --- metrics --- */

int points_metrics(struct ingest *in, const struct points *ps, const char *path, struct error *err)
{
	uint64_t from, to;
	double seconds;
	int w;

	if (ps->backwards)
		note_add(&in->notes, workload_points_backwards, ps->backwards);
	if (ps->n < 2)
		return error_set(err, ENODATA,
				 "%s: %zu points of work done; two are needed to know a rate", path,
				 ps->n);
	if (!points_resolve_slice(in, ps))
		return 0;
	from = ps->p[0].t_ns;
	to = ps->p[ps->n - 1].t_ns;
	seconds = ingest_cover(in, "the workload's account", &from, &to);
	if (ps->has[WORK_BYTES])
		points_add_throughput(in, ps);
	for (w = 0; w < WORK_N && seconds > 0; w++)
		if (ps->has[w])
			points_add_metrics(in, ps, (enum work)w, from, to, seconds);
	if (seconds > 0)
		points_add_stalls(in, ps);
	return 0;
}

/* --- adapters --- */

static const struct adapter adapter_none = {.name = "none"};

/* The list of adapters, in the order of messages. */
#define ADAPTERS(row) row(tcpzc) row(iperf3) row(pps) row(regex) row(none)

#define DECLARATION(name) extern const struct adapter adapter_##name;
#define ADDRESS(name)	  &adapter_##name,

ADAPTERS(DECLARATION)
static const struct adapter *const adapters[] = {ADAPTERS(ADDRESS)};

/* Finds the adapter that "units" of run.json names up to a colon, or returns NULL. */
static const struct adapter *adapter_find(const char *units)
{
	size_t len = strcspn(units, ":"), i;

	for (i = 0; i < array_size(adapters); i++)
		if (strlen(adapters[i]->name) == len && !strncmp(adapters[i]->name, units, len))
			return adapters[i];
	return NULL;
}

bool workload_has_account(const char *units)
{
	const struct adapter *a = adapter_find(units);

	return !a || a->parse;
}

static int adapter_unknown(const char *units, struct error *err)
{
	struct str names = {0};
	size_t i, n = array_size(adapters);
	int rc;

	for (i = 0; i < n; i++)
		str_printf(&names, "%s%s%s%s",
			   !i	       ? ""
			   : i + 1 < n ? ", "
				       : " and ",
			   adapters[i]->name, adapters[i]->argument ? ":" : "",
			   adapters[i]->argument ? adapters[i]->argument : "");
	rc = error_set(err, EINVAL, "run.json: no adapter '%s'; there are %s", units, names.buf);
	str_free(&names);
	return rc;
}

int ingest_workload(struct ingest *in, const char *path, struct error *err)
{
	const struct adapter *a = adapter_find(in->units);
	const char *colon = strchr(in->units, ':');
	struct points ps = {0};
	char *text;
	int rc;

	if (!a)
		return adapter_unknown(in->units, err);
	rc = file_read(path, &text, NULL, err);
	if (rc)
		return rc;
	rc = a->parse(in, text, colon ? colon + 1 : NULL, &ps, err);
	if (!rc)
		rc = points_metrics(in, &ps, path, err);
	points_free(&ps);
	free(text);
	return rc;
}
