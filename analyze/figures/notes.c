// SPDX-License-Identifier: GPL-2.0-only
/* notes: what is to know of the data of a capture, and what to do about it. */
#include "analyze/figures/tables.h"

static const struct column notes_columns[] = {
	{"severity", NULL, V_STR, .what = "lossy: data are missing; warning: a figure is doubtful"},
	{"kind", NULL, V_STR, .what = "the note's name in JSON and in the store"},
	{"concerns", NULL, V_STR, .what = "the collector of the figures; none: all figures"},
	{"note", NULL, V_STR, .shape = STAYS_WHOLE,
	 .what = "whose runs, what was found, what it means for the figures, and what to do"},
};

/* Adds the doubts that a table finds when it is made: they compare runs, so no run has them. */
static void notes_add_doubts(struct store *s, const struct query *q, const char *table,
			     struct notes *to)
{
	struct error ignored = {0};
	const struct note *n;
	freed(table_free) struct table t = {0};
	size_t k;

	if (!measure_run(table, s, q, &t, &ignored))
		for (size_t i = 0; i < t.notes.n; i++) {
			n = &t.notes.note[i];
			for (k = 0; k < to->n && !notes_equal(&to->note[k], n); k++)
				;
			if (!n->repeat && note_is_doubt(n) && k == to->n)
				notes_copy(to, n);
		}
}

static int notes_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	static const char *const tables[] = {"summary", "components"};
	freed(note_lines_free) struct note_lines lines;
	freed(table_free) struct table runs = {0};
	struct query notes_only = *q;
	int rc;

	notes_only.figures_only = true; /* no titles of runs, and no costs of copying */
	rc = measure_run("runs", s, &notes_only, &runs, err);

	for (size_t i = 0; !rc && i < array_size(tables); i++)
		notes_add_doubts(s, &notes_only, tables[i], &runs.notes);
	note_lines_make(&lines, &runs.notes);
	for (size_t i = 0; !rc && i < lines.n; i++) {
		const struct note_line *line = &lines.line[i];
		struct value *row = table_row(t);

		row[0] = value_str(t, severity_name(line->severity));
		row[1] = value_str(t, line->notes[0]->kind->name);
		row[2] = value_str(t, note_collector(line->notes[0]));
		row[3] = value_str(t, line->text);
	}
	t->lossy = !rc && runs.lossy;
	return rc;
}

const struct measure measure_notes = {
	.name = "notes",
	.what = "what is doubtful in the data of the capture, and what to do",
	MEASURE_COLUMNS(notes_columns),
	.options = {[SOURCE_CAPTURE] = "variant side run " OPT_SLICE},
	.whole = WHOLE_FACTS,
	.spare = "concerns kind",
	.flags = MEASURE_FACTS,
	.run = notes_run,
};
