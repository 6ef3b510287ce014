/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A result as data: columns, rows of values, and notes. Every command that prints figures fills a
 * table, and the writers turn a table into any format. A missing value is V_NONE. It prints as an
 * empty field (text and markdown: "-"; JSON: null), never as 0. Text and markdown are for people:
 * they join a value with its interval and leave out empty columns (table_layout.h). The table owns
 * copies of all strings. Columns are static and belong to the caller. Columns made at run time
 * must live as long as the table.
 */
#ifndef ZC_TABLE_H
#define ZC_TABLE_H

#include "lib/error.h"
#include "lib/intern.h"
#include "lib/note.h"
#include "lib/stats.h"
#include "lib/str.h"

#include <stdio.h>

enum value_type { V_NONE, V_STR, V_INT, V_REAL };

/* The error of an estimate: its bounds and half of its width. An unknown member is NAN. */
struct interval {
	double low, high, half;
};

struct value {
	enum value_type type;
	union {
		const char *str;
		int64_t integer;
		double real;
	};
	const struct interval
		*interval; /* the interval of an estimate, in the table's arena; else NULL */
};

/* The columns for an interval that tsv, csv and json have directly after the value's column. */
enum spread {
	SPREAD_NONE,
	SPREAD_RANGE, /* x_lo, x_hi */
	SPREAD_HALF,  /* x_ci */
};
enum interval_part { PART_VALUE, PART_LOW, PART_HIGH, PART_HALF };

/* How text formats align and shorten the words of a V_STR column. */
enum shape {
	STANDS_LEFT,
	STANDS_RIGHT, /* the words are numbers */
	STAYS_WHOLE,  /* the words hold figures, units or addresses, and are never shortened */
};

/* A member of a row's struct. A text that is NULL and a number that is NAN are missing values. */
enum member_type {
	MEMBER_NONE, /* the struct has no member for the column */
	MEMBER_TEXT,
	MEMBER_INT,  /* int64_t */
	MEMBER_REAL, /* double, also in a V_INT column */
	MEMBER_ESTIMATE,
	MEMBER_HALF,
};

/* A value that is known to plus and minus `half`. */
struct half_estimate {
	double value, half;
};

/* The first words of a column that has the member `path` of the row's struct. */
#define MEMBER_NAMED(column, type, path) \
	.member = _Generic(((type *)0)->path,                  \
			 const char *: MEMBER_TEXT,            \
			 int64_t: MEMBER_INT,                  \
			 double: MEMBER_REAL,                  \
			 struct estimate: MEMBER_ESTIMATE,     \
			 struct half_estimate: MEMBER_HALF),   \
	.at = offsetof(type, path), .name = (column)
#define MEMBER(type, path) MEMBER_NAMED(#path, type, path)

struct column {
	const char *name; /* as in tsv and json */
	const char *unit; /* "ns/KiB", "%": text headers and JSON meta only; may be NULL */
	enum value_type type;
	int digits;	  /* digits after the point, for V_REAL in text and markdown */
	const char *what; /* one line for --help and documents; may be NULL */
	enum shape shape;
	enum spread spread;
	const char *stem; /* beginning of the interval's column names: "x" in "x_lo"; NULL uses the
			     name */
	/*
	 * If part_of is set, this column is a part of the interval of the column `part_of`. It has
	 * no cells, and the writers of tsv, csv and json fill it.
	 */
	const char *part_of;
	enum interval_part part;
	const char *why_empty; /* what text and markdown say where the column is empty, or NULL */
	bool optional;	       /* text and markdown do not name the column where it is empty */
	enum member_type member;
	size_t at; /* the member's place in the struct */
};

struct table {
	const char *name;  /* "functions" */
	const char *title; /* one line above the text and markdown forms, owned; may be NULL */
	const struct column *columns;
	int ncolumns;
	struct value *cells; /* rows x ncolumns */
	size_t rows, cap;
	void *structs; /* the structs of the rows, by table_add; NULL: the rows are cells alone */
	const char *type; /* the type of the structs: "struct idle_row" */
	size_t struct_size;
	struct notes
		notes; /* text, md and json contain the notes; tsv and csv print them on stderr */
	bool verbose;  /* writers print all notes */
	const char *notes_command; /* prints the notes of the whole capture; or NULL */
	struct table *detail;	   /* data behind the notes, owned, for json only; or NULL */
	/*
	 * columns that a narrow terminal may drop, the least important first: "samples dso"; or
	 * NULL
	 */
	const char *least;
	bool lossy; /* data are incomplete or lossy, so the command exits with 4 */
	struct arena arena;
	struct intern texts; /* long strings of cells */
};

