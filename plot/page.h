/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where everything of a figure goes, in pixels of a picture of 1280 x 720, y downwards: the
 * texts and the legend as a list, the frame that is left for the bars, and the bars' places along
 * the axis. Pictures of other sizes are the same picture scaled.
 */
#ifndef ZC_PLOT_PAGE_H
#define ZC_PLOT_PAGE_H

#include "plot/figure.h"

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

/* Returns the width in pixels of a panel of rows. */
double page_panel_px(const struct page *page, const struct figure *f);

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
void gp_add_swatch(struct str *s, const struct page *page, const struct page_swatch *w);
/* Adds the label and the place of a tick to a list: "0", "1.5M". */
void gp_add_tick(struct str *s, int n, double value, double at);
/* Begins the block that is run for each format. */
void gp_add_terminals(struct str *s, const struct figure *f, const struct page *page,
		      unsigned int formats);

void page_place_limit(struct page *page, const struct figure *f);
void page_place_positions(struct page *page, const struct figure *f);
double page_tick_width(const struct figure *f);
double page_position_px(const struct page *page, const struct figure *f, double at);
double page_slot_px(const struct page *page, const struct figure *f); /* from bar to bar */

#endif
