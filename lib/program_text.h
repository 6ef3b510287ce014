/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers in the text that other programs print: power readings, and rates of a workload. The host
 * half checks that a text holds a reading, and the laptop half reads it. Both use these functions,
 * so they cannot disagree.
 */
#ifndef ZC_PROGRAM_TEXT_H
#define ZC_PROGRAM_TEXT_H

#include "lib/error.h"

#include <regex.h>

/*
 * Parses a line with one reading: "231.5", "231.5 W", "1.2 kW", "850 mW", "watts 231.5", "Watts:
 * 231.5 W". Returns -ENODATA if the line holds none, and -ERANGE if the reading is negative.
 */
int watts_of_line(const char *line, double *watts, struct error *err);

/*
 * Finds the instantaneous reading in the output of `ipmitool dcmi power reading`. Returns -ENODATA
 * and the reason if the BMC refuses, if its reading is off, if it reads 0 W (a board without a
 * meter), or if it reads 65535 W (no reading at this moment).
 */
int watts_of_dcmi(const char *text, double *watts, struct error *err);

/*
 * The key `units = regex:RE` of a plan: the first group of RE matches the rate in each line that
 * the workload prints. "bytes=", "messages=" or "packets=" before RE says what the rate counts per
 * second.
 */
enum rate_of { RATE_MESSAGES, RATE_BYTES, RATE_PACKETS };

/* Returns RE without that prefix, and what the prefix says. */
const char *rate_regex_skip(const char *text, enum rate_of *of);

/* Compiles an extended expression that has a group. The caller calls regfree(re). */
int rate_regex_compile(regex_t *re, const char *pattern, struct error *err);

#endif
