/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TCPZC_PACE_H
#define TCPZC_PACE_H

#include "tcpzc.h"

void pace_start(struct flow *f);
/* Sets f->allow to what is due by now: 0; or STEP_WAIT, until f->due_ns. */
int pace(struct flow *f);
uint64_t pace_due_ns(const struct flow *f, uint64_t message);

#endif
