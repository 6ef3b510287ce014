/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the work of runs is counted in: KiB where bytes are known, else packets, else messages.
 * Costs are divided by that unless --unit says otherwise (basis.c has the same order).
 */
#ifndef ZC_WORK_H
#define ZC_WORK_H

#include "analyze/measures/scope.h"

/* "KiB", "packet", "message"; NULL: the workload gave no account of any. */
const char *work_unit(struct store *s, const struct run *runs, int n);
bool work_is_in(struct store *s, const struct run *runs, int n, const char *unit);

/* As names of columns and figures have it: "kib", "packet", "message", "syscall"; else "unit". */
const char *work_word(const char *unit);

/* "packets, messages": what a rate is known of in any of the runs; "" for nothing. For free(). */
char *work_units(struct store *s, const struct run *runs, int n);

#endif
