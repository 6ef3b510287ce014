// SPDX-License-Identifier: GPL-2.0-only
#include "collect/guard.h"

#include "lib/marked.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GRACE_MS = 2000 };

/* Other descriptors stay open: who waits for all of us by a lock waits for the guard, too. */
static void guard_release_stdio(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), i;

	for (i = 0; null >= 0 && i <= STDERR_FILENO; i++)
		dup2(null, i);
}

/* In a group of its own, so that who ends ours does not end it; it never returns. */
static void guard_watch(int from, const char *mark)
{
	sigset_t all;
	char byte;
	ssize_t n;

	setpgid(0, 0);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	prctl(PR_SET_NAME, "zcost-guard");
	guard_release_stdio();
	do
		n = read(from, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		marked_end(mark, false, GRACE_MS);
	_exit(0);
}

int guard_start(struct guard *g, const char *mark, struct error *err)
{
	int fds[2], e;

	*g = (struct guard){.fd = -1};
	if (pipe2(fds, O_CLOEXEC))
		return error_sys(err, errno, "cannot make a pipe");
	g->pid = fork();
	e = errno;
	if (!g->pid) {
		close(fds[1]);
		guard_watch(fds[0], mark);
	}
	close(fds[0]);
	g->fd = fds[1];
	if (g->pid > 0)
		return 0;
	close(g->fd);
	*g = (struct guard){.fd = -1};
	return error_sys(err, e, "cannot fork");
}

void guard_stop(struct guard *g)
{
	if (!g->pid)
		return;
	if (write(g->fd, "", 1) == 1)
		waitpid(g->pid, NULL, 0);
	close(g->fd);
	*g = (struct guard){.fd = -1};
}
