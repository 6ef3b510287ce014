/* SPDX-License-Identifier: GPL-2.0-only */
/* One command of a plan, by /bin/sh: nothing to read, what it prints on our standard error. */
#ifndef ZC_CAPTURE_HOOK_H
#define ZC_CAPTURE_HOOK_H

#include "capture/interrupt.h"

/*
 * `dir` is the capture; `owner` and `what` are for messages: "the plan" and "before". -EINTR when a
 * signal came meanwhile (never without `intr`), -EIO when the command failed.
 */
int hook_run(const char *dir, const char *owner, const char *what, const char *command,
	     struct interrupt *intr, struct error *err);

/* As hook_run; what it prints on standard output is handed back, without newlines at the end. */
int hook_read(const char *dir, const char *owner, const char *what, const char *command,
	      struct interrupt *intr, char **output, struct error *err);

/*
 * Ends what is left of a hook that was running when a capture in `dir` was killed. What a hook that
 * ended left running is the plan's own business.
 */
void hook_recover(const char *dir);

#endif
