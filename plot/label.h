/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text in pictures: names come from plans, symbols and foreign files, so that everything which is
 * drawn is cleaned, measured and quoted here. Widths are those of DejaVu Sans, the widest common
 * sans-serif face: what fits by them fits in any other.
 */
#ifndef ZC_PLOT_LABEL_H
#define ZC_PLOT_LABEL_H

#include "lib/alloc.h"
#include "lib/str.h"

/* Returns valid UTF-8 on one line, escaped as lib/str.h says. NULL gives "". */
char *label_clean(struct arena *a, const char *s);

/* Returns the width in pixels of a cleaned text in a font of `size` pixels. */
double label_width(const char *s, double size, bool bold);

/* Returns the text, or its two ends around an ellipsis, not wider than `width`. */
char *label_fit(struct arena *a, const char *s, double size, double width);

struct label_shape {
	double size, width; /* pixels of the font and of a line */
	int lines;	    /* at most */
	bool bold;
	const char *breaks; /* a line may end after these characters */
	bool name;	    /* what is too long is cut in its middle, not at its end */
};

#define LABEL_BREAKS_NAMES " -_/.+" /* names of variants and functions */

/*
 * Breaks a cleaned text into lines, inside a word only where there is no other way; what is left
 * over is cut by an ellipsis. Returns the number of lines.
 */
int label_wrap(struct arena *a, const char *s, const struct label_shape *shape, char **lines);

/* Returns whether the label fits without a break inside a word. */
bool label_wraps(const char *s, const struct label_shape *shape);

/*
 * Appends a gnuplot string in double quotes. What gnuplot would expand or end the string at is an
 * octal escape. Single quotes do not work: gnuplot 5.4 misreads a doubled one in them.
 */
void label_quote(struct str *out, const char *s);

/* The same for a label in enhanced mode: the marks of its markup are escaped. */
void label_quote_enhanced(struct str *out, const char *s);

#endif
