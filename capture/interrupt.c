// SPDX-License-Identifier: GPL-2.0-only
#include "capture/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

int interrupt_open(struct interrupt *i, struct error *err)
{
	sigset_t set;

	*i = (struct interrupt){.fd = -1};
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	i->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return i->fd < 0 ? error_sys(err, errno, "cannot wait for signals") : 0;
}

bool interrupt_came(struct interrupt *i)
{
	struct signalfd_siginfo info;

	while (read(i->fd, &info, sizeof(info)) == sizeof(info))
		if (!i->sig)
			i->sig = (int)info.ssi_signo;
	return i->sig;
}

void interrupt_close(struct interrupt *i)
{
	if (i->fd >= 0)
		close(i->fd);
	i->fd = -1;
}
