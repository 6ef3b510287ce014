/* SPDX-License-Identifier: GPL-2.0-only */
/* What the parsers of raw files left: metrics and notes; and how a snapshot file is made for them.
 */
#ifndef ZC_TEST_INGESTED_H
#define ZC_TEST_INGESTED_H

#include "analyze/probes/ingest.h"
#include "lib/file.h"
#include "lib/snap.h"
#include "lib/str.h"
#include "tests/unit/spelled.h"
#include "tests/unit/unit.h"

#include <fcntl.h>

/* Reads `path` as the raw file that a capture calls `file`. */
static inline int parse_file(struct ingest *in, const char *file, const char *path,
			     struct error *err)
{
	return parser_read(parser_find(file), in, path, err);
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

/* Writes the text to `path`. */
static inline void put_raw(const char *text)
{
	assert_int_equal(file_write(path, text, strlen(text), NULL), 0);
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

/* Readings of a collector, the last one without a text. */
struct reading_text {
	double seconds;
	const char *text;
};

static inline void read_readings(const char *file, const struct reading_text *r)
{
	for (; r->text; r++)
		append_snap(path, r->seconds, r->text, strlen(r->text));
	read_raw(&in, file);
}

#define READINGS(...) ((const struct reading_text[]){__VA_ARGS__, {0, NULL}})

static inline const struct thread_row *thread_row(const struct ingest *in, int64_t pid, int64_t tid)
{
	size_t i;

	for (i = 0; i < in->nthreads_seen; i++)
		if (in->threads_seen[i].pid == pid && in->threads_seen[i].tid == tid)
			return &in->threads_seen[i];
	return NULL;
}

/* "7/8 run_ns" is a figure of thread 8 of process 7. */
static inline struct named_figure thread_figure(const struct ingest *in, const char *name)
{
	static const char *const names[] = {"run_ns",	    "user_ns",	"system_ns", "migrations",
					    "sched_run_ns", "wait_ns",	"slices",    "voluntary",
					    "involuntary",  "first_ns", "last_ns",   "comm",
					    "cpus"};
	const struct thread_row *r;
	long pid, tid;
	char of[16];
	size_t i;

	if (sscanf(name, "%ld/%ld %15s", &pid, &tid, of) != 3 || !(r = thread_row(in, pid, tid)))
		return (struct named_figure){.number = NAN};
	for (i = 0; i < sizeof(names) / sizeof(*names) && strcmp(names[i], of); i++)
		;
	if (i == sizeof(names) / sizeof(*names))
		fail_msg("no figure '%s' of a thread", of);
	return (struct named_figure){i < 11 ? (const double[]){r->run_ns, r->user_ns, r->system_ns,
							       r->migrations, r->sched_run_ns,
							       r->wait_ns, r->slices, r->voluntary,
							       r->involuntary, (double)r->first_ns,
							       (double)r->last_ns}[i]
					    : NAN,
				     i == 11   ? r->comm
				     : i == 12 ? r->cpus
					       : NULL};
}

/* "note KIND" is the first number of the first note of a kind, "note KIND[1]" its second value,
 * "note KIND.severity" what it says. */
static inline struct named_figure note_figure(const struct ingest *in, const char *name)
{
	const struct note *n;
	char kind[64];
	int value = -1;

	sscanf(name, "note %63[^[.][%d]", kind, &value);
	if (!note_kind_find(kind))
		fail_msg("no kind of note '%s'", kind);
	n = noted(in, (enum note_id)(note_kind_find(kind) - note_kinds));
	if (!n)
		return (struct named_figure){.number = NAN};
	if (str_ends(name, ".severity"))
		return (struct named_figure){NAN, severity_name(n->severity)};
	if (value < 0)
		return (struct named_figure){
			.number = noted_number(in, (enum note_id)(n->kind - note_kinds)),
			.text = "noted"};
	return (struct named_figure){.number = value < n->nvalues ? n->value[value].number : 0,
				     .text = value < n->nvalues && n->value[value].text
						     ? n->value[value].text
						     : "noted"};
}

/* A metric, a figure of a thread or of a note, "notes", "metrics", "points" (of all series), and
 * "last SERIES", the last point of a series. */
static inline struct named_figure ingested_figure(const void *from, const char *name)
{
	const struct ingest *in = from;
	size_t i;

	if (str_starts(name, "note "))
		return note_figure(in, name);
	if (strchr("0123456789", *name))
		return thread_figure(in, name);
	if (!strcmp(name, "notes"))
		return (struct named_figure){.number = (double)in->notes.n};
	if (!strcmp(name, "metrics"))
		return (struct named_figure){.number = (double)in->nmetrics};
	if (!strcmp(name, "points"))
		return (struct named_figure){.number = (double)in->nseries};
	if (!str_starts(name, "last "))
		return (struct named_figure){.number = metric(in, name)};
	for (i = in->nseries; i-- > 0;)
		if (!strcmp(in->series[i].name, name + strlen("last ")))
			return (struct named_figure){.number = in->series[i].value};
	return (struct named_figure){.number = NAN};
}

#define metrics_are(in, expected) figures_are(ingested_figure, (in), (expected))

#endif
