/* SPDX-License-Identifier: GPL-2.0-only */
/* What `zcost compare` is asked: options into a comparison, and whether they go together. */
#ifndef ZC_COMPARE_OPTIONS_H
#define ZC_COMPARE_OPTIONS_H

#include "analyze/compare/compare.h"
#include "analyze/option_uses.h"
#include "lib/cpuset.h"
#include "lib/output.h"

#include <argp.h>

struct compare_options {
	struct comparison c;
	const struct compare_table *table;
	bool texts; /* BASE and NEW are two texts of counters or system calls */
	const char *capture, *ref[ENDS];
	const char *self_test, *variant; /* a capture, and one of its variants */
	struct cpuset cpus;
	struct options_given given;
	int refs;
	bool fail_on_worse;
	struct output output;
};

/* Its input is a struct compare_options that begins with zeros. */
extern const struct argp compare_argp;

/* Chooses the table where none was named; a usage error for what cannot go together. */
void compare_options_check(struct argp_state *state, struct compare_options *o);

#endif
