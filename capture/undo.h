/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The journal of what a capture must undo. Each entry is a shell script NNN in the folder that
 * state_folder returns. A capture writes it before it sets something up, and removes it after the
 * script has run. Whatever ends a capture, the next capture runs the scripts that are left, the
 * last one first. So a script may run twice, or after only a part of the set-up was done, or none
 * of it.
 */
#ifndef ZC_CAPTURE_UNDO_H
#define ZC_CAPTURE_UNDO_H

#include "capture/child.h"
#include "capture/plan.h"

/* Bytes of a script, which exec takes as one argument: MAX_ARG_STRLEN with 4 KiB pages. */
enum { SCRIPT_MOST = 131072 };

struct undo {
	const char *owner; /* "the plan", "setting mtu=9000" */
	const char *saved; /* $saved in `after`; NULL: not set */
	const char *after;
	double timeout_s; /* 0 when there is no limit */
};

int undo_write(const char *dir, unsigned int n, const struct undo *u, struct error *err);

/*
 * Runs entry n and removes it. No signal interrupts it. It stays when it fails. Returns 0 also
 * where there is no entry n.
 */
int undo_run(const char *dir, unsigned int n, struct error *err);

/*
 * Runs the entries that a killed capture in `dir` left. `err` is the first failure. An entry from
 * before the last boot is dropped with a warning: the boot has undone what it undoes.
 */
int undo_recover(const char *dir, struct error *err);

/* Says whether an entry is left, or may be left in a folder that cannot be read. */
bool undo_due(const char *dir);

/*
 * Returns the folder with the state of the capture folder `capture`. The caller frees. With `make`
 * the folder is made. NULL: it cannot be made, or (without `make`) it does not exist.
 * Without `make`, `err` is set only where the disk or the memory does not allow an answer.
 *
 * The state is outside of the capture folder, which may come from anybody, and only its owner can
 * write to it. It is /run/zcost/KEY for root, and zcost/KEY in $XDG_RUNTIME_DIR (or /run/user/UID)
 * for other users. $ZCOST_STATE replaces the first part for both. KEY is the device, the inode and
 * the time of birth of the capture folder: after a rename the state is found, a copy has none.
 */
char *state_folder(const char *capture, bool make, struct error *err);

/* Says to a user other than root whether root has a state folder for the capture folder. */
bool state_of_root(const char *capture);

/* Removes the state folder if it is empty. */
void state_drop(const char *capture);

/* --- hooks (stage.c) --- */

struct hook {
	const char *dir;	  /* the capture */
	const char *owner, *what; /* for messages: "the plan", "before" */
	const char *command;
	const char *shown;	/* the command in messages; NULL: `command` */
	double timeout_s;	/* 0 when there is no limit */
	struct interrupt *intr; /* NULL when no signal interrupts the hook */
	bool anyway; /* run it also when a full disk prevents hook_recover from finding it */
};

/*
 * Returns -EINTR when a signal came, and -ETIMEDOUT when the command took too long. Both end all
 * processes that it started. -EIO: the command failed.
 */
int hook_run(const struct hook *h, struct error *err);

/*
 * Ends the processes of the hook that ran when a capture in `dir` was killed. Processes that a hook
 * leaves when it ends are intended by the plan.
 */
void hook_recover(const char *dir);

/* --- settings (stage.c) --- */

/*
 * Sets up what runs are measured under: the plan's `before`, and on top of it a stack of settings.
 * To change a setting, those above it are undone and set up again. The settings at the bottom that
 * two combinations share stay. Each `after` is in the journal before its `before` starts.
 */
struct stage {
	const struct plan *plan;
	const char *dir;
	struct interrupt *intr;
	size_t combination; /* its first `depth` settings are set up */
	size_t depth;
	unsigned int stuck; /* journal entry of a setting that could not be undone; 0: none */
	char *why;	    /* why not all settings could be set up; NULL: all are */
};

/* Runs the plan's `before`. Call stage_close also after a failure. -EINTR after a signal. */
int stage_open(struct stage *s, const struct plan *plan, const char *dir, struct interrupt *intr,
	       struct error *err);

/*
 * Sets up a combination. -ECANCELED: this cannot be done, s->why says why, the setting that failed
 * is undone, and another combination may be tried. After any other error no run may be made: an
 * `after` failed, and the state of the host is unknown.
 */
int stage_set(struct stage *s, size_t combination, struct error *err);

/* Undoes everything, also after an `after` fails. `err` is the first failure. */
int stage_close(struct stage *s, struct error *err);

/* Returns how many settings two combinations share before the first one that differs. */
size_t stage_common(const struct plan *p, size_t a, size_t b);

#endif
