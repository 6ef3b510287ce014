// SPDX-License-Identifier: GPL-2.0-only
/*
 * One thread and its flows. A flow alone on its thread may block in its mode's calls, like a simple
 * program. Flows that share a thread take turns: each takes up to 16 steps while it has something
 * to do, and the thread waits in poll(2) when no flow has.
 */
#include "run.h"

#include <errno.h>
#include <sched.h>
#include <sys/time.h>
#include <unistd.h>

enum { TURN_STEPS = 16 }; /* steps of a flow before the next flow's turn */

static int worker_pin(struct worker *w)
{
	const struct options *o = w->run->opt;
	unsigned int cpu = 0;
	cpu_set_t set;

	if (!o->pinned)
		return 0;
	for (unsigned int nth = w->index % cpuset_count(&o->cpus);; cpu++)
		if (cpuset_has(&o->cpus, cpu) && !nth--)
			break;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (!sched_setaffinity(0, sizeof(set), &set))
		return 0;
	if (errno == EINVAL)
		return flow_wrong(w->flows[0],
				  "--cpu %u: the CPU is offline, or this process may not use it",
				  cpu);
	return flow_fail(w->flows[0], errno, "--cpu %u", cpu);
}

int worker_open(struct worker *w)
{
	if (worker_pin(w))
		return -w->flows[0]->error;
	for (unsigned int i = 0; i < w->n; i++) {
		struct flow *f = w->flows[i];

		if (flow_open(f) || (f->back && rr_open(f)))
			return -f->error;
	}
	return 0;
}

void worker_close(struct worker *w)
{
	for (unsigned int i = 0; i < w->n; i++) {
		if (w->flows[i]->back)
			flow_close(w->flows[i]->back);
		flow_close(w->flows[i]);
	}
}

void worker_span_begins(struct worker *w, int who)
{
	stop_count(w);
	memset(w->calls, 0, sizeof(w->calls));
	for (unsigned int i = 0; i < w->n; i++) {
		struct flow *f = w->flows[i];

		memset(f->calls, 0, sizeof(f->calls));
		if (f->back)
			memset(f->back->calls, 0, sizeof(f->calls));
	}
	getrusage(who, &w->usage[0]);
}

void worker_span_ends(struct worker *w, int who)
{
	stop_count(w); /* the handler of a signal during getrusage returns after the span */
	getrusage(who, &w->usage[1]);
}

/* Polls until `until_ns`, at most timeout_ms. */
static int wait_poll(struct worker *w, uint64_t until_ns, int timeout_ms)
{
	uint64_t now = until_ns ? clock_mono_ns() : 0, left = until_ns > now ? until_ns - now : 0;
	struct timespec ts = {timeout_ms / 1000, timeout_ms % 1000 * 1000000};

	if (until_ns && timeout_ms)
		ts = (struct timespec){(time_t)(left / 1000000000), (long)(left % 1000000000)};
	return CALL(w, PPOLL,
		    ppoll(w->fds, 2 * w->n, until_ns || timeout_ms >= 0 ? &ts : NULL, NULL));
}

static void wait_fill_pollfd(struct pollfd *p, const struct flow *f)
{
	*p = (struct pollfd){.fd = -1};
	if (!f || !f->waiting)
		return;
	p->fd = f->wait_fd;
	p->events = f->wait_events;
}

/* Returns true when the flow can go on: poll reported it, or its time has come. */
static bool wait_take_result(const struct pollfd *p, struct flow *f, uint64_t now)
{
	if (!f || !f->waiting)
		return false;
	f->polled = p->revents != 0;
	if (!f->polled && !stop_requested && !f->draining && (!f->due_ns || now < f->due_ns))
		return false;
	f->waiting = false;
	f->due_ns = 0;
	return true;
}

/*
 * Reads notifications, which poll reports as an error of the socket, in both directions. A
 * direction that waits for something else waits on.
 */
static void wait_take_notifications(struct pollfd *p, struct flow *f)
{
	struct flow *tx = f->tx ? f : f->back;

	if (!((p[0].revents | p[1].revents) & POLLERR) || !tx || !tx->mode->notice ||
	    tx->draining || tx->mode->notice(tx) <= 0)
		return;
	for (int i = 0; i < 2; i++)
		if (p[i].events)
			p[i].revents &= ~POLLERR;
}

/* Polls all blocked flows. Waits for one of them when `block` is set; else it only looks. */
static void wait_for_any(struct worker *w, bool block)
{
	int timeout = block ? -1 : 0;
	uint64_t due = 0, now;

	for (unsigned int i = 0; i < w->n; i++) {
		struct flow *f = w->flows[i];

		wait_fill_pollfd(&w->fds[2 * i], f->blocked ? f : NULL);
		wait_fill_pollfd(&w->fds[2 * i + 1], f->blocked ? f->back : NULL);
		if (f->blocked && f->due_ns && (!due || f->due_ns < due))
			due = f->due_ns;
		if (block && f->draining)
			timeout = DRAIN_PATIENCE_MS;
	}
	if (wait_poll(w, due, timeout) < 0 && errno != EINTR)
		flow_fail(w->flows[0], errno, "poll");
	now = due ? clock_mono_ns() : 0;
	for (unsigned int i = 0; i < w->n; i++) {
		struct flow *f = w->flows[i];
		bool one;

		wait_take_notifications(&w->fds[2 * i], f);
		one = wait_take_result(&w->fds[2 * i], f, now);
		if (wait_take_result(&w->fds[2 * i + 1], f->back, now) || one || stop_requested)
			f->blocked = false;
	}
}

