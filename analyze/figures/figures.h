/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Figures of one variant: throughput, CPU use, costs, scores. A figure has one row in figures.def
 * and is computed in one function, whatever table, chart or export shows it. Its value is that of
 * each run of a side, or of the runs of all sides in one repeat for the total, and an estimate over
 * them.
 */
#ifndef ZC_FIGURES_H
#define ZC_FIGURES_H

#include "analyze/model/verdict.h"
#include "analyze/probes/power/table.h"
#include "analyze/scope/scope.h"
#include "analyze/scope/work.h"

enum figure_id {
#define FIGURE(id, ...) FIGURE_##id,
#include "analyze/figures/figures.def"
#undef FIGURE
	FIGURES
};

/* The tables with the figure. IN_TOTAL: the total of the sides in compare has it, too. */
enum figure_tables {
	IN_SUMMARY = 1,
	IN_SCORES = 2,
	IN_ROI = 4,
	IN_SWEEP = 8,
	IN_COMPARE = 16,
	IN_TOTAL = 32,
	IN_PAIRS = 64,
};

/* How a total treats a CPU that two sides share, for figures measured by CPU. */
enum figure_cpus {
	CPUS_NONE,  /* the figure is not measured by CPU */
	CPUS_ONCE,  /* the CPU counts once */
	CPUS_APART, /* there is no total: it would count the CPU twice */
};

/*
 * The sides at which `compare` judges a figure. The primary figures of a comparison are one family
 * with Holm's correction: no more than 5 % of the comparisons of equal ends have any verdict. All
 * other figures are secondary: each has the p and the interval of a single test, and no verdict.
 */
enum figure_primary {
	SECONDARY,
	PRIMARY_ONCE,  /* at the first side that has it, which is the receiver */
	PRIMARY_SIDES, /* at each side and in total */
	PRIMARY_TOTAL, /* in total, or at the only side */
};

struct figure_reading;

struct figure_kind {
	const char *name;
	const char *unit;   /* "ns"; ^n and ^m become the exponents in use */
	const char *per;    /* what the unit is divided by: "KiB" */
	const char *column; /* the name in tables of one variant; NULL: `name` */
	const char *scope;  /* SCOPE_WHAT */
	int better;	    /* 1: more is better, -1: less is better, 0: neither */
	/* Reads the figure of `n` sides of one repeat. NULL: compare takes it from profiles. */
	double (*read)(const struct figure_reading *r, const struct run *const sides[], int n);
	const char *over, *under; /* metrics, or INPUT_CALLS, INPUT_POWER */
	double scale;		  /* the factor of over / under */
	const char *work;	  /* the unit of work that the figure belongs to; NULL: any */
	enum purpose purpose;	  /* selects the runs */
	enum figure_cpus cpus;
	/* Of the workload's own cost: the same cost of whole CPUs. Compare has the own cost only
	 * where other programs took too much of the CPUs for a verdict on that. 0: none. */
	enum figure_id whole;
	bool trouble; /* compare shows it only where some run had such trouble */
	unsigned in;  /* enum figure_tables */
	enum figure_primary primary;
};

#define INPUT_CALLS "calls"
#define INPUT_POWER "power"

extern const struct figure_kind figure_kinds[FIGURES];

/* Returns the name in tables of one variant. */
const char *figure_column(enum figure_id id);
/* Appends the unit with the exponents in use, "T^2/P", and with what it is per, "ns/KiB". */
void figure_print_unit(struct str *s, const struct query *q, enum figure_id id, bool per);

/* Appends the names of figures in compare that count all that runs on a side's CPUs. */
void figure_print_counts_of_cpus(struct str *s);

/* A figure of one side of a variant, or of the total. */
struct figure_value {
	enum figure_id id;
	const char *variant, *side; /* the side of a total is SIDE_TOTAL */
	double *x;		    /* the value of each repeat that has the figure; the list's */
	size_t n;
	size_t repeats; /* with runs of all sides */
	struct estimate e;
	enum power_source source; /* the weakest source of power used */
	const char *kind;	  /* kind of power; NULL for none or a model */
	bool shared;		  /* the hosts also run sides that the query excludes */
	const char *twice;	  /* "receiver and sender share CPU 0", or NULL */
	const struct block_runs *sides;
	int nsides;
};

/* Returns busy_others_pct() of the side with the most; 0 if the figure is not measured by CPU. */
double figure_others(struct store *s, const struct query *q, const struct figure_value *v);

/* Returns whether the query wants the row of the figure, not only the total that it is part of. */
static inline bool figure_is_wanted(const struct figure_value *v, const struct query *q)
{
	return !q->total || v->nsides > 1;
}

/* The figures that a table asks for: by figure, then in the order of the blocks. */
struct figure_list {
	struct figure_value *list;
	size_t n, cap;
	struct store *s;
	const struct query *q;
	struct block_list blocks[FOR_SYSCALLS + 1]; /* by purpose */
	struct arena arena;
};

/*
 * Reads the figures with a bit of `tables`. Totals have those with a bit of `totals`. The caller
 * frees the list, also after an error.
 */
int figure_list_read(struct figure_list *l, struct store *s, const struct query *q, unsigned tables,
		     unsigned totals, struct error *err);
void figure_list_free(struct figure_list *l);

/* Returns the figure of that variant and side, or NULL. */
const struct figure_value *figure_find(const struct figure_list *l, enum figure_id id,
				       const char *variant, const char *side);

