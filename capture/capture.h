/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A capture in the making: the loop over a plan's runs, and one run of it.
 *
 * A run's files are written under runs/<variant>/.<pass>-<nn>.tmp and get their name when the run
 * has ended; then the manifest names it. Whoever is killed in between leaves nothing that counts.
 */
#ifndef ZC_CAPTURE_CAPTURE_H
#define ZC_CAPTURE_CAPTURE_H

#include "capture/child.h"
#include "capture/manifest.h"
#include "capture/order.h"
#include "capture/plan.h"
#include "capture/progress.h"
#include "capture/remote.h"
#include "lib/intern.h"

struct capture {
	struct plan *plan;
	const char *dir;
	const char *collect; /* the program whose `collect` runs each side */
	bool whole;	     /* the plan is all there may be in the capture */
	bool verbose;
	bool forget; /* what an earlier capture had set up and cannot be undone */

	struct order order;
	struct manifest manifest;
	struct interrupt intr;
	char *mark;  /* of what runs are made of (lib/marked.h) */
	int runs_fd; /* runs/, locked; handed down to all sides of a run. -1: none */
	struct remote remote[SIDE_COUNT]; /* remotes.h; url NULL: the side runs here */
	bool owed[SIDE_COUNT];		  /* something of ours may be left on its host */
	struct progress progress;
	struct intern said; /* remarks on collectors: each is made once */

	/* what came of it */
	size_t ok, failed, lossy; /* runs of now; lossy ones are ok too */
};

/* All the plan's runs that are not done yet. -EINTR after a signal. */
int capture_all(struct capture *c, struct error *err);

/* Ends and undoes what a capture in `dir` that was killed has left, and no more; `forget` as in
 * undo.h. */
int capture_undo(const char *dir, bool forget, struct error *err);

/*
 * Prints what capture_all would do, in order, with every command as it would be run, and how long
 * it takes. `dir`: the capture to go on with; NULL, or not there: from the beginning.
 */
int capture_dry_run(struct plan *p, const char *dir, bool whole, struct error *err);

/* Removes what the manifest does not name. Call with nobody else at work in the capture. */
int leftovers_remove(struct capture *c, struct error *err);

/* What came of one run. */
struct outcome {
	char *why; /* owned; "" when it is ok */
	bool lossy;
	bool again; /* it failed by what else happened on its hosts: worth another try at once */
};

/*
 * Does one run into `dir`, which exists. 0 also when the run failed; -EINTR when a signal ended it;
 * -EINVAL when `zcost collect` did not accept its options, so that no run can succeed.
 */
int run_execute_sides(struct capture *c, const struct run_id *id, const char *dir,
		      struct outcome *out, struct error *err);

/*
 * What a side that ended has to say. *why stays NULL when its run.json says ok and its workload did
 * something. `ended`: how the process ended, in words, for a side that left no run.json.
 */
void report_side(struct capture *c, const char *dir, enum side side, const char *ended, char **why);

/* The first line of a file, or the last that may be a reason, as plain ASCII; NULL: none. */
char *report_line(const char *path, bool first);

/*
 * Why the run in `dir`, whose sides all went well, cannot be counted: their windows, by one clock,
 * have no moment in common, or are farther apart than lib/window_skew.h allows. *again: no command
 * ended before its window did, so that it may go well the next time. NULL: they agree, or that
 * cannot be known.
 */
char *overlap_missing(struct capture *c, const char *dir, bool *again);

/*
 * Refuses a folder with files that is no capture, one that other users can change while root writes
 * to it, and one with links, fifos or devices.
 */
int capture_folder_check(const char *dir, struct error *err);

/* The folder itself is what is locked: nothing to leave behind. Returns the fd or -errno. */
int recover_lock(const char *dir, struct error *err);

/* Call when the plan is known to be that of the capture. Sets c->mark, and c->runs_fd. */
int recover_earlier(struct capture *c, struct error *err);

/* runs/, and the lock on it that all of a run inherits: the next capture can wait for its end. */
int recover_lock_runs(struct capture *c, struct error *err);
/* Is it handed down just now? What `before` leaves running does not belong to a run. */
void recover_hand_down(const struct capture *c, bool down);

/* A side that was killed leaves others to end its processes: they write until then. */
void recover_sweep(const struct capture *c, const struct run_id *id);

#endif
