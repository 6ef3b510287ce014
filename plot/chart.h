/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A chart turns tables of measures into one figure. A new chart is its `const struct chart`, a row
 * in the list in chart.c, and a test.
 */
#ifndef ZC_PLOT_CHART_H
#define ZC_PLOT_CHART_H

#include "analyze/compare/compare.h"
#include "analyze/evidence/limits.h"
#include "analyze/figures/figures.h"
#include "analyze/figures/tables.h"
#include "plot/figure.h"

/* Where figures come from: a store; in tests, results filled by hand. No functions: a bare file,
 * which has no tables. */
struct chart_source {
	int (*table)(const struct chart_source *source, const char *name, const struct query *q,
		     struct table *t, struct error *err);
	void *from; /* the source's own data */
	/* Fills that table of `compare` for q->side. NULL: this source cannot compare. */
	int (*compare)(const struct chart_source *source, const char *table,
		       const char *const ends[2], const struct query *q, struct table *t,
		       struct outcome *out, struct error *err);
	int (*limits)(const struct chart_source *source, const struct query *q, struct limits *l,
		      struct error *err);
};

/* What a bar is made from, as the foot note says it. */
enum drawn_from {
	FROM_MEASURED,
	FROM_PROFILED,
	FROM_COUNTED,
	FROM_TESTED,
	FROM_UNTESTED,
	FROM_EACH_RUN, /* measured; the runs themselves are drawn, without an interval */
	FROM_TRACED,   /* the runs that followed events */
	FROM_POOLED,   /* the samples of all profiled runs, without an interval */
};

struct run_counts {
	int least, most; /* runs of a variant; 0: unknown */
};

/* What every chart says about the capture; NULL and 0 where unknown. */
struct chart_facts {
	const char *capture, *host, *kernel, *date;
	const char *estimator; /* "median" */
	const char **variants; /* in the plan's order */
	const int
		*places; /* each variant's place in the plan, for its colour; NULL: all are here */
	int nvariants;
	const struct chart_side {
		const char *name, *role; /* receiver, proxy, sender, or the name */
	} * sides;
	int nsides;
	const char *slice; /* the part of each run's window: "2 to 3 s"; NULL: all of it */
	struct run_counts measured, profiled, counted; /* by pass */
	struct arena arena;			       /* holds the texts */
};

struct drawing {
	const struct chart_source *source;
	struct store *store;	 /* for charts of call chains; NULL: the perf.data of the query */
	const char *path;	 /* the capture or perf.data, as the user wrote it */
	struct time_slice slice; /* the part of a perf.data */
	bool two_captures;	 /* a name in `news` may be one of another capture */
	struct chart_facts facts;
	struct query query; /* exponents, estimator, power model */
	const char *base;   /* the variant that the others are compared with */
	const char **news;  /* these others; NULL: all */
	int nnews;
	const char *side;     /* only this one; NULL: all */
	bool icicle, reverse; /* how flame graphs are drawn */
	int most_graphs;      /* flame graphs of a chart for a page, without tables; 0: no limit */
	int left_graphs;      /* the graphs above this limit */
	const struct chart *chart; /* the present one; NULL: none yet */
	struct drawing_table {
		const char *variant; /* the new end of a comparison; NULL for a table of `report` */
		const char *name, *side;
		struct table table;
		bool lent; /* the table belongs to the page */
		int rc;	   /* the result of reading the table */
		struct error why;
	} * *tables; /* each is read once for all charts */
	size_t ntables, tables_cap;
	struct table zerocopy; /* filled once for all charts; no rows: no evidence */
	struct table runs;     /* all runs, failed ones too; no rows: not known */
	bool lossy;	       /* a table behind a chart so far was incomplete */
	struct notes doubts;   /* those of the present chart's tables */
	struct arena arena;
};

enum { CHART_ROWS = 50 }; /* the most variants of a chart in which each has a row */

enum chart_flags {
	CHART_OF_TRANSFER = 1,	/* its figures are of all sides together: there is no --side */
	CHART_TWO_CAPTURES = 2, /* --new may be a variant of another capture */
	CHART_OF_RECEIVER = 4,	/* without --side, it draws the receiver alone */
	CHART_COSTS = 16,	/* its title compares what whole CPUs cost */
	CHART_OWN = 8, /* the workload's own counts: no work of other programs is in them */
};

