/* SPDX-License-Identifier: GPL-2.0-only */
/* The settings of the interfaces of a block's runs, as notes and as the table's detail. */
#ifndef ZC_NIC_H
#define ZC_NIC_H

#include "analyze/scope/changes.h"

/*
 * Adds a note with the settings of each interface that moved packets. `c` has the block's
 * counters. The table's detail has the settings of all interfaces.
 */
int nic_settings(struct block_table *k, const struct changes *c, struct error *err);

#endif
