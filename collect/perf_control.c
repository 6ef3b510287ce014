// SPDX-License-Identifier: GPL-2.0-only
#include "collect/perf_control.h"

#include "lib/alloc.h"
#include "lib/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum { READ, WRITE, MS = 1000000 };

/* Perf's own ends must survive its exec; ours must reach nobody. */
int perf_control_open(struct perf_control *p, struct error *err)
{
	if (pipe2(p->ctl, O_CLOEXEC) || pipe2(p->ack, O_CLOEXEC))
		return error_sys(err, errno, "cannot make a pipe");
	fcntl(p->ctl[READ], F_SETFD, 0);
	fcntl(p->ack[WRITE], F_SETFD, 0);
	return 0;
}

char *perf_control_option(const struct perf_control *p)
{
	return xasprintf("--control=fd:%d,%d", p->ctl[READ], p->ack[WRITE]);
}

static void perf_control_close_end(int *fd)
{
	if (*fd > 0)
		close(*fd);
	*fd = 0;
}

void perf_control_started(struct perf_control *p)
{
	perf_control_close_end(&p->ctl[READ]);
	perf_control_close_end(&p->ack[WRITE]);
}

/* "ack\n", and a NUL behind it in most versions. */
static int perf_control_wait_ack(int fd, int timeout_ms)
{
	uint64_t end = clock_mono_ns() + (uint64_t)timeout_ms * MS;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	char buf[64];
	ssize_t n;
	int rc;

	for (;;) {
		uint64_t now = clock_mono_ns();

		rc = poll(&p, 1, now < end ? (int)((end - now) / MS) + 1 : 0);
		if (rc < 0 && errno == EINTR)
			continue;
		if (rc <= 0)
			return rc ? -errno : -ETIMEDOUT;
		n = read(fd, buf, sizeof(buf));
		if (n <= 0)
			return -EPIPE;
		if (memmem(buf, (size_t)n, "ack\n", 4))
			return 0;
	}
}

int perf_control_say(struct perf_control *p, const char *command, int timeout_ms)
{
	if (write(p->ctl[WRITE], command, strlen(command)) < 0)
		return -errno;
	return perf_control_wait_ack(p->ack[READ], timeout_ms);
}

void perf_control_close(struct perf_control *p)
{
	perf_control_started(p);
	perf_control_close_end(&p->ctl[WRITE]);
	perf_control_close_end(&p->ack[READ]);
}
