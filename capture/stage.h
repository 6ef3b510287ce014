/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sets up what runs are measured under: the plan's `before`, and on top of it a stack of settings.
 * To change a setting, those above it are undone and set up again. The settings at the bottom that
 * two combinations share stay. Each `after` is in the journal (undo.h) before its `before` starts.
 */
#ifndef ZC_CAPTURE_STAGE_H
#define ZC_CAPTURE_STAGE_H

#include "capture/child.h"
#include "capture/plan.h"

struct stage {
	const struct plan *plan;
	const char *dir;
	struct interrupt *intr;
	size_t combination; /* its first `depth` settings are set up */
	size_t depth;
	unsigned int stuck; /* journal entry of a setting that could not be undone; 0: none */
	char *why;	    /* why not all settings could be set up; NULL: all are */
};

/* Runs the plan's `before`. Call stage_close also after a failure. -EINTR after a signal. */
int stage_open(struct stage *s, const struct plan *plan, const char *dir, struct interrupt *intr,
	       struct error *err);

/*
 * Sets up a combination. -ECANCELED: this cannot be done, s->why says why, the setting that failed
 * is undone, and another combination may be tried. After any other error no run may be made: an
 * `after` failed, and the state of the host is unknown.
 */
int stage_set(struct stage *s, size_t combination, struct error *err);

/* Undoes everything, also after an `after` fails. `err` is the first failure. */
int stage_close(struct stage *s, struct error *err);

/* Returns how many settings two combinations share before the first one that differs. */
size_t stage_common(const struct plan *p, size_t a, size_t b);

#endif
