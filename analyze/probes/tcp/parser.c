// SPDX-License-Identifier: GPL-2.0-only
/*
 * The workload's sockets over time, from tcp.snap (collect/tcp.c). A state such as rtt or cwnd
 * becomes the median of the readings inside the window, a counter its growth in it. A socket that
 * is new in a reading was made since the reading before, so its growth is all that it counted.
 * What a socket did after it was last seen is not known. Medians and the series over the sockets
 * leave out idle ones, such as a control connection.
 */
#include "analyze/probes/ingest.h"
#include "analyze/probes/snapshots.h"
#include "analyze/probes/tcp/info.h"

#include "lib/stats.h"

enum {
	KEPT = 1000,
	SLACK_NS = 20000000
}; /* how far outside the window the readings at its ends may lie */

struct values {
	double *v;
	size_t n, cap;
};

/* A socket is idle if it moved less than this part of the bytes of the busiest socket. */
static const double IDLE = 0.01;

/* A socket through all readings. */
struct track {
	struct tcp_seen last;
	size_t last_reading; /* place + 1 */
	uint64_t last_ns;
	struct socket_row row;
	struct values over[SOCKET_NFIGURES];
};

struct tracks {
	struct ingest *in;
	struct track *t;
	size_t n, cap;
	struct map by_cookie; /* place + 1 */
	/* the current reading */
	size_t reading;
	uint64_t t_ns, before_ns;
	bool little;
	struct values rtt, cwnd, bytes; /* those of each socket; the bytes are those so far */
	size_t ended;
};

static void track_add_value(struct values *v, double x)
{
	if (isnan(x))
		return;
	array_add(v->v, v->n, v->cap, x);
}

static double socket_bytes(const double f[SOCKET_NFIGURES])
{
	double sent = f[SOCKET_bytes_acked], got = f[SOCKET_bytes_received];

	return (isnan(sent) ? 0 : sent) + (isnan(got) ? 0 : got);
}

/* Moves the values of the sockets that are not idle to the front. Returns their number. */
static size_t sockets_choose(struct values *v, const struct values *bytes)
{
	double most = 0;
	size_t n = 0;

	for (size_t i = 0; i < bytes->n; i++)
		most = bytes->v[i] > most ? bytes->v[i] : most;
	for (size_t i = 0; i < v->n; i++)
		if (bytes->v[i] >= IDLE * most && !isnan(v->v[i]))
			v->v[n++] = v->v[i];
	return n;
}

/* Both return that of the sockets that are not idle, and change the order of `v`. */
static double sockets_median(struct values *v, const struct values *bytes)
{
	return stats_quantile(v->v, sockets_choose(v, bytes), 0.5);
}

static double sockets_sum(struct values *v, const struct values *bytes)
{
	size_t n = sockets_choose(v, bytes);
	double sum = 0;

	while (n)
		sum += v->v[--n];
	return sum;
}

static struct track *tracks_find(struct tracks *all, const struct tcp_seen *s)
{
	uint64_t *at = map_at(&all->by_cookie, s->cookie);
	struct track *t;

	if (*at)
		return &all->t[*at - 1];
	array_add(all->t, all->n, all->cap, (struct track){0});
	*at = all->n;
	t = &all->t[all->n - 1];
	t->row.pid = s->pid;
	t->row.local = arena_strdup(&all->in->arena, s->local);
	t->row.peer = arena_strdup(&all->in->arena, s->peer);
	t->row.first_ns = all->t_ns;
	for (int i = 0; i < SOCKET_NFIGURES; i++)
		t->row.f[i] = NAN;
	return t;
}

static bool figure_is_growth(enum socket_figure f)
{
	return tcp_kind(f) == TCP_GROWTH || tcp_kind(f) == TCP_GROWTH32;
}

/* Returns the growth of a counter; a counter of 32 bits wraps. */
static double track_growth(enum socket_figure f, double before, double now)
{
	if (now >= before)
		return now - before;
	return tcp_kind(f) == TCP_GROWTH32 ? now + 4294967296.0 - before : 0;
}

