/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A chart turns tables of measures into one figure. THE TABLE of charts is in chart_table.c: a new
 * chart is one file, its row there, and a test.
 */
#ifndef ZC_PLOT_CHART_H
#define ZC_PLOT_CHART_H

#include "analyze/compare/compare.h"
#include "analyze/measures/measure.h"
#include "plot/figure.h"

/* Where figures come from: measure_run on a store; in tests, tables filled by hand. */
struct chart_source {
	int (*table)(const struct chart_source *source, const char *name, const struct query *q,
		     struct table *t, struct error *err);
	void *from; /* the source's own */
	/* The waterfall of `compare` for q->side; NULL: this source cannot. */
	int (*compare)(const struct chart_source *source, const char *const ends[2],
		       const struct query *q, struct table *t, struct outcome *out,
		       struct error *err);
};

/* What every chart says of the capture; NULL and 0 where unknown. */
struct chart_facts {
	const char *capture, *host, *kernel, *date;
	const char *estimator; /* "median" */
	const char **variants; /* in the plan's order */
	const int
		*places; /* each one's in the plan, which its colour hangs on; NULL: all are here */
	int nvariants;
	const char *slice;	/* of each run's window: "2 to 3 s"; NULL: all of it */
	int measured, profiled; /* runs of each variant by pass: the fewest, 0: unknown */
	int measured_most, profiled_most;
};

struct drawing {
	const struct chart_source *source;
	struct chart_facts facts;
	struct query query; /* exponents, estimator, power model */
	const char *base;   /* the variant that others are held against */
	const char **news;  /* these others; NULL: all */
	int nnews;
	const char *side;      /* only this one; NULL: all */
	int most;	       /* variants in the present chart; 0: all */
	struct table **tables; /* those that charts were drawn from so far; each is read once */
	size_t ntables, tables_cap;
	struct table zerocopy; /* filled once for all charts; no rows: no evidence */
	struct table runs;     /* the same of all runs, failed ones too; no rows: not known */
	bool lossy;	       /* a table behind a chart so far was incomplete */
	char loss[256];	       /* the present chart's first loss in words */
	int losses;
	double others; /* percent of busy time that other programs took, the most in the chart */
	struct arena arena;	  /* holds these */
	const char *disturbed[2]; /* of runs that stood still, and whose sides are apart; or NULL */
};

struct chart {
	const char *name, *what;
	int most; /* variants: of more, bars and names could not be read */
	/* 0; -ENODATA: nothing to draw, `err` says why and what would change it; or an error */
	int (*draw)(struct drawing *d, struct figure *f, struct error *err);
	const char *options[SOURCES]; /* as in struct measure */
};

const struct chart *chart_find(const char *name); /* or NULL */
const struct chart *chart_at(size_t i);		  /* NULL past the last */

/* Fills in the facts, the table of zero copy and the base; -EINVAL: an unknown variant. */
int drawing_prepare(struct drawing *d, struct error *err);
void drawing_free(struct drawing *d);

/* Draws into `f`, initialised here and freed by the caller, and adds captions and foot note. */
int chart_draw(const struct chart *c, struct drawing *d, struct figure *f, struct error *err);

/* --- for charts --- */

/* A measure's table, which the drawing owns, and what its notes say about the chart. */
int drawing_table(struct drawing *d, const char *name, const struct table **t, struct error *err);
/* The table alone. */
int drawing_read(struct drawing *d, const char *name, const struct table **t, struct error *err);

/* Adds the variants to compare, base first, as bars in their colours. */
void drawing_bars(const struct drawing *d, struct figure *f);
/* Only those that have a row of this side; a caption names the others. */
void drawing_bars_of(const struct drawing *d, struct figure *f, const struct table *t,
		     const char *side);

/* The i-th variant to compare, base first; NULL past the last. */
const char *drawing_variant(const struct drawing *d, int i);

/* Did none of its runs succeed? */
bool drawing_all_failed(const struct drawing *d, const char *variant);

/* Its name as texts and bars have it: without what all variants of the chart have in common. */
const char *drawing_label(const struct drawing *d, struct figure *f, const char *variant);
/* The same for a title: cut where it is so long that the title would lose its figures. */
const char *drawing_title(const struct drawing *d, struct figure *f, const char *variant);

/* A variant's colour, the same in all charts. */
uint32_t drawing_color(const struct drawing *d, const char *variant);

/* Is a chart of that side wanted? Else `err` says that it is not. */
bool drawing_is_of(const struct drawing *d, const char *side, struct error *err);

/* Adds the sides that have a row as groups: receiver, sender, others, total. */
void drawing_sides(struct figure *f, const struct table *t);

enum drawn_from { FROM_MEASURED, FROM_PROFILED, FROM_TESTED, FROM_UNTESTED };
/* The foot note: runs, interval, host, kernel, capture, date. */
void drawing_foot(const struct drawing *d, struct figure *f, enum drawn_from from);

/*
 * A change that may be claimed in a title: intervals apart, enough runs to tell (or, of a profile,
 * many samples), at least 2 %, and no gain for a variant that copied. `gain` says that more is
 * better (1) or less is (-1). Gives the ratio new / base, else 0.
 */
double claim(const struct drawing *d, const char *variant, struct estimate base,
	     struct estimate new, enum drawn_from from, int gain);

/* "1.62×" */
const char *claim_times(struct figure *f, double ratio);

#endif
