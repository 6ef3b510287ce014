/* SPDX-License-Identifier: GPL-2.0-only */
/* The kind of trouble that a counter indicates: "drop", "error", ...; NULL: none. */
#ifndef ZC_KINDS_H
#define ZC_KINDS_H

const char *snmp_kind(const char *name);
const char *nic_kind(const char *name);

#endif
