/* SPDX-License-Identifier: GPL-2.0-only */
/* What a counter of the network stack or of an interface tells of, where that is trouble. */
#ifndef ZC_COUNTER_KINDS_H
#define ZC_COUNTER_KINDS_H

/*
 * "retransmit", "drop", "prune", "copy" (the kernel copied payload by itself, which zero copy is
 * there to avoid), "pressure", "error"; NULL: nothing of that.
 */
const char *snmp_kind(const char *name);
/* Of an interface, whoever made its driver: "drop", "error"; NULL. */
const char *nic_kind(const char *name);

#endif
