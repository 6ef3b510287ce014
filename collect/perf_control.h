/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The control pipes of `perf record --control=fd:CTL,ACK`. Open, start perf (which inherits its
 * ends), say `started`, then give commands; each waits for perf's acknowledgement.
 */
#ifndef ZC_PERF_CONTROL_H
#define ZC_PERF_CONTROL_H

#include "lib/error.h"

struct perf_control {
	int ctl[2], ack[2]; /* pipes; 0: not open */
};

int perf_control_open(struct perf_control *p, struct error *err);
char *perf_control_option(const struct perf_control *p); /* the caller frees */
void perf_control_started(struct perf_control *p);	 /* closes perf's ends */
int perf_control_say(struct perf_control *p, const char *command, int timeout_ms); /* or -errno */
void perf_control_close(struct perf_control *p);

#endif
