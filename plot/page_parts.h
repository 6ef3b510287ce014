/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of the page's layout, for the files page*.c alone. */
#ifndef ZC_PLOT_PAGE_PARTS_H
#define ZC_PLOT_PAGE_PARTS_H

#include "plot/page.h"

/* Fonts, pixels. */
#define PAGE_TITLE_SIZE	   31.0
#define PAGE_SUBTITLE_SIZE 20.0
#define PAGE_LEGEND_SIZE   19.0
#define PAGE_GROUP_SIZE	   20.0
#define PAGE_SYMBOL_SIZE   18.0
#define PAGE_TICK_SIZE	   17.0
#define PAGE_FOOT_SIZE	   14.5

/* Widths, pixels. */
#define PAGE_MARGIN	40.0
#define PAGE_LEGEND_MAX 330.0
#define PAGE_SYMBOL_MAX 430.0
#define PAGE_TURNED_MAX 230.0

enum { PAGE_LINES_MAX = 4 };

struct pen { /* what is still free, from top to bottom */
	double top, bottom;
	bool bars_named; /* each bar has its label; else the legend tells them apart */
	double bar_size;
	int bar_lines;	   /* 0: turned upright */
	double bar_turned; /* their length then, */
	int turned_lines;  /* on so many lines */
};

/* page.c */
void page_put_text(struct page *page, struct page_text t);
void page_put_swatch(struct page *page, double x, double y, double size, uint32_t rgb);
/* The width of the longest label, but not more than `max`. */
double page_longest(const struct figure_marks *m, double size, double max);

/* page_axes.c */
void page_place_limit(struct page *page, const struct figure *f);
void page_place_positions(struct page *page, const struct figure *f);
double page_tick_width(const struct figure *f);
double page_position_px(const struct page *page, const struct figure *f, double at);
double page_slot_px(const struct page *page, const struct figure *f); /* from bar to bar */

/* page_legend.c */
/* Down to `bottom`. */
void page_place_part_legend(struct page *page, const struct figure *f, double bottom);
void page_place_bar_legend(struct page *page, const struct figure *f, struct pen *pen);

/* page_labels.c */
void page_choose_bar_labels(struct pen *pen, const struct figure *f, double slot);
double page_bar_label_height(const struct pen *pen);
void page_place_upright_labels(struct page *page, const struct figure *f, const struct pen *pen);
void page_place_lying_labels(struct page *page, const struct figure *f, double width);
void page_place_absent(struct page *page, const struct figure *f);

#endif