static void track_grow(struct tracks *all, struct track *t, const struct tcp_seen *s)
{
	uint64_t from = t->last_reading ? t->last_ns : all->before_ns;
	double share = span_inside(from, all->t_ns, all->in->run.start_ns, all->in->run.end_ns);
	double before;

	for (int f = 0; f < SOCKET_NFIGURES; f++) {
		if (!figure_is_growth((enum socket_figure)f) || isnan(s->f[f]))
			continue;
		before = t->last_reading && !isnan(t->last.f[f]) ? t->last.f[f] : 0;
		figure_add(&t->row.f[f],
			   share * track_growth((enum socket_figure)f, before, s->f[f]));
	}
}

static bool tcp_in_window(const struct tracks *all)
{
	return all->t_ns + SLACK_NS >= all->in->run.start_ns &&
	       all->t_ns <= all->in->run.end_ns + SLACK_NS;
}

static bool tcp_read_line(char *line, void *arg)
{
	struct tracks *all = arg;
	struct tcp_seen s;
	struct track *t;

	if (!strcmp(line, "little") || !strcmp(line, "big")) {
		all->little = *line == 'l';
		return true;
	}
	if (!tcp_info_parse(line, all->little, &s))
		return false;
	t = tracks_find(all, &s);
	if (all->reading)
		track_grow(all, t, &s);
	for (int f = 0; f < SOCKET_NFIGURES && tcp_in_window(all); f++)
		if (!figure_is_growth((enum socket_figure)f))
			track_add_value(&t->over[f], s.f[f]);
	array_add(all->rtt.v, all->rtt.n, all->rtt.cap, s.f[SOCKET_rtt_us]);
	array_add(all->cwnd.v, all->cwnd.n, all->cwnd.cap, s.f[SOCKET_cwnd]);
	array_add(all->bytes.v, all->bytes.n, all->bytes.cap, socket_bytes(s.f));
	if (s.congestion && (!t->row.congestion || strcmp(t->row.congestion, s.congestion)))
		t->row.congestion = arena_strdup(&all->in->arena, s.congestion);
	t->row.state = s.state;
	t->row.last_ns = t->last_ns = all->t_ns;
	t->row.readings++;
	t->last_reading = all->reading + 1;
	t->last = s;
	t->last.congestion = NULL; /* it points into the line */
	return true;
}

/* Returns one figure of a socket over the window. */
static double track_over_time(enum socket_figure f, const struct values *v)
{
	size_t i;
	double least;

	if (!v->n)
		return NAN;
	if (tcp_kind(f) == TCP_MEAN)
		return stats_mean(v->v, v->n);
	if (tcp_kind(f) == TCP_MEDIAN)
		return stats_quantile(v->v, v->n, 0.5);
	for (least = v->v[0], i = 1; i < v->n; i++)
		least = v->v[i] < least ? v->v[i] : least;
	return least;
}

static int socket_compare_bytes(const void *a, const void *b)
{
	const struct socket_row *r = a, *l = b;
	double x = socket_bytes(r->f), y = socket_bytes(l->f);

	return descending(x, y);
}

/* --- figures of the run, over all its sockets --- */

static const struct {
	enum socket_figure figure;
	bool sum; /* else the median */
	const char *name, *unit;
} metrics[] = {
	{SOCKET_rtt_us, false, "tcp_socket_rtt_us", "us"},
	{SOCKET_min_rtt_us, false, "tcp_socket_min_rtt_us", "us"},
	{SOCKET_rcv_rtt_us, false, "tcp_socket_rcv_rtt_us", "us"},
	{SOCKET_cwnd, false, "tcp_socket_cwnd", "1"},
	{SOCKET_delivery_rate, false, "tcp_socket_delivery_rate", "B/s"},
	{SOCKET_bytes_acked, true, "tcp_socket_bytes_acked", "B"},
	{SOCKET_bytes_received, true, "tcp_socket_bytes_received", "B"},
	{SOCKET_bytes_retrans, true, "tcp_socket_bytes_retrans", "B"},
	{SOCKET_retrans, true, "tcp_socket_retransmits", "1"},
	{SOCKET_drops, true, "tcp_socket_drops", "1"},
	{SOCKET_out_of_order, true, "tcp_socket_out_of_order", "1"},
	{SOCKET_busy_us, true, "tcp_socket_busy_us", "us"},
	{SOCKET_rwnd_limited_us, true, "tcp_socket_rwnd_limited_us", "us"},
	{SOCKET_sndbuf_limited_us, true, "tcp_socket_sndbuf_limited_us", "us"},
};

