/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A tree of call chains with the weights of several runs. A frame is a function below its caller,
 * the roots are commands. In a reversed tree the roots are the functions that the samples are in,
 * and a frame is a caller below what it calls.
 *
 * Functions have the names and objects of the table `functions` without --all. So the frames of a
 * function, without those below another frame of the function, add up to the function's total.
 */
#ifndef ZC_CALL_TREE_H
#define ZC_CALL_TREE_H

#include "analyze/costs/costs.h"

#define CALL_NONE UINT32_MAX

struct call_label {
	const char *symbol, *dso, *component; /* a command has "" for the last two */
	enum context context;		      /* that the function runs in, by its callers */
	bool begins;			      /* the context begins with this frame */
	bool command;
	bool merges; /* frames of this label that call each other are one frame */
};

struct call_frame {
	uint32_t parent, label;
};

/* What each frame has without the frames below it. Frames from n on have nothing. */
struct call_run {
	double *weight;
	uint64_t *samples;
	size_t n;
};

struct call_tree {
	bool reverse;
	bool waits; /* has only the samples of threads that are blocked or on the run queue */
	struct call_label *labels;
	struct call_frame *frames; /* a parent precedes its children */
	struct call_run *runs;
	size_t nlabels, labels_cap, nframes, frames_cap, nruns, runs_cap;
	/* private */
	size_t first; /* run of this tree that is run 0 of the tally */
	const struct components *components;
	struct intern strings, label_ids;
	struct map frame_ids;
	struct call_source *source; /* the profile that is read */
};

void call_tree_init(struct call_tree *s, bool reverse);
void call_tree_free(struct call_tree *s);

/*
 * Adds the profiled runs of a block, or of the query's perf.data where `b` has no variant. `part`
 * receives their basis and weights; a weight x part->basis.ns / part->tally.weight is a cost. Notes
 * about the profiles go to `notes`. The caller frees `part`, also after an error.
 */
int call_tree_read(struct call_tree *s, struct store *store, const struct query *q,
		   const struct block *b, struct cost_part *part, struct table *notes,
		   struct error *err);

/* Adds a sample to a run: called by the tally that reads the runs. */
void call_tree_add(struct call_tree *s, const struct profile *p, int run,
		   const struct profile_cost *c);
/* Adds weight that has no call chain, as a root. */
void call_tree_add_root(struct call_tree *s, int run, const char *name, double weight,
			uint64_t samples);

/* Adds to each frame's weight those of all frames below it. */
void call_tree_add_up(const struct call_tree *s, double *weights);
/* Returns, for each frame, the weight of the frame and all frames below it in the runs from `from`
 * to `to`. The caller frees the array. */
double *call_tree_totals(const struct call_tree *s, size_t from, size_t to);

#endif
