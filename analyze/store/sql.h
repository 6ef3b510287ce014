/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Statements, for the files of the store only. A store prepares a statement once and finds the
 * statement by the address of its text, so every SQL text is one string literal in one place. Each
 * letter of `types` is the type of one argument: i is int64_t, d is double, s is const char * of
 * which the store writes at most TEXT_MOST bytes, t is const char * of any length. A NULL string
 * is stored as NULL.
 */
#ifndef ZC_SQL_H
#define ZC_SQL_H

#include "analyze/store/store.h"

#include <sqlite3.h>
#include <sys/stat.h>

enum { TEXT_MOST = 65536 }; /* bytes; only capture.value and code.bytes may be longer */

struct dictionary;

struct store {
	sqlite3 *db;
	char *path;	  /* the file name; in memory, the name of the source or NULL */
	char *tmp;	  /* the temporary file name; NULL in memory or if complete */
	struct stat file; /* zeroes in memory, and while the file is written */
	bool writable;
	bool strange;	     /* the store belongs to another user */
	struct error failed; /* the first error of a statement, even if its caller ignored it */
	struct statement {
		const char *sql;
		sqlite3_stmt *stmt;
	} * statements;
	size_t nstatements, statements_cap;
	struct intern strings; /* all strings that the store returned to callers */
	const char *last[8];   /* the last of them, by column */
	struct run *runs;      /* in the order of the capture */
	size_t nruns;
	struct notes notes; /* the notes of all runs, by run; complete if has_notes */
	int64_t *note_runs; /* the run of each note */
	size_t note_runs_cap;
	bool has_notes;
	struct dictionary *dictionary;
	struct intern metric_names; /* the names of all metrics, sorted, if has_metric_names */
	bool has_metric_names;
	bool holds_metrics;	   /* a question reads all metrics of its run into `metrics` */
	struct intern metric_runs; /* the ids of the runs in `metrics` */
	struct run_metrics {
		struct metric_row *rows; /* sorted by name */
		uint32_t *first;	 /* the first row of each name, and the number of rows */
	} * metrics;
	size_t nmetrics, metrics_cap;
	struct intern questions; /* statements with arguments whose rows are in `answers` */
	struct answer {
		void *rows;
		int n;
	} * answers;
	size_t nanswers, answers_cap, answers_size; /* size: bytes of all rows */
	struct kept {
		void *data;
		void (*release)(void *data);
	} kept[KEEP_PLACES];
};

/* Runs a statement that gives no rows. */
int sql_run(struct store *s, struct error *err, const char *sql, const char *types, ...);

/* Starts a query. sql_next() returns 1 for a row, 0 at the end, or -errno. */
int sql_query(struct store *s, sqlite3_stmt **stmt, struct error *err, const char *sql,
	      const char *types, ...);
int sql_next(struct store *s, sqlite3_stmt *stmt, struct error *err);

/* Runs several statements without caching them. */
int sql_script(struct store *s, const char *sql, struct error *err);

/*
 * Returns a text column of at most `most` bytes, valid until the next sql_next(). NULL stays NULL.
 * A text that zcost cannot have written makes the store fail.
 */
const char *sql_column(struct store *s, sqlite3_stmt *stmt, int column, size_t most);
/* Returns a text column that lives as long as the store. NULL stays NULL. */
const char *sql_text(struct store *s, sqlite3_stmt *stmt, int column);

/* As sql_text(), for a column that zcost always fills: NULL makes the store fail. */
const char *sql_name(struct store *s, sqlite3_stmt *stmt, int column);

/*
 * Return a number. A value of another type, an infinite one, or one that zcost cannot have written
 * makes the store fail. NULL becomes NAN or 0. sql_int() is for ids, times and addresses,
 * sql_count() for what zcost adds up: 256 times COUNT_MOST still fit into 64 bits.
 */
#define COUNT_MOST (1LL << 56)
double sql_real(struct store *s, sqlite3_stmt *stmt, int column);
int64_t sql_int(struct store *s, sqlite3_stmt *stmt, int column);
int sql_small(struct store *s, sqlite3_stmt *stmt, int column);
uint64_t sql_count(struct store *s, sqlite3_stmt *stmt, int column);

/* Fills one row of a list from the current row of the query. */
typedef void sql_reader(struct store *s, sqlite3_stmt *stmt, void *row);
/* Defines such a function by the values of the members, which it reads from `s` and `q`. */
#define SQL_READER(name, type, ...)                                   \
	static void name(struct store *s, sqlite3_stmt *q, void *row) \
	{                                                             \
		*(type *)row = (type){__VA_ARGS__};                   \
	}
/*
 * Runs a query and reads all its rows into *list, an array with `size` bytes per row. The caller
 * frees *list. Returns the number of rows. Returns -errno and sets *list to NULL after an error.
 * A complete store answers the same question again from memory, because each table asks it.
 */
int sql_rows(struct store *s, void *list, size_t size, sql_reader *read, struct error *err,
	     const char *sql, const char *types, ...);
/* Reads the first column of all rows as names, like sql_rows(). */
int sql_names(struct store *s, const char ***names, struct error *err, const char *sql);

/* Returns the first column of the first row as sql_text() does, or NULL without a row. */
const char *sql_first_text(struct store *s, const char *sql, const char *types, ...);

/* Reads a pragma that is a number, such as "user_version". */
int sql_pragma(struct store *s, const char *name, int64_t *value, struct error *err);

/* Fills the error that SQLite reports, with the name of the file. The store keeps its first one. */
int sql_error(struct store *s, struct error *err);
/* As sql_error(), for content that zcost cannot have written. */
int sql_damaged(struct store *s, struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Makes a connection safe for a file of unknown origin. */
void guard_configure(sqlite3 *db);
/* Compares the store's schema with schema.sql; checks every page of a strange store. */
int guard_check(struct store *s, struct error *err);
/* Compares the schema of a file with that of one that zcost just made. */
int guard_check_schema(struct store *s, struct store *own, struct error *err);
int store_open_for_reading(struct store *s, struct error *err);

/* Writes the kinds of notes, for readers of the store in SQL. */
int store_note_kinds(struct store *s, struct error *err);

/* dump.c: prepares a statement that is not cached, and writes the fewest digits of a number. */
int dump_prepare(struct store *s, sqlite3_stmt **q, const char *sql, struct error *err);
void dump_real(FILE *out, double x);

void dictionary_free(struct dictionary *d);
void sql_forget(struct store *s);
void store_forget_metrics(struct store *s);
#endif
