// SPDX-License-Identifier: GPL-2.0-only
/* What a thread waits for when its flows have nothing to do. */
#include "run.h"

#include <errno.h>
#include <time.h>

static int wait_poll(struct worker *w, uint64_t until_ns, int timeout_ms)
{
	uint64_t now = until_ns ? now_ns() : 0, left = until_ns > now ? until_ns - now : 0;
	struct timespec ts = {(time_t)(left / 1000000000), (long)(left % 1000000000)};

	if (until_ns && timeout_ms)
		return CALL(w, PPOLL, ppoll(w->fds, 2 * w->n, &ts, NULL));
	return CALL(w, POLL, poll(w->fds, 2 * w->n, timeout_ms));
}

static void wait_fill_pollfd(struct pollfd *p, const struct flow *f)
{
	*p = (struct pollfd){.fd = -1};
	if (!f || !f->waiting)
		return;
	p->fd = f->wait_fd;
	p->events = f->wait_events;
}

/* Goes on: poll said so, or the time has come to look again. */
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

void wait_for_any(struct worker *w, bool at_all)
{
	int timeout = at_all ? -1 : 0;
	uint64_t due = 0, now;
	unsigned int i;

	for (i = 0; i < w->n; i++) {
		struct flow *f = w->flows[i];

		wait_fill_pollfd(&w->fds[2 * i], f->blocked ? f : NULL);
		wait_fill_pollfd(&w->fds[2 * i + 1], f->blocked ? f->back : NULL);
		if (f->blocked && f->due_ns && (!due || f->due_ns < due))
			due = f->due_ns;
		if (at_all && f->draining)
			timeout = DRAIN_PATIENCE_MS;
	}
	if (wait_poll(w, due, timeout) < 0 && errno != EINTR)
		flow_fail(w->flows[0], errno, "poll");
	now = due ? now_ns() : 0;
	for (i = 0; i < w->n; i++) {
		struct flow *f = w->flows[i];
		bool one = wait_take_result(&w->fds[2 * i], f, now);

		if (wait_take_result(&w->fds[2 * i + 1], f->back, now) || one || stop_requested)
			f->blocked = false;
	}
}
