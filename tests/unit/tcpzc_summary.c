// SPDX-License-Identifier: GPL-2.0-only
/* tcpzc's histograms: the buckets have no gaps, quantiles are within 1 %, and the rest is exact. */
#include "samples/tcpzc/summary.c"
#include "tests/unit/unit.h"

TEST(buckets)
{
	for (unsigned int i = 1; i < HIST_BUCKETS; i++) {
		uint64_t floor = hist_floor(i);

		assert_true(floor > hist_floor(i - 1));
		assert_int_equal(hist_bucket(floor), i);
		assert_int_equal(hist_bucket(floor - 1), i - 1);
	}
	for (uint64_t v = 0; v < 128; v++)
		assert_int_equal(hist_floor(hist_bucket(v)), v);
	assert_int_equal(hist_bucket(UINT64_MAX), HIST_BUCKETS - 1);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Compares the quantiles with the sorted values. */
TEST(quantiles)
{
	enum { N = 20000 };
	static const double ps[] = {0.001, 0.5, 0.9, 0.99, 0.999, 1};
	static uint64_t values[N];
	static struct hist h;
	uint64_t seed = 1, sum = 0;

	for (size_t i = 0; i < N; i++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		values[i] = (seed >> 33) >> (seed >> 20 & 31); /* numbers of all magnitudes */
		sum += values[i];
		hist_add(&h, values[i]);
	}
	qsort(values, N, sizeof(*values), by_value);
	assert_int_equal(h.count, N);
	assert_int_equal(h.sum, sum);
	assert_int_equal(h.min, values[0]);
	assert_int_equal(h.max, values[N - 1]);
	each (c, ps) {
		double exact = (double)values[(size_t)(*c * N + 0.999999) - 1];
		double q = (double)hist_quantile(&h, *c);

		assert_true(fabs(q - exact) <= exact / 100);
	}
}

TEST(merged)
{
	static struct hist a, b, empty;

	assert_int_equal(hist_quantile(&empty, 0.5), 0);
	hist_add(&a, 0);
	hist_merge(&b, &empty);
	hist_add(&b, 1000000);
	hist_merge(&a, &b);
	assert_int_equal(a.count, 2);
	assert_int_equal(a.min, 0);
	assert_int_equal(a.max, 1000000);
	assert_int_equal(hist_quantile(&a, 0.5), 0);
	assert_int_equal(hist_quantile(&a, 1), 1000000);
	assert_int_equal(hist_quantile(&b, 0.001),
			 1000000); /* every quantile of one value is that value */
}
