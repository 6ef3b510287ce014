/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Figures over many captures. A trend is one figure of a variant and a side, over the captures of a
 * history in the order of their creation. Its changes (stats_changes) divide it into segments.
 *
 * A capture counts as one value, the median of its runs: runs of one capture resemble each
 * other more than runs of two. So the interval of a change is made from the spread between
 * captures.
 */
#ifndef ZC_COMPARE_HISTORY_H
#define ZC_COMPARE_HISTORY_H

#include "analyze/compare/compare.h"

/*
 * Adds the figures of a capture to an open history, with `n` labels, each NAME=VALUE. Replaces a
 * capture that the history has. Refuses one whose settings differ from those of the history:
 * -EXDEV.
 */
int history_add(struct store *h, const char *capture, char *const *labels, int n,
		struct error *err);

/* Returns the commit in a variable of the plan or in the name of a kernel, 6.9.0-rc1-gf00d1234, or
 * NULL. It lives as long as store and arena. */
const char *history_commit(struct store *s, const char *variant, const char *kernel,
			   struct arena *arena, struct error *err);

struct trend_segment {
	size_t from, to;       /* captures of the trend */
	struct estimate level; /* over the captures */
	double p;
	/* Against the segment before. The first one has NAN and NULL. */
	struct estimate change;	     /* in percent; NAN: not known */
	const char *verdict, *range; /* range: "A..B" */
};

/* Arrays have a member for each capture. */
struct trend {
	size_t n, nsegments;
	const struct history_value **runs; /* the first run; the others follow it */
	const double **values;		   /* those of the runs */
	size_t *nruns;
	double *x; /* the value of the capture */
	struct trend_segment *segments;
	struct stats_spread spread;
};

struct trends {
	const char *path; /* the path of the history, which is valid while the history is open */
	struct history_value *values;
	struct trend *list;
	size_t n, cap, nchanges;
	double false_alarms, alpha;
	struct arena arena;
};

/* The fewest false alarms that can be asked for: a p of stats_changes is at least 1 / 100,000. */
#define HISTORY_ALARMS_LEAST (365 / 1e5)

/*
 * Reads the trends, with at most so many false alarms in a series and a year of daily captures. The
 * history must stay open. The caller frees the trends, also after an error.
 */
int trends_read(struct trends *all, struct store *h, const struct history_choice *choice,
		double false_alarms, struct error *err);
void trends_free(struct trends *all);

/* Initializes `t` and adds a row for each segment, or for each capture. */
void trends_add_rows(const struct trends *all, bool each, struct table *t);

#endif
