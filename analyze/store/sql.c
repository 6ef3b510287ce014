// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/store/sql.h"

#include "lib/alloc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>

static int errno_of(int sqlite_code)
{
	switch (sqlite_code & 0xff) {
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
	case SQLITE_ERROR:
		return EBADMSG;
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

int sql_error(const struct store *s, struct error *err)
{
	int code = errno_of(sqlite3_extended_errcode(s->db)), kind = sqlite3_errcode(s->db);
	bool damaged = kind == SQLITE_NOTADB || kind == SQLITE_CORRUPT;

	return error_set(err, code, "%s: %s%s", s->path ? s->path : "store in memory",
			 sqlite3_errmsg(s->db),
			 damaged ? "; run 'zcost analyze' on its capture again" : "");
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

static int bind_one(sqlite3_stmt *stmt, int at, char type, va_list *ap)
{
	const char *text;

	switch (type) {
	case 'i':
		return sqlite3_bind_int64(stmt, at, va_arg(*ap, int64_t));
	case 'd':
		return sqlite3_bind_double(stmt, at, va_arg(*ap, double));
	default:
		text = va_arg(*ap, const char *);
		return text ? sqlite3_bind_text(stmt, at, text, -1, SQLITE_TRANSIENT)
			    : sqlite3_bind_null(stmt, at);
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
		rc = bind_one(*stmt, i + 1, types[i], ap);
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

const char *sql_text(struct store *s, sqlite3_stmt *stmt, int column)
{
	const void *text = sqlite3_column_text(stmt, column);

	if (!text)
		return NULL;
	return intern_get(&s->strings, intern_str(&s->strings, text));
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
