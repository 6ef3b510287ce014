// SPDX-License-Identifier: GPL-2.0-only
/*
 * How the time of threads between the parts divides into user mode and system calls.
 *
 * A few samples a second say it: in them all calls are seen. The kernel's ticks are many more, and
 * each finds its thread in user mode or in a call. But a program that wakes with the tick has its
 * ticks at one place. So the ticks correct the samples only as far as both agree
 * within samples: the regression estimator of double sampling (Cochran, Sampling Techniques, 3rd
 * edition, 12.6).
 */
#include "collect/frame/frame.h"

#include "lib/alloc.h"

#include <math.h>

enum {
	FEW_PIECES = 6, /* more than one for each CPU; below, nobody knows what ticks are worth */
	FEW_TICKS = 8,	/* below, ticks have no share */
};

static uint64_t pair_sum(const uint64_t pair[2])
{
	return pair[FRAME_USER] + pair[FRAME_SYSCALL];
}

void frame_add_split(struct frame_split *split, const struct frame_times *t)
{
	const uint64_t *ns = t->ns + FRAME_SAMPLE;

	for (int i = FRAME_USER; i <= FRAME_SYSCALL; i++) {
		split->all[i] += ns[i];
		if (pair_sum(ns) < FRAME_FEW)
			split->few[i] += ns[i];
	}
}

static double piece_sum(const double pair[2])
{
	return pair[FRAME_USER] + pair[FRAME_SYSCALL];
}

/* Returns how far a piece takes the share of user mode in the sum away from that of the others. */
static double piece_pull(const double piece[2], const double sum[2])
{
	return piece_sum(sum) > 0 ? (piece[FRAME_USER] * sum[FRAME_SYSCALL] -
				     piece[FRAME_SYSCALL] * sum[FRAME_USER]) /
					    pow(piece_sum(sum), 2)
				  : 0;
}

/* Each CPU has its own shares: only the pieces of one CPU are compared. */
double frame_slope(const struct frame_piece *pieces, size_t n, const struct frame_piece *sums)
{
	double both = 0, square = 0, degrees = 0;

	for (const struct frame_piece *p = pieces; p < pieces + n; p++) {
		const struct frame_piece *sum = &sums[p->cpu];
		double off = piece_pull(p->ticks, sum->ticks);

		both += off * piece_pull(p->ns, sum->ns);
		square += off * off;
		degrees += piece_sum(p->ns) > 0 ? 1 - piece_sum(p->ns) / piece_sum(sum->ns) : 0;
	}
	return degrees < FEW_PIECES || !(both > 0) ? 0 : fmin(both / square, 1);
}

/*
 * Returns how much more user mode the ticks between the parts have than those in samples. It is 0
 * where ticks are not as dense in both: a sample that wakes an idle CPU can move its ticks.
 */
static double ticks_differ(const struct frame_times *t)
{
	const uint64_t *between = t->ns + FRAME_TICKS, *sample = t->ns + FRAME_SAMPLE_TICKS;
	double ratio = (double)pair_sum(between) / (double)t->ns[FRAME_THREAD] *
		       (double)pair_sum(t->ns + FRAME_SAMPLE) / (double)pair_sum(sample);

	if (pair_sum(between) < FEW_TICKS || pair_sum(sample) < FEW_TICKS || ratio < 0.5 ||
	    ratio > 2)
		return 0;
	return (double)between[FRAME_USER] / (double)pair_sum(between) -
	       (double)sample[FRAME_USER] / (double)pair_sum(sample);
}

bool frame_divide(struct frame_times *t, const struct frame_times *own,
		  const struct frame_split *split, double slope)
{
	const uint64_t *as[] = {t->ns + FRAME_SAMPLE, own->ns + FRAME_SAMPLE, split->few, own->ns,
				split->all};
	uint64_t ns = t->ns[FRAME_THREAD], user = 0, all;
	size_t i = 0;
	double share;

	while (i < array_size(as) - 1 && pair_sum(as[i]) < FRAME_FEW)
		i++;
	all = pair_sum(as[i]);
	if (all) {
		share = (double)as[i][FRAME_USER] / (double)all + slope * ticks_differ(own);
		user = (uint64_t)((double)ns * fmax(0, fmin(share, 1)));
	}
	t->ns[FRAME_USER] += t->ns[FRAME_SAMPLE + FRAME_USER] + user;
	t->ns[FRAME_SYSCALL] += t->ns[FRAME_SAMPLE + FRAME_SYSCALL] + ns - user;
	return all || !ns;
}
