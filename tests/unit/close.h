// SPDX-License-Identifier: GPL-2.0-only
/*
 * assert_float_equal() for figures. cmocka's own compares as float, and takes NaN, a missing
 * figure, for equal to everything.
 */
#ifndef ZCOST_TESTS_UNIT_CLOSE_H
#define ZCOST_TESTS_UNIT_CLOSE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#undef assert_float_equal
#define assert_float_equal(a, b, epsilon) assert_close((a), (b), (epsilon), __FILE__, __LINE__)

static inline void assert_close(double a, double b, double epsilon, const char *file, int line)
{
	if (a == b || fabs(a - b) <= epsilon)
		return;
	print_error("%.17g is not %.17g\n", a, b);
	_fail(file, line);
}

#endif
