/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Call chains as lines of text: "comm;root;...;leaf", with VARIANT/SIDE before the command where
 * there are several blocks. Two chains with the same text share a line: an address without a symbol
 * has only its object's name. The chains of the profiles therefore go into a trie of the printed
 * names. A walk of the trie in the order of names gives the lines.
 */
#ifndef ZC_LINES_H
#define ZC_LINES_H

#include "analyze/export/samples.h"
#include "lib/str.h"

struct lines_source;
struct lines {
	struct profile trie; /* a frame is the text between two ';' */
	bool count_samples;  /* a line's weight is its number of samples; else their periods */
	bool all_roots;	     /* a block has its root also where it is the only one */
	int end;	     /* which of the weights lines_add() fills: 0, or 1 for NEW */
	struct {
		uint64_t *of; /* of the line that ends at each frame of the trie */
		size_t cap;
	} weight[2];
	struct lines_source *source; /* of the block that is read */
};

void lines_init(struct lines *l);
void lines_free(struct lines *l);

/* A sample_fn. `lines` is a struct lines. Leaves out samples that cost nothing. */
void lines_add(void *lines, const struct sample_run *r);
/* Ends the reading of one end. */
void lines_end(struct lines *l);

static inline uint64_t lines_weight(const struct lines *l, int end, uint32_t frame)
{
	return frame < l->weight[end].cap ? l->weight[end].of[frame] : 0;
}

/* Calls `line` for each line with a weight, in the order of names. `text` has room for more. */
typedef void line_fn(void *arg, struct str *text, uint32_t frame);
void lines_walk(const struct lines *l, line_fn *line, void *arg);

#endif
