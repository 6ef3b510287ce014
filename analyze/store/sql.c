// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/store/sql.h"

#include "lib/alloc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int errno_of(int sqlite_code)
{
	switch (sqlite_code & 0xff) {
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
	case SQLITE_ERROR:
		return EBADMSG;
	case SQLITE_TOOBIG:
		return EBADMSG;
	case SQLITE_NOMEM:
		return ENOMEM;
	case SQLITE_FULL:
		return ENOSPC;
	case SQLITE_READONLY:
		return EROFS;
	case SQLITE_CONSTRAINT:
		return EEXIST;
	case SQLITE_CANTOPEN:
		return ENOENT;
	default:
		return EIO;
	}
}

static int keep_error(struct store *s, struct error *err, int code, const char *what, bool damaged)
{
	struct error now = {0};

	error_set(&now, code, "%s: %s%s", s->path ? s->path : "store in memory", what,
		  damaged ? "; run 'zcost analyze' on its capture again" : "");
	if (!s->failed.code)
		s->failed = now;
	return error_set(err, code, "%s", now.text);
}

int sql_error(struct store *s, struct error *err)
{
	int code = errno_of(sqlite3_extended_errcode(s->db)), kind = sqlite3_errcode(s->db);
	bool damaged = kind == SQLITE_NOTADB || kind == SQLITE_CORRUPT || kind == SQLITE_TOOBIG;

	return keep_error(s, err, code, sqlite3_errmsg(s->db), damaged);
}

int sql_damaged(struct store *s, struct error *err, const char *fmt, ...)
{
	char what[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return keep_error(s, err, EBADMSG, what, true);
}

int store_failed(const struct store *s, struct error *err)
{
	return s && s->failed.code ? error_set(err, s->failed.code, "%s", s->failed.text) : 0;
}

static sqlite3_stmt *prepare(struct store *s, const char *sql)
{
	sqlite3_stmt *stmt;
	size_t i;

	for (i = 0; i < s->nstatements; i++)
		if (s->statements[i].sql == sql)
			return s->statements[i].stmt;
	if (sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL))
		return NULL;
	array_grow(s->statements, s->nstatements, s->statements_cap);
	s->statements[s->nstatements++] = (struct statement){sql, stmt};
	return stmt;
}

/* Cuts between two characters of UTF-8. */
static int bind_text(struct store *s, sqlite3_stmt *stmt, int at, const char *text, size_t most)
{
	size_t n = text ? strlen(text) : 0;

	if (!text)
		return sqlite3_bind_null(stmt, at);
	if (n > most) {
		for (n = most; n && (text[n] & 0xc0) == 0x80; n--)
			;
		s->cut++;
	}
	return sqlite3_bind_text64(stmt, at, text, n, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static int bind_one(struct store *s, sqlite3_stmt *stmt, int at, char type, va_list *ap)
{
	const char *text;

	switch (type) {
	case 'i':
		return sqlite3_bind_int64(stmt, at, va_arg(*ap, int64_t));
	case 'd':
		return sqlite3_bind_double(stmt, at, va_arg(*ap, double));
	default:
		text = va_arg(*ap, const char *);
		return bind_text(s, stmt, at, text, type == 't' ? SIZE_MAX : TEXT_MOST);
	}
}

static int start(struct store *s, sqlite3_stmt **stmt, struct error *err, const char *sql,
		 const char *types, va_list *ap)
{
	int i, rc = 0;

	*stmt = prepare(s, sql);
	if (!*stmt)
		return sql_error(s, err);
	sqlite3_reset(*stmt);
	for (i = 0; types[i] && !rc; i++)
		rc = bind_one(s, *stmt, i + 1, types[i], ap);
	return rc ? sql_error(s, err) : 0;
}

int sql_run(struct store *s, struct error *err, const char *sql, const char *types, ...)
{
	sqlite3_stmt *stmt;
	va_list ap;
	int rc;

	if (!s->writable)
		return error_set(err, EROFS, "%s: opened for reading only", s->path);
	va_start(ap, types);
	rc = start(s, &stmt, err, sql, types, &ap);
	va_end(ap);
	if (rc)
		return rc;
	rc = sqlite3_step(stmt) == SQLITE_DONE ? 0 : sql_error(s, err);
	sqlite3_reset(stmt);
	return rc;
}

int sql_query(struct store *s, sqlite3_stmt **stmt, struct error *err, const char *sql,
	      const char *types, ...)
{
	va_list ap;
	int rc;

	va_start(ap, types);
	rc = start(s, stmt, err, sql, types, &ap);
	va_end(ap);
	return rc;
}

int sql_next(struct store *s, sqlite3_stmt *stmt, struct error *err)
{
	int rc = sqlite3_step(stmt);

	if (rc == SQLITE_ROW)
		return 1;
	rc = rc == SQLITE_DONE ? 0 : sql_error(s, err);
	sqlite3_reset(stmt);
	return rc;
}

int sql_script(struct store *s, const char *sql, struct error *err)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) ? sql_error(s, err) : 0;
}

const char *sql_column(struct store *s, sqlite3_stmt *stmt, int column, size_t most)
{
	const char *text = (const char *)sqlite3_column_text(stmt, column);
	size_t n = (size_t)sqlite3_column_bytes(stmt, column);

	if (!text) {
		if (sqlite3_errcode(s->db) == SQLITE_NOMEM)
			sql_error(s, NULL);
		return s->failed.code ? "" : NULL;
	}
	if (strlen(text) != n)
		sql_damaged(s, NULL, "damaged: a text holds a NUL byte");
	if (n <= most)
		return text;
	sql_damaged(s, NULL, "damaged: a text of %zu bytes, zcost writes at most %zu", n, most);
	return "";
}

const char *sql_text(struct store *s, sqlite3_stmt *stmt, int column)
{
	const char *text = sql_column(s, stmt, column, TEXT_MOST);

	return text ? intern_get(&s->strings, intern_str(&s->strings, text)) : NULL;
}

const char *sql_name(struct store *s, sqlite3_stmt *stmt, int column)
{
	const char *text = sql_text(s, stmt, column);

	if (text)
		return text;
	sql_damaged(s, NULL, "damaged: %s is missing", sqlite3_column_name(stmt, column));
	return "";
}

int sql_list(int rc, size_t n, void *list)
{
	void *rows;

	if (rc >= 0)
		return (int)n;
	memcpy(&rows, list, sizeof(rows));
	free(rows);
	memset(list, 0, sizeof(rows));
	return rc;
}

bool sql_exists(struct store *s, const char *sql, int64_t arg)
{
	sqlite3_stmt *stmt;
	bool found;

	if (sql_query(s, &stmt, NULL, sql, "i", arg))
		return false;
	found = sql_next(s, stmt, NULL) > 0;
	sqlite3_reset(stmt);
	return found;
}
