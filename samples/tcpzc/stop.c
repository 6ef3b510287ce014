// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stopping: by signal, or by the timer of --seconds. Both interrupt a call that blocks, and go on
 * interrupting 20 times a second: the first signal may fall between the look at the flag and the
 * call. A second SIGINT or SIGTERM ends the program on the spot.
 */
#include "tcpzc.h"

#include <errno.h>
#include <sys/time.h>
#include <unistd.h>

enum { AGAIN_US = 50000 };

volatile sig_atomic_t stop_requested;
static volatile sig_atomic_t handled, asked;

static void handler(int sig)
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
	struct sigaction sa = {.sa_handler = handler}; /* without SA_RESTART */
	size_t i;

	signal(SIGPIPE, SIG_IGN);
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (sigaction(signals[i], &sa, NULL))
			return flow_fail(f, errno, "sigaction");
	return 0;
}

void stop_after(struct flow *f, double seconds)
{
	struct itimerval it = {.it_interval.tv_usec = AGAIN_US};

	it.it_value.tv_sec = (time_t)seconds;
	it.it_value.tv_usec = (suseconds_t)((seconds - (double)it.it_value.tv_sec) * 1e6);
	if (!it.it_value.tv_sec && !it.it_value.tv_usec)
		it.it_value.tv_usec = 1;
	CALL(f, SETITIMER, setitimer(ITIMER_REAL, &it, NULL));
}

/* What the handler called, from when it was last asked: it calls setitimer once in all. */
void stop_count(struct flow *f)
{
	static int seen, seen_asked;

	f->calls[CALL_RT_SIGRETURN] += (uint64_t)(handled - seen);
	f->calls[CALL_SETITIMER] += (uint64_t)(asked - seen_asked);
	seen = handled;
	seen_asked = asked;
}
