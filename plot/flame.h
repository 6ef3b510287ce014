/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A flame graph as data, its SVG, and what the charts of one variant and of a difference share. A
 * frame is as wide as its cost. Its children stand above it, in the order of their names, and are
 * together no wider than it is. The picture is complete without its script; the script,
 * plot/flame.js, draws the same frames again when they are zoomed.
 */
#ifndef ZC_PLOT_FLAME_H
#define ZC_PLOT_FLAME_H

#include "analyze/costs/call_tree.h"
#include "plot/chart.h"

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
	const char *unit;    /* the unit of widths: "ns per KiB", or "%" */
	struct flame_label *labels;
	struct flame_frame *frames; /* the first is the root; a parent precedes its children */
	size_t nlabels, labels_cap, nframes, frames_cap;
	uint32_t depth; /* the depth of the deepest frame that is wide enough to see before anyone
			   zooms */
	struct arena arena;
};

void flame_free(struct flame *fl);

/* Adds a label of cleaned strings, which live as long as the graph. Returns its place. */
uint32_t flame_label(struct flame *fl, struct flame_label label);
/* Adds a frame, with the width as its cost. Returns its place. */
uint32_t flame_add(struct flame *fl, uint32_t parent, uint32_t label, double width);

/*
 * Writes DIR/NAME.svg with the texts of the figure. Its groups are the contexts of the legend, its
 * parts the colours. Folds narrow frames first, and says so in the foot note.
 */
int flame_write(struct flame *fl, struct figure *f, const char *dir, struct error *err);

/* --- charts: chart_flame.c --- */

#define FLAME_OPTIONS "cpu comm workload-only unit basis components component-set icicle reverse "

enum { FLAME_ROOT = 0xe8e8e8, FLAME_COMMAND = 0xcfd4da };

/* Adds a label for each of the tree's. Returns their places; the caller frees. */
uint32_t *flame_add_labels(struct flame *fl, const struct call_tree *tree);

/* Adds a frame that is no function. */
uint32_t flame_add_named(struct flame *fl, uint32_t parent, const char *name, uint32_t rgb,
			 double width);

/* Adds the tree's frames that have a width, above `root`. Returns their places; the caller frees.
 */
uint32_t *flame_add_tree(struct flame *fl, const struct call_tree *tree, const uint32_t *labels,
			 uint32_t root, const double *width);

/* Returns the words, without empty ones, joined to a file's name without an ending. */
const char *flame_file_name(struct figure *f, const char *const words[], size_t n);

/* Adds the contexts that begin in the tree as groups of the figure, for the legend. */
void flame_add_contexts(struct figure *f, const struct call_tree *tree);

/* Sets the numbers of frame and parent, from `first` on, and symbol, dso, component, context. */
void flame_set_frame(struct table *t, struct value *row, int64_t first,
		     const struct call_tree *tree, uint32_t i);

/*
 * Draws n pictures of the drawing's chart. `draw` draws the i-th and names it. Notes those without
 * a profile. Returns an error if there is no picture, or an error that is no missing profile.
 */
int flame_draw_all(struct drawing *d, const char *dir, int n,
		   int (*draw)(struct drawing *d, const void *arg, int i, const char *dir,
			       const char **name, struct error *err),
		   const void *arg, int *written, struct error *err);

#endif
