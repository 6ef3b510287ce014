// SPDX-License-Identifier: GPL-2.0-only
/*
 * How often the tests of a call tree are wrong, and what they find, by simulation: prog, a chain of
 * eight callers, and seven functions that the last caller calls. Each caller has a cost of its own,
 * so that no two frames of the chain have one test.
 */
#include "analyze/compare/diff.h"
#include "tests/unit/unit.h"

static const struct verdict_rule rule = VERDICT_RULE;

enum { CALLERS = 9, COPY = CALLERS, PUSH, LEAVES = 7, FRAMES = CALLERS + LEAVES, SAMPLES = 2000 };

/* What each frame costs without the frames that it calls: 1000 ns in all. */
static const double own[FRAMES] = {40, 40,  40,	 30, 30, 30, 30, 20,
				   20, 300, 200, 80, 60, 50, 20, 10};

static double gauss(struct prng *r)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += (double)prng_below(r, 1 << 30) / (1 << 30);
	return sum;
}

/* Draws a number of samples: Poisson's, as sums of twelve make it. */
static uint64_t draw_samples(struct prng *r, double mean)
{
	return (uint64_t)fmax(0, round(mean + sqrt(mean) * gauss(r)));
}

static void tree_make(struct call_tree *t)
{
	call_tree_init(t, false);
	for (uint32_t i = 0; i < FRAMES; i++) {
		uint32_t parent = !i ? CALL_NONE : i < CALLERS ? i - 1 : CALLERS - 1;

		array_add(t->frames, t->nframes, t->frames_cap, (struct call_frame){parent, i});
	}
}

/* Draws a run. Returns its cost in ns. Frames vary by 8 %, and the whole machine by 3 %. */
static double draw_run(struct call_diff *cd, struct cost_part *part, size_t run,
		       const double *factor, struct prng *r)
{
	struct call_run c = {xcalloc(FRAMES, sizeof(double)), xcalloc(FRAMES, sizeof(uint64_t)),
			     FRAMES};
	double ns[FRAMES], all = 0;

	for (int i = 0; i < FRAMES; i++) {
		ns[i] = own[i] * factor[i] * exp(0.08 * gauss(r));
		all += ns[i];
	}
	for (int i = 0; i < FRAMES; i++) {
		c.samples[i] = draw_samples(r, SAMPLES * ns[i] / all);
		c.weight[i] = (double)c.samples[i];
		part->tally.run_weight[run] += c.weight[i];
		part->tally.samples += c.samples[i];
	}
	array_add(cd->tree.runs, cd->tree.nruns, cd->tree.runs_cap, c);
	return all * exp(0.03 * gauss(r));
}

static void draw_end(struct call_diff *cd, enum end e, size_t runs, const double *factor,
		     struct prng *r)
{
	struct cost_part *part = &cd->part[e];

	part->nruns = (int)runs;
	tally_init(&part->tally, &(struct tally_spec){0}, part->nruns);
	part->measured = (struct basis_runs){.ns = xcalloc(runs + 1, sizeof(double)), .n = runs};
	for (size_t i = 0; i < runs; i++) {
		part->measured.ns[i] = draw_run(cd, part, i, factor, r);
		part->tally.weight += part->tally.run_weight[i];
	}
	part->tally.n_eff = part->tally.weight;
	part->basis.ns = stats_mean(part->measured.ns, runs);
	part->measured.error = stats_error_of(EST_MEAN, part->measured.ns, runs);
	cd->d.has_errors[e] = true;
	cd->d.samples[e] = (double)part->tally.samples;
	diff_set_runs(&cd->d, e, runs);
}

/* Judges two ends. NEW costs `factor` times as much, by frame. */
static void judge(struct call_diff *cd, size_t runs, const double *factor, struct prng *r)
{
	double same[FRAMES];

	*cd = (struct call_diff){0};
	for (int i = 0; i < FRAMES; i++)
		same[i] = 1;
	tree_make(&cd->tree);
	draw_end(cd, BASE, runs, same, r);
	draw_end(cd, NEW, runs, factor ? factor : same, r);
	call_diff_judge(cd, &rule);
}

static bool frame_changed(const struct call_diff *cd, uint32_t frame)
{
	const struct diff_row *row = cd->changes[IN_BOTH][frame].row;

	return row && row->p < rule.alpha;
}

