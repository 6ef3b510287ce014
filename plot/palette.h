/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One colour per component, per part of CPU time and per variant, the same in every chart. The
 * colours are told apart by people with any of the common forms of colour blindness: those of
 * variants are after Okabe and Ito, those of components after Paul Tol's "muted" and "light" sets,
 * and a test measures how far apart they stay for those who see no red, or no green.
 */
#ifndef ZC_PLOT_PALETTE_H
#define ZC_PLOT_PALETTE_H

#include <stdbool.h>
#include <stdint.h>

enum {
	INK = 0x222222,	     /* titles, values, whiskers */
	INK_SOFT = 0x595959, /* subtitles, axes, foot notes */
	INK_WARN = 0x9c3a00, /* what a reader must not miss: copies, losses, models */
	INK_GRID = 0xdedede,
};

/* Returns the colour of a place in the plan; the first, the baseline, is grey. */
uint32_t palette_variant(int place);

/* Returns a pale shade of the colour, for a figure that is not sure. */
uint32_t palette_pale(uint32_t rgb);

/* Returns the colour of a component or of a part of CPU time. An unknown name gets one by its hash.
 */
uint32_t palette_part(const char *name);

/* Returns the colour of a change: -1 for a cost that vanished, 1 for a new one. */
uint32_t palette_change(double share);

/* Returns the place of a part in every stack and legend, from the axis outwards. */
int palette_order(const char *name);

/* Returns whether white text is easier to read on this color. */
bool palette_dark(uint32_t rgb);

#endif
