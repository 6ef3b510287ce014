/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Captures the runs of a plan: the loop over the runs, one run, and what an earlier capture left.
 *
 * A run writes its files under runs/<variant>/.<pass>-<nn>.tmp. When the run has ended, the folder
 * gets its final name, and then the manifest lists it. A capture that is killed before that leaves
 * only files that do not count.
 */
#ifndef ZC_CAPTURE_CAPTURE_H
#define ZC_CAPTURE_CAPTURE_H

#include "capture/child.h"
#include "capture/manifest.h"
#include "capture/plan.h"
#include "capture/remote.h"
#include "lib/intern.h"

/*
 * Shows the progress of a capture and the time left. On a terminal it is one line that is printed
 * again and again, elsewhere at most nine lines. `verbose` prints one line for each run that ended,
 * on any output.
 */
struct progress {
	const struct plan *plan;
	bool tty, verbose, shown, learned;
	size_t total, done;
	double left_s; /* the time of the runs that have not begun */
	double late_s; /* what a run takes more than expected, from the runs that ended */
	const struct run_id *run; /* the run that goes on; NULL: none */
	uint64_t began_ns;
};

void progress_init(struct progress *p, const struct plan *plan, bool verbose);
/* Returns the seconds that the runs from `from` on are expected to take. */
double progress_expect(const struct progress *p, const struct order *o, size_t from);
/* Begins run i of the order, with the change of its settings. */
void progress_begin(struct progress *p, const struct order *o, size_t i);
void progress_tick(struct progress *p);
void progress_end(struct progress *p, bool ok);
void progress_clear(struct progress *p); /* call it before another line is printed */

/* Returns "1:05" or "2:00:00" in a static buffer. */
const char *progress_time(double seconds);

/* --- the capture --- */

struct capture {
	struct plan *plan;
	const char *dir;
	const char *collect; /* the program whose `collect` runs each side */
	bool whole;	     /* the capture may have no variants but the plan's */
	bool verbose;

	struct order order;
	struct manifest manifest;
	struct interrupt intr;
	char *mark;	       /* in the environment of all processes of all runs (lib/spawn.h) */
	struct remote *remote; /* one for each side, without a url where the side runs here; NULL
				  when all run here */
	struct progress progress;
	struct intern remarks; /* remarks on collectors that were printed: each is printed once */
	bool no_sign;	       /* a run waited in vain for a sign that its workload moves data */
	double start_s;	       /* longest time from a run's first process to its warm-up */
	bool (*given_up)[PASS_COUNT]; /* by variant: the last run of a pass failed in all its tries
				       */

	/* Numbers of runs that this capture made. Lossy runs count as ok, too. */
	size_t ok, failed, lossy;
};

/* Makes all runs of the plan that the capture does not have yet. -EINTR after a signal. */
int capture_all(struct capture *c, struct error *err);

/*
 * Ends the processes and undoes the settings that a killed capture in `dir` left. It makes no run.
 * Where the capture folder is gone, `dir` is its state folder.
 */
int capture_undo(const char *dir, struct error *err);

/* Prints how many runs the capture has of all runs of the plan, and what to do with a complete one.
 */
void capture_note_existing(const char *dir, size_t all, size_t left);

/*
 * Prints what capture_all would do, in order, with every command, and how long it takes. `dir` is
 * the capture to continue. Where it is NULL or does not exist, all runs are to be made.
 */
int capture_dry_run(struct plan *p, const char *dir, bool whole, struct error *err);

/* Prints a note, and the progress again below it. */
void capture_note(struct capture *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The result of one run. */
struct run_outcome {
	char *why;     /* why the run failed, owned; "" when it is ok */
	char *cut_off; /* why a run that is ok is to be tried again; owned; NULL: it is complete */
	bool lossy;
};

/*
 * Makes one run in the folder `dir`, which exists. Returns 0 also when the run failed, -EINTR when
 * a signal ended it, and -EINVAL when `zcost collect` refused its options, so that no run can
 * succeed.
 */
int run_execute_sides(struct capture *c, const struct run_id *id, const char *dir,
		      struct run_outcome *out, struct error *err);

/*
 * Prints the remarks of a side that has ended. Sets *why to the reason why it failed, where its
 * run.json does not say ok, or else *cut_off to why its workload's account is incomplete. `ended`
 * says how zcost collect ended. It is the reason where there is no run.json.
 */
void report_side(struct capture *c, const char *dir, int side, const char *ended, char **why,
		 char **cut_off);

/*
 * Returns why a run does not count although all of its sides are ok: the windows of its sides do
 * not overlap, or they are farther apart than lib/clock.h allows. NULL: they agree, or they
 * cannot be compared.
 */
char *overlap_missing(struct capture *c, const char *dir);

/* Locks the folder itself, so that no lock file can be left. Returns the fd or -errno. */
int recover_lock(const char *dir, struct error *err);

#endif
