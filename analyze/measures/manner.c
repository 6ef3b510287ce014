// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/manner.h"

#include "analyze/measures/notes.h"
#include "lib/str.h"

#include <string.h>

static void say_slice(const char *slice, const char *absent, struct table *t)
{
	struct str s = {0};

	str_printf(&s,
		   "--from, --to: only %s of each run's window; evidence of zero copy is of whole "
		   "runs",
		   slice);
	if (absent)
		str_printf(&s, "; absent, since no part of the window can be told of: %s", absent);
	notes_say_once(t, s.buf);
	str_free(&s);
}

void manner_say(struct store *s, bool frames, struct table *t)
{
	const char *slice = store_capture_value(s, "slice"),
		   *absent = store_capture_value(s, "slice_absent");

	if (slice)
		say_slice(slice, absent, t);
	if (frames && store_capture_value(s, "inlines"))
		notes_say_once(t, "inlined functions are frames of their own (analyze --inline)");
}

const char *manner_absent(struct store *s, const char *collector)
{
	const char *absent = store_capture_value(s, "slice_absent");

	return absent && strstr(absent, collector)
		       ? "only a total of the whole window is known, and --from, --to want a part"
		       : NULL;
}
