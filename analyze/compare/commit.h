/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of a commit message of `compare`. */
#ifndef ZC_COMPARE_COMMIT_H
#define ZC_COMPARE_COMMIT_H

#include "analyze/compare/figures.h"
#include "lib/str.h"

#define NUMBER .type = V_STR, .shape = STANDS_RIGHT

/* Formats a number with so many digits after the point, "-" for NAN. `format` has "%.*f". */
struct value commit_number(struct table *to, const char *format, int digits, double x);
struct value commit_p(struct table *to, double p);

/* Starts `to` with the `shown` most important rows and components that moved, in their order. */
void commit_add_metrics(struct table *to, const struct comparison *c, const struct figures *f,
			size_t shown);
/* Returns how many rows stay however long the text is, or the number of rows that have a verdict or
 * stay. */
size_t commit_least_metrics(const struct figures *f, bool decided);
/* Returns how many rows and components with a verdict commit_add_metrics() leaves out. */
size_t commit_metrics_left(const struct figures *f, size_t shown);
/*
 * Prints "worse: sender ns/KiB +7.3%; no clear change: throughput". The first changes go into
 * `subject` as far as they fit into `room` characters, the others into `body`. Ends with different
 * limits get no words on throughput.
 */
void commit_print_verdicts(struct str *subject, size_t room, struct str *body,
			   const struct figures *f, bool limits_differ);

#endif
