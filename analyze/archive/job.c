// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/archive/archive.h"

#include "lib/clock.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t stop_signal;

static void stop_handle(int sig)
{
	stop_signal = sig;
}

void stop_watch(void)
{
	struct sigaction sa = {.sa_handler = stop_handle}, had;
	size_t i;

	sigemptyset(&sa.sa_mask);
	for (i = 0; i < sizeof(stop_signals) / sizeof(stop_signals[0]); i++)
		if (!sigaction(stop_signals[i], NULL, &had) && had.sa_handler != SIG_IGN)
			sigaction(stop_signals[i], &sa, NULL);
}

void stop_unwatch(void)
{
	struct sigaction had;
	size_t i;

	for (i = 0; i < sizeof(stop_signals) / sizeof(stop_signals[0]); i++)
		if (!sigaction(stop_signals[i], NULL, &had) && had.sa_handler == stop_handle)
			signal(stop_signals[i], SIG_DFL);
}

bool stop_asked(void)
{
	return stop_signal;
}

void stop_if_asked(void)
{
	if (!stop_signal)
		return;
	signal(stop_signal, SIG_DFL);
	raise(stop_signal);
}

enum { EVERY_NS = 200 * 1000 * 1000 };

struct advance advance_of(const char *doing, uint64_t total)
{
	return (struct advance){.doing = doing, .total = total, .tty = isatty(STDERR_FILENO)};
}

void advance_add(struct advance *p, uint64_t bytes)
{
	uint64_t now;

	p->done += bytes;
	if (!p->tty || (now = clock_mono_ns()) < p->next_ns)
		return;
	p->next_ns = now + EVERY_NS;
	p->shown = true;
	if (p->total)
		fprintf(stderr, "\r%s %3.0f %%", p->doing,
			100.0 * (double)p->done / (double)p->total);
	else
		fprintf(stderr, "\r%s %.0f MB", p->doing, (double)p->done / 1e6);
}

void advance_end(struct advance *p)
{
	if (p->shown)
		fprintf(stderr, "\r%40s\r", "");
}
