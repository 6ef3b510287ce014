/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A flame graph as data, and its SVG. A frame is as wide as its cost. Its children stand above it,
 * in the order of their names, and are together no wider than it is. The picture is complete
 * without its script; the script, plot/flame.js, draws the same frames again when they are zoomed.
 */
#ifndef ZC_PLOT_FLAME_H
#define ZC_PLOT_FLAME_H

#include "plot/page.h"

#include "analyze/model/context.h"

#define FLAME_NONE   UINT32_MAX
#define FLAME_PIXELS (PAGE_W - 2 * PAGE_MARGIN) /* the width of the root */
#define FLAME_SEEN   3				/* the pixels of a frame that is seen */

struct flame_label {
	const char *name, *dso, *component; /* "" for the last two: no function */
	enum context context;
	bool begins; /* the context begins with this frame */
	uint32_t rgb;
};

struct flame_frame {
	uint32_t parent, label;
	const char *test; /* what the test of a difference says of it; NULL: not tested */
	uint32_t rgb;
	double width, cost[2]; /* cost: of a difference, in base and new */
	/* set by flame_fold */
	uint32_t depth;
	double x;
};

struct flame {
	bool icicle;	     /* the root is on top */
	bool differs;	     /* it is a difference of two */
	const char *ends[2]; /* their names */
	const char *unit;    /* of the widths: "ns per KiB", or "%" */
	struct flame_label *labels;
	struct flame_frame *frames; /* the first is the root; a parent precedes its children */
	size_t nlabels, labels_cap, nframes, frames_cap;
	uint32_t depth; /* of the deepest frame that is wide enough to see before anyone zooms */
	struct arena arena;
};

void flame_free(struct flame *fl);

/* Adds a label of cleaned strings, which live as long as the graph. Returns its place. */
uint32_t flame_label(struct flame *fl, struct flame_label label);
/* Adds a frame, with the width as its cost. Returns its place. */
uint32_t flame_add(struct flame *fl, uint32_t parent, uint32_t label, double width);

/* What one frame for several others says. */
struct flame_folded {
	double least;	   /* narrower frames are folded, share of the root */
	double width;	   /* of all folded frames together */
	size_t frames, in; /* folded frames, in so many */
};

/*
 * Puts the frames in the order of the drawing. Frames that are narrower than `least` of the root,
 * and those too deep to draw, become one frame of their width below their parent.
 */
struct flame_folded flame_fold(struct flame *fl, double least);

/*
 * Writes DIR/NAME.svg with the texts of the figure. Its groups are the contexts of the legend, its
 * parts the colours. Folds narrow frames first, and says so in the foot note.
 */
int flame_write(struct flame *fl, struct figure *f, const char *dir, struct error *err);

#endif
