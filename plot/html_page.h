/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The page of a capture or of a comparison, in the order in which it is read: verdicts, charts,
 * comparisons, tables, warnings, method, commands. All figures are those of measures and of the
 * tables of `compare`.
 */
#ifndef ZC_PLOT_HTML_PAGE_H
#define ZC_PLOT_HTML_PAGE_H

#include "analyze/commands/commands.h"
#include "analyze/compare/figure_runs.h"
#include "analyze/compare/history.h"
#include "plot/chart.h"

/* What the page holds at most. The rest is counted, with the command that prints it. */
enum {
	PAGE_WORDS = 24,	 /* comparisons with their verdict in words */
	PAGE_PAIRS = 6,		 /* comparisons with their tables */
	PAGE_ROWS = 200,	 /* rows of a table */
	PAGE_COSTS = 60,	 /* rows of a list of costs in a comparison */
	PAGE_GRAPHS = 12,	 /* flame graphs of a chart */
	PAGE_PICTURES = 4500000, /* bytes of all charts */
};

#define PAGE_ALONE "The page has one variant with figures: there is nothing to compare it with."

struct html_pair {
	struct comparison c;
	struct str first; /* lines that stand above its tables */
	struct table metrics;
	struct figures figures; /* those of the metrics */
	struct outcome outcome;
};

struct html_page {
	struct page_request *r;
	struct str out;
	struct chart_source source;
	struct drawing d; /* the charts of one capture; without a store, there are two captures */
	struct store *stores[ENDS];
	const char *capture; /* the path of the only store */
	int nstores;
	struct html_pair *pairs;
	size_t npairs, npairs_all;
	struct notes losses, remarks, methods; /* those of all tables, each once */
	struct str failed;		       /* list items: variants without a good run */
	struct str zero_copy;		       /* list items: the results of table zerocopy */
	int nids;
	struct str absent; /* list items: tables and charts that the page does not have */
};

/* --- html_tables.c --- */

bool page_has_variant(const struct html_page *p, int store, const char *variant);
/* Reads the metrics of each pair. */
int page_read_pairs(struct html_page *p, struct error *err);
int page_add_pairs(struct html_page *p, struct error *err);
int page_add_measures(struct html_page *p, struct error *err);
int page_add_commands(struct html_page *p, struct error *err);
/* Returns "zcost WORD...", quoted for a shell. Leaves out empty words. The words
 * end with NULL. The caller frees it. */
char *page_command(const char *word, ...) __attribute__((sentinel));
/* Lists what the page lacks. `kind` is "chart", "table" or "comparison". */
void page_add_absent(struct html_page *p, const char *kind, const char *name, const char *why);
/* Does the same, and the page is lossy where the machine failed. */
void page_add_failed(struct html_page *p, const char *kind, const char *name,
		     const struct error *why);

/* --- html_page.c --- */

/* Appends a page up to its first heading, in <header>. */
void page_begin(struct str *out, const char *title);
int page_print(const char *path, const struct str *page, struct error *err);

/* --- html_history.c --- */

/* Draws a chart of each figure into the folder, and writes the page. Each may be NULL. */
int trends_draw(const struct trends *all, const char *dir, const char *page, struct error *err);

/* --- html_charts.c --- */

int page_add_charts(struct html_page *p, struct error *err);

/* --- html.c --- */

/* Appends <TAG>text</TAG>. `tag` may have attributes: "p class=x". */
void html_add_element(struct str *out, const char *tag, const char *text);
/* Appends the text of the format, in which each %s is escaped for an element or for an attribute in
 * double quotes. It knows %s, %d, %zu and %%. */
void html_printf(struct str *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

struct html_heading {
	const char *id;	     /* unique in the page */
	const char *title;   /* what the table is */
	const char *what;    /* how it is made, in one line */
	const char *command; /* that prints the whole table; NULL: none */
	size_t most;	     /* rows in the page */
	bool open;	     /* a reader sees the rows without a click */
};

/* Appends a table with its results and with notes on how it is made. */
void html_add_table(struct str *out, const struct table *t, const struct html_heading *h);

/* Appends an SVG in a frame with a name for those who hear the page read. */
void html_add_svg(struct str *out, const char *svg, const char *name);

#endif
