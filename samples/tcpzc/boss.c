// SPDX-License-Identifier: GPL-2.0-only
/*
 * More than one thread: this one, the main thread, starts the workers, waits for them, prints
 * points, and takes the signals: a worker blocked in a call is poked until it has ended.
 */
#include "run.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { POKE_MS = 20 };

void worker_tell_boss(struct worker *w)
{
	uint64_t one = 1;

	(void)!CALL(w, WRITE, write(w->run->wake, &one, sizeof(one)));
}

static void boss_wait_for_worker(sem_t *sem)
{
	while (sem_wait(sem) && errno == EINTR)
		;
}

static void worker_wait_to_go(struct run *r)
{
	uint64_t one;

	while (read(r->go, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

static void *worker_thread(void *arg)
{
	struct worker *w = arg;
	struct run *r = w->run;

	stop_mask_worker();
	w->tid = (int)syscall(SYS_gettid);
	worker_open(w);
	sem_post(&r->opened);
	worker_wait_to_go(r);
	if (!r->give_up) {
		worker_span_begins(w, RUSAGE_THREAD);
		worker_work(w);
		__atomic_store_n(&w->done, true, __ATOMIC_RELEASE);
		worker_tell_boss(w);
		worker_span_ends(w, RUSAGE_THREAD);
	}
	worker_close(w);
	return NULL;
}

static bool boss_all_done(const struct run *r)
{
	unsigned int i;

	for (i = 0; i < r->n_workers; i++)
		if (!__atomic_load_n(&r->workers[i].done, __ATOMIC_ACQUIRE))
			return false;
	return true;
}

static void boss_poke_workers(struct run *r)
{
	unsigned int i;

	for (i = 0; i < r->n_workers; i++)
		if (!__atomic_load_n(&r->workers[i].done, __ATOMIC_ACQUIRE))
			CALL(r->boss, TGKILL,
			     syscall(SYS_tgkill, r->pid, r->workers[i].tid, STOP_POKE));
}

static uint64_t boss_first_start_ns(const struct run *r)
{
	uint64_t first = 0;
	unsigned int i;

	for (i = 0; i < r->n_flows; i++) {
		uint64_t t = __atomic_load_n(&r->flows[i].start_ns, __ATOMIC_ACQUIRE);

		if (t && (!first || t < first))
			first = t;
	}
	return first;
}

/* How long until there is something to do, in ms; -1: until there is news. */
static int boss_pause_ms(const struct run *r)
{
	uint64_t now = now_ns();

	if (stop_requested)
		return POKE_MS;
	if (!r->start_ns)
		return -1;
	return now >= r->next_point_ns ? 0 : (int)((r->next_point_ns - now + 999999) / 1000000);
}

static void boss_supervise(struct run *r)
{
	struct pollfd p = {.fd = r->wake, .events = POLLIN};
	uint64_t news;

	while (!boss_all_done(r)) {
		if (CALL(r->boss, POLL, poll(&p, 1, boss_pause_ms(r))) > 0)
			(void)!CALL(r->boss, READ, read(r->wake, &news, sizeof(news)));
		if (!r->start_ns && boss_first_start_ns(r))
			run_starts(r, boss_first_start_ns(r));
		run_point_if_due(r, now_ns());
		if (stop_requested)
			boss_poke_workers(r);
	}
}

/* With n workers running; unless there are as many as wanted, they are sent home. */
static void boss_direct(struct run *r, unsigned int n)
{
	const struct options *o = r->opt;
	uint64_t all = n;
	unsigned int i;

	for (i = 0; i < n; i++)
		boss_wait_for_worker(&r->opened);
	for (i = 0; i < r->n_flows; i++)
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

int boss_run(struct run *r)
{
	unsigned int i, n;
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
		flow_fail(r->workers[n].flows[0], rc, "starting thread %u of %u", n + 1,
			  r->n_workers);
	boss_direct(r, n);
	for (i = 0; i < n; i++)
		pthread_join(r->workers[i].thread, NULL);
	sem_destroy(&r->opened);
	close(r->wake);
	close(r->go);
	return r->give_up ? -EIO : 0;
}
