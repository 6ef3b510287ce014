// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/archive/stop.h"

#include <signal.h>
#include <stddef.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t came;

static void noted(int sig)
{
	came = sig;
}

void stop_watch(void)
{
	struct sigaction sa = {.sa_handler = noted}, had;
	size_t i;

	sigemptyset(&sa.sa_mask);
	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (!sigaction(signals[i], NULL, &had) && had.sa_handler != SIG_IGN)
			sigaction(signals[i], &sa, NULL);
}

void stop_unwatch(void)
{
	struct sigaction had;
	size_t i;

	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (!sigaction(signals[i], NULL, &had) && had.sa_handler == noted)
			signal(signals[i], SIG_DFL);
}

bool stop_asked(void)
{
	return came;
}

void stop_if_asked(void)
{
	if (!came)
		return;
	signal(came, SIG_DFL);
	raise(came);
}
