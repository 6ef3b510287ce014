/* SPDX-License-Identifier: GPL-2.0-only */
/* Folded stacks into the frames of a profile: each distinct stack once, and then freed. */
#ifndef ZC_PERFDATA_RESOLVE_H
#define ZC_PERFDATA_RESOLVE_H

#include "analyze/perfdata/kernel.h"
#include "analyze/perfdata/pass_two.h"

void resolve(struct recording *r, struct folds *f, struct kernel_symbols *kernel,
	     const struct perfdata_options *o);

#endif
