/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A note is data. Its kind says what happened, `variant` to `repeat` say to which runs, and its
 * values say how much. Code compares kinds and values, and no code reads a sentence. The writers
 * of tables merge equal notes of several runs and format the sentence last (note_lines).
 */
#ifndef ZC_NOTE_H
#define ZC_NOTE_H

#include "lib/alloc.h"

#include <stdbool.h>

enum note_severity {
	SEVERITY_INFO,	  /* what else is worth knowing of a figure */
	SEVERITY_WARNING, /* which figure to distrust */
	SEVERITY_LOSSY,	  /* data are missing */
	SEVERITY_METHOD,  /* how the figures are made: sums, basis, estimator */
	SEVERITY_RESULT,  /* a result in words; every writer prints it first */
};

/*
 * NOTES_SHOWN is the number of doubts and infos that tsv and csv print without --verbose. Text and
 * md have one line on the method and one doubt.
 */
enum { NOTES_SHOWN = 5, NOTE_VALUES = 8 };

struct note_kind {
	const char *name;	     /* the name in the store and in JSON: "cpu_other_programs" */
	enum note_severity severity; /* the default severity of a note */
	/*
	 * The collector with the doubtful figures. "*" means that the first value names it, and
	 * NULL means all figures.
	 */
	const char *concerns;
	/*
	 * A printf format with at most NOTE_VALUES conversions. "%zu row{|s} {is|are} bad" is "1
	 * row is bad" or "2 rows are bad". "%-s" is a text of zcost itself, "%s" may be a text of
	 * the host or the user. The first "; " of a note ends its statement. What follows is
	 * advice: what the statement means for the figures, or what to do. A table on a terminal
	 * leaves it out.
	 */
	const char *sentence;
};

struct note_value {
	const char *text; /* NULL if the value is a number */
	double number;
};

struct note {
	const struct note_kind *kind;
	enum note_severity severity;
	const char *variant, *side, *pass; /* NULL means all */
	int repeat;			   /* 0 means all */
	int runs; /* number of runs of the variant and side in the figures; 0 if unknown */
	int nvalues;
	struct note_value value[NOTE_VALUES];
};

/* A list of notes. The list owns the notes' texts. A zeroed list is empty. */
struct notes {
	struct note *note;
	size_t n, cap;
	struct arena arena;
};

const char *severity_name(
	enum note_severity severity); /* "info", "warning", "lossy", "method", "result" */
bool severity_parse(const char *name, enum note_severity *severity);

/*
 * Adds a note of the kind. The arguments are the values of its sentence. The caller may change the
 * severity and set the variant, side and run. The pointer is valid until the next note is added.
 */
struct note *notes_add(struct notes *list, const struct note_kind *kind, ...);
/* Adds a copy of the note and of its texts. */
struct note *notes_copy(struct notes *list, const struct note *note);
/*
 * Sets the variant and side of the last note and returns the note. Copies the names; each may be
 * NULL.
 */
struct note *notes_set_side(struct notes *list, const char *variant, const char *side);
/* Returns whether the sentence's value at the place is always a text of zcost itself: "%-s". */
bool note_text_is_own(const struct note_kind *kind, size_t place);
/* Returns the collector with the doubtful figures, or NULL for all figures. */
const char *note_collector(const struct note *note);
/* Returns whether two notes have the same kind, severity and values. */
bool notes_equal(const struct note *a, const struct note *b);
/* Finds the smallest and the largest number at the place of n notes, which may be unknown. */
void notes_range(const struct note *const *notes, size_t n, int place, double *low, double *high);
bool notes_have(const struct notes *list, enum note_severity severity);
/* Returns whether a figure is doubtful or data are missing. */
static inline bool note_is_doubt(const struct note *note)
{
	return note->severity == SEVERITY_WARNING || note->severity == SEVERITY_LOSSY;
}
void notes_free(struct notes *list);

/* Lets the compiler check a note's arguments against its sentence. Nobody calls this function. */
__attribute__((format(printf, 1, 2))) static inline void note_check(const char *sentence, ...)
{
	(void)sentence;
}

/* Notes of one kind with the same texts, as one line. */
struct note_line {
	enum note_severity severity;
	const struct note **notes; /* at least one, in their order */
	size_t n;
	const char *whose; /* "mmap receiver (4 of 6 runs)"; empty if it is about all */
	const char *text;  /* "mmap receiver (4 of 6 runs): ... 1.3 to 5.3 %; ..." */
	const char *brief; /* the text without the advice */
};

struct note_lines {
	struct note_line *line;
	size_t n;
	struct arena arena;
};

/*
 * Merges the notes into lines: results and methods first, then the worst notes first. Losses and
 * warnings stand in the order of the array of their kinds, the weightiest first, and other notes in
 * their own.
 */
void note_lines_make(struct note_lines *lines, const struct notes *list);
void note_lines_free(struct note_lines *lines);
/* Returns how many lines tsv and csv print: results, methods and NOTES_SHOWN others. */
size_t note_lines_shown(const struct note_lines *lines);
/* Returns the line as a message: "warning: mmap receiver: ...". The caller frees the message. */
char *note_line_text(const struct note_line *line);
/* Returns the message without the advice. */
char *note_line_brief(const struct note_line *line);

#endif