static void tcp_add_metric(struct ingest *in, const struct tracks *all, size_t metric)
{
	struct values v = {0}, bytes = {0};
	double sum = 0, x;

	for (size_t i = 0; i < all->n; i++) {
		x = all->t[i].row.f[metrics[metric].figure];
		if (isnan(x))
			continue;
		track_add_value(&v, x);
		array_add(bytes.v, bytes.n, bytes.cap, socket_bytes(all->t[i].row.f));
		sum += x;
	}
	if (v.n)
		ingest_metric(in, metrics[metric].name, metrics[metric].unit,
			      metrics[metric].sum ? sum : sockets_median(&v, &bytes));
	free(v.v);
	free(bytes.v);
}

static void tcp_add_metrics(struct ingest *in, const struct tracks *all)
{
	for (size_t i = 0; i < array_size(metrics); i++)
		tcp_add_metric(in, all, i);
	ingest_metric(in, "tcp_sockets", "1", (double)all->n);
}

static void tcp_add_rows(struct ingest *in, struct tracks *all, bool covered)
{
	double rest = 0;

	for (size_t i = 0; i < all->n; i++) {
		for (int f = 0; f < SOCKET_NFIGURES; f++) {
			if (!figure_is_growth((enum socket_figure)f))
				all->t[i].row.f[f] =
					track_over_time((enum socket_figure)f, &all->t[i].over[f]);
			else if (!covered)
				all->t[i].row.f[f] = NAN;
		}
		array_add(in->sockets, in->nsockets, in->sockets_cap, all->t[i].row);
	}
	array_sort(in->sockets, in->nsockets, socket_compare_bytes);
	for (size_t i = KEPT; i < in->nsockets; i++)
		rest += socket_bytes(in->sockets[i].f);
	if (in->nsockets <= KEPT)
		return;
	note_add(&in->notes, tcp_sockets_merged, in->nsockets, KEPT, rest);
	in->nsockets = KEPT;
}

/* --- all readings --- */

static size_t tcp_read_snap(struct ingest *in, void *tracks, char *text, uint64_t before_ns,
			    uint64_t t_ns)
{
	struct tracks *all = tracks;
	double rtt, cwnd;
	size_t bad;

	all->in = in;
	all->reading = before_ns ? all->reading + 1 : 0;
	all->before_ns = before_ns;
	all->t_ns = t_ns;
	all->rtt.n = all->cwnd.n = all->bytes.n = 0;
	bad = snap_lines(text, tcp_read_line, all);
	for (size_t i = 0; i < all->n; i++)
		all->ended += all->t[i].last_reading == all->reading; /* it has vanished */
	rtt = sockets_median(&all->rtt, &all->bytes);
	cwnd = sockets_sum(&all->cwnd, &all->bytes);
	if (!isnan(rtt))
		ingest_point(in, "tcp_socket_rtt_us", t_ns, rtt);
	if (cwnd > 0)
		ingest_point(in, "tcp_socket_cwnd", t_ns, cwnd);
	return bad;
}

static void tracks_free(void *tracks)
{
	struct tracks *all = tracks;

	for (size_t i = 0; i < all->n; i++)
		for (int f = 0; f < SOCKET_NFIGURES; f++)
			free(all->t[i].over[f].v);
	free(all->t);
	free(all->rtt.v);
	free(all->cwnd.v);
	free(all->bytes.v);
	map_free(&all->by_cookie);
}

static void tcp_finish(struct ingest *in, void *tracks, double covered_s)
{
	struct tracks *all = tracks;

	tcp_add_rows(in, all, covered_s > 0);
	if (covered_s > 0)
		tcp_add_metrics(in, all);
	if (all->ended)
		note_add(&in->notes, ended_between, "tcp", "sockets")->severity =
			in->units && !strcmp(in->units, "tcp") ? SEVERITY_WARNING : SEVERITY_INFO;
}

const struct parser parser_tcp = {
	.files = {"tcp.snap"},
	.snaps = {"tcp", "tcp.snap", true, sizeof(struct tracks), tcp_read_snap, tcp_finish,
		  tracks_free},
};
