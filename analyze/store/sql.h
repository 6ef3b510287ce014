/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inside the store only: statements without ceremony. A statement is prepared once per store and
 * found again by the address of its text, so every SQL text is one string literal in one place.
 *
 * The letters of `types` say what follows: i int64_t, d double, s const char * (NULL gives NULL) of
 * which TEXT_MOST bytes are stored, t const char * of any length.
 */
#ifndef ZC_SQL_H
#define ZC_SQL_H

#include "analyze/store/store.h"
#include "lib/intern.h"

#include <sqlite3.h>

enum { TEXT_MOST = 65536 }; /* bytes of a text in the store; only `code.bytes` may be longer */

struct dictionary;

struct store {
	sqlite3 *db;
	char *path;  /* the name it has, or will have; of one in memory what it is from, or NULL */
	char *tmp;   /* the name while it is made; NULL: in memory, or complete */
	void *image; /* of a store out of an archive: the whole file, in memory */
	bool writable;
	bool strange;	     /* from an archive, or the file belongs to another user */
	struct error failed; /* the first error of a statement, also where its caller ignored it */
	size_t cut;	     /* texts that were longer than TEXT_MOST */
	struct statement {
		const char *sql;
		sqlite3_stmt *stmt;
	} * statements;
	size_t nstatements, statements_cap;
	struct intern strings; /* all that was handed out */
	struct names {	       /* read once, of a store that nobody writes */
		const char **list;
		int n;
	} variants, sides;
	struct dictionary *dictionary;
};

/* Runs a statement that gives no rows. */
int sql_run(struct store *s, struct error *err, const char *sql, const char *types, ...);

/* Starts a query; sql_next gives 1 for a row, 0 at the end, -errno. */
int sql_query(struct store *s, sqlite3_stmt **stmt, struct error *err, const char *sql,
	      const char *types, ...);
int sql_next(struct store *s, sqlite3_stmt *stmt, struct error *err);

/* Several statements at once, not kept. */
int sql_script(struct store *s, const char *sql, struct error *err);

/*
 * A text column of at most `most` bytes, until the next sql_next; NULL stays NULL. A text that
 * zcost cannot have written makes the store fail.
 */
const char *sql_column(struct store *s, sqlite3_stmt *stmt, int column, size_t most);
/* A text column that lives as long as the store; NULL stays NULL. */
const char *sql_text(struct store *s, sqlite3_stmt *stmt, int column);

/* As sql_text, of a column that zcost never leaves empty: NULL makes the store fail. */
const char *sql_name(struct store *s, sqlite3_stmt *stmt, int column);

/* Returns a column of reals; NULL becomes NAN. */
double sql_real(sqlite3_stmt *stmt, int column);

/* Ends a list: returns its length, or after an error frees the list and returns -errno. */
int sql_list(int rc, size_t n, void *list);

/* Does the query with this one parameter give a row? */
bool sql_exists(struct store *s, const char *sql, int64_t arg);

/* What SQLite says went wrong, with the file's name. The store keeps its first error. */
int sql_error(struct store *s, struct error *err);
/* As sql_error, for content that zcost cannot have written. */
int sql_damaged(struct store *s, struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Settings of a connection that reads a file of unknown origin. */
void guard_configure(sqlite3 *db);
/* Compares the store's schema with schema.sql; checks every page of a strange store. */
int guard_check(struct store *s, struct error *err);

/* Writes the kinds of notes, for readers of the store in SQL. */
int store_note_kinds(struct store *s, struct error *err);

void dictionary_free(struct dictionary *d);
/* Symbols and objects of all runs: index i is the row with id i + 1. */
const struct profile *dictionary_profile(const struct dictionary *d);

/* Its instructions, with the same arguments. */
int spots_write(struct store *s, int64_t run, const struct profile *p, const int64_t *events,
		const uint32_t *symbols, struct error *err);

/*
 * The run's functions; `events` are the rows of the profile's events, `symbols` the dictionary's
 * index of each of its symbols.
 */
int functions_write(struct store *s, int64_t run, const struct profile *p, const int64_t *events,
		    const uint32_t *symbols, struct error *err);

#endif
