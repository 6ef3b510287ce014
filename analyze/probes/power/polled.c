// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads what a --power-command printed: a record of power-command.snap is a line. The collector
 * writes the first record: a '#' and the kind. A record without a reading is left out, because a
 * command may print a heading.
 */
#include "analyze/probes/power/parser.h"
#include "analyze/probes/snapshots.h"

#include "lib/alloc.h"
#include "lib/program_text.h"
#include "lib/snap.h"
#include "lib/str.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct polled {
	struct reading *r;
	size_t n, bad;
	struct error why; /* of the first record without a reading */
};

static void polled_read_snaps(struct polled *p, struct snaps *snaps)
{
	const char *text;
	double watts;
	size_t i;

	p->r = xcalloc(snaps->n + 1, sizeof(*p->r));
	for (i = 0; i < snaps->n; i++) {
		text = snaps_text(snaps, i);
		if (*text == '#')
			continue;
		if (watts_of_line(text, &watts, &p->why))
			p->bad++;
		else
			p->r[p->n++] = (struct reading){snaps->snap[i].mono_ns, watts};
	}
	readings_sort(p->r, p->n);
}

/* Returns the kind in "# kind: wall" of the first record. */
static const char *polled_find_kind(struct snaps *snaps)
{
	static const char key[] = "# kind: ";
	const char *line = snaps->n ? strstr(snaps_text(snaps, 0), key) : NULL;
	static const char *const kinds[] = {"wall", "platform", "package"};
	size_t i, n = line ? strcspn(line + sizeof(key) - 1, "\n") : 0;

	for (i = 0; i < array_size(kinds); i++)
		if (strlen(kinds[i]) == n && !strncmp(line + sizeof(key) - 1, kinds[i], n))
			return kinds[i];
	return "other";
}

static int power_command_read_file(struct ingest *in, const char *path, struct error *err)
{
	const char *what = str_ends(path, "/power-command.snap") ? "power by the command"
								 : "power by another command";
	struct error damage = {0};
	struct polled p = {0};
	struct snaps snaps = {0};
	const char *kind;
	int rc = snaps_read(&snaps, path, &damage);

	if (rc && rc != -EBADMSG) {
		snaps_free(&snaps);
		return error_set(err, -rc, "%s", damage.text);
	}
	if (rc)
		note_add(&in->notes, file_damaged, "power", damage.text);
	polled_read_snaps(&p, &snaps);
	if (p.bad)
		note_add(&in->notes, power_bad_answers, what, p.bad, p.bad + p.n, p.why.text);
	kind = polled_find_kind(&snaps);
	power_add(in, kind, "command", "power", readings_metered(in, what, p.r, p.n), NULL);
	readings_add_series(in, kind, "command", "power", p.r, p.n, false);
	free(p.r);
	snaps_close(in, &snaps);
	return 0;
}

const struct parser parser_power_command = {.files = {"power-command.snap", "power-command-2.snap",
						      "power-command-3.snap",
						      "power-command-4.snap"},
					    .read = power_command_read_file};
