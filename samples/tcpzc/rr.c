// SPDX-License-Identifier: GPL-2.0-only
/*
 * --rr: the client sends requests, and the server answers each complete one with a response. A
 * connection is then two flows that share a socket, each with its own mode: f has the requests and
 * f->back the responses. The received bytes decide how much may be sent. The client has
 * `outstanding` requests in flight, and the server sends one response per request.
 *
 * The latency of a request runs from the moment when the client begins to send it (with --rate:
 * when it was due) to the moment when its whole response has arrived.
 */
#include "run.h"

#include <inttypes.h>

void rr_init(struct flow *f)
{
	const struct options *o = f->opt;
	struct flow *b = aligned_alloc(_Alignof(struct flow), sizeof(*b));

	f->back = b;
	if (!b)
		alloc_fail();
	flow_init(b, o, f->index);
	b->mode = o->back_mode;
	b->tx = !f->tx;
	b->size = o->response;
	b->limit = UINT64_MAX;
	b->allow = 0;
}

int rr_open(struct flow *f)
{
	struct flow *b = f->back;
	const struct options *o = f->opt;

	b->worker = f->worker;
	b->alone = f->alone;
	if (f->tx)
		f->begun_ns = arena_alloc(&f->arena, o->outstanding * sizeof(*f->begun_ns));
	return flow_open(b) ? flow_copy_error(f, b) : 0;
}

/* Returns true when so few bytes are in flight that the ends cannot both block in sending. */
bool rr_may_block(const struct options *o)
{
	const size_t surely = 16 << 10;

	return o->outstanding == 1 || (o->size + o->response) * o->outstanding <= surely;
}

/* Sets how many requests the client may send. Returns 0, or STEP_WAIT until one is due. */
static int rr_allow_requests(struct flow *f)
{
	const struct options *o = f->opt;
	uint64_t done = f->back->bytes / o->response, credit = (done + o->outstanding) * f->size;

	f->allow = f->limit;
	if (f->bytes < credit && f->pace_rate > 0 && pace_allow(f)) {
		f->waiting = true;
		return STEP_WAIT;
	}
	if (f->allow > credit)
		f->allow = credit;
	return 0;
}

/* Notes the time of the requests that begin with the next step. */
static void rr_stamp_requests(struct flow *f)
{
	uint64_t now = clock_mono_ns(), end = (f->allow + f->size - 1) / f->size;

	for (; f->begun < end; f->begun++)
		f->begun_ns[f->begun % f->opt->outstanding] =
			f->pace_rate > 0 ? pace_due_ns(f, f->begun) : now;
}

static void rr_count_responses(struct flow *f)
{
	uint64_t done = f->back->bytes / f->opt->response;

	if (f->completed >= done)
		return;
	for (uint64_t now = clock_mono_ns(); f->completed < done; f->completed++)
		flow_hist(f, HIST_LATENCY_NS,
			  now - f->begun_ns[f->completed % f->opt->outstanding]);
}

/* Takes a step of sending if it can. Returns 1 when it did, 0 when not, or -errno. */
static int rr_try_send(struct flow *f, struct flow *tx)
{
	if (tx->waiting)
		return 0;
	if (f->tx && rr_allow_requests(f))
		return 0;
	if (!flow_left(tx, tx->bytes))
		return 0;
	if (f->tx)
		rr_stamp_requests(f);
	return half_step(tx) < 0 ? flow_copy_error(f, tx) : 1;
}

static int rr_try_receive(struct flow *f, struct flow *rx)
{
	int rc;

	if (rx->waiting)
		return 0;
	rc = half_step(rx);
	if (rc < 0)
		return flow_copy_error(f, rx);
	if (f->tx)
		rr_count_responses(f);
	else
		f->back->allow = f->bytes / f->size * f->back->size;
	if (rc == STEP_END && f->tx)
		return flow_wrong(f,
				  "the receiver closed the connection: %" PRIu64
				  " responses to %" PRIu64 " requests came",
				  f->completed, f->bytes / f->size);
	f->ended |= rc == STEP_END;
	return 1;
}

/*
 * Sends first, then receives. A thread that may block does so in receiving. When sending waits too,
 * receiving must not block: it is held back, and poll waits for both directions.
 */
int rr_move(struct flow *f)
{
	struct flow *tx = f->tx ? f : f->back, *rx = f->tx ? f->back : f;
	int rc = rr_try_send(f, tx);

	if (rc)
		return rc;
	if (f->alone && tx->waiting && !rx->polled) {
		half_wait_readable(rx);
		f->held = true;
	} else if (f->held && !tx->waiting) {
		rx->waiting = f->held = false;
	}
	rx->polled = false;
	if (f->ended)
		return tx->waiting ? STEP_WAIT : 0;
	rc = rr_try_receive(f, rx);
	return rc ? rc : STEP_WAIT;
}

/*
 * Receives the responses that are still to come after the client has stopped. A ring may have taken
 * them from the socket already, which poll does not see, so a ring waits by itself.
 */
static int rr_receive_rest(struct flow *f)
{
	struct flow *rx = f->back;
	const bool ring = rx->mode->flags & MODE_RING;
	uint64_t expected = f->bytes / f->size * f->opt->response, before = rx->bytes;

	if (rx->bytes >= expected || stop_asked())
		return 0;
	if (!f->rest_ns) {
		f->rest_ns = clock_mono_ns();
		rx->waiting = false;
	}
	if (!ring && !rx->polled)
		half_wait_readable(rx);
	else if (!ring)
		rx->polled = rx->waiting = false;
	if (rr_try_receive(f, rx) < 0)
		return -f->error;
	if (rx->bytes > before)
		f->rest_ns = clock_mono_ns();
	else if (clock_mono_ns() - f->rest_ns >= DRAIN_PATIENCE_MS * 1000000ULL)
		return 0;
	return rx->waiting ? STEP_WAIT : STEP_ON;
}

int rr_drain(struct flow *f)
{
	int rc;

	f->back->draining = true;
	rc = half_drain(f);
	if (rc <= 0)
		rc = half_drain(f->back);
	if (rc <= 0 && f->tx && !f->error)
		rc = rr_receive_rest(f);
	return rc;
}
