// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads what polled programs printed. A record of power-ipmi.snap is a whole answer, and a record
 * of power-command.snap is a line. The collector writes the first record: a '#' and the kind. A
 * record without a reading is left out, because a command may print a heading.
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

typedef int (*watts_fn)(const char *text, double *watts, struct error *err);

struct polled {
	struct reading *r;
	size_t n, bad;
	struct error why; /* of the first record without a reading */
};

static void polled_read_snaps(struct polled *p, struct snaps *snaps, watts_fn watts_of)
{
	const char *text;
	double watts;
	size_t i;

	p->r = xcalloc(snaps->n + 1, sizeof(*p->r));
	for (i = 0; i < snaps->n; i++) {
		text = snaps_text(snaps, i);
		if (*text == '#')
			continue;
		if (watts_of(text, &watts, &p->why))
			p->bad++;
		else
			p->r[p->n++] = (struct reading){snaps->snap[i].mono_ns, watts};
	}
	readings_sort(p->r, p->n);
}

/* A program that is polled. */
struct polled_source {
	const char *what, *source, *domain;
	watts_fn watts_of;
	const char *(*kind_of)(struct snaps *snaps);
};

static int polled_read_file(struct ingest *in, const char *path, const struct polled_source *from,
			    struct error *err)
{
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
	polled_read_snaps(&p, &snaps, from->watts_of);
	if (p.bad)
		note_add(&in->notes, power_bad_answers, from->what, p.bad, p.bad + p.n, p.why.text);
	kind = from->kind_of(&snaps);
	power_add(in, kind, from->source, from->domain, readings_metered(in, from->what, p.r, p.n),
		  NULL);
	readings_add_series(in, kind, from->source, from->domain, p.r, p.n, false);
	free(p.r);
	snaps_close(in, &snaps);
	return 0;
}

static const char *ipmi_kind(struct snaps *snaps)
{
	(void)snaps;
	return power_kind_of("ipmi", "dcmi");
}

static int power_ipmi_read_file(struct ingest *in, const char *path, struct error *err)
{
	static const struct polled_source ipmi = {"power by ipmitool", "ipmi", "dcmi",
						  watts_of_dcmi, ipmi_kind};

	return polled_read_file(in, path, &ipmi, err);
}

const struct parser parser_power_ipmi = {.files = {"power-ipmi.snap"},
					 .read = power_ipmi_read_file};

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
	bool first = str_ends(path, "/power-command.snap");
	const struct polled_source source = {first ? "power by the command"
						   : "power by another command",
					     "command", "power", watts_of_line, polled_find_kind};

	return polled_read_file(in, path, &source, err);
}

const struct parser parser_power_command = {.files = {"power-command.snap", "power-command-2.snap",
						      "power-command-3.snap",
						      "power-command-4.snap"},
					    .read = power_command_read_file};
