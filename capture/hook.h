/* SPDX-License-Identifier: GPL-2.0-only */
/* Runs one command of a plan by /bin/sh. Its input is empty. Its output goes to our standard error.
 */
#ifndef ZC_CAPTURE_HOOK_H
#define ZC_CAPTURE_HOOK_H

#include "capture/child.h"

#include <stdbool.h>

struct hook {
	const char *dir;	  /* the capture */
	const char *owner, *what; /* for messages: "the plan", "before" */
	const char *command;
	double timeout_s;	/* 0: no limit */
	struct interrupt *intr; /* NULL: no signal interrupts it */
	bool anyway; /* run it also when a full disk prevents hook_recover from finding it */
};

/*
 * Returns -EINTR when a signal came, and -ETIMEDOUT when the command took too long. Both end all
 * processes that it started. -EIO: the command failed.
 */
int hook_run(const struct hook *h, struct error *err);

/* Runs a hook and returns its standard output in *output, without newlines at the end. */
int hook_read(const struct hook *h, char **output, struct error *err);

/*
 * Ends the processes of the hook that ran when a capture in `dir` was killed. Processes that a hook
 * leaves when it ends are intended by the plan.
 */
void hook_recover(const char *dir);

#endif
