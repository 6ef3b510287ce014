/* SPDX-License-Identifier: GPL-2.0-only */
/* The plan's text, read once for each combination of its settings (plan_combine.c). */
#ifndef ZC_CAPTURE_PLAN_READ_H
#define ZC_CAPTURE_PLAN_READ_H

#include "capture/matrix.h"
#include "capture/plan.h"

/*
 * Reads `text` into `p`, with the values of the settings in `with` as variables; its hooks are
 * filled, its other texts are there already. `pick`: the same as in `m`.
 */
int plan_parse_with(struct plan *p, const char *path, const char *text, const char *bindir,
		    const struct matrix *m, const size_t *pick, const struct combination *with,
		    struct error *err);

/* The first key of [plan] in which two plans differ, or NULL. */
const char *plan_differs(const struct plan *a, const struct plan *b);

#endif
