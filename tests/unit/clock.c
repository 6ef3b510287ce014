// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks the weight of late samples of cpu-clock: on which CPUs and in which recordings they count
 * for the periods that the timer missed, and what makes a sample late. A period is 1000 ns.
 */
#include "tests/unit/perfdata_stream.h"
#include "tests/unit/unit.h"

enum { P = 1000, ON = 0x1000, LATE = 0x2000, IDLE = 0x3000 };

static double idle_ns[CPUSET_MAX];

static void set_up(void)
{
	for (int i = 0; i < CPUSET_MAX; i++)
		idle_ns[i] = NAN;
}

static void sample_at(struct writer *w, uint64_t time, uint32_t cpu, uint64_t addr)
{
	struct w_sample s = {.time = time,
			     .period = P,
			     .pid = addr == IDLE ? 0 : 7,
			     .tid = addr == IDLE ? 0 : 7,
			     .cpu = cpu,
			     .mode = PERF_RECORD_MISC_KERNEL,
			     .chain = {(uint64_t)PERF_CONTEXT_KERNEL, addr}};

	w_sample(w, &s);
}

/* A punctual sample at 10000, and one at 15700, which was due at 11000: four periods later. */
static void late_after_punctual(struct writer *w, uint32_t cpu)
{
	sample_at(w, 10000, cpu, ON);
	sample_at(w, 15700, cpu, LATE);
	sample_at(w, 16000, cpu, ON);
}

static uint64_t read_weight(struct writer *records, bool with_idle_ns)
{
	struct perfdata_options o = {.threads = 1, .idle_ns = with_idle_ns ? idle_ns : NULL};
	struct writer w = {0};
	struct profile p;
	uint64_t weight, sum = 0;

	w_pipe(&w, &records->out);
	assert_int_equal(w_read(&p, &w.out, &o, NULL), 0);
	weight = p.events[0].weight;
	for (size_t i = 0; i < p.ncosts; i++)
		sum += p.costs[i].weight;
	assert_int_equal(sum, weight);
	assert_int_equal(p.events[0].late, weight - P * p.events[0].samples);
	profile_free(&p);
	str_free(&w.out);
	str_free(&records->out);
	return weight;
}

TEST_WITH(late_sample_counts_for_missed_periods_on_a_busy_cpu, set_up())
{
	struct writer w = {0};

	idle_ns[1] = 0;
	late_after_punctual(&w, 1);
	assert_int_equal(read_weight(&w, true), 7 * P);
}

TEST_WITH(late_sample_counts_for_one_period_without_idle_times, set_up())
{
	struct writer w = {0};

	late_after_punctual(&w, 1);
	assert_int_equal(read_weight(&w, false), 3 * P);
	late_after_punctual(&w, 2); /* its idle time is NAN */
	assert_int_equal(read_weight(&w, true), 3 * P);
}

TEST_WITH(idle_time_needs_samples_of_the_idle_task, set_up())
{
	struct writer w = {0};

	idle_ns[1] = 2e7 + 100 * P;
	late_after_punctual(&w, 1);
	for (uint64_t i = 17; i < 17 + 49; i++)
		sample_at(&w, i * P, 1, IDLE);
	assert_int_equal(read_weight(&w, true), (3 + 49) * P);
	late_after_punctual(&w, 1);
	for (uint64_t i = 17; i < 17 + 50; i++)
		sample_at(&w, i * P, 1, IDLE);
	assert_int_equal(read_weight(&w, true), (7 + 50) * P);
}

TEST_WITH(lost_samples_are_not_late, set_up())
{
	struct writer w = {0};

	idle_ns[1] = 0;
	late_after_punctual(&w, 1);
	w_lost(&w, PERF_RECORD_LOST, 4);
	assert_int_equal(read_weight(&w, true), 3 * P);
}

TEST_WITH(each_cpu_has_its_timer, set_up())
{
	struct writer w = {0};

	idle_ns[1] = idle_ns[3] = 0;
	sample_at(&w, 10000, 1, ON);
	sample_at(&w, 10500, 3, ON);
	sample_at(&w, 13500, 3, LATE);
	sample_at(&w, 11000, 1, ON);
	assert_int_equal(read_weight(&w, true), 6 * P);
}

/* An early sample corrects the grid: the first one was 900 ns late, so the last one is punctual. */
TEST_WITH(delays_below_a_period_and_drift_make_no_sample_late, set_up())
{
	struct writer w = {0};

	idle_ns[1] = 0;
	sample_at(&w, 10900, 1, ON);
	sample_at(&w, 11000, 1, ON);
	sample_at(&w, 12990, 1, ON);
	sample_at(&w, 13010, 1, ON);
	assert_int_equal(read_weight(&w, true), 4 * P);
	for (uint64_t i = 0; i < 10000; i++) /* the clock is 500 ppm slow, then 500 ppm fast */
		sample_at(&w, 10000 + i * P + (i < 5000 ? i : 10000 - i) / 2, 1, ON);
	assert_int_equal(read_weight(&w, true), 10000 * P);
}
