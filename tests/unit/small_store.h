/* SPDX-License-Identifier: GPL-2.0-only */
/* Stores that a test fills by hand, in memory, and the tables made from them. */
#ifndef ZCOST_TESTS_UNIT_SMALL_STORE_H
#define ZCOST_TESTS_UNIT_SMALL_STORE_H

#include "analyze/figures/tables.h"
#include "analyze/store/sql.h"
#include "lib/str.h"
#include "tests/unit/spelled.h"
#include "tests/unit/unit.h"

/* Returns a new store. It is closed when four others were made after it. */
static inline struct store *small_store_named(const char *name)
{
	static struct store *made[4];
	static size_t n;
	struct store **s = &made[n++ % 4];

	if (*s)
		assert_int_equal(store_close(*s, 0, NULL), 0);
	*s = NULL;
	assert_int_equal(store_create(s, NULL, NULL), 0);
	(*s)->path = name ? xstrdup(name) : NULL;
	return *s;
}

static inline struct store *small_store(void)
{
	return small_store_named(NULL);
}

/*
 * Adds a run and returns its id. What `r` leaves out is repeat 1 of variant v, the pass measure,
 * the receiver on host h, its CPU 1, and a window of 10 to 12 s.
 */
static inline int64_t small_store_run(struct store *s, struct run r)
{
	r.variant = r.variant ? r.variant : "v";
	r.pass = r.pass ? r.pass : "measure";
	r.side = r.side ? r.side : "receiver";
	r.host = r.host ? r.host : "h";
	r.cpus = r.cpus ? r.cpus : "1";
	r.ncpus = r.ncpus ? r.ncpus : 1;
	r.status = r.status ? r.status : "ok";
	r.repeat = r.repeat ? r.repeat : 1;
	r.position = r.position ? r.position : r.repeat;
	r.start_ns = 10000000000;
	r.end_ns = 12000000000;
	assert_int_equal(store_run_add(s, &r, NULL), 0);
	return r.id;
}

static inline void small_store_metric(struct store *s, int64_t run, const char *name, double value)
{
	assert_int_equal(put_metric(s, run, name, "1", value), 0);
}

/* Stores metrics of a run: "rate_kib = 1000, cpu_pct:cpu1 = 50". */
static inline void small_store_metrics(struct store *s, int64_t run, const char *metrics)
{
	char *list = strdup(metrics), *rest = list, *name;

	while ((name = rest) && *name) {
		char *value = strstr(name, " = "), *next = strstr(name, ", ");

		assert_true(value && (!next || value < next));
		rest = next ? next + 2 : NULL;
		*value = '\0';
		small_store_metric(s, run, name, strtod(value + 3, NULL));
	}
	free(list);
}

/* Adds a run with metrics. */
static inline int64_t small_store_with(struct store *s, struct run r, const char *metrics)
{
	int64_t run = small_store_run(s, r);

	small_store_metrics(s, run, metrics);
	return run;
}

/* Keeps a table until eight others are made, and returns it. */
static inline struct table small_store_keep(struct table t)
{
	static struct table made[8];
	static size_t n;

	table_free(&made[n % 8]);
	return made[n++ % 8] = t;
}

static inline struct table small_store_table(struct store *s, const char *name, struct query q)
{
	struct error err = {0};
	struct table t;

	if (measure_run(name, s, &q, &t, &err))
		fail_msg("%s: %s", name, err.text);
	return small_store_keep(t);
}

/* The texts of a column, row by row, in order: "a b c". An empty cell is "-". */
static inline char *small_store_column(const struct table *t, const char *column)
{
	struct str s = {0};
	const char *text;
	size_t row;

	for (row = 0; row < t->rows; row++) {
		text = table_text(t, row, column);
		str_printf(&s, "%s%s", row ? " " : "", text && *text ? text : "-");
	}
	return s.buf ? s.buf : strdup("");
}

static inline void small_store_column_is(const struct table *t, const char *column,
					 const char *expected)
{
	autofree char *texts = small_store_column(t, column);

	assert_string_equal(texts, expected);
}

