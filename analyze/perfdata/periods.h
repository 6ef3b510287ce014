/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long the periods of an event are. At a given frequency the kernel finds the period by trial:
 * a stream begins with very short ones, and an overshoot gives a single sample much weight. Both
 * are true events, and no good sample of what ran: they are counted, and said.
 */
#ifndef ZC_PERIODS_H
#define ZC_PERIODS_H

#include "analyze/model/profile.h"

/* By the number of binary digits: 0 for 0, 1 for 1, 2 for 2 and 3, ... */
struct periods {
	struct {
		uint64_t samples, weight;
	} digits[65];
};

static inline void periods_add(struct periods *p, uint64_t period)
{
	int digits = period ? 64 - __builtin_clzll(period) : 0;

	p->digits[digits].samples++;
	p->digits[digits].weight += period;
}

void periods_join(struct periods *to, const struct periods *from);

/* Adds what is far from the usual to the event's outliers and starts. */
void periods_flag(const struct periods *p, struct profile_event *e);

#endif
