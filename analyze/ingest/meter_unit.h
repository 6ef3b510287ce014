/* SPDX-License-Identifier: GPL-2.0-only */
/* The unit that the heading of a meter's column names: "power (W)", "power_mW", "Milliwatts". */
#ifndef ZC_METER_UNIT_H
#define ZC_METER_UNIT_H

#include <stdbool.h>

struct power_unit {
	const char *name;
	double watts;
};

/* "mW", as --power-unit has it; NULL: there is none of that name. */
const struct power_unit *power_unit_named(const char *name);

/* NULL: it names none. *unclear: it says MW, and a million watts it will hardly be. */
const struct power_unit *power_unit_in(const char *heading, bool *unclear);

#endif
