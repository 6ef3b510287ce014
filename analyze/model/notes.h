/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every kind of note that the laptop half makes: NOTE_<id> in code, "<id>" in the store and in
 * JSON. The table of kinds is notes.def; a new kind is a row there.
 */
#ifndef ZC_MODEL_NOTES_H
#define ZC_MODEL_NOTES_H

#include "lib/note.h"

enum note_id {
#define NOTE(id, severity, concerns, sentence)		    NOTE_##id,
#define NOTE_BRIEF(id, severity, concerns, sentence, brief) NOTE_##id,
#include "analyze/model/notes.def"
#undef NOTE
#undef NOTE_BRIEF
	NOTE_KINDS
};

extern const struct note_kind note_kinds[NOTE_KINDS];

/* The sentences again, where the compiler sees them: it checks the arguments of note_add. */
#define NOTE(id, severity, concerns, sentence) \
	static const char note_sentence_##id[] __attribute__((unused)) = sentence;
#define NOTE_BRIEF(id, severity, concerns, sentence, brief) NOTE(id, severity, concerns, sentence)
#include "analyze/model/notes.def"
#undef NOTE
#undef NOTE_BRIEF

/* Adds a note NOTE_<id> with the arguments of its sentence; see notes_add. */
#define note_add(list, id, ...)                                         \
	({                                                              \
		if (0)                                                  \
			note_check(note_sentence_##id, ##__VA_ARGS__);  \
		notes_add(list, &note_kinds[NOTE_##id], ##__VA_ARGS__); \
	})

/* The same of one variant and side; a NULL means all of them. */
#define note_add_of(list, variant, side, id, ...)    \
	({                                           \
		note_add(list, id, ##__VA_ARGS__);   \
		notes_set_side(list, variant, side); \
	})

/* The same of a block of rows: anything with a variant and a side. */
#define note_add_block(list, block, id, ...) \
	note_add_of(list, (block)->variant, (block)->side, id, ##__VA_ARGS__)

static inline bool note_is(const struct note *n, enum note_id id)
{
	return n->kind == &note_kinds[id];
}

/* Returns the doubt in few words, for a commit message or a chart, or NULL. */
const char *note_brief(const struct note *n);
const struct note_kind *note_kind_find(const char *name); /* or NULL */

#endif
