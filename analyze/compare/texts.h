/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two texts of one kind side by side: perf stat (counters), perf trace -s or strace -c (system
 * calls). One run each, so that there are differences and no verdicts.
 */
#ifndef ZC_COMPARE_TEXTS_H
#define ZC_COMPARE_TEXTS_H

#include "analyze/compare/compare.h"

/* The table that both files are texts of, "counters" or "syscalls"; NULL: they are not. */
const char *compare_texts_table(const char *base, const char *new);

/* Fills `t`, initialised here. A row that one text lacks has empty cells there. */
int compare_texts(const char *base, const char *new, struct table *t, struct error *err);

#endif
