/* SPDX-License-Identifier: GPL-2.0-only */
/* Warnings and losses beside a table: each kind once, however many runs it befell. */
#ifndef ZC_NOTES_H
#define ZC_NOTES_H

#include "analyze/model/profile.h"
#include "lib/intern.h"
#include "lib/table.h"

/*
 * Do two notes say the same, but for their figures? "severity: variant side: text": the first two
 * parts must be equal, in the text numbers do not count ("covers 1.33 s", "covers 1.28 s").
 */
bool notes_alike(const char *a, const char *b);

/*
 * Notes that are alike as one: "covers 1.28..1.33 s" has the smallest and the largest of each
 * number that differs. The caller frees it.
 */
char *notes_range(const char *const *texts, size_t n);

/* Notes grouped by what they say, in time linear in their number. Zero-initialised is empty. */
struct note_kind {
	const char **texts; /* alike, in the order of their addition; live until note_kinds_free */
	size_t n, cap;
	size_t runs;		  /* with such a note; a run's notes are added one after another */
	const void *first, *last; /* run of the first and of the last text; NULL: of the capture */
};
struct note_kinds {
	struct intern keys;
	struct note_kind *kinds; /* in the order of their first notes */
	size_t n, cap;
};
void note_kinds_add(struct note_kinds *k, const char *note, const void *run);
void note_kinds_free(struct note_kinds *k);

/* Adds the note unless the table has one alike. */
void notes_say_once(struct table *t, const char *text);

/*
 * Warnings and losses of one kind that several variants or sides have, as one line in the place of
 * the first: "warning: a receiver, a sender, b receiver and 3 more: text". For a table that is
 * done.
 */
void notes_gather(struct table *t);

/* "X: the workload's own count over its whole run ...": the other figures are of the window. */
void notes_whole_run(struct table *t, const char *what);

/* What was lost or odd in a bare file; sets t->lossy. */
void notes_of_profile(struct table *t, const struct profile *p);

#endif
