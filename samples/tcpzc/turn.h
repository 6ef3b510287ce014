/* SPDX-License-Identifier: GPL-2.0-only */
/* What a flow does next, as worker.c has it take its turns. */
#ifndef TCPZC_TURN_H
#define TCPZC_TURN_H

#include "tcpzc.h"

/* One way's step, or drain; notes whether it waits, and for what. As struct mode says. */
int half_step(struct flow *f);
int half_drain(struct flow *f); /* with patience: 0 also when that is over */
void half_wait_readable(struct flow *f);

/* STEP_ON, STEP_WAIT: until poll says that one of its halves can go on; else it is done. */
int flow_next(struct flow *f);

/* rr.c: of requests and their responses. */
int rr_init(struct flow *f); /* makes f->back; 0 or -ENOMEM */
int rr_open(struct flow *f);
void rr_close(struct flow *f);
int rr_next(struct flow *f);
bool rr_may_block(const struct options *o);

#endif
