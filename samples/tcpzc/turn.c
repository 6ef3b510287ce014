// SPDX-License-Identifier: GPL-2.0-only
#include "turn.h"

#include "pace.h"
#include "run.h"

void half_wait_readable(struct flow *f)
{
	f->waiting = true;
	flow_wait_for(f, f->fd, POLLIN);
}

int half_step(struct flow *f)
{
	int rc;

	flow_wait_for(f, f->fd, f->tx ? POLLOUT : POLLIN);
	rc = f->mode->step(f);
	f->waiting = rc == STEP_WAIT;
	return rc;
}

int half_drain(struct flow *f)
{
	uint64_t now;
	int rc;

	if (!f->mode->drain)
		return 0;
	if (!f->drain_ns)
		f->drain_ns = now_ns();
	flow_wait_for(f, f->fd, f->tx ? POLLOUT : POLLIN);
	rc = f->mode->drain(f);
	now = now_ns();
	if (rc == STEP_ON)
		f->drain_ns = now;
	if (rc == STEP_WAIT && now - f->drain_ns >= DRAIN_PATIENCE_MS * 1000000ULL)
		rc = 0;
	f->waiting = rc == STEP_WAIT;
	return rc;
}

static bool flow_ended(const struct flow *f)
{
	return stop_requested || f->error || (f->tx && f->bytes >= f->limit);
}

int flow_next(struct flow *f)
{
	int rc;

	if (f->draining || flow_ended(f)) {
		f->draining = true;
		return half_drain(f);
	}
	if (!f->start_ns)
		flow_data_starts(f);
	if (f->pace_rate > 0 && pace(f)) {
		f->waiting = true;
		return STEP_WAIT;
	}
	rc = half_step(f);
	flow_tick(f);
	f->draining = rc <= 0;
	return f->draining ? STEP_ON : rc;
}
