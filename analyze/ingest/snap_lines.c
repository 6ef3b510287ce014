// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/ingest/snap_lines.h"

#include "lib/str.h"

#include <errno.h>
#include <string.h>

/* Of the readings before the window only the last one tells how things were when it opened. */
static void snaps_skip_early(struct snaps *s, uint64_t start)
{
	size_t skip = 0;

	while (skip + 2 < s->n && s->snap[skip + 1].mono_ns <= start)
		skip++;
	if (!skip)
		return; /* an empty file has no list at all */
	s->n -= skip;
	memmove(s->snap, s->snap + skip, s->n * sizeof(*s->snap));
}

int snap_lines_open(struct ingest *in, const char *what, const char *path, struct snaps *snaps,
		    struct error *err)
{
	struct error damage = {0};
	int rc = snaps_read(snaps, path, &damage);
	size_t n;

	if (rc && rc != -EBADMSG)
		return error_set(err, -rc, "%s", damage.text);
	if (rc)
		note_add(&in->notes, file_damaged, what, damage.text);
	snaps_skip_early(snaps, in->run.start_ns);
	n = snaps->n;
	if (n >= 2)
		return 0;
	snaps_free(snaps);
	return error_set(err, ENODATA, "%s: %zu snapshots; two are needed", path, n);
}

size_t snap_lines(char *text, bool (*one)(char *line, void *arg), void *arg)
{
	char *rest = text, *line;
	size_t bad = 0;

	while ((line = str_token(&rest, '\n')))
		bad += *line && !one(line, arg);
	return bad;
}
