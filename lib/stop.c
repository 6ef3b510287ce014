// SPDX-License-Identifier: GPL-2.0-only
#include "lib/stop.h"

#include <signal.h>
#include <stddef.h>

static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t stop_signal;

static void stop_handle(int sig)
{
	stop_signal = sig;
}

void stop_watch(void)
{
	struct sigaction sa = {.sa_handler = stop_handle}, had;

	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < sizeof(stop_signals) / sizeof(stop_signals[0]); i++)
		if (!sigaction(stop_signals[i], NULL, &had) && had.sa_handler != SIG_IGN)
			sigaction(stop_signals[i], &sa, NULL);
}

void stop_unwatch(void)
{
	struct sigaction had;

	for (size_t i = 0; i < sizeof(stop_signals) / sizeof(stop_signals[0]); i++)
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
