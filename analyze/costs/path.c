// SPDX-License-Identifier: GPL-2.0-only
/*
 * path: where a packet spends its time in the kernel, by stage, and beside it the CPU time of the
 * same stage from the profile. The times of the stages add up to that from end to end.
 */
#include "analyze/costs/call_tree.h"
#include "analyze/costs/costs.h"
#include "analyze/scope/changes.h"
#include "analyze/scope/results.h"
#include "analyze/scope/runs.h"

#include <math.h>

static const struct column path_columns[] = {
	BLOCK_COLUMNS(struct path_row),
	{MEMBER(struct path_row, way), .type = V_STR,
	 .what = "receive (from the interrupt to the return of the call that read it) or send (from the call to the driver)"},
	{MEMBER(struct path_row, stage), .type = V_STR, .what = "the last row of a way adds up"},
	{MEMBER(struct path_row, packets), .type = V_INT,
	 .what = "followed packets that took time in the stage"},
	{MEMBER(struct path_row, mean_us), "us", V_REAL, .digits = 1, .spread = SPREAD_RANGE,
	 .stem = "mean", .what = "of all followed packets; the mean of the runs"},
	{MEMBER(struct path_row, p50_us), "us", V_REAL, .digits = 1, .what = "median of them"},
	{MEMBER(struct path_row, p99_us), "us", V_REAL, .digits = 1, .what = "needs 100 packets"},
	{MEMBER(struct path_row, p999_us), "us", V_REAL, .digits = 1,
	 .what = "needs 1,000 packets"},
	{MEMBER(struct path_row, share_pct), "%", V_REAL, .digits = 1,
	 .what = "of the mean from end to end"},
	{MEMBER(struct path_row, cpu_us), "us", V_REAL, .digits = 1,
	 .what = "CPU time of the stage's functions for a packet, from the profile; none: the packet waits, or no function is the stage's own"},
	{MEMBER(struct path_row, left), .type = V_INT,
	 .what = "packets that were last seen in the stage: dropped, lost from sight, or there when the window ended"},
	{MEMBER(struct path_row, segments), .type = V_REAL, .digits = 1,
	 .what = "packets of the wire in a packet, which may be an aggregate (GSO, GRO); mean"},
	{MEMBER(struct path_row, bytes), "B", V_REAL, .what = "of data in a packet; mean"},
	{MEMBER(struct path_row, one_in), .type = V_REAL, .digits = 1,
	 .what = "N: one in N packets was followed"},
	{MEMBER(struct path_row, runs), .type = V_INT, .what = "runs that measured it"},
};

/*
 * The stages, in a packet's order, and the functions whose CPU time is theirs: with all that they
 * call, up to a function of another stage.
 */
static const struct path_stage path_stages[] = {
	{"receive", "interrupt", "common_interrupt gic_handle_irq", NULL},
	{"receive", "softirq", NULL, NULL},
	{"receive", "poll", "net_rx_action napi_threaded_poll* *napi_busy_loop*", NULL},
	{"receive", "gro", "napi_gro_receive napi_gro_frags gro_receive_skb dev_gro_receive", NULL},
	{"receive", "protocol", "__netif_receive_skb* netif_receive_skb* ip_rcv ipv6_rcv", NULL},
	{"receive", "backlog", NULL, NULL},
	{"receive", "tcp", "tcp_rcv_established", NULL},
	{"receive", "reader", NULL, NULL},
	{"receive", "wake_up", "sock_def_readable", NULL},
	{"receive", "read", "tcp_recvmsg* tcp_zerocopy_receive tcp_read_sock tcp_splice_read",
	 NULL},
	{"receive", "return", NULL, NULL},
	{"receive", PATH_TOTAL, NULL, NULL},
	{"send", "call", NULL, NULL},
	{"send", "sndbuf", NULL, NULL},
	{"send", "build", "tcp_sendmsg*", NULL},
	{"send", "queue", "tcp_write_xmit", "build"},
	{"send", "xmit", "__dev_queue_xmit net_tx_action", NULL},
	{"send", "qdisc", NULL, NULL},
	{"send", "driver", "dev_hard_start_xmit", NULL},
	{"send", PATH_TOTAL, NULL, NULL},
	{"send", "completion", NULL, NULL},
};

