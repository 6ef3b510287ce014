/* SPDX-License-Identifier: GPL-2.0-only */
/* What flame graphs of one variant and of a difference share: chart_flame.c. */
#ifndef ZC_PLOT_CHART_FLAME_H
#define ZC_PLOT_CHART_FLAME_H

#include "analyze/costs/call_tree.h"
#include "lib/workers.h"
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

/* What is known of a picture when its frames are read: the first member of a chart. */
struct flame_picture {
	struct flame graph; /* without frames */
	struct figure figure;
	char *what; /* the variant and side, for messages */
	/* Adds the frames and writes the files. Reads only what the chart owns. */
	int (*write)(struct flame_picture *p, const char *dir, struct error *err);
	void (*free)(struct flame_picture *p); /* frees the chart */
};

void flame_picture_free(struct flame_picture *p);

/*
 * The files of one chart. One picture is written in the background while the next is read. Starts
 * with `chart` and `dir` alone.
 */
struct flame_files {
	const char *chart, *dir;
	int written;
	struct str absent;  /* the ends without a profile */
	struct error first; /* the first error, or the one that is no missing profile */
	struct background writer;
	struct flame_picture *writing;
	struct error failed; /* of `writing` */
};

/* Takes the picture. Writes it if `rc` is 0, else counts why there is none. */
void flame_files_add(struct flame_files *files, struct flame_picture *p, int rc,
		     const struct error *err);
/* Returns whether an error makes further pictures useless. A missing profile does not. */
bool flame_files_failed(const struct flame_files *files);
/*
 * Waits for the last picture. Names the ends without a profile. Returns an error if there is no
 * file, or another error.
 */
int flame_files_end(struct flame_files *files, int *written, struct error *err);

#endif
