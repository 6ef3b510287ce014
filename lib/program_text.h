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

/*
 * Finds the instantaneous reading in the output of `ipmitool dcmi power reading`. Returns -ENODATA
 * and the reason if the BMC refuses, if its reading is off, if it reads 0 W (a board without a
 * meter), or if it reads 65535 W (no reading at this moment).
 */
int watts_of_dcmi(const char *text, double *watts, struct error *err);

#endif