/* Gives the flow its turn. Returns false when the flow is done. */
static bool worker_take_turn(struct flow *f)
{
	int rc = STEP_ON;

	for (unsigned int k = 0; rc == STEP_ON && (f->alone || k < TURN_STEPS); k++)
		rc = flow_next(f);
	f->blocked = rc == STEP_WAIT;
	return rc > 0;
}

/* Runs all flows to their end. It moves a flow that is done to the end of w->flows. */
static void worker_run_flows(struct worker *w)
{
	const unsigned int all = w->n;

	while (w->n) {
		bool all_blocked = true;

		for (unsigned int i = 0; i < w->n;) {
			struct flow *f = w->flows[i];

			if (!f->blocked && !worker_take_turn(f)) {
				flow_data_ends(f);
				w->flows[i] = w->flows[--w->n];
				w->flows[w->n] = f;
				continue;
			}
			all_blocked &= f->blocked;
			i++;
		}
		if (w->n)
			wait_for_any(w, all_blocked);
	}
	w->n = all;
}

static void worker_attach_flow(struct flow *f)
{
	struct flow *b = f->back;

	if (b && b->mode->attach && b->mode->attach(b))
		flow_copy_error(f, b);
	if (!f->error && f->mode->attach)
		f->mode->attach(f);
	if (f->error || f->tx)
		return;
	/* A receiver's data starts with its first byte. */
	half_wait_readable(f);
	f->blocked = true;
}

void worker_work(struct worker *w)
{
	const struct options *o = w->run->opt;

	for (unsigned int i = 0; i < w->n; i++)
		worker_attach_flow(w->flows[i]);
	if (!o->listen && o->seconds > 0 && w == w->run->boss)
		stop_after(w, o->seconds);
	worker_run_flows(w);
}

void worker_notify_boss(struct worker *w)
{
	uint64_t one = 1;

	(void)!CALL(w, WRITE, write(w->run->wake, &one, sizeof(one)));
}

void *worker_thread(void *arg)
{
	struct worker *w = arg;
	struct run *r = w->run;
	uint64_t one;

	stop_mask_worker();
	w->tid = (int)syscall(SYS_gettid);
	worker_open(w);
	sem_post(&r->opened);
	while (read(r->go, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	if (!r->give_up) {
		worker_span_begins(w, RUSAGE_THREAD);
		worker_work(w);
		__atomic_store_n(&w->done, true, __ATOMIC_RELEASE);
		worker_notify_boss(w);
		worker_span_ends(w, RUSAGE_THREAD);
	}
	worker_close(w);
	return NULL;
}

/* --- the end of a run --- */

/*
 * A signal or the timer of --seconds stops the run. Both interrupt a call that blocks, and they
 * repeat 20 times a second, because the first signal may come between the test of the flag and the
 * call. A second SIGINT or SIGTERM ends the program at once. The main thread takes these signals.
 * It pokes the workers (run.c) with a signal that does nothing but interrupt.
 */

enum { AGAIN_US = 50000 };

volatile sig_atomic_t stop_requested;
static volatile sig_atomic_t asked;
static __thread volatile sig_atomic_t handled;

static void stop_handle_poke(int sig)
{
	(void)sig;
	handled++;
}

static void stop_handle_signal(int sig)
{
	const struct itimerval again = {{0, AGAIN_US}, {0, AGAIN_US}};
	int saved = errno;

	stop_requested = 1;
	handled++;
	if (sig != SIGALRM) {
		if (asked)
			_exit(1);
		asked = 1;
		setitimer(ITIMER_REAL, &again, NULL);
	}
	errno = saved;
}

bool stop_asked(void)
{
	return asked;
}

int stop_catch(struct flow *f)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGALRM};
	struct sigaction sa = {
		.sa_handler = stop_handle_signal}; /* without SA_RESTART, so that it interrupts */
	struct sigaction poke = {.sa_handler = stop_handle_poke};

	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (sigaction(signals[i], &sa, NULL))
			return flow_fail(f, errno, "sigaction");
	return sigaction(STOP_POKE, &poke, NULL) ? flow_fail(f, errno, "sigaction") : 0;
}

void stop_mask_worker(void)
{
	sigset_t set;

	sigfillset(&set);
	sigdelset(&set, STOP_POKE);
	pthread_sigmask(SIG_SETMASK, &set, NULL);
}

void stop_after(struct worker *w, double seconds)
{
	struct itimerval it = {.it_interval.tv_usec = AGAIN_US};

	it.it_value.tv_sec = (time_t)seconds;
	it.it_value.tv_usec = (suseconds_t)((seconds - (double)it.it_value.tv_sec) * 1e6);
	if (!it.it_value.tv_sec && !it.it_value.tv_usec)
		it.it_value.tv_usec = 1;
	CALL(w, SETITIMER, setitimer(ITIMER_REAL, &it, NULL));
}

/* The handler calls setitimer once per run, in the main thread. */
void stop_count(struct worker *w)
{
	static __thread int seen;
	static int seen_asked;

	w->calls[CALL_RT_SIGRETURN] += (uint64_t)(handled - seen);
	seen = handled;
	if (w != w->run->boss)
		return;
	w->calls[CALL_SETITIMER] += (uint64_t)(asked - seen_asked);
	seen_asked = asked;
}
