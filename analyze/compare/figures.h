/* SPDX-License-Identifier: GPL-2.0-only */
/* The figures of merit that `compare` judges, run by run, of each side and of their total. */
#ifndef ZC_FIGURES_H
#define ZC_FIGURES_H

#include "analyze/compare/compare.h"
#include "analyze/compare/diff.h"

/* The beginning of the name of FIGURE_COPY. The unit of work follows. */
#define COPY_NAME      "copy_ns_per_"
#define COPY_COMPONENT "data copy" /* its cost is that figure */

enum figure {
#define FIGURE(id, ...) FIGURE_##id,
#include "analyze/compare/figures.def"
#undef FIGURE
	FIGURES
};

/*
 * The sides at which a figure is primary. The primary figures of a comparison are one family with
 * Holm's correction: no more than 5 % of the comparisons of equal ends have any verdict. All other
 * figures are secondary: each has the p and the interval of a single test, and no verdict.
 */
enum primary {
	SECONDARY,
	PRIMARY_ONCE,  /* at the first side that has it, which is the receiver */
	PRIMARY_SIDES, /* at each side and in total */
	PRIMARY_TOTAL, /* in total, or at the only side */
};

/* What figures.def says about each. */
struct figure_kind {
	const char *name, *unit, *scope;
	int better;
	enum primary primary;
	const char *counter;
};

extern const struct figure_kind figure_kinds[FIGURES];

struct figure_runs {
	double *x;
	size_t n, cap;
	double pooled; /* the report's figure of all runs; NAN: the estimator's value of x */
};

double figure_value(const struct figure_runs *s, enum estimator e);

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

struct side_figures {
	const char *side; /* with several sides, the last is "total" */
	struct figure_runs of[FIGURES][ENDS];
	bool modelled;		/* the power of an end is that of --power-model */
	double part[ENDS];	/* of the transfer's work: see transfer_part() */
	const char *copy_unit;	/* the unit of work of FIGURE_COPY: "kib"; NULL: unknown */
	struct diff components; /* judged; empty unless both ends have profiles */
	struct change change[FIGURES];
};

struct figures {
	struct side_figures *side;
	size_t n, cap;
};

/* Reads the figures of --side, or of all sides. On error `f` is empty. */
int figures_read(struct figures *f, const struct comparison *c, struct table *notes,
		 struct error *err);
void figures_free(struct figures *f);

/* A primary figure of a side. */
struct primary_figure {
	struct side_figures *side;
	enum figure figure;
};
/* Lists the primary figures that the ends have. The caller frees the list. */
size_t figures_primary(const struct figures *f, const struct comparison *c,
		       struct primary_figure **list);
/* Returns whether the power of the figure is that of a model. */
bool figure_is_modelled(const struct side_figures *side, enum figure f);
/* Fills the changes of all sides. Primary figures have verdicts, which `out` counts. */
void figures_judge(struct figures *f, const struct comparison *c, struct outcome *out);

#endif
