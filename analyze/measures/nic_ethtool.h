/* SPDX-License-Identifier: GPL-2.0-only */
/* The table nic out of what ethtool printed. */
#ifndef ZC_NIC_ETHTOOL_H
#define ZC_NIC_ETHTOOL_H

#include "analyze/measures/measure.h"

int nic_from_ethtool(const struct ethtool_text *e, const struct query *q, struct table *t,
		     struct error *err);

#endif
