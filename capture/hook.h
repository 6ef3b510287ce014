/* SPDX-License-Identifier: GPL-2.0-only */
/* One command of a plan, by /bin/sh: nothing to read, what it prints on our standard error. */
#ifndef ZC_CAPTURE_HOOK_H
#define ZC_CAPTURE_HOOK_H

#include "capture/child.h"

#include <stdbool.h>

struct hook {
	const char *dir;	  /* the capture */
	const char *owner, *what; /* for messages: "the plan" and "before" */
	const char *command;
	double timeout_s;	/* 0: none */
	struct interrupt *intr; /* NULL: not to be interrupted */
	bool anyway;		/* also where what it starts could not be found again: disk full */
};

/*
 * -EINTR when a signal came meanwhile, -ETIMEDOUT when it took too long: then all it has started is
 * ended. -EIO when the command failed.
 */
int hook_run(const struct hook *h, struct error *err);

/* As hook_run; what it prints on standard output is handed back, without newlines at the end. */
int hook_read(const struct hook *h, char **output, struct error *err);

/*
 * Ends what is left of a hook that was running when a capture in `dir` was killed. What a hook that
 * ended left running is the plan's own business.
 */
void hook_recover(const char *dir);

#endif
