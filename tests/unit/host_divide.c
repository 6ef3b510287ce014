// SPDX-License-Identifier: GPL-2.0-only
/*
 * Simulates how the frame divides the time between its samples into user mode and system calls, for
 * programs of known shares. All times are in steps of 0.1 ms.
 */
#include "collect/frame/frame.h"
#include "lib/alloc.h"
#include "lib/stats.h"
#include "tests/unit/unit.h"

#include <math.h>

enum {
	MS = 10,
	WINDOW = 5000 * MS,
	SAMPLE = 5 * MS,
	PAUSE = 120 * MS,
	TICK = 4 * MS,
	WINDOWS = 400
};

/* Returns what a program does at a time: FRAME_USER, FRAME_SYSCALL, or below 0: it sleeps. */
typedef int program_fn(size_t time);

/* A quarter of its time is system calls, in phases of 20 to 120 ms. */
static int program_with_phases(size_t time)
{
	time %= 290 * MS;
	if (time < 20 * MS)
		return FRAME_SYSCALL;
	if (time < 200 * MS)
		return FRAME_USER;
	return time < 240 * MS ? FRAME_SYSCALL : -1;
}

/*
 * It wakes shortly before the tick, or a little later, and 30 % of its time is system calls. Of its
 * ticks 77 % are.
 */
static int program_with_the_tick(size_t time)
{
	time = time % TICK + TICK - time / TICK * 7 % 13;
	if (time < TICK)
		return -1;
	time -= TICK;
	return time < MS ? FRAME_SYSCALL : time < MS * 10 / 3 ? FRAME_USER : -1;
}

/* 30 % of its time is system calls, 700 times a second. */
static int program_without_phases(size_t time)
{
	return time % 14 < 4 ? FRAME_SYSCALL : FRAME_USER;
}

/* The share of user mode of a window, and what the samples say with the ticks and without. */
struct shares {
	double known, with, without;
};

static double divided(struct frame_times t, double slope)
{
	const struct frame_split none = {0};

	assert_true(frame_divide(&t, &t, &none, slope));
	return (double)t.ns[FRAME_USER] / (double)(t.ns[FRAME_USER] + t.ns[FRAME_SYSCALL]);
}

static struct shares simulate(program_fn *program, struct prng *random)
{
	struct frame_piece pieces[WINDOW / SAMPLE] = {0}, sum = {0};
	size_t from = prng_below(random, 1000 * MS), tick = prng_below(random, TICK), n = 0;
	size_t until = 0;
	struct frame_times t = {0};
	double known[2] = {0}, slope;
	bool sample = true;

	if (program == program_with_the_tick)
		tick = (12 + TICK - from % TICK) % TICK;
	for (size_t time = 0; time < WINDOW; time++) {
		int doing = program(from + time);
		bool ticks = time % TICK == tick;

		if (time >= until) {
			sample = !sample;
			n += !sample && time;
			until = time + SAMPLE;
			if (!sample)
				until = time + (size_t)(-PAUSE *
							log1p(-(double)prng_below(random, 1 << 20) /
							      (1 << 20)));
		}
		if (doing < 0)
			continue;
		known[doing]++;
		t.ns[sample ? FRAME_SAMPLE + doing : FRAME_THREAD] += 100000;
		t.ns[(sample ? FRAME_SAMPLE_TICKS : FRAME_TICKS) + doing] += ticks;
		if (sample) {
			pieces[n].ns[doing] += 100000;
			pieces[n].ticks[doing] += ticks;
			sum.ns[doing] += 100000;
			sum.ticks[doing] += ticks;
		}
	}
	slope = frame_slope(pieces, n, &sum);
	return (struct shares){known[FRAME_USER] / (known[FRAME_USER] + known[FRAME_SYSCALL]),
			       divided(t, slope), divided(t, 0)};
}

/* Prints and checks the mean and the root mean square of the error, in points. */
static void check(const char *what, program_fn *program, double most, double gain)
{
	double with = 0, without = 0, bias = 0;
	struct prng random;

	prng_seed(&random, 1);
	for (int i = 0; i < WINDOWS; i++) {
		struct shares s = simulate(program, &random);

		bias += 100 * (s.with - s.known) / WINDOWS;
		with += pow(100 * (s.with - s.known), 2) / WINDOWS;
		without += pow(100 * (s.without - s.known), 2) / WINDOWS;
	}
	print_message("# %s: bias %.2f, error %.2f; by samples alone %.2f\n", what, bias,
		      sqrt(with), sqrt(without));
	assert_true(fabs(bias) < most / 2);
	assert_true(sqrt(with) < most);
	assert_true(sqrt(with) < sqrt(without) * gain);
}

TEST(ticks_halve_the_error_for_a_program_with_phases)
{
	check("phases", program_with_phases, 3.5, 0.5);
}

TEST(ticks_do_not_mislead_about_a_program_that_wakes_with_them)
{
	check("with the tick", program_with_the_tick, 2, 1.1);
}

TEST(ticks_do_no_harm_without_phases)
{
	check("no phases", program_without_phases, 1, 1.1);
}

TEST(few_samples_use_no_ticks)
{
	const struct frame_piece pieces[5] = {{0, {9, 1}, {1, 0}}, {0, {1, 9}, {0, 1}}},
				 sum = {0, {10, 10}, {1, 1}};

	assert_true(frame_slope(pieces, 5, &sum) == 0);
	assert_true(frame_slope(pieces, 0, &sum) == 0);
}

TEST(cpus_that_differ_do_not_say_what_ticks_are_worth)
{
	const struct frame_piece sums[] = {{0, {500, 0}, {50, 0}}, {1, {0, 500}, {0, 50}}};
	struct frame_piece pieces[20];

	for (uint32_t i = 0; i < 20; i++) {
		pieces[i] = sums[i % 2];
		for (int k = FRAME_USER; k <= FRAME_SYSCALL; k++) {
			pieces[i].ns[k] /= 10;
			pieces[i].ticks[k] /= 10;
		}
	}
	assert_true(frame_slope(pieces, 20, sums) == 0);
}

TEST(a_process_without_samples_divides_as_where_all_calls_were_seen)
{
	const struct frame_split none = {0};
	struct frame_times t = {.ns[FRAME_USER] = 3000000,
				.ns[FRAME_SYSCALL] = 1000000,
				.ns[FRAME_THREAD] = 8000000},
			   own = t;

	assert_true(frame_divide(&t, &own, &none, 0));
	assert_int_equal(t.ns[FRAME_USER], 9000000);
	assert_int_equal(t.ns[FRAME_SYSCALL], 3000000);
}

TEST(time_without_samples_is_system_calls)
{
	const struct frame_split none = {0};
	struct frame_times t = {.ns[FRAME_THREAD] = 9};

	assert_false(frame_divide(&t, &t, &none, 1));
	assert_int_equal(t.ns[FRAME_SYSCALL], 9);
}
