/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of variants under settings, "mmap+mtu9000+gro-off": what all variants of a chart have in
 * common is said once below it, and bars are named by what they differ in.
 */
#ifndef ZC_PLOT_SHARED_H
#define ZC_PLOT_SHARED_H

#include "lib/str.h"
#include "plot/chart.h"

/* Appends the parts behind a '+' that all variants have: "gro-off, 2cpus". Nothing of one variant.
 */
void shared_parts(const struct drawing *d, struct str *out);

/* Appends the name without them. */
void shared_label(const struct drawing *d, const char *name, struct str *out);

/*
 * The place of the variant that the i-th is held against: the base of the same settings where the
 * chart has it, "baseline+mtu9000" for "mmap+mtu9000"; else the base, 0.
 */
int shared_base(const struct drawing *d, int i);
/* How many could be meant by "the base": those that differ from it in their settings alone, and it.
 */
int shared_bases(const struct drawing *d);

#endif