/* A chart. Its own file defines it, the list in chart.c names it, nothing else knows it. */
struct chart {
	const char *name, *what;
	/* The tables that it draws from. The notes of the first become captions. */
	const char *sources[3];
	const char *drawn; /* globs of the series that it draws, by blanks; NULL: it draws none */
	const char *options[SOURCES]; /* as in struct measure */
	const char *whole;	      /* likewise */
	const char *side;	      /* the role of the only side that it draws; NULL: any */
	int most;		      /* variants that can be read; 0: CHART_ROWS */
	int kind;		      /* which of the charts that one draw() draws */
	unsigned int flags;
	/* Draws the first table. Returns 0, -ENODATA where there is nothing to draw (`err` says
	 * what would change that), or another error. */
	int (*draw)(struct drawing *d, struct figure *f, const struct table *t, struct error *err);
	/* Instead of `draw`: writes SVG files into the folder, and adds their number to *written.
	 */
	int (*write)(struct drawing *d, const char *dir, int *written, struct error *err);
};

#define CHART_OPTIONS "base new variant from to " /* that every chart takes */
#define CHART_RUNS    "run estimator "		  /* for charts of estimates over the runs */
/* Those of charts of profiles: the samples, and the unit of work. */
#define CHART_SAMPLES "cpu comm dso symbol workload-only unit basis "

const struct chart *chart_find(const char *name); /* or NULL */
const struct chart *chart_at(size_t i);		  /* NULL past the last */

/* Fills in the base, the tables of runs and of zero copy; -ENOENT: an unknown variant. */
int drawing_prepare(struct drawing *d, struct error *err);
void drawing_free(struct drawing *d);

/* Draws into `f`, initialised here and freed by the caller, and adds captions. */
int chart_draw(const struct chart *c, struct drawing *d, struct figure *f, struct error *err);

/* The parts of chart_draw, for a chart that writes its own files: before and after the drawing. */
void chart_begin(const struct chart *c, struct drawing *d, struct figure *f);
void chart_end(struct drawing *d, struct figure *f);

/* --- the store as a source: facts.c --- */

/* `capture` is the path that the user gave, for a capture without a name. The query chooses
 * variants and runs. -ENOENT: no variant matches, or the capture has no side `side` (NULL: all). */
int facts_read(struct chart_facts *f, struct store *store, const char *capture,
	       const struct query *q, const char *side, struct error *err);

struct chart_source facts_source(struct store *store);

/* Fills a comparison of two variants of the store. */
void facts_comparison(struct comparison *c, struct store *store, const char *const ends[2],
		      const struct query *q);
/* Finds what verdicts depend on. Adds a line on fallbacks to copying. */
int facts_compare_prepare(struct comparison *c, struct str *evidence, struct error *err);

/* --- for charts: chart.c --- */

/* Gives the chart's i-th table, which the drawing owns. */
int drawing_table(struct drawing *d, int i, const struct table **t, struct error *err);

/* Lends the metrics of a comparison with the variant to the charts: they make none again. */
void drawing_lend_metrics(struct drawing *d, const char *variant, const struct table *t);

/* Keeps the table's doubts for the caption. */
void drawing_add_notes(struct drawing *d, const struct table *t);
bool notes_have_kind(const struct notes *list, enum note_id id);
/* Returns whether the list has the same note about the same run. */
bool notes_have_note(const struct notes *list, const struct note *note);

/* Adds a variant as a bar in its colour, and returns its place. */
int drawing_bar(const struct drawing *d, struct figure *f, const char *variant);
/* Adds the variants to compare, base first. */
void drawing_bars(const struct drawing *d, struct figure *f);
/* Returns how many groups of lying bars stay readable from the back of a room, or --limit. */
size_t drawing_most_groups(const struct drawing *d, const struct figure *f);

/* Adds the sides that have a row as groups: receivers, proxies, senders, others, total. Adds the
 * variants as bars. */
void drawing_sides(const struct drawing *d, struct figure *f, const struct table *t);

/* Does the same, and puts a figure of table roi or summary. With `sources`, the source of power is
 * the note. */
void drawing_put_sides(const struct drawing *d, struct figure *f, const struct table *t,
		       enum figure_id id, bool sources);

enum { TOTAL_PLACE = 4 };
/* Returns the place of a side in charts, from 0 to TOTAL_PLACE. */
int drawing_side_place(const struct drawing *d, const char *side);

const char *drawing_estimator(const struct drawing *d);

/* Returns "the receiver's", or "web's" for a side with a name of the plan, or "the" for none. */
const char *drawing_whose(const struct drawing *d, struct figure *f, const char *side);

