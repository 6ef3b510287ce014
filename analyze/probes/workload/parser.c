// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/probes/ingest.h"
#include "analyze/scope/work.h"
#include "workload/workload.h"

#include <errno.h>

#define WORK_ROW(id, unit, units) [WORK_##id##S] = {units, "rate_" units, "1/s", 1},

static const struct {
	const char *name, *rate, *rate_unit;
	double per; /* units of work in one unit of the rate */
} works[WORK_N] = {[WORK_BYTES] = {"bytes", "rate_kib", "KiB/s", 1024}, WORK_UNITS(WORK_ROW)};

/*
 * The work in the window is the difference between its two ends, interpolated between the points
 * around each end. Nothing is extrapolated.
 */
static double points_at(const struct points *ps, enum work w, uint64_t t_ns)
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

/* Returns the shortest interval that is not merged into its neighbour: a quarter of the median. */
static uint64_t points_least_interval(const struct points *ps)
{
	double *gaps = xcalloc(ps->n, sizeof(*gaps)), least;

	for (size_t i = 1; i < ps->n; i++)
		gaps[i - 1] = (double)(ps->p[i].t_ns - ps->p[i - 1].t_ns);
	least = stats_point(EST_MEDIAN, gaps, ps->n - 1) / 4;
	free(gaps);
	return least > 1 ? (uint64_t)least : 1;
}

/*
 * Adds the throughput in Gbit/s between points, at the later point. A workload counts once more
 * when it ends. The bytes of that fraction of a millisecond came out of a queue, and their rate
 * would be the peak of the run, so an interval far below the usual one is part of its neighbour.
 */
static void points_add_throughput(struct ingest *in, const struct points *ps)
{
	const struct point *a = ps->p, *last = &ps->p[ps->n - 1];
	uint64_t least = points_least_interval(ps);

	for (const struct point *b = a + 1; b <= last; b++) {
		if (b->t_ns - a->t_ns < least || (b < last && last->t_ns - b->t_ns < least))
			continue;
		ingest_point(in, "throughput", b->t_ns,
			     8 * (b->n[WORK_BYTES] - a->n[WORK_BYTES]) /
				     (double)(b->t_ns - a->t_ns));
		a = b;
	}
}

static void points_add_metrics(struct ingest *in, const struct points *ps, enum work w,
			       uint64_t from, uint64_t to, double seconds)
{
	double n = points_at(ps, w, to) - points_at(ps, w, from);

	ingest_metric(in, works[w].name, "1", n);
	ingest_metric(in, works[w].rate, works[w].rate_unit, n / works[w].per / seconds);
	if (w == WORK_BYTES)
		ingest_metric(in, "throughput", "Gbit/s", 8 * n / seconds / 1e9);
}

/* Returns the first kind of work that the points count, or WORK_N. */
static enum work points_first_work(const struct points *ps)
{
	enum work w = WORK_BYTES;

	while (w < WORK_N && !ps->has[w])
		w++;
	return w;
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
	double rate; /* per ns; first: stats_by_value() orders spans by it */
	uint64_t from, to;
};

struct stalls {
	uint64_t all, longest, at; /* ns; `at`: where the longest begins */
};

/* Fills the spans between neighbouring points, cut to the window. Returns their number. */
static size_t points_find_spans(const struct points *ps, enum work w, uint64_t start, uint64_t end,
				struct span *spans)
{
	size_t i, n = 0;

