/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parsers of raw files left: metrics and notes; and how a snapshot file is made for them.
 */
#ifndef ZC_TEST_INGESTED_H
#define ZC_TEST_INGESTED_H

#include "analyze/probes/ingest.h"
#include "lib/snap.h"
#include "tests/unit/spelled.h"
#include "tests/unit/unit.h"

#include <fcntl.h>

/* Reads `path` as the raw file that a capture calls `file`. */
static inline int parse_file(struct ingest *in, const char *file, const char *path,
			     struct error *err)
{
	return parser_find(file)->read(in, path, err);
}

/* The run whose raw files a test reads. It lives until the next one starts, as does what is at
 * `path`. */
static struct ingest in;

static inline void ingest_start(struct ingest fresh)
{
	ingest_free(&in);
	in = fresh;
	unlink(path);
}

/* Reads `path` as a raw file that is whole enough to have figures. */
static inline void read_raw(struct ingest *in, const char *file)
{
	struct error err = {0};

	if (parse_file(in, file, path, &err))
		fail_msg("%s: %s", file, err.text);
}

/* The last metric of that key, or 1 for a fact "NAME=VALUE". NaN: none. */
static inline double metric(const struct ingest *in, const char *name)
{
	size_t i;

	for (i = in->nmetrics; i-- > 0;)
		if (is_metric(&in->metrics[i].key, name))
			return in->metrics[i].value;
	for (i = 0; i < in->nfacts; i++) {
		const struct fact_row *f = &in->facts[i];
		size_t len = strlen(f->name);

		if (!strncmp(f->name, name, len) && name[len] == '=' &&
		    !strcmp(f->value, name + len + 1))
			return 1;
	}
	return NAN;
}

/* The first note of that kind, or NULL. */
static inline const struct note *noted(const struct ingest *in, enum note_id id)
{
	size_t i;

	for (i = 0; i < in->notes.n; i++)
		if (note_is(&in->notes.note[i], id))
			return &in->notes.note[i];
	return NULL;
}

/* The number in the first note of that kind, NaN: none. */
static inline double noted_number(const struct ingest *in, enum note_id id)
{
	const struct note *n = noted(in, id);
	int i = 0;

	while (n && i < n->nvalues && n->value[i].text)
		i++;
	return n && i < n->nvalues ? n->value[i].number : n ? 0 : NAN;
}

/* Is there such a note with a text value that has `part`? */
static inline bool noted_text(const struct ingest *in, enum note_id id, const char *part)
{
	size_t i;
	int v;

	for (i = 0; i < in->notes.n; i++)
		for (v = 0; v < in->notes.note[i].nvalues; v++)
			if (note_is(&in->notes.note[i], id) && in->notes.note[i].value[v].text &&
			    strstr(in->notes.note[i].value[v].text, part))
				return true;
	return false;
}

/* One snapshot more at the file's end. */
static inline void append_snap(const char *path, double seconds, const char *text, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);

	assert_true(fd >= 0);
	assert_int_equal(snap_append(fd, (uint64_t)(seconds * 1e9), text, len), 0);
	close(fd);
}

/* A metric, or the first number of the first note of a kind: "note cpu_stolen", of another value
 * "note cpu_stolen[1]". */
static inline struct named_figure ingested_figure(const void *from, const char *name)
{
	const struct ingest *in = from;
	const struct note *n;
	char kind[64];
	int value = -1;

	if (sscanf(name, "note %63[^[][%d]", kind, &value) < 1)
		return (struct named_figure){.number = metric(in, name)};
	if (!note_kind_find(kind))
		fail_msg("no kind of note '%s'", kind);
	n = noted(in, (enum note_id)(note_kind_find(kind) - note_kinds));
	if (!n)
		return (struct named_figure){.number = NAN};
	if (value < 0)
		return (struct named_figure){
			.number = noted_number(in, (enum note_id)(n->kind - note_kinds)),
			.text = "noted"};
	return (struct named_figure){.number = value < n->nvalues ? n->value[value].number : 0,
				     .text = "noted"};
}

#define metrics_are(in, expected) figures_are(ingested_figure, (in), (expected))

#endif
