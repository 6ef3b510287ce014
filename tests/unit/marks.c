// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/texts/text.h"

#include "tests/unit/unit.h"

/* Returns the decimal mark that a line decides, or 0. */
TEST(line_decides_about_the_decimal_mark)
{
	static const struct {
		const char *line;
		char decimal;
	} lines[] = {
		{"1.208.000.453 cycles", ','},
		{"0,373027705 seconds", ','},
		{"12,5 %", ','},
		{"1,234,567.25 msec", '.'},
		{"12,34,567 cycles", '.'},
		{"1234.567 x", '.'},
		{"0.001 CPUs", '.'},
		{"1,234 cycles", 0},
		{"12 345", 0},
		{"1'234'567", 0},
		{"cpu/event=0x3c,umask=0x1/", 0}, /* digits inside a word are no number */
		{"L1.2 v6.1.192", 0},
	};

	each (l, lines) {
		struct marks m = {0};

		marks_learn(&m, l->line, 1);
		if (m.decimal != l->decimal)
			fail_msg("%s: '%c'", l->line, m.decimal ? m.decimal : '-');
		assert_int_equal(m.other, 0);
	}
}

TEST(numbers_are_read_with_either_mark)
{
	static const struct {
		char decimal;
		const char *text;
		bool count;
		double value; /* -1 if refused */
		const char *rest;
	} numbers[] = {
		{'.', "1,234 cycles", true, 1234, " cycles"},
		{',', "1.234 Zyklen", true, 1234, " Zyklen"},
		{',', "371,191921 ms", true, 371.191921, " ms"},
		{'.', "1,234,567.5", false, 1234567.5, ""},
		{'.', "12,34,567", true, 1234567, ""},
		{'.', "1'234'567", true, 1234567, ""},
		{'.',
		 "1\xe2\x80\x99"
		 "234 x",
		 true, 1234, " x"},
		{0, "1,234", true, 1234, ""},
		{0, "1,234", false, -1, ""}, /* a time: 1234 s or 1.234 s? */
		{0, "1.5 s", false, 1.5, " s"},
		{'.', "1,23", true, -1, ""},	    /* a last group of two digits is impossible */
		{'.', "1,234.567.8", true, -1, ""}, /* a second mark after groups is impossible */
		{',', "1234.567", true, -1, ""},    /* a first group of four digits is impossible */
		{'.', "x", true, -1, ""},
	};

	each (c, numbers) {
		struct marks m = {.decimal = c->decimal};
		const char *p = c->text;
		double value = -1;

		assert_int_equal(marks_number(&m, &p, c->count, &value), c->value >= 0);
		assert_true(value == c->value);
		assert_string_equal(p, value < 0 ? c->text : c->rest);
	}
}

TEST(two_decimal_marks_are_refused)
{
	struct marks m = {0};

	marks_learn(&m, "1.5 msec", 3);
	marks_learn(&m, "12,5 %", 7);
	marks_learn(&m, "13,5 %", 8);
	assert_int_equal(m.line, 3);
	assert_int_equal(m.other, 7);
}

TEST(no_break_spaces_become_group_marks)
{
	char text[] = "1\xc2\xa0"
		      "208\xe2\x80\xaf"
		      "453\xc2\xa0 cycles 12\xe2\x80\x89"
		      "3456 5\xc2\xa0";

	marks_keep_groups(text);
	assert_string_equal(text, "1'208'453\xc2\xa0 cycles 12\xe2\x80\x89"
				  "3456 5\xc2\xa0");
}
