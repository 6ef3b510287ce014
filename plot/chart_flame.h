/* SPDX-License-Identifier: GPL-2.0-only */
/* What flame graphs of one variant and of a difference share: chart_flame.c. */
#ifndef ZC_PLOT_CHART_FLAME_H
#define ZC_PLOT_CHART_FLAME_H

#include "analyze/measures/call_tree.h"
#include "plot/chart.h"
#include "plot/flame.h"

#define FLAME_OPTIONS "cpu comm workload-only unit basis components component-set icicle reverse "

enum { FLAME_ROOT = 0xe8e8e8, FLAME_COMMAND = 0xcfd4da };

extern const struct chart chart_flame, chart_flame_diff;

/* Adds a label for each of the tree's. Returns their places; the caller frees. */
uint32_t *flame_add_labels(struct flame *fl, const struct call_tree *tree);

/* Adds the root, "all: 249.3 ns per KiB". */
void flame_add_root(struct flame *fl, double width);

/* Returns the words, without empty ones, joined to a file's name without an ending. */
const char *flame_file_name(struct figure *f, const char *const words[], size_t n);

/* Adds the contexts that begin in the tree as groups of the figure, for the legend. */
void flame_add_contexts(struct figure *f, const struct call_tree *tree);

/* Sets four cells: symbol, dso, component, context. */
void flame_set_label(struct table *t, struct value *row, const struct call_label *l);

int flame_write_tsv(const struct table *t, const struct figure *f, const char *dir,
		    struct error *err);

/* The files of one chart. */
struct flame_files {
	const char *chart;
	int written;
	struct str absent;  /* the ends without a profile */
	struct error first; /* the first error, or the one that is no missing profile */
};

/* Counts a file, or keeps why it is missing. */
void flame_files_add(struct flame_files *files, int rc, const char *what, const struct error *err);
/* Names the ends without a profile. Returns an error if there is no file, or another error. */
int flame_files_end(struct flame_files *files, int *written, struct error *err);

#endif