/* Returns the role of a side, or its name. */
const char *drawing_role(const struct drawing *d, const char *side);
/* Returns the name of the first side with the role, or the role where no side has it. */
const char *drawing_side_with(const struct drawing *d, const char *role);
/* Returns the only side to draw: that of the chart or of --side. NULL: all. */
const char *drawing_only_side(const struct drawing *d);
/* Returns the side whose zero copy the chart's figures depend on. NULL: that of all sides. */
const char *drawing_copied_side(const struct drawing *d);

/* Writes the foot note: runs, interval, host, kernel, capture, date. */
void drawing_foot(const struct drawing *d, struct figure *f, enum drawn_from from);

/* --- variants.c: rows, and names under settings, "mmap+mtu9000+gro-off" --- */

/* From fewer runs, the interval is too wide to say anything. */
enum { INTERVAL_RUNS = 3 };

/* Returns a cost with its interval, which does not go below 0. */
struct estimate estimate_half(struct half_estimate h);
/* Returns the estimate with the number of runs of its row. */
struct estimate estimate_of_runs(struct estimate e, int64_t runs);

/* Returns the variant and the side of a row, whose struct begins with them. */
const struct block *row_block(const struct table *t, size_t row);
/* Returns the first row at or after `from` of this variant and side (NULL: any), or -1. */
long row_find(const struct table *t, size_t from, const char *variant, const char *side);
/* Returns the figure in a row of summary or roi, whose value is NaN where there is none. */
struct estimate row_figure(const struct table *t, const char *variant, const char *side,
			   enum figure_id id);

/* Returns the variant's place in the capture, or -1. */
int drawing_place(const struct drawing *d, const char *variant);

/* Returns the i-th variant to compare, base first; NULL past the last. */
const char *drawing_variant(const struct drawing *d, int i);

/* Returns whether the chart compares the variant. */
bool drawing_has(const struct drawing *d, const char *variant);

/* Returns whether the variant has no successful run. */
bool drawing_all_failed(const struct drawing *d, const char *variant);

/* Returns the name for texts and bars: without the settings that all variants of the chart share.
 */
const char *drawing_label(const struct drawing *d, struct figure *f, const char *variant);
/* Returns the same for a title, cut where the title would lose its figures. */
const char *drawing_title(const struct drawing *d, struct figure *f, const char *variant);
/* Appends the same to a text. */
void drawing_add_label(const struct drawing *d, const char *variant, struct str *out);

/* Appends " · all variants: gro-off, 2cpus": the settings that no bar's name has, because all
 * variants of the chart share them. A single variant shares none. */
void drawing_add_shared(const struct drawing *d, struct str *out);

/* Returns a variant's colour, the same in all charts. */
uint32_t drawing_color(const struct drawing *d, const char *variant);

/* Returns the place of the variant that the i-th is compared with: "baseline+mtu9000" for
 * "mmap+mtu9000" where the chart has it, else 0, the base. */
int drawing_base_of(const struct drawing *d, int i);
/* Returns how many variants differ from the base in their settings alone, the base included. */
int drawing_bases(const struct drawing *d);

/* Names in a caption the variants for which there was no room. */
void drawing_caption_left_out(const struct drawing *d, struct figure *f);

/* --- copied.c --- */

/* Whether a variant was zero copy. Every chart has this for each variant, except for a base that
 * did not ask for zero copy. No gain is claimed for a variant that copied, that dropped its data or
 * that has no evidence. */
enum copied {
	COPIED_UNKNOWN, /* no evidence */
	COPIED_DROPPED, /* not even received: neither a copy nor none */
	COPIED_ALL,	/* zero copy on no side */
	COPIED_PART,
	COPIED_NONE, /* at least nine parts of ten on a side without a copy */
};

/* Judges the rows of table `zerocopy`. The best side counts. `only`: that side counts alone, unless
 * it has no evidence. */
enum copied copied_state(const struct table *zerocopy, const char *variant, const char *only);

/* Adds a caption with the variants that copied, and a calm one with the others. `side`: the only
 * side of the chart, or NULL. */
void copied_caption(const struct drawing *d, struct figure *f, const char *side);

/* --- titles: chart.c and variants.c --- */

/*
 * Returns the ratio new / base that a title may claim of the i-th variant, else 0: the row of
 * `compare` about the side says better or worse, and no gain is claimed without evidence of zero
 * copy.
 */
double drawing_claim(struct drawing *d, int i, const char *table, const char *side,
		     const char *row_name, double base, double new);

/* Returns the decimal places of three significant digits, for a number without an exponent. */
int claim_places(double v);

/* Returns "1.62×". */
const char *claim_times(struct figure *f, double ratio);

/* The commands of this folder. */
int cmd_plot(int argc, char **argv);
int cmd_history(int argc, char **argv);

#endif
