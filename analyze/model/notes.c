// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/model/notes.h"

#include <string.h>

const struct note_kind note_kinds[NOTE_KINDS] = {
#define NOTE(id, severity, concerns, sentence) \
	[NOTE_##id] = {#id, SEVERITY_##severity, concerns, sentence},
#include "analyze/model/notes.def"
#undef NOTE
};

const struct note_kind *note_kind_find(const char *name)
{
	size_t i;

	for (i = 0; i < NOTE_KINDS; i++)
		if (!strcmp(note_kinds[i].name, name))
			return &note_kinds[i];
	return NULL;
}
