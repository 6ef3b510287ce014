// SPDX-License-Identifier: GPL-2.0-only
/*
 * tcp: each socket of the workload in each run, from the kernel's tcp_info. Rows with the evidence
 * "workload" have the workload's own data, which covers the whole run.
 */

#include "analyze/scope/scope.h"

#include <math.h>

static const struct column tcp_columns[] = {
	SIDE_COLUMNS,
	{"run", .type = V_INT, .what = "repeat"},
	{"local", .type = V_STR, .shape = STAYS_WHOLE},
	{"peer", .type = V_STR, .shape = STAYS_WHOLE},
	{"evidence", .type = V_STR,
	 .what = "sock_diag for the kernel's data in the window; workload for its own data of the whole run"},
	{"congestion", .type = V_STR},
	{"rtt_us", "us", V_REAL,
	 .what = "smoothed rtt; like all later gauges, the median of the readings"},
	{"rttvar_us", "us", V_REAL, .digits = 0},
	{"min_rtt_us", "us", V_REAL, .what = "minimum rtt"},
	{"rcv_rtt_us", "us", V_REAL, .what = "the receiver's estimate of the rtt"},
	{"cwnd", .type = V_REAL, .what = "segments"},
	{"ssthresh", .type = V_REAL, .what = "segments"},
	{"mss", "B", V_REAL, .digits = 0},
	{"delivery_gbps", "Gbit/s", V_REAL, .digits = 2, .what = "delivery rate"},
	{"pacing_gbps", "Gbit/s", V_REAL, .digits = 2, .what = "pacing rate"},
	{"rcv_space_kib", "KiB", V_REAL, .digits = 0},
	{"rmem_kib", "KiB", V_REAL, .what = "receive memory: data not yet read, with overhead"},
	{"wmem_kib", "KiB", V_REAL, .what = "send memory: data not yet acknowledged"},
	{"acked_mb", "MB", V_REAL, .digits = 1, .what = "bytes acknowledged, in the window"},
	{"received_mb", "MB", V_REAL, .digits = 1, .what = "bytes received, in the window"},
	{"retrans", .type = V_REAL, .what = "segments retransmitted"},
	{"retrans_kib", "KiB", V_REAL, .what = "bytes retransmitted"},
	{"retrans_per_gb", "1/GB", V_REAL, .digits = 2, .what = "segments retransmitted / GB sent"},
	{"out_of_order", .type = V_REAL, .what = "segments that arrived out of order"},
	{"drops", .type = V_REAL, .what = "segments that the socket dropped"},
	{"busy_pct", "%", V_REAL, .digits = 1, .what = "share of the window with data to send"},
	{"rwnd_limited_pct", "%", V_REAL, .digits = 1,
	 .what = "share of the window spent waiting for the peer's receive window"},
	{"sndbuf_limited_pct", "%", V_REAL, .digits = 1,
	 .what = "share of the window spent waiting for send buffer space"},
};

enum { LIMIT = 10 };

/* Columns computed as a figure of the socket times a scale; 0: from us to percent of the window. */
static const struct {
	const char *column;
	enum socket_figure figure;
	double scale;
} plain[] = {
	{"rtt_us", SOCKET_rtt_us, 1},
	{"rttvar_us", SOCKET_rttvar_us, 1},
	{"min_rtt_us", SOCKET_min_rtt_us, 1},
	{"rcv_rtt_us", SOCKET_rcv_rtt_us, 1},
	{"cwnd", SOCKET_cwnd, 1},
	{"ssthresh", SOCKET_ssthresh, 1},
	{"mss", SOCKET_mss, 1},
	{"delivery_gbps", SOCKET_delivery_rate, 8e-9},
	{"pacing_gbps", SOCKET_pacing_rate, 8e-9},
	{"rcv_space_kib", SOCKET_rcv_space, 1.0 / 1024},
	{"rmem_kib", SOCKET_rmem, 1.0 / 1024},
	{"wmem_kib", SOCKET_wmem, 1.0 / 1024},
	{"acked_mb", SOCKET_bytes_acked, 1e-6},
	{"received_mb", SOCKET_bytes_received, 1e-6},
	{"retrans", SOCKET_retrans, 1},
	{"retrans_kib", SOCKET_bytes_retrans, 1.0 / 1024},
	{"out_of_order", SOCKET_out_of_order, 1},
	{"drops", SOCKET_drops, 1},
	{"busy_pct", SOCKET_busy_us, 0},
	{"rwnd_limited_pct", SOCKET_rwnd_limited_us, 0},
	{"sndbuf_limited_pct", SOCKET_sndbuf_limited_us, 0},
};