enum { STAGES = array_size(path_stages) };
_Static_assert((int)STAGES <= (int)PATH_STAGES_MOST, "compare has room for all stages");

const struct path_stage *path_stage_at(size_t i)
{
	return i < STAGES ? &path_stages[i] : NULL;
}

/* --- CPU time --- */

/* Returns the stage whose function the frame is, else `caller`. */
static int path_stage_of(const struct call_label *l, int caller)
{
	for (int i = 0; i < STAGES; i++) {
		const struct path_stage *s = &path_stages[i];

		if (!s->functions || !str_matches_any(s->functions, l->symbol))
			continue;
		return s->within && caller >= 0 && !strcmp(path_stages[caller].stage, s->within)
			       ? caller
			       : i;
	}
	return l->begins ? -1 : caller; /* an interrupt is no part of what it interrupts */
}

/* Adds the weight of each frame to its stage. */
static void path_add_weights(const struct call_tree *tree, double sums[STAGES])
{
	autofree int *stage = xcalloc(tree->nframes + 1, sizeof(*stage));

	for (size_t f = 0; f < tree->nframes; f++) {
		const struct call_frame *frame = &tree->frames[f];

		stage[f] = path_stage_of(&tree->labels[frame->label],
					 frame->parent == CALL_NONE ? -1 : stage[frame->parent]);
		for (size_t run = 0; run < tree->nruns && stage[f] >= 0; run++)
			if (f < tree->runs[run].n)
				sums[stage[f]] += tree->runs[run].weight[f];
	}
}

/* Fills the CPU time of each stage in ns per KiB; NAN: there is no profile, or no such function. */
static int path_read_cpu(struct block_table *k, double ns[STAGES], struct error *err)
{
	struct query q = *k->q;
	autofree struct run *runs = NULL;
	freed(cost_part_free) struct cost_part part = {0};
	freed(call_tree_free) struct call_tree tree = {0};
	int rc;

	for (int i = 0; i < STAGES; i++)
		ns[i] = NAN;
	q.unit = "KiB";
	rc = scope_runs(k->s, &q, &k->b->block, FOR_PROFILE, &runs, err);
	if (rc <= 0)
		return rc;
	call_tree_init(&tree, false);
	rc = call_tree_read(&tree, k->s, &q, &k->b->block, &part, k->t, err);
	for (int i = 0; i < STAGES; i++)
		ns[i] = path_stages[i].functions ? 0 : NAN;
	path_add_weights(&tree, ns);
	for (int i = 0; i < STAGES; i++)
		ns[i] *= part.basis.ns / part.tally.weight;
	return rc;
}

/* --- rows --- */

/* The runs of a block that followed packets, and its CPU time. */
struct path {
	struct block_table *k;
	struct block_runs traced;
	double cpu_ns[STAGES]; /* per KiB */
};

static struct estimate path_estimate(const struct path *p, enum estimator e, const char *metric,
				     const char *object)
{
	const struct metric_key key = {metric, object, NO_CPU};

	return scope_estimate(p->k->s, p->traced.runs, p->traced.n, e, figure_metric_of, &key);
}

static double path_us(const struct path *p, const char *metric, const char *object)
{
	return path_estimate(p, p->k->list.estimator, metric, object).value / 1000;
}

/* Returns the KiB of work for a packet. A server's work is its responses, and it receives requests.
 */
static double path_work(struct store *s, const struct run *r, const void *way)
{
	const struct metric_key followed = {"path_followed", way, NO_CPU};
	const struct metric_key one_in = {"path_one_in", way, NO_CPU};

	return work_in_window(s, r, "rate_kib") /
	       (figure_metric_of(s, r, &followed) * figure_metric_of(s, r, &one_in));
}

static void path_fill_total(const struct path *p, struct path_row *row)
{
	row->segments = path_estimate(p, EST_MEAN, "path_segments", row->way).value;
	row->bytes = path_estimate(p, EST_MEAN, "path_bytes", row->way).value;
	row->one_in = path_estimate(p, EST_MEAN, "path_one_in", row->way).value;
}