static enum verdict frame_verdict(const struct call_diff *cd, uint32_t frame)
{
	const struct diff_row *row = cd->changes[IN_BOTH][frame].row;

	return row ? row->verdict : VERDICT_NONE;
}

/* Counts pairs with a changed frame from `first` on, without COPY. */
static int count_false(size_t runs, int pairs, uint32_t first, const double *factor)
{
	int hits = 0;
	struct prng r;
	struct call_diff cd;

	prng_seed(&r, 29);
	for (int i = 0; i < pairs; i++) {
		bool any = false;

		judge(&cd, runs, factor, &r);
		for (uint32_t k = first; k < FRAMES; k++)
			any |= (k != COPY || !factor) && frame_changed(&cd, k);
		hits += any;
		call_diff_free(&cd);
	}
	print_message("# %zu and %zu runs: %d of %d pairs have a false change\n", runs, runs, hits,
		      pairs);
	return hits;
}

/* 1000 pairs at 5 % are 50 +- 7. 5 and 5 runs can reach 4.8 %, 6 and 6 runs 5.0 %. */
TEST(pairs_of_equal_trees_rarely_have_a_change)
{
	assert_in_range(count_false(5, 1000, 0, NULL), 30, 65);
	assert_in_range(count_false(6, 1000, 0, NULL), 30, 65);
}

TEST(frames_beside_a_change_rarely_have_one)
{
	double factor[FRAMES];

	for (int i = 0; i < FRAMES; i++)
		factor[i] = i == COPY ? 2 : 1;
	assert_in_range(count_false(6, 1000, PUSH, factor), 30, 65);
}

/* The last frame has less than 1 % of the cost. */
TEST(frames_above_a_frame_without_a_change_are_not_tested)
{
	struct prng r;
	freed(call_diff_free) struct call_diff cd;

	prng_seed(&r, 29);
	judge(&cd, 6, NULL, &r);
	assert_int_equal(frame_verdict(&cd, 0), VERDICT_SAME);
	for (uint32_t i = 1; i < FRAMES - 1; i++) {
		assert_null(cd.changes[IN_BOTH][i].row);
		assert_int_equal(cd.changes[IN_BOTH][i].first, i);
	}
	assert_int_equal(cd.changes[IN_BOTH][FRAMES - 1].first, CALL_NONE);
}

static int count_verdicts(size_t runs, uint32_t frame, enum verdict v, const double *factor)
{
	int hits = 0;
	struct prng r;
	struct call_diff cd;

	prng_seed(&r, 31);
	for (int i = 0; i < 100; i++) {
		judge(&cd, runs, factor, &r);
		hits += frame_verdict(&cd, frame) == v;
		call_diff_free(&cd);
	}
	print_message("# %zu and %zu runs: frame %u has the verdict in %d of 100 pairs\n", runs,
		      runs, frame, hits);
	return hits;
}

/* Holm's correction of 5 and 5 runs has room for six tests: six of the nine callers. */
TEST(a_changed_function_below_a_long_chain_is_found)
{
	double factor[FRAMES];

	for (int i = 0; i < FRAMES; i++)
		factor[i] = i == COPY ? 1.7 : 1;
	assert_in_range(count_verdicts(5, COPY, VERDICT_WORSE, factor), 90, 100);
	assert_in_range(count_verdicts(6, COPY, VERDICT_WORSE, factor), 90, 100);
}

/* The callers cost the same. */
TEST(a_loss_and_a_gain_do_not_hide_each_other)
{
	double factor[FRAMES];

	for (int i = 0; i < FRAMES; i++)
		factor[i] = i == COPY ? 1.5 : i == PUSH ? 0.25 : 1;
	assert_in_range(count_verdicts(5, COPY, VERDICT_WORSE, factor), 60, 100);
	assert_in_range(count_verdicts(5, PUSH, VERDICT_BETTER, factor), 60, 100);
	assert_in_range(count_verdicts(6, COPY, VERDICT_WORSE, factor), 90, 100);
	assert_in_range(count_verdicts(6, PUSH, VERDICT_BETTER, factor), 90, 100);
	assert_in_range(count_verdicts(6, 0, VERDICT_SAME, factor), 90, 100);
}
