/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ZC_CAPTURE_SHARED_H
#define ZC_CAPTURE_SHARED_H

#include "capture/plan.h"

/*
 * Says, a line each, on which CPUs the sides of which variants are together on one host: what is
 * measured by CPU is then of both.
 */
void plan_note_shared_cpus(const struct plan *p);

#endif
