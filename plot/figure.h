/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A chart as data: bars in groups, upright or lying, plain or stacked of parts, with intervals.
 * A chart fills a figure. The looks, the .tsv, the .gp and the run of gnuplot belong to the figure,
 * so that all charts look alike.
 *
 *   groups   sides or functions, from left to right, or from the top down
 *   bars     variants, side by side within each group
 *   parts    what a bar is stacked of, from the axis outwards; none: each bar has its own colour
 *
 * The figure owns copies of all strings. A bar without a value is drawn as "n/a", never as 0.
 *
 * A figure with many bars has rows instead: each bar is a row with its name, each group is a panel,
 * and all panels have the same scale.
 *
 * A figure with curves has no bars. Its groups are panels, and its "bars" are the lines of the
 * legend.
 */
#ifndef ZC_PLOT_FIGURE_H
#define ZC_PLOT_FIGURE_H

#include "lib/table.h"

#include <math.h>

enum figure_format { FIGURE_SVG = 1, FIGURE_PNG = 2, FIGURE_PDF = 4 };

/* Parses "svg,png,pdf" into the bits above; -EINVAL. */
int figure_formats(const char *list, unsigned int *formats);

struct figure_mark {
	const char *name;  /* as given: what a .tsv holds and tables are searched for */
	const char *label; /* cleaned for drawing */
	uint32_t rgb;
};

struct figure_marks {
	struct figure_mark *mark;
	int n, cap;
};

enum { FIGURE_WHOLE = -1 }; /* the part that stands for the whole bar */

struct figure_bar {
	int group, bar, part; /* places */
	double from;	      /* where a step begins; 0: no step */
	struct estimate e;    /* lo and hi are NaN where absent; n is for the foot note */
	const char *note;
};

struct curves;

struct figure {
	const char
		*name; /* the name of the files, without an ending; letters, digits, '_' and '-' */
	bool lying;
	bool rows;			     /* set by figure_choose_rows */
	const char *title, *subtitle, *foot; /* the finding, the quantity, the evidence */
	const char *axis;		     /* the unit: "Gbit/s" */
	const char *group_word;		     /* heading of the .tsv's column: "side" */
	const char *note_word;		     /* heading of the .tsv's column of notes; NULL: none */
	const char *note_unit; /* notes are numbers in this unit, beside the bars' own; or NULL */
	const char *starred;   /* the note of bars whose numbers have a star */
	const char *absent;    /* the text where a bar is missing: "n/a" */
	double least;	       /* the axis of values reaches at least so far */
	double cut;	       /* a longer bar ends here, with a mark; 0: none */
	const char *remarks;   /* what else is drawn, or is not: it follows the subtitle */
	const char *doubt;     /* what a reader must not miss, in one sentence */
	int doubts;	       /* that one, and those that have no room */
	struct figure_marks groups, bars, parts;
	struct figure_bar *data;
	size_t ndata, data_cap;
	struct curves *curves; /* a figure of curves; NULL: of bars */
	struct arena arena;
};

void figure_init(struct figure *f, const char *name);
void figure_free(struct figure *f);

