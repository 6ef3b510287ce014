// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/manner.h"

#include "analyze/model/notes.h"

#include <string.h>

static void say_slice(const char *slice, const char *absent, struct table *t)
{
	note_add(&t->notes, slice, slice);
	if (absent)
		note_add(&t->notes, slice_absent, absent);
}

void manner_say(struct store *s, bool frames, struct table *t)
{
	const char *slice = store_capture_value(s, "slice"),
		   *absent = store_capture_value(s, "slice_absent");

	if (slice)
		say_slice(slice, absent, t);
	if (frames && store_capture_value(s, "inlines"))
		note_add(&t->notes, inlines);
}

const char *manner_absent(struct store *s, const char *collector)
{
	const char *absent = store_capture_value(s, "slice_absent");

	return absent && strstr(absent, collector)
		       ? "only a total of the whole window is known, and --from, --to want a part"
		       : NULL;
}
