// SPDX-License-Identifier: GPL-2.0-only
/*
 * send(2) with MSG_ZEROCOPY: the kernel pins our pages and reports on the socket's error queue when
 * it is done with them, and whether it had to copy after all. The kernel numbers the calls that
 * were accepted, from 0; a notification covers all of ee_info to ee_data, and we count calls.
 */
#include "limits.h"
#include "slots.h"
#include "uapi.h"

#include <errno.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

enum { IDS = 1 << 13 }; /* calls in flight at most */

struct state {
	struct slots slots;
	uint32_t next_id;
	struct limits limits;
	bool waited; /* for the error queue, since it last had something */
	struct sent {
		uint64_t handed_ns;
		unsigned int slot;
	} sends[IDS]; /* by the call's number */
};

static int zerocopy_open(struct flow *f)
{
	f->state = calloc(1, sizeof(struct state));
	if (!f->state)
		return flow_fail(f, ENOMEM, "memory");
	limits_read(&((struct state *)f->state)->limits);
	return slots_open(f, &((struct state *)f->state)->slots);
}

static int zerocopy_attach(struct flow *f)
{
	int on = 1;

	if (!CALL(f, SETSOCKOPT, setsockopt(f->fd, SOL_SOCKET, UAPI_SO_ZEROCOPY, &on, sizeof(on))))
		return 0;
	return flow_fail(f, errno, "SO_ZEROCOPY (Linux 4.14 or later)");
}

static int notified(struct flow *f, struct state *s, const struct sock_extended_err *ee)
{
	uint32_t id, n = ee->ee_data - ee->ee_info + 1;

	uint64_t now = now_ns();

	if (n > s->slots.in_flight)
		return flow_wrong(f, "the kernel reports %u sends done, %u were in flight", n,
				  s->slots.in_flight);
	flow_hist(f, HIST_BATCH, n);
	for (id = ee->ee_info; n--; id++) {
		flow_hist(f, HIST_NOTIFY_NS, now - s->sends[id % IDS].handed_ns);
		slots_release(&s->slots, s->sends[id % IDS].slot);
		if (ee->ee_code & UAPI_SO_EE_CODE_ZEROCOPY_COPIED)
			f->sends_copied++;
		else
			f->sends_zero_copy++;
	}
	return 0;
}

static bool is_notification(const struct cmsghdr *cm)
{
	const struct sock_extended_err *ee = (const void *)CMSG_DATA(cm);

	if (!(cm->cmsg_level == SOL_IP && cm->cmsg_type == IP_RECVERR) &&
	    !(cm->cmsg_level == SOL_IPV6 && cm->cmsg_type == IPV6_RECVERR))
		return false;
	return ee->ee_origin == UAPI_SO_EE_ORIGIN_ZEROCOPY;
}

/* Takes all notifications that are there: how many messages of them there were, or -errno. */
static int reap(struct flow *f, struct state *s)
{
	char control[128];
	int n;

	for (n = 0;; n++) {
		struct msghdr msg = {.msg_control = control, .msg_controllen = sizeof(control)};
		struct cmsghdr *cm;

		if (CALL(f, RECVMSG, recvmsg(f->fd, &msg, MSG_ERRQUEUE)) < 0) {
			if (errno == EINTR)
				continue;
			return errno == EAGAIN ? n : flow_fail(f, errno, "the error queue");
		}
		for (cm = CMSG_FIRSTHDR(&msg); cm; cm = CMSG_NXTHDR(&msg, cm))
			if (is_notification(cm) && notified(f, s, (const void *)CMSG_DATA(cm)))
				return -f->error;
	}
}

/* Takes what there is, or has the flow wait for the error queue. */
static int await(struct flow *f, struct state *s)
{
	int rc = reap(f, s), code = 0;
	socklen_t len = sizeof(code);

	if (rc) {
		s->waited = false;
		return rc < 0 ? rc : STEP_ON;
	}
	/* Woken for something else: the socket's own error. */
	if (s->waited)
		CALL(f, GETSOCKOPT, getsockopt(f->fd, SOL_SOCKET, SO_ERROR, &code, &len));
	if (code)
		return flow_fail(f, code, "send");
	s->waited = true;
	return flow_wait_for(f, f->fd, 0);
}

static int no_buffers(struct flow *f, struct state *s)
{
	enum limit limit = limits_hit(f, &s->limits);

	if (!s->slots.in_flight)
		return flow_fail(f, ENOBUFS, "MSG_ZEROCOPY of %zu bytes: raise a limit (%s)",
				 f->size, limits_text(&s->limits, limit));
	f->retries[limit]++;
	return await(f, s);
}

static int zerocopy_step(struct flow *f)
{
	struct state *s = f->state;
	struct slots *slots = &s->slots;
	size_t n = flow_message(f, f->bytes), at = f->bytes % slots->size;
	char *p = slots_mem(slots, slots->next) + at;
	uint64_t now;
	ssize_t sent;

	if ((!at && !slots_free(slots)) || slots->in_flight == IDS)
		return await(f, s);
	flow_fill(f, p, f->bytes, n);
	now = now_ns();
	sent = CALL(f, SENDTO,
		    send(f->fd, p, n, UAPI_MSG_ZEROCOPY | MSG_NOSIGNAL | flow_dontwait(f)));
	if (sent < 0 && errno == ENOBUFS)
		return no_buffers(f, s);
	if (sent < 0)
		return errno == EAGAIN	? STEP_WAIT
		       : errno == EINTR ? STEP_ON
					: flow_fail(f, errno, "send");
	s->sends[s->next_id++ % IDS] = (struct sent){now, slots->next};
	slots_hold(slots, slots->next, now);
	flow_sent(f, (size_t)sent);
	if ((size_t)sent == n)
		slots_advance(slots);
	return STEP_ON;
}

static int zerocopy_drain(struct flow *f)
{
	struct state *s = f->state;

	return s->slots.in_flight && !f->error ? await(f, s) : 0;
}

static void zerocopy_close(struct flow *f)
{
	struct state *s = f->state;

	if (!s)
		return;
	slots_close(&s->slots);
	free(s);
}

const struct mode tx_msg_zerocopy = {
	.name = "msg-zerocopy",
	.what = "send(2) with MSG_ZEROCOPY, notifications from the error queue",
	.flags = MODE_UDP,
	.hists = 1 << HIST_NOTIFY_NS | 1 << HIST_BATCH,
	.open = zerocopy_open,
	.attach = zerocopy_attach,
	.step = zerocopy_step,
	.drain = zerocopy_drain,
	.close = zerocopy_close,
};
