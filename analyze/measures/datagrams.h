/* SPDX-License-Identifier: GPL-2.0-only */
/* UDP is for controls: what is sent need not arrive, so that nothing was bought for its cost. */
#ifndef ZC_DATAGRAMS_H
#define ZC_DATAGRAMS_H

#include "analyze/measures/scope.h"

static inline bool sent_datagrams(struct store *s, const struct run *r)
{
	return figure_metric(s, r, "workload_udp") > 0;
}

#endif
