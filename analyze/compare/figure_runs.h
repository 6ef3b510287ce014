/* SPDX-License-Identifier: GPL-2.0-only */
/* The figures of merit that `compare` judges, run by run, of each side and of their total. */
#ifndef ZC_COMPARE_FIGURE_RUNS_H
#define ZC_COMPARE_FIGURE_RUNS_H

#include "analyze/compare/compare.h"
#include "analyze/compare/diff.h"
#include "analyze/figures/figures.h"

#define COPY_COMPONENT "data copy" /* its cost is FIGURE_COPY */

struct figure_runs {
	double *x;
	size_t n, cap;
	double pooled; /* the report's figure of all runs; NAN: the estimator's value of x */
	double others; /* percent of the CPUs' busy time that other programs took, at the side with
			  the most; 0 if not known, or if the figure is not of whole CPUs */
};

double figure_runs_value(const struct figure_runs *s, enum estimator e);

/* A figure at both ends: its change as a ratio with an interval, and the verdict. */
struct change {
	double base, new, p;
	struct estimate ratio;
	enum verdict verdict;
};

/* Judges a change by a single test, with its interval. */
struct change figure_change(const struct comparison *c, int better, const struct figure_runs *base,
			    const struct figure_runs *new);
/*
 * Judges a change again, as one of `tests`, with `p` instead of k->p: the same, corrected for them.
 * The interval becomes wider by as much, so that it leaves 0 out exactly when `p` is below alpha.
 */
void figure_correct(const struct comparison *c, int better, const struct figure_runs *base,
		    const struct figure_runs *new, double p, size_t tests, struct change *k);

/* Returns the change in percent, with its interval. */
struct value figure_change_value(struct table *t, const struct change *k);

struct side_figures {
	const char *side; /* with several sides, the last is "total" */
	struct figure_runs of[FIGURES][ENDS];
	bool modelled[FIGURES]; /* an end's power is that of --power-model */
	double part[ENDS];	/* the part of the transfer's work: see transfer_part() */
	bool shares_cpus[ENDS]; /* the sides of a total share CPUs */
	const char *copy_unit;	/* the unit of work of FIGURE_COPY */
	struct diff components; /* judged; empty unless both ends have profiles */
	struct change change[FIGURES];
};

/* A figure of a side: a row of table metrics, or a primary figure. */
struct shown_figure {
	struct side_figures *side;
	enum figure_id figure;
};

struct figures {
	struct side_figures *side;
	size_t n, cap;
	struct shown_figure *rows; /* the rows of table metrics */
	size_t nrows, rows_cap;
	struct movement *moved; /* the components with the largest movements */
	size_t nmoved;
};

/* Reads the figures of --side, or of all sides. On error `f` is empty. */
int figures_read(struct figures *f, const struct comparison *c, struct table *notes,
		 struct error *err);
void figures_free(struct figures *f);

/* Lists the primary figures that the ends have. The caller frees the list. */
size_t figures_primary(const struct figures *f, const struct comparison *c,
		       struct shown_figure **list);
/* Returns whether other programs used the CPUs too much for a verdict on the figure. */
bool figure_is_withheld(const struct figure_runs ends[ENDS]);
/* Returns whether the figure is the workload's own cost, and that of whole CPUs has a verdict. */
bool figure_is_covered(const struct side_figures *side, enum figure_id f);
/* Returns whether the row has a p: verdicts take enough runs, and other figures those of one test.
 */
bool figure_is_tested(const struct comparison *c, const struct shown_figure *r);
/* Fills the changes of all sides. Primary figures have verdicts, which `out` counts. */
void figures_judge(struct figures *f, const struct comparison *c, struct outcome *out);

#endif
