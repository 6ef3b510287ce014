/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Power readings in the text that other programs print. The host half checks that a text holds a
 * reading, and the laptop half reads it. Both use these functions, so they cannot disagree.
 */
#ifndef ZC_PROGRAM_TEXT_H
#define ZC_PROGRAM_TEXT_H

#include "lib/error.h"

/*
 * Parses a line with one reading: "231.5", "231.5 W", "1.2 kW", "850 mW", "watts 231.5", "Watts:
 * 231.5 W". Returns -ENODATA if the line holds none, and -ERANGE if the reading is negative.
 */
int watts_of_line(const char *line, double *watts, struct error *err);

#endif