enum table_format {
	FORMAT_TEXT,
	FORMAT_TSV,
	FORMAT_CSV,
	FORMAT_JSON,
	FORMAT_MD,
	FORMAT_COMMIT,
	/* These formats print the results of a gate alone. */
	FORMAT_KTAP,
	FORMAT_JUNIT,
};

void table_init(struct table *t, const char *name, const struct column *columns, int ncolumns);
/* Sets the title, which is one line. A newline in a name becomes a blank. */
void table_title(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Adds lines below the title. The caller ensures that no name in the lines has a newline. */
void table_title_lines(struct table *t, const char *lines);
/*
 * Returns the notes as lines of text, ended by NULL. Merges notes and puts results and methods
 * first, then the worst notes. Without `verbose` there are at most NOTES_SHOWN other notes and a
 * line with the number of the rest.
 */
char **table_note_texts(const struct table *t);
/*
 * Returns what a reader of text or md needs: the results, and at most three lines: how the figures
 * are made, the doubt that weighs most, and how many notes there are beside them. The first of the
 * three ends with `columns`, which says what columns are not in the table, or is empty.
 */
char **table_note_texts_brief(const struct table *t, const char *columns);
void table_note_texts_free(char ***texts);
/* Creates t->detail. JSON prints it under its name. */
struct table *table_detail(struct table *t, const char *name, const struct column *columns,
			   int ncolumns);
void table_free(struct table *t);

/*
 * Makes one table of n tables: their rows in their order, behind a first column with the table's
 * name. Columns are equal by name. Titles and notes name their table, except notes that all have.
 */
void table_merge(struct table *to, const struct table *from, size_t n, const char *column,
		 const char *const *names);

/* Leaves out the columns with these names, which blanks separate. The table has no rows yet. */
void table_drop_columns(struct table *t, const char *names);
/* Adds a row of V_NONE. The row is valid until the next table_row(). */
struct value *table_row(struct table *t);
/*
 * Adds a row and its cells from a struct, whose members the columns name. The table keeps the
 * struct: with copies of the texts that it has columns for, and "" for those that are missing.
 * Returns the cells, valid until the next row.
 */
#define table_add(t, type, ...) \
	table_add_struct(t, #type, sizeof(type), 1 ? (__VA_ARGS__) : (const type *)NULL)
struct value *table_add_struct(struct table *t, const char *type, size_t size, const void *row);
/* Returns the structs of all rows. A table with rows of another type is an error of the program. */
#define table_structs(t, type) ((const type *)table_structs_of(t, #type))
const void *table_structs_of(const struct table *t, const char *type);
/* Overwrites a row with a later one. */
void table_move_row(struct table *t, size_t to, size_t from);
struct value *table_cell(const struct table *t, size_t row, int column);
int table_column(const struct table *t, const char *name); /* returns -1 if there is none */
/* Reads a cell. A missing cell or column gives "". */
const char *table_text(const struct table *t, size_t row, const char *column);
/* Returns whether any row has a value in the column. */
bool table_has_values(const struct table *t, const char *column);
/* Sets the row's cell in the named column. Ignores the value if the table has no such column. */
void table_set(const struct table *t, struct value *row, const char *column, struct value v);

struct value value_none(void);
struct value value_str(struct table *t, const char *s); /* copies; NULL gives V_NONE */
struct value value_int(int64_t n);
struct value value_real(double x); /* NaN and infinities give V_NONE */
/*
 * Values with an interval: from two bounds, from plus and minus `half`, or from all known parts.
 */
struct value value_estimate(struct table *t, double x, double low, double high);
struct value value_half(struct table *t, double x, double half);
struct value value_with(struct table *t, struct value v, struct interval interval);
/* Returns the value without its interval, or a part of the interval. */
struct value value_part(const struct value *v, enum interval_part part);
/* Appends the name of the column that has this part of the column's values: "x_lo". */
void column_part_name(struct str *name, const struct column *c, enum interval_part part);

int table_format_parse(const char *name, enum table_format *format); /* -EINVAL */
/*
 * Writes the table. tsv and csv print the notes on stderr. `width` is the number of characters in
 * a line of text, 0 for no limit. Other formats ignore `width`. Returns 0 or -errno.
 */
int table_write(const struct table *t, enum table_format format, int width, FILE *out);
/* Writes a text as a field of csv (RFC 4180), in quotes if it needs them. Puts an apostrophe before
 * a text that a spreadsheet would take for a formula. */
void csv_write_text(FILE *out, const char *s);

#endif
