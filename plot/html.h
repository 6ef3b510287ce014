/* SPDX-License-Identifier: GPL-2.0-only */
/* HTML as text: escaped words, tables of figures, and pictures that need no other file. */
#ifndef ZC_PLOT_HTML_H
#define ZC_PLOT_HTML_H

#include "lib/str.h"
#include "lib/table.h"

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

/* Appends an SVG. An interactive one runs in a frame of its own. `name` distinguishes the ids of
 * all others in the page. */
void html_add_svg(struct str *out, const char *svg, const char *name);

#endif
