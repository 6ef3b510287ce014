// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks what readings say about a part of the window. Times are in seconds, the window is [100,
 * 105].
 */

#include "tests/unit/ingested.h"

static uint64_t ns(double s)
{
	return (uint64_t)(s * 1e9 + 0.5);
}

static void narrowed(double from, double to)
{
	ingest_start((struct ingest){.run = {.start_ns = ns(100), .end_ns = ns(105)}});
	if (from > 0)
		in.how.slice.from = (struct time_point){ns(from), true, false};
	if (to > 0)
		in.how.slice.to = (struct time_point){ns(to), true, false};
	assert_int_equal(window_narrow(&in, NULL), 0);
}

/* Adds readings from 99.9 s on, `step` apart, to beyond the window's end. */
static bool resolved(double from, double to, double step, size_t *warnings)
{
	uint64_t t[64];
	size_t n = 0;
	bool known;

	narrowed(from, to);
	for (double at = 99.9; at < 105 + step && n < array_size(t); at += step)
		t[n++] = ns(at);
	known = window_resolves(&in, "x", t, n, sizeof(*t));
	assert_int_equal(in.nabsent, !known);
	*warnings = 0;
	for (size_t i = 0; i < in.notes.n; i++)
		*warnings += in.notes.note[i].severity == SEVERITY_WARNING;
	return known;
}

TEST(readings_are_cut_to_a_part_of_the_window)
{
	narrowed(2, 3.5);
	assert_true(in.sliced);
	assert_int_equal(in.run.start_ns, ns(102));
	assert_int_equal(in.run.end_ns, ns(103.5));
	narrowed(0, 0);
	assert_false(in.sliced);
	assert_int_equal(in.run.end_ns, ns(105));
	narrowed(0, 3);
	assert_int_equal(in.run.start_ns, ns(100));
	assert_int_equal(in.run.end_ns, ns(103));
	narrowed(2, 0);
	assert_int_equal(in.run.start_ns, ns(102));
	assert_int_equal(in.run.end_ns, ns(105));
	narrowed(4, 5.5);
	assert_int_equal(in.run.end_ns, ns(105));
	assert_int_equal(in.notes.n, 1);
	assert_float_equal(in.notes.note[0].value[0].number, 5, 1e-9);
	assert_float_equal(in.notes.note[0].value[1].number, 5.5, 1e-9);
	narrowed(4, 5.005); /* within a hundredth of the slice */
	assert_int_equal(in.run.end_ns, ns(105));
	assert_int_equal(in.notes.n, 0);
	in = (struct ingest){.run = {.start_ns = ns(100), .end_ns = ns(105)}};
	in.how.slice.from = (struct time_point){ns(5), true, false};
	assert_int_equal(window_narrow(&in, &err), -ERANGE);
	assert_non_null(strstr(err.text, "5.00 s long"));
}

TEST(readings_too_far_apart_are_warned_of)
{
	size_t warnings;

	/* once a second, at 99.9, 100.9 ...: 0.1 s off at both ends */
	assert_true(resolved(1, 4, 1, &warnings));
	assert_int_equal(warnings, 1); /* 0.2 of 3 s */
	assert_true(resolved(0.95, 3.95, 1, &warnings));
	assert_int_equal(warnings, 0); /* 0.1 of 3 s */
	assert_true(resolved(0.9, 1.9, 1, &warnings));
	assert_int_equal(warnings, 0); /* from reading to reading */
	assert_false(resolved(1.1, 1.7, 1, &warnings));
	assert_false(resolved(0.4, 2.4, 1, &warnings)); /* 0.5 s off at both ends of 2 s */
	assert_true(resolved(0.4, 4.4, 1, &warnings));
	assert_true(resolved(0.5, 2.5, 1, &warnings)); /* 0.4 s off: 40 % in all */
	assert_int_equal(warnings, 1);
	assert_true(resolved(0.85, 2.85, 1, &warnings)); /* 5 % in all */
	assert_int_equal(warnings, 0);
	assert_true(resolved(0.84, 2.85, 1, &warnings));
	assert_int_equal(warnings, 1);
	/* ten times a second */
	assert_true(resolved(1.1, 1.7, 0.1, &warnings));
	assert_int_equal(warnings, 0);
	/* only before and after the window */
	assert_false(resolved(1, 4, 5.2, &warnings));
	assert_false(resolved(0, 4.8, 5.2, &warnings));
	assert_false(resolved(0.4, 0, 5.2, &warnings));
	assert_true(resolved(0, 0, 5.2, &warnings)); /* the whole window */
}

/* Readings of a file: 99.9, 100.9 and so on. The slice begins 0.15 s after the first reading. */
TEST(file_of_readings_resolves_a_slice)
{
	char path[] = "/tmp/zcost-window-XXXXXX";

	narrowed(0.05, 4.1);
	close(mkstemp(path));
	assert_true(window_resolves_snaps(&in, "x", path)); /* no reading */
	append_snap(path, 99.9, "", 0);
	assert_true(window_resolves_snaps(&in, "x", path));
	assert_int_equal(in.notes.n, 0);
	for (double at = 100.9; at < 106; at++)
		append_snap(path, at, "", 0);
	assert_true(window_resolves_snaps(&in, "x", path));
	assert_float_equal(noted(&in, NOTE_slice_interpolated)->value[1].number, 35 / 4.05, 1e-6);
	unlink(path);
	assert_false(window_resolves_snaps(&in, "x", path));
	assert_true(noted_text(&in, NOTE_file_damaged, path));
	assert_int_equal(in.nabsent, 0);
}

TEST(absent_figures_are_listed_once)
{
	ingest_start((struct ingest){0});
	window_absent(&in, "x", "why");
	window_absent(&in, "y", "why");
	window_absent(&in, "x", "why else");
	assert_int_equal(in.nabsent, 2);
	assert_int_equal(in.notes.n, 3);
	assert_true(noted_text(&in, NOTE_not_in_slice, "why else"));
}

TEST(series_is_cut_to_a_part_of_the_window)
{
	narrowed(2, 3);
	for (double s = 100; s < 105; s += 0.5)
		ingest_point(&in, "y", ns(s), s);
	window_cut_series(&in);
	assert_int_equal(in.nseries,
			 2); /* 102.5 and 103; the point at 102 covers the time before */
	assert_int_equal(in.series[0].t_ns, ns(102.5));
}
