/* SPDX-License-Identifier: GPL-2.0-only */
/* May a process do what the plan's passes need? Asked before anything is started. */
#ifndef ZC_CAPTURE_PERMIT_H
#define ZC_CAPTURE_PERMIT_H

#include "capture/plan.h"
#include "collect/rights.h"

/*
 * -EPERM with what is missing and how to get it. `where` begins the message: "" of this host,
 * "sender (ssh://x): " of another.
 */
int plan_check_rights(const struct plan *p, const struct rights *r, const char *where,
		 struct error *err);

/* Are the CPUs of all sides that run here online? -EINVAL names those that are not. */
int plan_check_cpus(const struct plan *p, struct error *err);

#endif
