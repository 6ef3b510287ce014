// SPDX-License-Identifier: GPL-2.0-only
/* All flows, from their memory to the summary. */
#include "net.h"
#include "run.h"
#include "turn.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

static const uint64_t point_ns = 100000000;

void run_starts(struct run *r, uint64_t t_ns)
{
	if (r->start_ns)
		return;
	r->start_ns = t_ns;
	r->next_point_ns = t_ns + point_ns;
	report_point(r, t_ns);
	if (r->opt->listen && terms_differ_counted(r))
		stop_requested = 1;
}

void run_point_if_due(struct run *r, uint64_t now)
{
	if (!r->start_ns || now < r->next_point_ns)
		return;
	report_point(r, now);
	r->next_point_ns += (now - r->next_point_ns) / point_ns * point_ns + point_ns;
}

/* The last point is that of the summary. */
void run_ends(struct run *r)
{
	uint64_t end = 0;
	unsigned int i;

	for (i = 0; i < r->n_flows; i++)
		if (r->flows[i].end_ns > end)
			end = r->flows[i].end_ns;
	if (r->start_ns)
		report_point(r, end);
}

static bool run_any_failed(const struct run *r)
{
	unsigned int i;

	for (i = 0; i < r->n_flows; i++)
		if (r->flows[i].error)
			return true;
	return false;
}

/* Which flow is on which thread, and where its books are. */
static int run_deal_flows(struct run *r, struct worker *w)
{
	unsigned int i;

	w->run = r;
	w->n = (r->n_flows - w->index + r->n_workers - 1) / r->n_workers;
	w->flows = calloc(w->n, sizeof(struct flow *));
	w->fds = calloc(2 * w->n, sizeof(*w->fds));
	if (!w->flows || !w->fds)
		return -ENOMEM;
	for (i = 0; i < w->n; i++) {
		w->flows[i] = &r->flows[w->index + i * r->n_workers];
		w->flows[i]->worker = w;
		w->flows[i]->alone = w->n == 1 && (!r->opt->rr || rr_may_block(r->opt));
	}
	return 0;
}

static int run_init(struct run *r)
{
	unsigned int i;
	int rc = 0;

	r->n_flows = r->opt->flows;
	r->n_workers = r->opt->threads;
	r->wake = r->peer.fd = -1;
	r->flows = aligned_alloc(_Alignof(struct flow), r->n_flows * sizeof(struct flow));
	r->workers = calloc(r->n_workers + 1, sizeof(*r->workers));
	if (!r->flows || !r->workers)
		return -ENOMEM;
	r->boss = r->n_workers == 1 ? r->workers : &r->workers[r->n_workers];
	r->boss->run = r;
	for (i = 0; i < r->n_flows; i++)
		flow_init(&r->flows[i], r->opt, i);
	for (i = 0; i < r->n_flows && r->opt->rr && !rc; i++)
		rc = rr_init(&r->flows[i]);
	for (i = 0; i < r->n_workers && !rc; i++) {
		r->workers[i].index = i;
		rc = run_deal_flows(r, &r->workers[i]);
	}
	return rc;
}

static void run_free(struct run *r)
{
	unsigned int i;

	terms_close(r);
	for (i = 0; r->flows && i < r->n_flows; i++) {
		if (r->flows[i].fd >= 0)
			close(r->flows[i].fd);
		flow_free(&r->flows[i]);
	}
	for (i = 0; r->workers && i < r->n_workers; i++) {
		free(r->workers[i].flows);
		free(r->workers[i].fds);
	}
	free(r->workers);
	free(r->flows);
}

int run_connect(struct run *r)
{
	return r->opt->listen ? net_accept(r->flows, r->n_flows)
			      : net_connect(r->flows, r->n_flows);
}

/* One thread: this one. */
static int run_one_thread(struct run *r)
{
	struct worker *w = r->boss;
	int rc = worker_open(w);

	if (!rc)
		rc = run_connect(r);
	if (!rc) {
		worker_span_begins(w, RUSAGE_SELF);
		worker_work(w);
		run_ends(r);
		worker_span_ends(w, RUSAGE_SELF);
	}
	worker_close(w);
	return rc;
}

/* Nobody runs a receiver to get nothing: the ends do not mean the same. */
static void run_judge_no_data(struct run *r)
{
	unsigned int i;

	if (!r->opt->listen || stop_asked() || run_any_failed(r))
		return;
	for (i = 0; i < r->n_flows; i++)
		if (r->flows[i].bytes)
			return;
	flow_wrong(r->flows,
		   "no data came; --flows, --rr, --size and --udp must be the same at both "
		   "ends");
}

/* The summary is printed whenever there was a connection. */
int run_all(struct run *r)
{
	int rc = run_init(r);

	if (!rc)
		rc = stop_catch(r->flows);
	if (!rc)
		rc = r->n_workers == 1 ? run_one_thread(r) : boss_run(r);
	if (!rc) {
		if (!r->opt->listen)
			net_linger(r->flows, r->n_flows);
		else if (r->opt->udp && !r->flows->error && !stop_asked())
			udp_settle(r->flows);
		run_judge_no_data(r);
	}
	if (r->flows && r->boss)
		terms_judge(r);
	if (!rc)
		report_summary(r);
	if (r->flows && r->out_error)
		flow_fail(r->flows, r->out_error, "standard output");
	if (r->flows && run_any_failed(r)) {
		report_error(r);
		rc = -EIO;
	}
	run_free(r);
	return rc;
}
