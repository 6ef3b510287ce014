// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/model/notes.h"

const struct note_kind note_kinds[NOTE_KINDS] = {
#define NOTE(id, severity, concerns, sentence) \
	[NOTE_##id] = {#id, SEVERITY_##severity, concerns, sentence},
#define NOTE_BRIEF(id, severity, concerns, sentence, brief) NOTE(id, severity, concerns, sentence)
#include "analyze/model/notes.def"
#undef NOTE
#undef NOTE_BRIEF
};

const char *note_brief(const struct note *n)
{
	static const char *const words[NOTE_KINDS] = {
#define NOTE(id, severity, concerns, sentence)
#define NOTE_BRIEF(id, severity, concerns, sentence, brief) [NOTE_##id] = (brief),
#include "analyze/model/notes.def"
#undef NOTE
#undef NOTE_BRIEF
	};

	return words[n->kind - note_kinds];
}

const struct note_kind *note_kind_find(const char *name)
{
	return array_find(kind, note_kinds, NOTE_KINDS, !strcmp(kind->name, name));
}