/* Means of runs add up as their stages do; medians would not. */
static void path_put_stage(const struct path *p, size_t i, double end_to_end_us)
{
	const struct path_stage *s = &path_stages[i];
	autofree char *object = xasprintf("%s %s", s->way, s->stage);
	struct estimate kib =
		scope_estimate(p->k->s, p->traced.runs, p->traced.n, EST_MEAN, path_work, s->way);
	struct path_row row = {.block = p->k->b->block,
			       .way = s->way,
			       .stage = s->stage,
			       .packets = scope_sum(p->k->s, &p->traced, "path_passed", object),
			       .left = scope_sum(p->k->s, &p->traced, "path_left", object),
			       .mean_us = path_estimate(p, EST_MEAN, "path_mean_ns", object),
			       .p50_us = path_us(p, "path_p50_ns", object),
			       .p99_us = path_us(p, "path_p99_ns", object),
			       .p999_us = path_us(p, "path_p999_ns", object),
			       .share_pct = NAN,
			       .cpu_us = p->cpu_ns[i] / 1000 * kib.value,
			       .segments = NAN,
			       .bytes = NAN,
			       .one_in = NAN};

	if (!(row.packets > 0) && !(row.left > 0) && !(p->k->q->all && row.mean_us.n))
		return;
	row.runs = (int64_t)row.mean_us.n;
	row.mean_us = estimate_times(row.mean_us, 1e-3);
	if (strcmp(s->stage, "completion"))
		row.share_pct = 100 * row.mean_us.value / end_to_end_us;
	if (!strcmp(s->stage, PATH_TOTAL))
		path_fill_total(p, &row);
	table_add(p->k->t, struct path_row, &row);
}

static int path_put_block(struct block_table *k, struct error *err)
{
	struct path p = {.k = k};
	double end_to_end_us;
	int rc = block_every_pass(k->s, k->q, &k->b->block, &p.traced, err);

	if (!rc && path_estimate(&p, EST_MEAN, "path_followed", "receive").n)
		rc = path_read_cpu(k, p.cpu_ns, err);
	for (size_t i = 0; i < STAGES && !rc; i++) {
		autofree char *total = xasprintf("%s " PATH_TOTAL, path_stages[i].way);

		end_to_end_us = path_estimate(&p, EST_MEAN, "path_mean_ns", total).value / 1000;
		path_put_stage(&p, i, end_to_end_us);
	}
	free(p.traced.runs);
	return rc ?: passes_note_conditions(k->s, k->q, &k->b->block, TRACE_PASS, k->t, err);
}

/* Adds the range of a column over the totals: "1", "1 to 37.2". */
static void path_print_range(struct str *s, const struct table *t, size_t at, double factor)
{
	const struct path_row *rows = table_structs(t, struct path_row);
	double low = INFINITY, high = -INFINITY;

	for (const struct path_row *r = rows; r < rows + t->rows; r++) {
		double x;

		memcpy(&x, (const char *)r + at, sizeof(x));
		x *= factor;
		low = fmin(low, x); /* ignores NAN */
		high = fmax(high, x);
	}
	str_printf(s, low < 0.95 * high ? "%.3g to %.3g" : "%.3g", low, high);
}

static void path_add_notes(struct block_table *k)
{
	freed(str_free) struct str s = {0};

	if (!k->t->rows) {
		changes_nothing(k->s, k->t,
				"only TCP packets with data are followed, and no run had one");
		return;
	}
	str_puts(&s, "one in ");
	path_print_range(&s, k->t, offsetof(struct path_row, one_in), 1);
	str_puts(&s, " packets was followed, where a packet is what the kernel handles at once: ");
	path_print_range(&s, k->t, offsetof(struct path_row, segments), 1);
	str_puts(&s, " of the wire with ");
	path_print_range(&s, k->t, offsetof(struct path_row, bytes), 1 / 1024.0);
	str_puts(&s, " KiB of data, on average");
	note_add(&k->t->notes, table_how, s.buf);
}

const struct measure measure_path = {
	.name = "path",
	.what = "where TCP packets spend their time in the kernel, by stage",
	MEASURE_COLUMNS(path_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS "all"},
	.whole = "the packets are those of the workload's sockets already",
	.spare = "runs segments bytes one_in left packets p999_us cpu_us",
	.collectors = "path",
	.block = path_put_block,
	.notes = path_add_notes,
};
