// SPDX-License-Identifier: GPL-2.0-only
/* The frames of a flame graph: their order, and narrow ones folded into one. */
#include "plot/flame.h"

#include "plot/label.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 250 };

void flame_free(struct flame *fl)
{
	free(fl->labels);
	free(fl->frames);
	arena_free(&fl->arena);
	*fl = (struct flame){0};
}

uint32_t flame_label(struct flame *fl, struct flame_label label)
{
	array_add(fl->labels, fl->nlabels, fl->labels_cap, label);
	return (uint32_t)fl->nlabels - 1;
}

uint32_t flame_add(struct flame *fl, uint32_t parent, uint32_t label, double width)
{
	array_add(fl->frames, fl->nframes, fl->frames_cap,
		  (struct flame_frame){.parent = parent,
				       .label = label,
				       .rgb = fl->labels[label].rgb,
				       .width = width,
				       .cost = {width}});
	return (uint32_t)fl->nframes - 1;
}

/* --- folding --- */

struct fold {
	struct flame *fl;
	struct flame_frame *out;
	uint32_t *children; /* those of frame i from first[i] on to first[i + 1] */
	uint32_t *first;
	uint32_t *below; /* how many frames a frame and its descendants are */
	size_t n, cap;
	double least; /* width */
	struct flame_folded folded;
};

static int fold_order_names(const void *a, const void *b, void *flame)
{
	const struct flame *fl = flame;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int c = strcmp(fl->labels[fl->frames[x].label].name, fl->labels[fl->frames[y].label].name);

	return c ? c : x < y ? -1 : x > y;
}

static void fold_list_children(struct fold *w)
{
	const struct flame_frame *frames = w->fl->frames;
	size_t n = w->fl->nframes, i;

	w->children = xcalloc(n + 1, sizeof(*w->children));
	w->first = xcalloc(n + 2, sizeof(*w->first));
	w->below = xcalloc(n + 1, sizeof(*w->below));
	for (i = n; i-- > 1;) {
		w->below[i]++;
		w->below[frames[i].parent] += w->below[i];
		w->first[frames[i].parent + 1]++;
	}
	for (i = 0; i < n; i++)
		w->first[i + 1] += w->first[i];
	for (i = n; i-- > 1;) /* filling from the end: first[i + 1] becomes the start of i */
		w->children[--w->first[frames[i].parent + 1]] = (uint32_t)i;
	memmove(w->first, w->first + 1, n * sizeof(*w->first));
	w->first[n] = n ? (uint32_t)n - 1 : 0;
	for (i = 0; i < n; i++)
		if (w->first[i + 1] > w->first[i] + 1 && !(w->fl->differs && !i))
			qsort_r(w->children + w->first[i], w->first[i + 1] - w->first[i],
				sizeof(*w->children), fold_order_names, w->fl);
}

static void fold_put(struct fold *w, struct flame_frame frame, uint32_t parent, uint32_t depth,
		     double x)
{
	frame.parent = parent;
	frame.depth = depth;
	frame.x = x;
	if (depth > w->fl->depth &&
	    frame.width >= w->fl->frames[0].width * FLAME_SEEN / FLAME_PIXELS)
		w->fl->depth = depth;
	array_add(w->out, w->n, w->cap, frame);
}

static void fold_put_narrow(struct fold *w, const struct flame_frame *sum, uint32_t parent,
			    uint32_t depth, double x, uint32_t count)
{
	char *name = arena_printf(&w->fl->arena, "(%u %s frame%s)", count,
				  depth > DEEPEST ? "deeper" : "narrow", count == 1 ? "" : "s");
	struct flame_frame f = *sum;

	f.label = flame_label(w->fl, (struct flame_label){name, "", "", CTX_UNKNOWN, false, f.rgb});
	fold_put(w, f, parent, depth, x);
	w->folded.width += f.width;
	w->folded.frames += count;
	w->folded.in++;
}

static void fold_put_frame(struct fold *w, uint32_t i, uint32_t parent, uint32_t depth, double x)
{
	struct flame_frame narrow = {.rgb = 0xf2f2f2};
	uint32_t at = (uint32_t)w->n, count = 0, k, e;

	fold_put(w, w->fl->frames[i], parent, depth, x);
	for (k = w->first[i]; k < w->first[i + 1]; k++) {
		const struct flame_frame *child = &w->fl->frames[w->children[k]];

		if (depth < DEEPEST && child->width >= w->least) {
			fold_put_frame(w, w->children[k], at, depth + 1, x);
			x += child->width;
			continue;
		}
		count += w->below[w->children[k]];
		narrow.width += child->width;
		for (e = 0; e < 2; e++)
			narrow.cost[e] += child->cost[e];
	}
	if (count)
		fold_put_narrow(w, &narrow, at, depth + 1, x, count);
}

struct flame_folded flame_fold(struct flame *fl, double least)
{
	struct fold w = {.fl = fl, .least = least * fl->frames[0].width, .folded.least = least};

	fl->depth = 0;
	fold_list_children(&w);
	fold_put_frame(&w, 0, FLAME_NONE, 0, 0);
	free(fl->frames);
	free(w.children);
	free(w.first);
	free(w.below);
	fl->frames = w.out;
	fl->nframes = w.n;
	fl->frames_cap = w.cap;
	return w.folded;
}
