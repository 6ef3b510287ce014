/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What runs are measured under: the plan's own `before`, and on it the settings of a combination,
 * a stack. To change one, those above it are undone too and set up again; what two combinations
 * have in common at the bottom stays. Each `after` is in the journal (undo.h) before its `before`
 * starts.
 */
#ifndef ZC_CAPTURE_STAGE_H
#define ZC_CAPTURE_STAGE_H

#include "capture/child.h"
#include "capture/plan.h"

struct stage {
	const struct plan *plan;
	const char *dir;
	struct interrupt *intr;
	size_t combination; /* the one set up, as far as `depth` says */
	size_t depth;
	unsigned int stuck; /* in the journal: the setting that was not undone; 0: none */
	char *why;	    /* why it could not be set up whole; NULL: it is */
};

/* The plan's `before`. Call stage_close whatever came of it. -EINTR after a signal. */
int stage_open(struct stage *s, const struct plan *plan, const char *dir, struct interrupt *intr,
	       struct error *err);

/*
 * -ECANCELED: it cannot be set up, s->why says why; nothing of the setting that failed is left, and
 * another combination may be tried. Any other error is the end: an `after` failed, and nobody knows
 * what would be measured.
 */
int stage_set(struct stage *s, size_t combination, struct error *err);

/* Undoes everything; goes on when an `after` fails, and says the first that did. */
int stage_close(struct stage *s, struct error *err);

/* How many settings two combinations have in common before the first that differs. */
size_t stage_common(const struct plan *p, size_t a, size_t b);

#endif