static struct value *tcp_new_row(struct table *t, const struct block *b, const struct run *r,
				 const char *evidence)
{
	struct value *row = block_row(t, b);

	table_set(t, row, "run", value_int(r->repeat));
	table_set(t, row, "evidence", value_str(t, evidence));
	return row;
}

static void tcp_put_socket(struct table *t, const struct block *b, const struct run *r,
			   const struct socket_row *s, double seconds)
{
	struct value *row = tcp_new_row(t, b, r, "sock_diag");
	double sent = s->f[SOCKET_bytes_sent];

	table_set(t, row, "local", value_str(t, s->local));
	table_set(t, row, "peer", value_str(t, s->peer));
	table_set(t, row, "congestion", value_str(t, s->congestion));
	for (size_t i = 0; i < array_size(plain); i++) {
		double x = s->f[plain[i].figure], scale = plain[i].scale;

		table_set(t, row, plain[i].column,
			  value_real(scale > 0 ? scale * x : x / (seconds * 1e4)));
	}
	if (sent > 0)
		table_set(t, row, "retrans_per_gb", value_real(1e9 * s->f[SOCKET_retrans] / sent));
}

/* Adds the workload's own data on its sockets, for the whole run. */
static bool tcp_put_workload(struct store *s, struct table *t, const struct block *b,
			     const struct run *r)
{
	double n = figure_metric(s, r, "tcp_retransmits");
	struct value *row;

	if (isnan(n))
		return false;
	row = tcp_new_row(t, b, r, "workload");
	table_set(t, row, "retrans", value_real(n));
	table_set(t, row, "retrans_per_gb",
		  value_real(1e9 * n / figure_metric(s, r, "workload_bytes")));
	return true;
}

/* Adds at most `most` sockets of one run. Returns the number of sockets without a row. */
static int tcp_put_run(struct store *s, const struct block *b, const struct run *r, size_t most,
		       struct table *t, bool *said, struct error *err)
{
	int i;
	double seconds = figure_metric(s, r, "seconds");
	autofree struct socket_row *rows = NULL;
	int n = store_sockets(s, r->id, &rows, err);

	if (n < 0)
		return n;
	for (i = 0; i < n && (size_t)i < most; i++)
		tcp_put_socket(t, b, r, &rows[i], seconds);
	*said |= tcp_put_workload(s, t, b, r);
	return n - i;
}

static int tcp_put_block(struct store *s, const struct query *q, const struct block_runs *b,
			 struct table *t, bool *said, struct error *err)
{
	size_t before = t->rows, left = 0, limit = query_limit(q, LIMIT), shown;
	int rc = 0;

	for (int i = 0; i < b->n && rc >= 0; i++) {
		shown = t->rows - before;
		rc = tcp_put_run(s, &b->block, &b->runs[i], limit > shown ? limit - shown : 0, t,
				 said, err);
		left += rc > 0 ? (size_t)rc : 0;
	}
	if (left)
		note_add_block(&t->notes, &b->block, rows_shown, t->rows - before,
			       t->rows - before + left);
	if (b->n && t->rows == before)
		note_add_block(
			&t->notes, &b->block, table_not_measured,
			scope_slice_absent(s, "tcp")
				?: "no collector saw a socket of the workload; see 'zcost report runs'");
	return rc < 0 ? rc : 0;
}

static int tcp_run_sockets(struct store *s, const struct query *q, struct table *t,
			   struct error *err)
{
	freed(block_list_free) struct block_list list;
	bool said = false;
	int rc = block_list_read(&list, s, q, FOR_FIGURES, err);

	for (int i = 0; i < list.n && !rc; i++)
		rc = tcp_put_block(s, q, &list.blocks[i], t, &said, err);
	if (!rc && t->rows)
		note_add(
			&t->notes, table_how,
			"values are medians of one reading per second; amounts are the growth in the window, interpolated between readings, so they differ a little from the workload's own bytes");
	if (!rc && said)
		note_add(
			&t->notes, table_how,
			"evidence 'workload': retransmits cover the workload's whole run, warm-up included");
	if (!rc)
		block_list_run_notes(&list, s, t);
	return rc;
}

const struct measure measure_tcp = {
	.name = "tcp",
	.what = "the workload's sockets: rtt, cwnd, rates, retransmits, limits",
	MEASURE_COLUMNS(tcp_columns),
	.options = {[SOURCE_CAPTURE] = "variant side run workload-only limit all " OPT_SLICE},
	.spare =
		"runs pacing_gbps rcv_space_kib rttvar_us ssthresh retrans_kib rmem_kib wmem_kib mss rcv_rtt_us retrans_per_gb busy_pct out_of_order drops sndbuf_limited_pct rwnd_limited_pct min_rtt_us congestion peer local acked_mb received_mb",
	.run = tcp_run_sockets,
};
