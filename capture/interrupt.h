/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SIGINT, SIGTERM and SIGHUP as something to poll for: nothing is cut off in the middle, so that
 * children are stopped and `after` is run whatever happens.
 */
#ifndef ZC_CAPTURE_INTERRUPT_H
#define ZC_CAPTURE_INTERRUPT_H

#include "lib/error.h"

#include <stdbool.h>

struct interrupt {
	int fd;	 /* readable when a signal came */
	int sig; /* the first one, 0: none yet */
};

int interrupt_open(struct interrupt *i, struct error *err);
bool interrupt_came(struct interrupt *i); /* reads what there is */
void interrupt_close(struct interrupt *i);

#endif
