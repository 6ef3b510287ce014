// SPDX-License-Identifier: GPL-2.0-only
/*
 * --rate: message k of a flow is due k / rate after the first. Between them the thread sleeps; a
 * flow that is late catches up, but not on more than a hundredth of a second: a rate that cannot
 * be kept must not become a burst later. Of requests it catches up on all: their latency
 * counts from when they were due.
 */
#include "pace.h"

static const uint64_t late_ns = 10000000;

uint64_t pace_due_ns(const struct flow *f, uint64_t message)
{
	double bytes = (double)(message * f->size) - (double)f->pace_bytes;

	return f->pace_ns + (uint64_t)(bytes > 0 ? bytes / f->pace_rate * 1e9 : 0);
}

void pace_start(struct flow *f)
{
	const struct options *o = f->opt;

	f->pace_rate = o->rate_messages ? o->rate * (double)f->size : o->rate;
	f->pace_ns = now_ns();
}

int pace(struct flow *f)
{
	uint64_t now = now_ns(), due = pace_due_ns(f, f->bytes / f->size), messages;

	if (now < due) {
		f->due_ns = due;
		return flow_wait_for(f, -1, 0);
	}
	if (now - due > late_ns && !f->back) {
		f->pace_ns = now - late_ns;
		f->pace_bytes = f->bytes;
	}
	messages = (uint64_t)((double)(now - f->pace_ns) / 1e9 * f->pace_rate / (double)f->size);
	f->allow = f->pace_bytes / f->size * f->size + (messages + 1) * f->size;
	if (f->allow > f->limit)
		f->allow = f->limit;
	return 0;
}
