/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Curves as data: lines over an axis of x, in panels. Each panel is a group of the figure and has
 * its own axis of y. Each line belongs to a bar of the figure, which gives its colour and its place
 * in the legend.
 */
#ifndef ZC_PLOT_CURVES_H
#define ZC_PLOT_CURVES_H

#include "plot/page.h"

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
	const char *axis;      /* of x: "message size, bytes" */
	const char *name_word; /* heading of the .tsv's column of names: "run" */
	bool log_x;
	bool own_x;	 /* each panel has its own range of x */
	bool multiples;	 /* each panel is named after its line: no legend, one range of y */
	uint32_t log_y;	 /* a bit for each panel */
	double shade[2]; /* a span of x with a grey background, such as the window; equal: none */
	struct curve *curves;
	struct curve_tick *ticks; /* of x; none: chosen by the values */
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
int curves_write_tsv(const struct figure *f, const char *path, struct error *err);

/* The range of an axis and the distance of its labels. Labels of a log axis are its powers of ten.
 */
struct curve_range {
	double from, to, step;
	bool log;
};

struct curve_range curves_x(const struct figure *f, int panel, double pixels);
struct curve_range curves_y(const struct figure *f, int panel, double pixels);

/* Returns whether any point has an interval longer than 0. */
bool curve_has_band(const struct curve *c);
/* Returns whether an interval of the curve goes on beyond its panel. */
bool curve_is_cut(const struct figure *f, const struct curve *c);
bool curves_are_cut(const struct figure *f);

/* Return how many panels stand side by side, and below each other. */
int curves_columns(const struct figure *f);
int curves_rows(const struct figure *f);

/* Appends the gnuplot script of the panels within the page's frame. */
void curves_add_script(struct str *s, const struct figure *f, struct page *page,
		       unsigned int formats);

#endif
