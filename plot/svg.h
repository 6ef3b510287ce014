/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What gnuplot leaves out of an SVG: that it is one image, its title and its description for those
 * who hear it read; and its names for single plots, which browsers show as tool tips, go.
 */
#ifndef ZC_PLOT_SVG_H
#define ZC_PLOT_SVG_H

#include "lib/str.h"
#include "plot/figure.h"

/* `svg` as written by gnuplot, into `out`. */
void svg_describe(struct str *out, const char *svg, const struct figure *f);

#endif