	for (i = 1; i < ps->n; i++) {
		const struct point *a = &ps->p[i - 1], *b = &ps->p[i];
		struct span s = {0, a->t_ns, b->t_ns};

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
	autofree struct span *sorted = xmemdup(spans, n * sizeof(*spans));
	double time = 0, work = 0, half = 0, rate = 0;

	qsort(sorted, n, sizeof(*sorted), stats_by_value);
	for (size_t i = 0; i < n; i++) {
		time += (double)(spans[i].to - spans[i].from);
		work += spans[i].rate * (double)(spans[i].to - spans[i].from);
	}
	for (size_t i = 0; i < n && half < time / 2; i++) {
		half += (double)(sorted[i].to - sorted[i].from);
		rate = sorted[i].rate;
	}
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
	size_t k;

	for (size_t i = 0; i < n; i = k) {
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
	autofree struct span *spans = xcalloc(ps->n + 1, sizeof(*spans));
	double window = (double)(in->run.end_ns - in->run.start_ns) / 1e9;
	enum work w = points_first_work(ps);
	struct stalls st = {0};
	size_t n;

	n = w < WORK_N ? points_find_spans(ps, w, in->run.start_ns, in->run.end_ns, spans) : 0;
	if (n)
		st = spans_find_stalls(spans, n, spans_usual_rate(spans, n) / 10);
	if (!n)
		return;
	ingest_metric(in, "stalled_s", "s", (double)st.all / 1e9);
	if (st.all)
		note_add(&in->notes, workload_stalled, (double)st.all / 1e9, window,
			 (double)st.longest / 1e9, (double)(st.at - in->run.start_ns) / 1e9);
}

/*
 * --- how coarse the points are ---
 *
 * The points inside the window count the work between them, pauses included. Only the two gaps that
 * hold the window's ends are interpolated. A gap's work may have been done at any time in the gap,
 * so the gap bounds the error. The bound is closer if the workload was never faster than in its
 * fastest span of about the gap's length: then a gap at full speed leaves no room for a pause. No
 * such bound helps where a gap is longer than the window, as with a program that prints a total at
 * its end: the figures are averages over the gap.
 */

struct doubt {
	double any_less, any_more; /* work in the window, with any rate inside the gaps */
	double less, more;	   /* at no more than the fastest rate */
	uint64_t gap_ns;	   /* the longer gap */
};

/* Returns the highest rate in the window, per ns, of spans of at least `ns`. */
static double points_fastest_rate(const struct points *ps, enum work w, const struct run *r,
				  uint64_t ns)
{
	double fastest = 0;

	for (size_t i = 1; i < ps->n; i++) {
		const struct point *a = &ps->p[i - 1], *b = &ps->p[i];

		if (b->t_ns > r->start_ns && a->t_ns < r->end_ns && b->t_ns - a->t_ns >= ns)
			fastest = fmax(fastest, (b->n[w] - a->n[w]) / (double)(b->t_ns - a->t_ns));
	}
	return fastest;
}

/* Adds the doubt about the work that was done until `at`, one of the window's ends. */
static void doubt_add_gap(struct doubt *d, const struct points *ps, enum work w,
			  const struct run *r, uint64_t at)
{
	const struct point *a, *b;
	double work, until, rate, least, most;
	size_t i = 1;

	while (i < ps->n - 1 && ps->p[i].t_ns < at)
		i++;
	a = &ps->p[i - 1];
	b = &ps->p[i];
	if (at <= a->t_ns || at >= b->t_ns)
		return;
	work = b->n[w] - a->n[w];
	until = points_at(ps, w, at) - a->n[w];
	rate = points_fastest_rate(ps, w, r, (b->t_ns - a->t_ns) / 2);
	least = fmax(0, work - rate * (double)(b->t_ns - at));
	most = fmin(work, rate * (double)(at - a->t_ns));
	/* Work before the window's start is missing in the window. */
	d->any_less += at == r->start_ns ? work - until : until;
	d->any_more += at == r->start_ns ? until : work - until;
	d->less += at == r->start_ns ? most - until : until - least;
	d->more += at == r->start_ns ? until - least : most - until;
	d->gap_ns = b->t_ns - a->t_ns > d->gap_ns ? b->t_ns - a->t_ns : d->gap_ns;
}

static void points_note_doubt(struct ingest *in, const struct points *ps, uint64_t from,
			      uint64_t to)
{
	enum work w = points_first_work(ps);
	double done = w < WORK_N ? points_at(ps, w, to) - points_at(ps, w, from) : 0;
	uint64_t window_ns = in->run.end_ns - in->run.start_ns;
	double any, likely;
	struct doubt d = {0};

	if (!(done > 0))
		return;
	doubt_add_gap(&d, ps, w, &in->run, in->run.start_ns);
	doubt_add_gap(&d, ps, w, &in->run, in->run.end_ns);
	any = 100 * fmax(fmin(d.any_less, done), d.any_more) / done;
	likely = 100 * fmax(fmin(d.less, done), d.more) / done;
	if (d.gap_ns > window_ns && (double)d.gap_ns < 1.02 * (double)window_ns)
		return; /* readings just outside the window */
	if (likely < 2 && d.gap_ns > window_ns)
		in->one_count_s = (double)d.gap_ns / 1e9;
	else if (likely >= 2 || any >= 1)
		note_add(&in->notes, workload_points_coarse, (double)d.gap_ns / 1e9,
			 (double)window_ns / 1e9, likely, any)
			->severity = likely >= 2 || any >= 20 ? SEVERITY_WARNING : SEVERITY_INFO;
}

/* --- metrics --- */

/* Adds the metrics of the work in the window: bytes, throughput, rate_kib and so on. */
static int points_metrics(struct ingest *in, const struct points *ps, const char *path,
			  struct error *err)
{
	uint64_t from, to;
	double seconds;

	if (ps->backwards)
		note_add(&in->notes, workload_points_backwards, ps->backwards);
	if (ps->n < 2)
		return error_set(err, ENODATA,
				 "%s: %zu points of work done; two are needed to know a rate", path,
				 ps->n);
	if (!window_resolves(in, "workload", ps->p, ps->n, sizeof(*ps->p)))
		return 0;
	from = ps->p[0].t_ns;
	to = ps->p[ps->n - 1].t_ns;
	seconds = ingest_cover(in, "the workload's account", &from, &to);
	if (ps->has[WORK_BYTES])
		points_add_throughput(in, ps);
	for (int w = 0; w < WORK_N && seconds > 0; w++)
		if (ps->has[w])
			points_add_metrics(in, ps, (enum work)w, from, to, seconds);
	if (seconds > 0) {
		points_add_stalls(in, ps);
		points_note_doubt(in, ps, from, to);
	}
	return 0;
}

/* --- one count for longer than the window --- */

/* Returns the bytes that the sockets received in the window, or NAN: a socket that came or went
 * meanwhile may have moved some that no reading saw. */
static double sockets_received(const struct ingest *in)
{
	uint64_t margin = (in->run.end_ns - in->run.start_ns) / 20;

	for (size_t i = 0; i < in->nsockets; i++)
		if (in->sockets[i].first_ns > in->run.start_ns + margin ||
		    in->sockets[i].last_ns + margin < in->run.end_ns)
			return NAN;
	return ingest_find_metric(in, "tcp_socket_bytes_received", NULL);
}

void ingest_rate_in_window(struct ingest *in)
{
	double window = (double)(in->run.end_ns - in->run.start_ns) / 1e9;
	double by = sockets_received(in) / ingest_find_metric(in, "bytes", NULL);

	if (!(in->one_count_s > 0))
		return;
	if (!adapter_find(in->units)->of_sockets ||
	    !(by > 0 && by < 1.05 * in->one_count_s / window)) {
		note_add(&in->notes, workload_points_average, in->one_count_s, window);
		return;
	}
	for (struct metric_row *m = in->metrics; m < in->metrics + in->nmetrics; m++) {
		bool is_work = !strcmp(m->key.name, "throughput");

		for (size_t w = 0; w < array_size(works); w++)
			is_work |= !strcmp(m->key.name, works[w].name) ||
				   !strcmp(m->key.name, works[w].rate);
		m->value *= is_work && !m->key.object ? by : 1;
	}
	note_add(&in->notes, workload_rate_of_sockets, in->one_count_s, window, 100 * (by - 1));
}

/*
 * The readings of sockets see none that opens and closes between two of them. The kernel counts
 * the connections of the whole network namespace, so a few of them may be of other programs.
 */
void ingest_check_sockets(struct ingest *in)
{
	double seconds = (double)(in->run.end_ns - in->run.start_ns) / 1e9;
	double seen = ingest_find_metric(in, "tcp_sockets", NULL);
	double opened = fmax(ingest_find_metric(in, "snmp", "TcpActiveOpens"),
			     ingest_find_metric(in, "snmp", "TcpPassiveOpens"));

	if (in->units && !strcmp(in->units, "tcp") && opened > 2 * seen + 10 * seconds)
		note_add(&in->notes, workload_sockets_unseen, opened, seen);
}

/* --- the account --- */

void workload_set_units(struct ingest *in)
{
	char *line;

	each_part (line, in->how.units, '\n') {
		const char *side = str_token(&line, '=');

		if (line && (!*side || !strcmp(side, in->run.side)))
			in->units = arena_strdup(&in->arena, line);
	}
}

const char *workload_file(const struct ingest *in)
{
	const struct adapter *is = adapter_find(in->units);

	if (!is || !is->collector)
		return is && !is->read ? NULL : "workload.out";
	for (size_t i = 0; i < in->ncollectors; i++)
		if (!strcmp(in->collectors[i].name, is->collector))
			return is->file;
	return NULL;
}

/* From a tenth of the window on, the window may hold the work of another part of the run. */
static void account_note_dated(struct ingest *in, double late_s)
{
	double window_s = (double)(in->run.end_ns - in->run.start_ns) / 1e9;

	bool coarse = late_s > 0.1 * window_s;

	if (isfinite(late_s))
		note_add(&in->notes, workload_dated, late_s, window_s,
			 coarse ? ": take a longer window" : "")
			->severity = coarse ? SEVERITY_WARNING : SEVERITY_INFO;
}

static void account_add_notes(struct ingest *in, const struct account *a)
{
	if (a->error)
		note_add(&in->notes, workload_error, a->error);
	account_note_dated(in, a->late_s);
	if (a->rates > 1)
		note_add(&in->notes, rates_spread, a->rates,
			 (double)(in->ended_ns - in->started_ns) / 1e9);
	if (a->udp)
		ingest_metric(in, "workload_udp", "1", 1);
	if (!in->sliced)
		ingest_metric(in, "tcp_retransmits", "1", a->retransmits);
	else if (isfinite(a->retransmits))
		window_absent(in, "retransmits", "counted over the whole run");
}

static int account_read_summary(struct ingest *in, const struct workload_run *run,
				struct error *err)
{
	const struct adapter *is = adapter_find(in->units);
	autofree char *text = NULL;
	int rc;

	if (!is->summary)
		return 0;
	rc = workload_text(run, "workload.out", &text, err);
	if (rc)
		return rc;
	ingest_summary(in, text);
	return 0;
}

static void account_add_latency(struct ingest *in, const struct workload_run *run)
{
	double us[LATENCIES];

	if (!latency_read(run, in->units, us))
		return;
	if (in->sliced) {
		window_absent(in, "latency", "percentiles over the whole run");
		return;
	}
	for (size_t i = 0; i < LATENCIES; i++)
		ingest_metric_of(in, "latency_us", latency_name(i), NO_CPU, "us", us[i]);
	ingest_metric_of(in, "latency_source", in->units, NO_CPU, "1", 1);
}

int ingest_workload(struct ingest *in, const char *path, struct error *err)
{
	struct workload_run run = {in->dir, in->started_ns, in->ended_ns, in->wall_clock};
	freed(account_free) struct account a;
	int rc = account_read(&run, in->units, &a, err);

	if (str_starts(in->units, "nic:")) /* its packets may be aggregates */
		ingest_fact(in, "units", in->units);
	account_add_notes(in, &a);
	account_add_latency(in, &run);
	rc = rc ?: account_read_summary(in, &run, err);
	rc = rc ?: points_metrics(in, &a.points, path, err);
	return rc;
}
