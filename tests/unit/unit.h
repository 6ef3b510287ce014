/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every unit test includes. A test is TEST(name) { ... }: the program runs all its tests in
 * the order of the file, and prints TAP. They share the folder `dir`, which is gone at the end,
 * and `path`, a file in it.
 */
#ifndef ZCOST_TESTS_UNIT_UNIT_H
#define ZCOST_TESTS_UNIT_UNIT_H

#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/table.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* cmocka's own compares as float, and takes NaN, a missing figure, for equal to everything. */
#undef assert_float_equal
#define assert_float_equal(a, b, epsilon) assert_close((a), (b), (epsilon), __FILE__, __LINE__)

static inline void assert_close(double a, double b, double epsilon, const char *file, int line)
{
	if (a == b || fabs(a - b) <= epsilon)
		return;
	print_error("%.17g is not %.17g\n", a, b);
	_fail(file, line);
}

/* Read a cell. A missing cell or column gives NAN, or an interval of NANs. */
static inline double table_real(const struct table *t, size_t row, const char *column)
{
	int c = table_column(t, column);
	const struct value *v = c < 0 ? &(struct value){0} : table_cell(t, row, c);

	return v->type == V_INT ? (double)v->integer : v->type == V_REAL ? v->real : NAN;
}

static inline struct interval table_interval(const struct table *t, size_t row, const char *column)
{
	int c = table_column(t, column);
	const struct interval *v = c < 0 ? NULL : table_cell(t, row, c)->interval;

	return v ? *v : (struct interval){NAN, NAN, NAN};
}

/* Empty when a test begins. */
static struct error err;

/* A lower priority runs first, so the tests stay in the order of their lines. */
#define TEST_WITH(test, set_up)                                                        \
	static __attribute__((noinline)) void test_##test(void);                       \
	static void run_##test(__attribute__((unused)) void **state)                   \
	{                                                                              \
		err = (struct error){0};                                               \
		set_up;                                                                \
		test_##test();                                                         \
	}                                                                              \
	__attribute__((constructor(200 + __LINE__))) static void test_add_##test(void) \
	{                                                                              \
		tests_add((struct CMUnitTest){#test, run_##test, NULL, NULL, NULL});   \
	}                                                                              \
	static void test_##test(void)
#define TEST(test) TEST_WITH(test, (void)0)

/* Goes through an array: each(c, cases) if (c->good) ... */
#define each(c, list) for (__typeof__(&(list)[0]) c = (list); c < (list) + array_size(list); c++)

static char dir[] = "/tmp/zcost-test.XXXXXX", path[64];

/* Writes a file below `dir`, and the folders that it is in. */
static inline void put_bytes(const char *name, const void *data, size_t len)
{
	autofree char *path = xasprintf("%s/%s", dir, name);
	char *slash = strrchr(path, '/');

	*slash = '\0';
	assert_int_equal(dir_make(path, NULL), 0);
	*slash = '/';
	assert_int_equal(file_write(path, data, len, NULL), 0);
}

static inline void put_text(const char *name, const char *text)
{
	put_bytes(name, text, strlen(text));
}

/* Returns how many bytes this process has read so far. */
static inline unsigned long long bytes_read(void)
{
	unsigned long long n = 0;
	FILE *f = fopen("/proc/self/io", "re");

	assert_int_equal(fscanf(f, "rchar: %llu", &n), 1);
	fclose(f);
	return n;
}

static struct {
	struct CMUnitTest test[200];
	size_t n;
	void (*before)(void), (*after)(void);
} tests;

/* Functions around all tests of the program; either may be NULL. */
#define AROUND_TESTS(set_up, tear_down)                               \
	__attribute__((constructor)) static void tests_surround(void) \
	{                                                             \
		tests.before = (set_up);                              \
		tests.after = (tear_down);                            \
	}

/* A figure or text by its name; text may be NULL. */
struct named_figure {
	double number;
	const char *text;
};

/*
 * Checks figures by their names: "self_ns = 3, total_ns = -, symbol = main, runs = +". "-" is a
 * missing one, "+" any that is there. A number may be off by a part in 10^9.
 */
#define figures_are(figure, from, expected) \
	assert_figures((figure), (from), (expected), __FILE__, __LINE__)

static inline bool figure_is(struct named_figure f, const char *expected)
{
	bool missing = isnan(f.number) && (!f.text || !*f.text);
	char *end;
	double x = strtod(expected, &end);

	if (!strcmp(expected, "-") || !strcmp(expected, "+"))
		return missing == (*expected == '-');
	if (f.text && !strcmp(f.text, expected))
		return true;
	return !*end && fabs(f.number - x) <= fabs(x) * 1e-9 + 1e-12;
}

static inline void assert_figures(struct named_figure (*figure)(const void *from, const char *name),
				  const void *from, const char *expected, const char *file,
				  int line)
{
	char *list = strdup(expected), *rest = list, *name;

	while ((name = rest) && *name) {
		char *value = strstr(name, " = "), *next = strstr(name, ", ");
		struct named_figure f;

		rest = next ? next + 2 : NULL;
		if (next)
			*next = '\0';
		if (!value || (next && value > next)) {
			print_error("'%s' is not \"name = value\"\n", name);
			_fail(file, line);
		}
		*value = '\0';
		f = figure(from, name);
		if (!figure_is(f, value + 3)) {
			print_error("%s is %.17g '%s', not %s\n", name, f.number,
				    f.text ? f.text : "", value + 3);
			_fail(file, line);
		}
	}
	free(list);
}

static inline void tests_add(struct CMUnitTest test)
{
	if (tests.n == sizeof(tests.test) / sizeof(*tests.test))
		abort();
	tests.test[tests.n++] = test;
}

int main(void)
{
	int failed;

	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (!mkdtemp(dir)) {
		perror(dir);
		return 1;
	}
	snprintf(path, sizeof(path), "%s/file", dir);
	if (tests.before)
		tests.before();
	failed = _cmocka_run_group_tests("tests", tests.test, tests.n, NULL, NULL);
	if (tests.after)
		tests.after();
	dir_remove(dir, NULL);
	return failed;
}

#endif
