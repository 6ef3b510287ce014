/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef ZC_UNITS_H
#define ZC_UNITS_H

/*
 * THE LIST of units of work beside bytes: an identifier, the unit, and its plural, which names the
 * metric with the rate. The view `runs` (analyze/store/schema.sql) has a column for each rate.
 */
// clang-format off
#define WORK_UNITS(row) \
	row(PACKET, "packet", "packets") \
	row(MESSAGE, "message", "messages")
// clang-format on

#endif
