/* SPDX-License-Identifier: GPL-2.0-only */
/* The figures of merit that `compare` judges, run by run, of each side and of their total. */
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
	FIGURE_NS_PER_KIB,   /* busy CPU time per KiB */
	FIGURE_RATE_PACKETS, /* per second, of runs that count packets but no bytes */
	FIGURE_NS_PER_PACKET,
	FIGURE_RATE_MESSAGES, /* per second, of runs that count messages */
	FIGURE_NS_PER_MESSAGE,
	FIGURE_COPY,	    /* ns per unit of work in the component "data copy" */
	FIGURE_SYSCALLS,    /* calls per MiB */
	FIGURE_RETRANSMITS, /* per MiB, as are the following */
	FIGURE_DROPS,
	FIGURE_IRQS,
	FIGURE_SWITCHES,
	FIGURE_OWN_RETRANSMITS, /* of the workload's sockets */
	FIGURE_OWN_SWITCHES,	/* of the workload's threads */
	FIGURES
};

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

/* Judges a change, with its interval. */
struct change figure_change(const struct comparison *c, int better, const struct figure_runs *base,
			    const struct figure_runs *new);
/* Judges a change again, as one of `tests`: `p` is corrected for them. */
void figure_correct(const struct comparison *c, int better, const struct figure_runs *base,
		    const struct figure_runs *new, double p, size_t tests, struct change *k);
int figure_better(enum figure f);

struct side_figures {
	const char *side; /* with several sides, the last is "total" */
	struct figure_runs of[FIGURES][ENDS];
	bool modelled;		/* the power of an end is that of --power-model */
	double part[ENDS];	/* of the transfer's work: see transfer_part() */
	const char *copy_unit;	/* the unit of work of FIGURE_COPY: "kib"; NULL: unknown */
	struct diff components; /* judged; empty unless both ends have profiles */
};

struct figures {
	struct side_figures *side;
	size_t n, cap;
};

/* Reads the figures of --side, or of all sides. On error `f` is empty. */
int figures_read(struct figures *f, const struct comparison *c, struct table *notes,
		 struct error *err);
void figures_free(struct figures *f);

#endif
