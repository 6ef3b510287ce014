/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * "RE" of units = regex:RE: finds the rates that a workload prints, one a line, by its first group.
 * It is looked at before a run is made, and again when the output is read.
 */
#ifndef ZC_RATE_REGEX_H
#define ZC_RATE_REGEX_H

#include "lib/error.h"

#include <regex.h>

/* What its number counts, per second: "bytes=", "messages=" or "packets=" before RE says so. */
enum rate_of { RATE_MESSAGES, RATE_BYTES, RATE_PACKETS };

/* RE without what stands before it. */
const char *rate_regex_skip(const char *text, enum rate_of *of);

/* An extended expression with a group; the caller frees *re by regfree. -EINVAL: why not. */
int rate_regex_compile(regex_t *re, const char *pattern, struct error *err);

#endif
