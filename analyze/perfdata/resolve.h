/* SPDX-License-Identifier: GPL-2.0-only */
/* Folded stacks into the frames of a profile: each distinct stack once. */
#ifndef ZC_PERFDATA_RESOLVE_H
#define ZC_PERFDATA_RESOLVE_H

#include "analyze/perfdata/fold.h"

void resolve(struct recording *r, const struct fold *f, const struct perfdata_options *o);

#endif
