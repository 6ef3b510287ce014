/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Power as programs print it. The host half asks whether there is a reading in a text at all, the
 * laptop half which: both ends live here so that they cannot disagree.
 */
#ifndef ZC_PROGRAM_TEXT_H
#define ZC_PROGRAM_TEXT_H

#include "lib/error.h"

#include <regex.h>

/*
 * A line that is one reading: "231.5", "231.5 W", "1.2 kW", "850 mW", "watts 231.5", "Watts: 231.5
 * W". -ENODATA: it is not one; -ERANGE: it is less than nothing.
 */
int watts_of_line(const char *line, double *watts, struct error *err);

/*
 * The output of `ipmitool dcmi power reading`: the instantaneous one. -ENODATA with what it says
 * instead: refusals, a reading that is switched off, 0 W, which is what boards without a meter say,
 * and 65535 W, which is what those say that have none just now.
 */
int watts_of_dcmi(const char *text, double *watts, struct error *err);

/*
 * "RE" of units = regex:RE: finds the rates that a workload prints, one a line, by its first group.
 * It is looked at before a run is made, and again when the output is read.
 */

/* What its number counts, per second: "bytes=", "messages=" or "packets=" before RE says so. */
enum rate_of { RATE_MESSAGES, RATE_BYTES, RATE_PACKETS };

/* RE without what stands before it. */
const char *rate_regex_skip(const char *text, enum rate_of *of);

/* An extended expression with a group; the caller frees *re by regfree. -EINVAL: why not. */
int rate_regex_compile(regex_t *re, const char *pattern, struct error *err);

#endif
