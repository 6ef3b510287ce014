/* SPDX-License-Identifier: GPL-2.0-only */
/* Run by run, the figures of both ends that `compare` judges: for each side, and for their total.
 */
#ifndef ZC_FIGURES_H
#define ZC_FIGURES_H

#include "analyze/compare/compare.h"
#include "analyze/compare/diff.h"

enum figure {
	FIGURE_THROUGHPUT, /* Gbit/s */
	FIGURE_CPU,	   /* %, 100 is one CPU */
	FIGURE_POWER,	   /* W */
	FIGURE_ROI_C,
	FIGURE_ROI_P,
	FIGURE_NS_PER_KIB,   /* busy CPU time by KiB */
	FIGURE_RATE_PACKETS, /* per second: of runs that count packets, and no bytes */
	FIGURE_NS_PER_PACKET,
	FIGURE_RATE_MESSAGES, /* the same of messages */
	FIGURE_NS_PER_MESSAGE,
	FIGURE_COPY,	    /* ns per unit of work in the component "data copy" */
	FIGURE_SYSCALLS,    /* calls per MiB */
	FIGURE_RETRANSMITS, /* these: per MiB */
	FIGURE_DROPS,
	FIGURE_IRQS,
	FIGURE_SWITCHES,
	FIGURES
};

struct figure_runs {
	double *x;
	size_t n, cap;
	double pooled; /* what the report prints of all runs together; NAN: the estimator's value */
};

double figure_value(const struct figure_runs *s, enum estimator e);

/* A figure at both ends: its change as a ratio, with the interval, and what that is worth. */
struct change {
	double base, new, p;
	struct estimate ratio;
	enum verdict verdict;
};

/* `better` as in verdict_of: that of the figure, or 0. metrics.c. */
struct change figure_change(const struct comparison *c, int better, const struct figure_runs *base,
			    const struct figure_runs *new);
int figure_better(enum figure f);

struct side_figures {
	const char *side; /* "total" is the last, where there are several */
	struct figure_runs of[FIGURES][ENDS];
	bool modelled;		/* power of an end comes from --power-model */
	const char *copy_unit;	/* what FIGURE_COPY is per: "kib"; NULL: none is known */
	struct diff components; /* judged; empty unless both ends have profiles */
};

enum { FIGURE_SIDES = 8 };

struct figures {
	struct side_figures side[FIGURE_SIDES];
	size_t n;
};

/* Only --side where it is given. On error `f` is empty. */
int figures_read(struct figures *f, const struct comparison *c, struct table *notes,
		 struct error *err);
void figures_free(struct figures *f);

#endif
