// SPDX-License-Identifier: GPL-2.0-only
/* Checks how the power is read from the output of programs. */
#include "lib/words.h"
#include "tests/unit/unit.h"

TEST(watts_are_read_from_lines)
{
	static const struct {
		const char *line;
		int rc;
		double watts;
	} lines[] = {
		{"231.5", 0, 231.5},	     {"  231 W\n", 0, 231},    {"1.25 kW", 0, 1250},
		{"850mW", 0, 0.85},	     {"watts 17", 0, 17},      {"Watts: 17.5 W", 0, 17.5},
		{"watts=0", 0, 0},	     {"220 Watts", 0, 220},    {"1e2", 0, 100},
		{"", -ENODATA, 0},	     {"PkgWatt", -ENODATA, 0}, {"17 volts", -ENODATA, 0},
		{"17 18", -ENODATA, 0},	     {"nan", -ENODATA, 0},     {"inf W", -ENODATA, 0},
		{"wattsup 17", -ENODATA, 0}, {"watts", -ENODATA, 0},   {"-3", -ERANGE, 0},
		{"12,5", -ENODATA, 0},
	};
	double watts;

	each (l, lines) {
		struct error err = {0};

		assert_int_equal(watts_of_line(l->line, &watts, &err), l->rc);
		if (!l->rc)
			assert_float_equal(watts, l->watts, 1e-9);
		else
			assert_true(*err.text);
	}
}