/* Returns a cleaned text that lives as long as the figure. */
const char *figure_text(struct figure *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Keeps the first doubt, and counts the others: the weightiest must come first. */
void figure_doubt(struct figure *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds a remark that is no warning. */
void figure_remark(struct figure *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

enum { FIGURE_BARS = 6 }; /* more variants have a row each */

/* Returns whether the figure has too many bars for groups of bars. */
bool figure_has_many(const struct figure *f);
/* Makes the figure one of rows if it has many bars. All bars must be in the figure. */
void figure_choose_rows(struct figure *f);

/* Returns the place of the mark of that name, or -1. */
int figure_find_mark(const struct figure_marks *m, const char *name);

/* Each returns the place of the new one. */
int figure_group(struct figure *f, const char *label);
int figure_bar(struct figure *f, const char *label, uint32_t rgb);
int figure_part(struct figure *f, const char *label, uint32_t rgb);

/* Returns a value without an interval. */
static inline struct estimate estimate_plain(double value)
{
	return (struct estimate){.value = value, .lo = NAN, .hi = NAN};
}

/* Adds a bar or a part. */
void figure_put(struct figure *f, int group, int bar, int part, struct estimate e);
/* Adds a whole bar with a note. Without a value, the note is drawn instead of `absent`. */
void figure_put_noted(struct figure *f, int group, int bar, struct estimate e, const char *note);
/* Returns the bar's note, or "". */
const char *figure_note(const struct figure *f, int group, int bar);
/* Adds a whole bar that begins at `from` and goes up, or down where its value is below 0. */
void figure_put_step(struct figure *f, int group, int bar, double from, struct estimate e);
/* Returns where the bar begins: 0, except for a step. */
double figure_from(const struct figure *f, int group, int bar);
bool figure_has_steps(const struct figure *f);
/* Returns how much higher the parts of a bar stand than its whole, the most of all bars, or 0. */
double figure_stack_excess(const struct figure *f);
/* Gives the estimate of a bar or part. Returns false when there is none. */
bool figure_get(const struct figure *f, int group, int bar, int part, struct estimate *e);

/* Returns whether the part is larger than `least` in any bar. */
bool figure_part_exceeds(const struct figure *f, int part, double least);

/* Returns whether any bar or part has an interval longer than 0. */
bool figure_has_whiskers(const struct figure *f, bool of_parts);

/* Writes a table to DIR/name.tsv with its name. */
int figure_write_table(const struct table *t, const char *dir, struct error *err);

/* Writes the data to DIR/name.tsv; figure_write does this too. */
int figure_write_tsv(const struct figure *f, const char *dir, struct error *err);

/* Writes DIR/name.gp and DIR/name.tsv; the script makes the pictures in `formats`. */
int figure_write(const struct figure *f, const char *dir, unsigned int formats, struct error *err);

/* Runs gnuplot on DIR/name.gp. A failure leaves no picture, not even one of an earlier run. Returns
 * -ENOENT where there is no gnuplot. */
int figure_render(const struct figure *f, const char *dir, unsigned int formats, struct error *err);

/*
 * --- the page: page.c ---
 *
 * Where everything of a figure goes, in pixels of a picture of 1280 x 720, y downwards: the texts
 * and the legend as a list, the frame that is left for the bars, and the bars' places along the
 * axis. Pictures of other sizes are the same picture scaled.
 */

enum { PAGE_W = 1280, PAGE_H = 720 };
enum align { ALIGN_LEFT, ALIGN_CENTER, ALIGN_RIGHT };

struct page_text {
	double x, y, size; /* y: the middle of the line */
	enum align align;
	bool bold;
	int turn; /* degrees, counter-clockwise */
	uint32_t rgb;
	const char *text;
};

struct page_swatch {
	double x0, y0, x1, y1;
	uint32_t rgb;
};

struct page {
	struct page_text *texts;
	struct page_swatch *swatches;
	int ntexts, texts_cap, nswatches, swatches_cap;
	double width, height;
	double left, top, right, bottom; /* the frame of the bars */
	double first, last;		 /* positions at its two ends, the bar axis */
	double limit;			 /* the value at its far end; 0 at the other */
	double reach;			 /* where the longest whisker ends: below the limit */
	double tick;			 /* from line to line of the grid */
	double pitch;			 /* values from panel to panel; 0: no panels */
	double value_size, part_size;	 /* fonts of the numbers at bars and inside them */
	struct arena arena;
};

enum { BAR_HALF = 39 }; /* half a bar's width, hundredths of a position */

void page_make(struct page *page, const struct figure *f);
/* Places title, subtitle, captions and foot note alone. The frame is what is left of the height. */
void page_make_texts(struct page *page, const struct figure *f, double height);
void page_free(struct page *page);

/* Returns the middle of a bar on the bar axis. */
double page_position(const struct figure *f, int group, int bar);

/*
 * Returns how far bars and whiskers reach. A whisker much longer than the highest bar would make
 * all bars unreadable: it is cut, and `cut` is true. It is false where the figure cuts bars, too.
 */
double page_reach(const struct figure *f, bool *cut);

/* Returns the pixels per unit of value. */
double page_scale(const struct page *page, const struct figure *f);

#define PAGE_MARGIN    40.0 /* left and right */
#define PAGE_TICK_SIZE 17.0 /* the font at the axis of values */

/* Returns 1, 2 or 5 times a power of ten, so that labels at its multiples do not touch: `apart`
 * pixels on an axis of `length` pixels that ends at `limit`. */
double page_axis_step(double limit, double length, double apart);

/* --- gnuplot: figure_gp.c --- */

/* Adds a text. `name` is the variable that has it; NULL: the text itself. */
void gp_add_text(struct str *s, const struct page *page, const struct page_text *t,
		 const char *name);
/* Adds all texts and swatches. by_name: each text is the variable text0, text1 ... */
void gp_add_texts(struct str *s, const struct page *page, bool by_name);
/* Adds the label and the place of a tick to a list: "0", "1.5M". */
void gp_add_tick(struct str *s, int n, double value, double at);
/* Begins the block that is run for each format. */
void gp_add_terminals(struct str *s, const struct figure *f, const struct page *page,
		      unsigned int formats);

double page_slot_px(const struct page *page, const struct figure *f); /* from bar to bar */

/*
 * --- curves: curves.c ---
 *
 * Lines over an axis of x, in panels. Each panel is a group of the figure and has its own axis of
 * y. Each line belongs to a bar of the figure, which gives its colour and its place in the legend.
 */

struct curve_point {
	double x;
	struct estimate y; /* lo and hi are NaN where there is no interval */
};

struct curve {
	int panel, line;
	const char *name; /* for the .tsv: the run; "" for all runs together */
	bool pale;	  /* thin, behind the others */
	struct curve_point *points;
	size_t n, cap;
};

struct curve_tick {
	double at;
	const char *label;
};

/* A vertical line in a panel, with its interval (NaN: none). */
struct curve_mark {
	int panel;
	double at, lo, hi;
	const char *label;
};

struct curves {
	const char *axis;      /* the name of x: "message size, bytes" */
	const char *name_word; /* heading of the .tsv's column of names: "run" */
	bool log_x;
	bool own_x;	 /* each panel has its own range of x */
	bool near;	 /* the axes of values need not begin at 0 */
	uint32_t log_y;	 /* a bit for each panel */
	double shade[2]; /* a span of x with a grey background, such as the window; equal: none */
	struct curve *curves;
	struct curve_tick *ticks; /* the labels of x; none: chosen by the values */
	struct curve_mark *marks;
	int n, cap, nticks, ticks_cap, nmarks, marks_cap;
};

enum { CURVES_PANELS = 16 }; /* the most that can be read */

/* Makes the figure one of curves. `axis` and `name_word` are constants. */
struct curves *figure_curves(struct figure *f, const char *axis, const char *name_word);
/* Adds a curve and returns its place. Points come next, in the order of x. */
int figure_curve(struct figure *f, int panel, int line, const char *name, bool pale);
void figure_point(struct figure *f, int curve, double x, struct estimate y);
void figure_tick(struct figure *f, double at, const char *label);
void figure_mark(struct figure *f, int panel, double at, double lo, double hi, const char *label);

void curves_free(struct figure *f);

/* Writes columns curve, x, value, lo, hi, then the names of panel, variant and curve. */
int curves_write_tsv(const struct figure *f, const char *dir, struct error *err);

/* Returns whether an interval of a curve goes on beyond its panel. */
bool curves_are_cut(const struct figure *f);

/* Appends the gnuplot script of the panels within the page's frame. */
void curves_add_script(struct str *s, const struct figure *f, struct page *page,
		       unsigned int formats);

#endif