/* Adds a note for each figure that has no value: "ipc is absent for a receiver: ...". */
void figure_list_note_absent(struct figure_list *l, struct table *t);

/* Adds the notes on the runs of the figures: estimator, warnings, losses. */
void figure_list_notes(const struct figure_list *l, struct table *t);

/* A row of tables summary and roi, which have columns for some of the figures. */
struct figure_row {
	struct block block;
	int64_t runs; /* in the estimates */
	struct estimate of[FIGURES];
	double zero_copy_share; /* percent, in summary alone */
	const char *power_source, *power_kind;
};
/* The first words of the column of a figure. */
#define FIGURE_COLUMN(column, id) MEMBER_NAMED(column, struct figure_row, of[FIGURE_##id])

/* Returns a row without figures. */
struct figure_row figure_row_of(const struct block *b);

/* A row of table sweep. */
struct sweep_row {
	const char *setting, *value;
	double number; /* NAN: the values of the setting are no numbers */
	const char *variant, *under, *side, *metric, *unit;
	struct estimate estimate;
	int64_t runs;
	bool modelled; /* the power behind the figure is a model */
};

/* A row of its detail: the crossover of a line with that of the first variant. */
struct crossover_row {
	const char *setting, *under, *side, *metric, *base, *new;
	const char *kind; /* a word of crossover_words */
	struct estimate at;
	const char *at_words, *range_words; /* as the values are written */
	int64_t better, worse, values;
	const char *words;
};
extern const char *const crossover_words[]; /* by enum crossover_kind */

/* A row of table scores. */
struct scores_row {
	struct block block;
	const char *score, *unit;
	struct estimate value;
	const char *better, *scope;
	int64_t runs;
};

/*
 * These fill the tables of their names, whose notes say what is to know of the figures, and give
 * the figures. The caller frees the result, also after an error. Each returns 0 or -errno.
 */
int roi_read(struct store *s, const struct query *q, struct figure_list *l, struct table *t,
	     struct error *err);
int scores_read(struct store *s, const struct query *q, struct figure_list *l, struct table *t,
		struct error *err);

/* Appends the unit of a score, and that its power is modelled. */
void score_print_unit(struct str *s, const struct query *q, const struct figure_value *v);

struct summary {
	struct figure_list figures;
	/* One for each side, in the order of figures.blocks[FOR_FIGURES]. */
	struct summary_side {
		size_t runs;	  /* the most that a figure has */
		double zero_copy; /* the share of the data, 0 to 1, from the worst evidence, or NAN
				   */
	} * sides;
};
int summary_read(struct store *s, const struct query *q, struct summary *all, struct table *t,
		 struct error *err);
void summary_free(struct summary *all);

/* Returns T^n / C, or NAN without CPU use. */
double roi_c(const struct query *q, double throughput, double cpu);
double roi_p(const struct query *q, double throughput, double watts);

/* --- crossover.c: where one curve of figures begins to be better than another --- */

/* The runs of both variants under one value of the setting. */
struct crossover_point {
	double at;	   /* the value, above 0 if `log` */
	const char *value; /* as the plan writes it */
	const double *base, *new;
	size_t nbase, nnew;
	enum verdict verdict; /* crossover_find sets it, NONE where an end has no runs */
	double others;	      /* figure_others() of base or new, whichever is more */
	bool copied;	      /* zero_copy_fell_back() of new */
};

/* By the values with a verdict; the others show no difference. */
enum crossover_kind {
	CROSSOVER_NONE,	   /* fewer than two values with runs of both */
	CROSSOVER_BEGINS,  /* new is worse at the lower values and better at the higher ones */
	CROSSOVER_ENDS,	   /* new is better at the lower values and worse at the higher ones */
	CROSSOVER_ALWAYS,  /* new is better at each value */
	CROSSOVER_NEVER,   /* new is worse at each value */
	CROSSOVER_OFTEN,   /* better and worse change places more than once */
	CROSSOVER_UNCLEAR, /* new is not both better and worse, and not each value has a verdict */
};

struct crossover {
	enum crossover_kind kind;
	double at; /* NAN unless new begins or ends to be better, and the lines cross there once */
	/* The 95 % interval. An end is NAN where it lies beyond the measured values. */
	double lo, hi;
	size_t better, worse, n; /* values with a verdict; all values */
	size_t needed;		 /* runs a side that verdicts take; 0: the runs are enough */
};

/*
 * Judges each value and finds the crossover. `points` are in the order of `at`. `better` is +1
 * where more is better, -1 where less is. The verdict at a value is that of the exact Mann-Whitney
 * test, with Holm's correction over the values, and of the threshold. Between two values the
 * logarithm of the ratio of the medians, new / base, is a straight line over `at`, or over its
 * logarithm. The crossing is the zero of that line between the last value with one verdict and the
 * first with the other. Its interval holds the places where the line's own 95 % interval contains 0
 * (Fieller 1954). A single value has a verdict and no crossover.
 */
struct crossover crossover_find(struct crossover_point *points, size_t n, int better, bool log);

/* Parses "64k", "1500" or "10Gbit/s". `rest` is the text behind the number and its factor. */
bool setting_number(const char *text, double *number, const char **rest);
/* Returns a number as the value `like` is written: "3.01k". The caller frees the text. */
char *setting_text(double x, const char *like);

#endif
