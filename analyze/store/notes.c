// SPDX-License-Identifier: GPL-2.0-only
/* Notes. A row has the name of the kind, and the values as a JSON array. */
#include "analyze/store/sql.h"

#include "analyze/model/notes.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>

static char *note_values_dump(const struct note *n)
{
	json_auto_t *values = json_array();

	for (int i = 0; i < n->nvalues; i++)
		json_array_append_new(values, n->value[i].text ? json_string(n->value[i].text)
					      : isfinite(n->value[i].number)
						      ? json_real(n->value[i].number)
						      : json_null());
	return json_dumps(values, JSON_COMPACT | JSON_REAL_PRECISION(17));
}

int store_note_add(struct store *s, int64_t run, const struct note *note, struct error *err)
{
	autofree char *values = note_values_dump(note);

	if (!values)
		return error_set(err, ENOMEM, "%s: no memory for a note", store_path(s));
	return sql_run(s, err, "INSERT INTO note (run, severity, kind, vals) VALUES (?, ?, ?, ?)",
		       "isss", run, severity_name(note->severity), note->kind->name, values);
}

int store_notes_add(struct store *s, int64_t run, struct notes *notes, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; i < notes->n && !rc; i++)
		rc = store_note_add(s, run, &notes->note[i], err);
	notes_free(notes);
	return rc;
}

int store_note_kinds(struct store *s, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; i < NOTE_KINDS && !rc; i++)
		rc = sql_run(s, err, "INSERT INTO note_kind VALUES (?, ?, ?)", "sss",
			     note_kinds[i].name, note_kinds[i].concerns, note_kinds[i].sentence);
	return rc;
}

/* The parsed values of notes. Most notes of a store repeat the text of another one. */
struct note_texts {
	struct note_text {
		const char *text; /* a string of the store */
		json_t *values;
	} known[256];
};

static const json_t *note_parse(struct note_texts *texts, const char *text)
{
	struct note_text *t = &texts->known[hash_mix((uintptr_t)text) % array_size(texts->known)];

	if (t->text != text) {
		json_decref(t->values);
		*t = (struct note_text){text, json_loads(text, 0, NULL)};
	}
	return t->values;
}

static void note_texts_free(struct note_texts *texts)
{
	for (size_t i = 0; i < array_size(texts->known); i++)
		json_decref(texts->known[i].values);
}

/* Reads a row. The note's strings live until the next row is read. */
static int note_read_row(struct store *s, sqlite3_stmt *q, struct note *n, struct note_texts *texts,
			 struct error *err)
{
	const char *severity = sql_name(s, q, 0), *kind = sql_name(s, q, 1),
		   *text = sql_name(s, q, 2);
	const json_t *values = note_parse(texts, text), *v;
	size_t i;

	*n = (struct note){.kind = note_kind_find(kind),
			   .variant = sql_text(s, q, 3),
			   .side = sql_text(s, q, 4),
			   .pass = sql_text(s, q, 5),
			   .repeat = sql_small(s, q, 6)};
	if (store_failed(s, err))
		return -EBADMSG;
	if (!n->kind || !values || !severity_parse(severity, &n->severity))
		return sql_damaged(s, err, "damaged: a note of kind '%s' has no meaning", kind);
	json_array_foreach (values, i, v)
		if (n->nvalues < NOTE_VALUES)
			n->value[n->nvalues++] = (struct note_value){
				json_string_value(v), json_is_null(v) ? NAN : json_number_value(v)};
	return 0;
}

static int notes_read(struct store *s, struct error *err)
{
	freed(note_texts_free) struct note_texts texts = {0};
	sqlite3_stmt *q;
	struct note n;
	int rc = sql_query(s, &q, err,
			   "SELECT severity, kind, vals, variant, side, pass, repeat, note.run "
			   "FROM note LEFT JOIN run ON run.id = note.run "
			   "ORDER BY note.run, note.rowid",
			   "");

	notes_free(&s->notes);
	while (!rc && (rc = sql_next(s, q, err)) > 0) {
		rc = note_read_row(s, q, &n, &texts, err);
		if (!rc) {
			array_grow(s->note_runs, s->notes.n, s->note_runs_cap);
			s->note_runs[s->notes.n] = sql_int(s, q, 7);
			notes_copy(&s->notes, &n);
		}
	}
	s->has_notes = !rc && !s->writable;
	return rc;
}

/* A complete store reads its notes once, because each table asks for those of the same runs. */
int store_notes(struct store *s, int64_t run, struct notes *notes, struct error *err)
{
	int rc = s->has_notes ? 0 : notes_read(s, err);
	size_t i = 0;

	if (rc)
		return rc;
	if (run) /* the notes of the capture come first */
		i = rows_up_to(s->note_runs, s->notes.n, sizeof(run), (uint64_t)run - 1);
	for (; i < s->notes.n && s->note_runs[i] == run; i++)
		notes_copy(notes, &s->notes.note[i]);
	return 0;
}
