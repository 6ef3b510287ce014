/* SPDX-License-Identifier: GPL-2.0-only */
/* May this process do what the plan's passes need? Asked before anything is started. */
#ifndef ZC_CAPTURE_PERMIT_H
#define ZC_CAPTURE_PERMIT_H

#include "capture/plan.h"

/* -EPERM with what is missing and how to get it. */
int permit_check(const struct plan *p, struct error *err);

#endif
