/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ZC_CAPTURE_WORK_H
#define ZC_CAPTURE_WORK_H

#include <stdbool.h>

/*
 * Why a run in `dir` that went well otherwise has nothing to measure: its workload.out, as the
 * adapter `units` reads it, holds an error or no work at all. NULL: it has, or nobody can tell.
 * *quoted: with the workload's own words.
 */
char *work_undone(const char *dir, const char *units, bool *quoted);

#endif
