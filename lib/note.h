/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A note is data: its kind says what happened, `variant` to `repeat` say to whom, its values say
 * how much. Code compares kinds and values; nothing reads a sentence. The writers of tables merge
 * the notes that say the same of several runs and make the sentence at the end (note_lines).
 */
#ifndef ZC_NOTE_H
#define ZC_NOTE_H

#include "lib/alloc.h"

#include <stdbool.h>
#include <stddef.h>

enum note_severity {
	SEVERITY_INFO,	  /* how a figure is made */
	SEVERITY_WARNING, /* which figure to distrust */
	SEVERITY_LOSSY,	  /* data are missing */
	SEVERITY_RESULT,  /* a result in words, such as a sum: every writer prints it first */
};

/* Notes that a table prints without --verbose; results do not count. */
enum { NOTES_SHOWN = 5, NOTE_VALUES = 8 };

struct note_kind {
	const char *name;	     /* in the store and in JSON: "cpu_other_programs" */
	enum note_severity severity; /* of a note that is not raised or lowered */
	const char *concerns; /* the collector of the figures to distrust; NULL: all figures */
	const char *sentence; /* a format of printf with at most NOTE_VALUES conversions */
};

struct note_value {
	const char *text; /* NULL: a number */
	double number;
};

struct note {
	const struct note_kind *kind;
	enum note_severity severity;
	const char *variant, *side, *pass; /* NULL: all of them */
	int repeat;			   /* 0: all of them */
	int runs; /* runs of the variant and side that the figures are made of; 0: not known */
	int nvalues;
	struct note_value value[NOTE_VALUES];
};

/* A list of notes; it owns their texts. Zeroed: an empty list. */
struct notes {
	struct note *note;
	size_t n, cap;
	struct arena arena;
};

const char *severity_name(enum note_severity severity); /* "info", "warning", "lossy", "result" */
bool severity_parse(const char *name, enum note_severity *severity);

/*
 * Adds a note of the kind; the arguments are those of its sentence. The caller may change the
 * severity and say whose the note is; the pointer is valid until the next note is added.
 */
struct note *notes_add(struct notes *list, const struct note_kind *kind, ...);
/* Adds a copy, its texts included. */
struct note *notes_copy(struct notes *list, const struct note *note);
void notes_copy_all(struct notes *list, const struct notes *from);
/* Says whose the last note is; copies the names, of which each may be NULL. Returns that note. */
struct note *notes_set_side(struct notes *list, const char *variant, const char *side);
/* Same kind, severity and values. */
bool notes_equal(const struct note *a, const struct note *b);
bool notes_have(const struct notes *list, enum note_severity severity);
void notes_free(struct notes *list);

/* Never called: lets the compiler check a note's arguments against its sentence. */
__attribute__((format(printf, 1, 2))) static inline void note_check(const char *sentence, ...)
{
	(void)sentence;
}

/* Notes of one kind and the same texts, as one line. */
struct note_line {
	enum note_severity severity;
	const struct note **notes; /* at least one, in their order */
	size_t n;
	const char *text; /* "mmap receiver (4 of 6 runs): ... 1.3 to 5.3 %" */
};

struct note_lines {
	struct note_line *line;
	size_t n;
	struct arena arena;
};

/* Merges the notes: results first, then the worst first, else in their order. */
void note_lines_make(struct note_lines *lines, const struct notes *list);
void note_lines_free(struct note_lines *lines);
/* How many lines a writer prints: all, or the results and NOTES_SHOWN others. */
size_t note_lines_shown(const struct note_lines *lines, bool all);
/* The line as messages have it: "warning: mmap receiver: ...". The caller frees it. */
char *note_line_text(const struct note_line *line);

#endif
