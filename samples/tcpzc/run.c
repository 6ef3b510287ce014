// SPDX-License-Identifier: GPL-2.0-only
/*
 * A run, from the memory of its flows to the summary. With several threads, this one, the main
 * thread, starts the workers, waits for them, prints the points, and takes the signals. It pokes a
 * worker that is blocked in a call until the worker has ended.
 */
#include "run.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

static const uint64_t point_ns = 100000000;

void run_starts(struct run *r, uint64_t t_ns)
{
	if (r->start_ns)
		return;
	r->start_ns = t_ns;
	r->next_point_ns = t_ns + point_ns;
	report_point(r, t_ns);
}

void run_point_if_due(struct run *r, uint64_t now)
{
	if (!r->start_ns || now < r->next_point_ns)
		return;
	report_point(r, now);
	r->next_point_ns += (now - r->next_point_ns) / point_ns * point_ns + point_ns;
}

/* Prints the last point, which has the figures of the summary. */
static void run_ends(struct run *r)
{
	uint64_t end = 0;

	for (unsigned int i = 0; i < r->n_flows; i++)
		if (r->flows[i].end_ns > end)
			end = r->flows[i].end_ns;
	if (r->start_ns)
		report_point(r, end);
}

static bool run_any_failed(const struct run *r)
{
	for (unsigned int i = 0; i < r->n_flows; i++)
		if (r->flows[i].error)
			return true;
	return false;
}

/* Gives the worker its flows. */
static void run_deal_flows(struct run *r, struct worker *w)
{
	w->run = r;
	w->n = (r->n_flows - w->index + r->n_workers - 1) / r->n_workers;
	w->flows = xcalloc(w->n, sizeof(struct flow *));
	w->fds = xcalloc(2 * w->n, sizeof(*w->fds));
	for (unsigned int i = 0; i < w->n; i++) {
		w->flows[i] = &r->flows[w->index + i * r->n_workers];
		w->flows[i]->worker = w;
		w->flows[i]->alone = w->n == 1 && (!r->opt->rr || rr_may_block(r->opt));
	}
}

static void run_init(struct run *r)
{
	r->n_flows = r->opt->flows;
	r->n_workers = r->opt->threads;
	r->wake = -1;
	r->flows = aligned_alloc(_Alignof(struct flow), r->n_flows * sizeof(struct flow));
	if (!r->flows)
		alloc_fail();
	r->workers = xcalloc(r->n_workers + 1, sizeof(*r->workers));
	r->boss = r->n_workers == 1 ? r->workers : &r->workers[r->n_workers];
	r->boss->run = r;
	for (unsigned int i = 0; i < r->n_flows; i++) {
		flow_init(&r->flows[i], r->opt, i);
		if (r->opt->rr)
			rr_init(&r->flows[i]);
	}
	for (unsigned int i = 0; i < r->n_workers; i++) {
		r->workers[i].index = i;
		run_deal_flows(r, &r->workers[i]);
	}
}

static void run_free(struct run *r)
{
	for (unsigned int i = 0; i < r->n_flows; i++) {
		fd_close(&r->flows[i].fd);
		flow_free(&r->flows[i]);
	}
	array_free(e, r->workers, r->n_workers, free(e->flows), free(e->fds));
	free(r->flows);
}

static int run_connect(struct run *r)
{
	return r->opt->listen ? net_accept(r->flows, r->n_flows)
			      : net_connect(r->flows, r->n_flows);
}

static int run_one_thread(struct run *r)
{
	struct worker *w = r->boss;
	int rc = worker_open(w);

	rc = rc ?: run_connect(r);
	if (!rc) {
		worker_span_begins(w, RUSAGE_SELF);
		worker_work(w);
		run_ends(r);
		worker_span_ends(w, RUSAGE_SELF);
	}
	worker_close(w);
	return rc;
}

/* --- several threads --- */

enum { POKE_NS = 20000000 };

/* Returns how many workers are not done, and wakes these when the run is to stop. */
static unsigned int boss_count_workers(struct run *r)
{
	unsigned int left = 0;

	for (unsigned int i = 0; i < r->n_workers; i++) {
		if (__atomic_load_n(&r->workers[i].done, __ATOMIC_ACQUIRE))
			continue;
		left++;
		if (stop_requested)
			CALL(r->boss, TGKILL,
			     syscall(SYS_tgkill, r->pid, r->workers[i].tid, STOP_POKE));
	}
	return left;
}

