// SPDX-License-Identifier: GPL-2.0-only
/* Comparisons of two ends that are small enough to work out every figure by hand. */
#include "analyze/compare/call_diff.h"
#include "analyze/compare/commit.h"
#include "tests/unit/small_store.h"
#include "tests/unit/world.h"

/* --- call trees --- */

/* A variant whose samples are in chain[0], chain[1] below it and so on: 1000 ns per KiB. */
static void add_variant(struct store *s, const char *name, const char *const *chain,
			const uint64_t *samples, size_t n)
{
	uint32_t at = PROFILE_NONE;
	struct world w;
	size_t i;

	add_basis(s, name);
	start_world(&w);
	w.comm = intern_str(&w.p.strings, "prog");
	for (i = 0; i < n; i++) {
		at = frame(&w, at, chain[i]);
		if (samples[i])
			add(&w, at, 1, CTX_SYSCALL, samples[i]);
	}
	assert_int_equal(store_profile_write(s, add_run_of(s, name, "profile", 1), &w.p, NULL), 0);
	profile_free(&w.p);
}

static const struct call_change *change_of(const struct call_diff *cd, const char *symbol)
{
	uint32_t i;

	for (i = 0; i < cd->tree.nframes; i++)
		if (!strcmp(cd->tree.labels[cd->tree.frames[i].label].symbol, symbol))
			return &cd->changes[IN_BOTH][i];
	fail_msg("no frame '%s'", symbol);
	return NULL;
}

/* Of 1000 ns at each end, tcp_a has 980, skb_b 960 and rare 9: below 98 % of tcp_a, and below 1 %.
 */
static void test_frames_with_98_percent_of_a_caller_share_its_test(void **state)
{
	static const char *const chain[] = {"main", "tcp_a", "skb_b", "rare"};
	static const uint64_t samples[] = {20, 20, 951, 9};
	struct comparison c = {.rule = {.alpha = 0.05, .threshold = 0.02},
			       .side = {"receiver", "receiver"}};
	struct store *s = small_store();
	struct error err = {0};
	struct call_diff cd;
	struct table notes;

	(void)state;
	add_variant(s, "a", chain, samples, array_size(chain));
	add_variant(s, "b", chain, samples, array_size(chain));
	c.end[BASE] = (struct compare_end){.store = s, .variant = "a", .label = "a"};
	c.end[NEW] = (struct compare_end){.store = s, .variant = "b", .label = "b"};
	table_init(&notes, "flame", NULL, 0);
	assert_int_equal(call_diff_read(&cd, &c, false, &notes, &err), 0);
	assert_float_equal(change_of(&cd, "main")->cost[BASE], 1000, 0);
	assert_float_equal(change_of(&cd, "tcp_a")->cost[NEW], 980, 0);
	assert_float_equal(change_of(&cd, "rare")->cost[NEW], 9, 0);
	assert_ptr_equal(change_of(&cd, "prog")->row, change_of(&cd, "main")->row);
	assert_ptr_equal(change_of(&cd, "tcp_a")->row, change_of(&cd, "main")->row);
	assert_non_null(change_of(&cd, "main")->row);
	assert_int_equal(cd.candidates, 2);
	assert_null(change_of(&cd, "rare")->row);
	call_diff_free(&cd);
	table_free(&notes);
	small_store_close(s);
}

/* --- commit messages --- */

static void test_numbers_of_a_commit_message_have_four_digits(void **state)
{
	static const struct {
		double base;
		const char *text;
	} cases[] = {{0, "0"},		 {0.00012344, "0.000123"}, {0.0012344, "0.001234"},
		     {0.9994, "0.9994"}, {0.9996, "1.000"},	   {1, "1.000"},
		     {9.994, "9.994"},	 {99.96, "100.0"},	   {999.4, "999.4"},
		     {999.5, "1000"},	 {-12.344, "-12.34"},	   {NAN, "-"}};
	static const struct column columns[] = {
		{"side", .type = V_STR},  {"metric", .type = V_STR}, {"unit", .type = V_STR},
		{"base", .type = V_REAL}, {"new", .type = V_REAL},   {"change_pct", .type = V_REAL},
		{"p", .type = V_REAL},	  {"verdict", .type = V_STR}};
	struct comparison c = {.rule = {.alpha = 0.05, .threshold = 0.02}};
	struct table t, to;
	size_t i;

	(void)state;
	table_init(&t, "metrics", columns, array_size(columns));
	for (i = 0; i < array_size(cases); i++) {
		struct value *row = table_row(&t);

		row[0] = value_str(&t, "receiver");
		row[1] = value_str(&t, "throughput");
		row[2] = value_str(&t, "Gbit/s");
		row[3] = value_real(cases[i].base);
	}
	commit_init_metrics(&to, &t);
	commit_add_metrics(&to, &c, &t, SIZE_MAX);
	assert_int_equal(to.rows, array_size(cases));
	for (i = 0; i < to.rows; i++)
		assert_string_equal(table_text(&to, i, "base"), cases[i].text);
	table_free(&to);
	table_free(&t);
}

static void test_p_of_a_commit_message_has_three_digits(void **state)
{
	static const struct {
		double p;
		const char *text;
	} cases[] = {{0, "<.001"},	{0.00049, "<.001"}, {0.0005, "0.001"},
		     {0.0314, "0.031"}, {1, "1.000"},	    {NAN, "-"}};
	struct table to;
	size_t i;

	(void)state;
	table_init(&to, "p", NULL, 0);
	for (i = 0; i < array_size(cases); i++)
		assert_string_equal(commit_p(&to, cases[i].p).str, cases[i].text);
	table_free(&to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames_with_98_percent_of_a_caller_share_its_test),
		cmocka_unit_test(test_numbers_of_a_commit_message_have_four_digits),
		cmocka_unit_test(test_p_of_a_commit_message_has_three_digits),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