struct table_row_at {
	const struct table *t;
	size_t row;
};

static inline struct named_figure row_figure(const void *from, const char *column)
{
	const struct table_row_at *at = from;

	return (struct named_figure){table_real(at->t, at->row, column),
				     table_text(at->t, at->row, column)};
}

/* Checks cells of a row: row_is(&t, 0, "symbol = main, self_ns = 3, total_ns = -"). */
#define row_is(t, row, expected) \
	figures_are(row_figure, (&(struct table_row_at){(t), (row)}), (expected))

static inline bool row_has(const struct table *t, size_t row, const char *text)
{
	int i;

	for (i = 0; i < t->ncolumns; i++)
		if (table_cell(t, row, i)->type == V_STR &&
		    !strcmp(table_cell(t, row, i)->str, text))
			return true;
	return false;
}

/* Returns a row by its number, or by the texts "a/b" of its cells. The number of rows: none. */
static inline size_t row_named(const struct table *t, const char *name)
{
	autofree char *texts = strdup(name);
	char *end, *second = strchr(texts, '/');
	size_t row = strtoul(name, &end, 10);

	if (!*end)
		return row;
	if (second)
		*second++ = '\0';
	for (row = 0; row < t->rows; row++)
		if (row_has(t, row, texts) && (!second || row_has(t, row, second)))
			break;
	return row;
}

/* "rows", "COLUMN" with the texts of all rows, "ROW COLUMN", or one part of an interval, as in
 * "0 self_ns.half". */
static inline struct named_figure cell_figure(const void *from, const char *name)
{
	const char *space = strrchr(name, ' ');
	autofree char *row = strndup(name, space ? (size_t)(space - name) : 0);
	autofree char *column = strdup(space ? space + 1 : "");
	char *dot = strchr(column, '.');
	static char *texts;
	const struct table *t = from;
	size_t n = row_named(t, row);
	struct interval i;

	if (!strcmp(name, "rows"))
		return (struct named_figure){.number = (double)t->rows};
	if (!space) {
		free(texts);
		return (struct named_figure){NAN, texts = small_store_column(t, name)};
	}
	if (dot)
		*dot = '\0';
	if (table_column(t, column) < 0)
		fail_msg("no column '%s'", column);
	if (n >= t->rows)
		return (struct named_figure){.number = NAN};
	if (!dot)
		return (struct named_figure){table_real(t, n, column), table_text(t, n, column)};
	i = table_interval(t, n, column);
	return (struct named_figure){.number = !strcmp(dot + 1, "low")	  ? i.low
					       : !strcmp(dot + 1, "high") ? i.high
									  : i.half};
}

/* Checks cells: cells_are(&t, "rows = 2, 0 side = receiver, skb_b self_ns = 3, 1 value = -"). */
#define cells_are(t, expected) figures_are(cell_figure, (t), (expected))

/* A table that cannot be made: with which code, and what the message says. */
static inline void small_store_refuses(struct store *s, const char *name, struct query q, int code,
				       const char *says)
{
	struct error refusal = {0};
	struct table t;

	assert_int_equal(measure_run(name, s, &q, &t, &refusal), code);
	if (!strstr(refusal.text, says))
		fail_msg("'%s' does not say '%s'", refusal.text, says);
	table_free(&t);
}

/* Returns whether a note of the table has the words. */
static inline bool small_store_noted(const struct table *t, const char *words)
{
	freed(note_lines_free) struct note_lines lines;
	bool found = false;
	size_t i;

	note_lines_make(&lines, &t->notes);
	for (i = 0; i < lines.n; i++)
		found |= strstr(lines.line[i].text, words) != NULL;
	return found;
}

/* Fails, and prints the notes, unless one has the words. */
static inline void small_store_says(const struct table *t, const char *words)
{
	struct note_lines lines;
	size_t i;

	if (small_store_noted(t, words))
		return;
	note_lines_make(&lines, &t->notes);
	for (i = 0; i < lines.n; i++)
		print_error("%s\n", lines.line[i].text);
	fail_msg("no note says '%s'", words);
}

#endif