static uint64_t boss_first_start_ns(const struct run *r)
{
	uint64_t first = 0;

	for (unsigned int i = 0; i < r->n_flows; i++) {
		uint64_t t = __atomic_load_n(&r->flows[i].start_ns, __ATOMIC_ACQUIRE);

		if (t && (!first || t < first))
			first = t;
	}
	return first;
}

static void boss_supervise(struct run *r)
{
	struct pollfd p = {.fd = r->wake, .events = POLLIN};
	uint64_t news, now = clock_mono_ns(), left;
	struct timespec ts;

	while (boss_count_workers(r)) {
		run_point_if_due(r, now); /* before the end of the workers that are left */
		left = r->next_point_ns > now ? r->next_point_ns - now : 0;
		/* Less than a second: until there is something to do, or a worker has news. */
		ts = (struct timespec){.tv_nsec = stop_requested ? POKE_NS : (long)left};
		if (CALL(r->boss, PPOLL,
			 ppoll(&p, 1, stop_requested || r->start_ns ? &ts : NULL, NULL)) > 0)
			(void)!CALL(r->boss, READ, read(r->wake, &news, sizeof(news)));
		if (!r->start_ns && boss_first_start_ns(r))
			run_starts(r, boss_first_start_ns(r));
		now = clock_mono_ns();
	}
}

/* Leads n workers through the run, or lets them end at once when one of them failed. */
static void boss_direct(struct run *r, unsigned int n)
{
	const struct options *o = r->opt;
	uint64_t all = n;

	for (unsigned int i = 0; i < n; i++)
		while (sem_wait(&r->opened) && errno == EINTR)
			;
	for (unsigned int i = 0; i < r->n_flows; i++)
		r->give_up |= r->flows[i].error != 0;
	if (!r->give_up)
		r->give_up = run_connect(r) != 0;
	if (!r->give_up)
		worker_span_begins(r->boss, RUSAGE_SELF);
	if (n)
		(void)!CALL(r->boss, WRITE, write(r->go, &all, sizeof(all)));
	if (r->give_up)
		return;
	if (!o->listen && o->seconds > 0)
		stop_after(r->boss, o->seconds);
	boss_supervise(r);
	run_ends(r);
	worker_span_ends(r->boss, RUSAGE_SELF);
}

static int boss_run(struct run *r)
{
	unsigned int n;
	int rc = 0;

	r->pid = getpid();
	r->wake = eventfd(0, EFD_CLOEXEC);
	r->go = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	if (r->wake < 0 || r->go < 0)
		return flow_fail(r->flows, errno, "eventfd");
	sem_init(&r->opened, 0, 0);
	for (n = 0; n < r->n_workers && !rc; n += !rc)
		rc = pthread_create(&r->workers[n].thread, NULL, worker_thread, &r->workers[n]);
	if (rc)
		flow_fail(r->workers[n].flows[0], rc, "cannot start thread %u of %u", n + 1,
			  r->n_workers);
	boss_direct(r, n);
	for (unsigned int i = 0; i < n; i++)
		pthread_join(r->workers[i].thread, NULL);
	sem_destroy(&r->opened);
	close(r->wake);
	close(r->go);
	return r->give_up ? -EIO : 0;
}

/* --- the whole run --- */

/* Makes an error of a receiver that got no data: then the options of the ends differ. */
static void run_judge_no_data(struct run *r)
{
	if (!r->opt->listen || stop_asked() || run_any_failed(r))
		return;
	for (unsigned int i = 0; i < r->n_flows; i++)
		if (r->flows[i].bytes)
			return;
	flow_wrong(r->flows,
		   "no data came; --flows, --rr and --size must be the same at both ends");
}

/* Runs the transfer. Prints the summary unless no connection came up. */
int run_all(struct run *r)
{
	int rc;

	run_init(r);
	rc = stop_catch(r->flows);
	if (!rc)
		rc = r->n_workers == 1 ? run_one_thread(r) : boss_run(r);
	if (!rc) {
		if (!r->opt->listen && !r->opt->udp)
			net_linger(r->flows, r->n_flows);
		run_judge_no_data(r);
	}
	if (!rc)
		report_summary(r);
	if (r->out_error)
		flow_fail(r->flows, r->out_error, "cannot write to standard output");
	if (run_any_failed(r)) {
		report_error(r);
		rc = -EIO;
	}
	run_free(r);
	return rc;
}
