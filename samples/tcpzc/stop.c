// SPDX-License-Identifier: GPL-2.0-only
/*
 * A signal or the timer of --seconds stops the run. Both interrupt a call that blocks, and they
 * repeat 20 times a second, because the first signal may come between the test of the flag and the
 * call. A second SIGINT or SIGTERM ends the program at once. The main thread takes these signals.
 * It pokes the workers (run.c) with a signal that does nothing but interrupt.
 */
#include "run.h"

#include <errno.h>
#include <sys/time.h>
#include <unistd.h>

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
	size_t i;

	signal(SIGPIPE, SIG_IGN);
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
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
