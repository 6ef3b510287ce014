// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/store/sql.h"

#include "lib/str.h"

#include <errno.h>
#include <limits.h>
#include <math.h>

static int sql_errno(int sqlite_code)
{
	switch (sqlite_code & 0xff) {
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
	case SQLITE_ERROR:
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

static int sql_keep_error(struct store *s, struct error *err, int code, const char *what,
			  bool damaged)
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
	int code = sql_errno(sqlite3_extended_errcode(s->db)), kind = sqlite3_errcode(s->db);
	bool damaged = kind == SQLITE_NOTADB || kind == SQLITE_CORRUPT || kind == SQLITE_TOOBIG;

	return sql_keep_error(s, err, code, sqlite3_errmsg(s->db), damaged);
}

int sql_damaged(struct store *s, struct error *err, const char *fmt, ...)
{
	char what[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return sql_keep_error(s, err, EBADMSG, what, true);
}

int store_failed(const struct store *s, struct error *err)
{
	return s && s->failed.code ? error_set(err, s->failed.code, "%s", s->failed.text) : 0;
}

static sqlite3_stmt *sql_prepare(struct store *s, const char *sql)
{
	sqlite3_stmt *stmt;

	for (size_t i = 0; i < s->nstatements; i++)
		if (s->statements[i].sql == sql)
			return s->statements[i].stmt;
	if (sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL))
		return NULL;
	array_add(s->statements, s->nstatements, s->statements_cap, (struct statement){sql, stmt});
	return stmt;
}

/* Cuts a long text between two UTF-8 characters. */
static int sql_bind_text(sqlite3_stmt *stmt, int at, const char *text, size_t most)
{
	size_t n = text ? strlen(text) : 0;

	if (!text)
		return sqlite3_bind_null(stmt, at);
	if (n > most)
		for (n = most; n && (text[n] & 0xc0) == 0x80; n--)
			;
	return sqlite3_bind_text64(stmt, at, text, n, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static int sql_bind_one(sqlite3_stmt *stmt, int at, char type, va_list *ap)
{
	const char *text;

	switch (type) {
	case 'i':
		return sqlite3_bind_int64(stmt, at, va_arg(*ap, int64_t));
	case 'd':
		return sqlite3_bind_double(stmt, at, va_arg(*ap, double));
	default:
		text = va_arg(*ap, const char *);
		return sql_bind_text(stmt, at, text, type == 't' ? SIZE_MAX : TEXT_MOST);
	}
}

static int sql_start(struct store *s, sqlite3_stmt **stmt, struct error *err, const char *sql,
		     const char *types, va_list *ap)
{
	int rc = 0;

	*stmt = sql_prepare(s, sql);
	if (!*stmt)
		return sql_error(s, err);
	sqlite3_reset(*stmt);
	for (int i = 0; types[i] && !rc; i++)
		rc = sql_bind_one(*stmt, i + 1, types[i], ap);
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
	rc = sql_start(s, &stmt, err, sql, types, &ap);
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
	rc = sql_start(s, stmt, err, sql, types, &ap);
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
	sqlite3_value *v = sqlite3_column_value(stmt, column); /* faster than a search for each */
	int type = sqlite3_value_type(v);
	const char *text = (const char *)sqlite3_value_text(v);
	size_t n = (size_t)sqlite3_value_bytes(v);

	if (type != SQLITE_TEXT && type != SQLITE_NULL)
		sql_damaged(s, NULL, "damaged: %s is no text", sqlite3_column_name(stmt, column));
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
	const char **last = &s->last[column % (int)array_size(s->last)];

	if (text && (!*last || strcmp(*last, text) != 0)) /* most rows repeat the one before */
		*last = intern_get(&s->strings, intern_str(&s->strings, text));
	return text ? *last : NULL;
}

const char *sql_name(struct store *s, sqlite3_stmt *stmt, int column)
{
	const char *text = sql_text(s, stmt, column);

	if (text)
		return text;
	sql_damaged(s, NULL, "damaged: %s is missing", sqlite3_column_name(stmt, column));
	return "";
}

/* --- answers in memory --- */

enum { ANSWERS_MOST = 64 << 20 }; /* bytes */

void sql_forget(struct store *s)
{
	array_free(e, s->answers, s->nanswers, free(e->rows));
	s->answers = NULL;
	s->nanswers = s->answers_cap = s->answers_size = 0;
	intern_free(&s->questions);
}

/* Fills `key` with the statement and its arguments. */
static void sql_question(struct str *key, const char *sql, const char *types, va_list ap)
{
	const char *text;
	double d;
	int64_t i;

	str_add(key, &sql, sizeof(sql));
	for (; *types; types++) {
		if (*types == 'i') {
			i = va_arg(ap, int64_t);
			str_add(key, &i, sizeof(i));
		} else if (*types == 'd') {
			d = va_arg(ap, double);
			str_add(key, &d, sizeof(d));
		} else {
			text = va_arg(ap, const char *);
			str_add(key, text ? text : "\1", text ? strlen(text) + 1 : 1);
		}
	}
}

static void *sql_copy_rows(const void *rows, int n, size_t size)
{
	return n ? memcpy(xmalloc((size_t)n * size), rows, (size_t)n * size) : NULL;
}

static void sql_keep_answer(struct store *s, const struct str *question, const void *rows, int n,
			    size_t size)
{
	if (s->answers_size > ANSWERS_MOST)
		sql_forget(s);
	intern_bytes(&s->questions, question->buf, question->len);
	array_add(s->answers, s->nanswers, s->answers_cap,
		  (struct answer){sql_copy_rows(rows, n, size), n});
	s->answers_size += (size_t)n * size;
}

static int sql_read_rows(struct store *s, void **list, size_t size, sql_reader *read,
			 struct error *err, const char *sql, const char *types, va_list *ap)
{
	size_t n = 0, cap = 0;
	sqlite3_stmt *stmt;
	int rc = sql_start(s, &stmt, err, sql, types, ap);

	while (!rc && (rc = sql_next(s, stmt, err)) > 0) {
		if (n == cap) {
			cap = cap ? 2 * cap : 4;
			*list = xrealloc(*list, cap * size);
		}
		read(s, stmt, (char *)*list + n++ * size);
		rc = 0;
	}
	return rc ? rc : (int)n;
}

static int sql_rows_of(struct store *s, void **rows, size_t size, sql_reader *read,
		       struct error *err, const char *sql, const char *types, va_list *ap)
{
	freed(str_free) struct str question = {0};
	uint32_t known = INTERN_NONE;
	va_list again;
	int n;

	*rows = NULL;
	if (!s->writable) {
		va_copy(again, *ap);
		str_add(&question, &read, sizeof(read)); /* one text may have two readers */
		sql_question(&question, sql, types, again);
		va_end(again);
		known = intern_find(&s->questions, question.buf, question.len);
	}
	if (known != INTERN_NONE) {
		*rows = sql_copy_rows(s->answers[known].rows, s->answers[known].n, size);
		return s->answers[known].n;
	}
	n = sql_read_rows(s, rows, size, read, err, sql, types, ap);
	if (n >= 0 && !s->writable && !s->failed.code)
		sql_keep_answer(s, &question, *rows, n, size);
	if (n < 0) {
		free(*rows);
		*rows = NULL;
	}
	return n;
}

int sql_rows(struct store *s, void *list, size_t size, sql_reader *read, struct error *err,
	     const char *sql, const char *types, ...)
{
	void *rows;
	va_list ap;
	int n;

	va_start(ap, types);
	n = sql_rows_of(s, &rows, size, read, err, sql, types, &ap);
	va_end(ap);
	memcpy(list, &rows, sizeof(rows));
	return n;
}

SQL_READER(sql_read_name, const char *, sql_name(s, q, 0))

int sql_names(struct store *s, const char ***names, struct error *err, const char *sql)
{
	return sql_rows(s, names, sizeof(**names), sql_read_name, err, sql, "");
}

SQL_READER(sql_read_text, const char *, sql_text(s, q, 0))

const char *sql_first_text(struct store *s, const char *sql, const char *types, ...)
{
	const char *text = NULL;
	autofree void *rows = NULL;
	va_list ap;

	va_start(ap, types);
	if (sql_rows_of(s, &rows, sizeof(text), sql_read_text, NULL, sql, types, &ap) > 0)
		memcpy(&text, rows, sizeof(text));
	va_end(ap);
	return text;
}

int sql_pragma(struct store *s, const char *name, int64_t *value, struct error *err)
{
	char *sql = sqlite3_mprintf("PRAGMA %s", name);
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL) ? sql_error(s, err)
								 : sql_next(s, stmt, err);

	*value = rc > 0 ? sqlite3_column_int64(stmt, 0) : -1;
	sqlite3_finalize(stmt);
	sqlite3_free(sql);
	return rc < 0 ? rc : 0;
}

/* SQLite converts a text to 0 or to the number that it begins with. */
static bool sql_has_number(struct store *s, sqlite3_stmt *stmt, int column, bool real)
{
	int type = sqlite3_column_type(stmt, column);

	if (type == SQLITE_NULL || type == SQLITE_INTEGER || (real && type == SQLITE_FLOAT))
		return type != SQLITE_NULL;
	sql_damaged(s, NULL, "damaged: %s is no %s", sqlite3_column_name(stmt, column),
		    real ? "number" : "whole number");
	return false;
}

double sql_real(struct store *s, sqlite3_stmt *stmt, int column)
{
	double x =
		sql_has_number(s, stmt, column, true) ? sqlite3_column_double(stmt, column) : NAN;

	if (isinf(x))
		sql_damaged(s, NULL, "damaged: %s is infinite", sqlite3_column_name(stmt, column));
	return x;
}

int64_t sql_int(struct store *s, sqlite3_stmt *stmt, int column)
{
	return sql_has_number(s, stmt, column, false) ? sqlite3_column_int64(stmt, column) : 0;
}

static int64_t sql_int_between(struct store *s, sqlite3_stmt *stmt, int column, int64_t least,
			       int64_t most)
{
	int64_t n = sql_int(s, stmt, column);

	if (n >= least && n <= most)
		return n;
	sql_damaged(s, NULL, "damaged: %s is %lld", sqlite3_column_name(stmt, column),
		    (long long)n);
	return 0;
}

int sql_small(struct store *s, sqlite3_stmt *stmt, int column)
{
	return (int)sql_int_between(s, stmt, column, INT_MIN, INT_MAX);
}

uint64_t sql_count(struct store *s, sqlite3_stmt *stmt, int column)
{
	return (uint64_t)sql_int_between(s, stmt, column, 0, COUNT_MOST);
}

/*
 * --- a store from another user --- The schema of a store is SQL that SQLite runs: a view in place
 * of a table can run forever, and a name can be a path or a command. So zcost reads a store only
 * if it has the schema of zcost.
 */

/* A message prints a foreign name only up to the first byte that is not in this list. */
static const char name_bytes[] =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./ ";

enum { VALUE_MOST = 256 << 20, SQL_MOST = 1 << 20 };

void guard_configure(sqlite3 *db)
{
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, VALUE_MOST);
	sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, SQL_MOST);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_exec(db, "PRAGMA cell_size_check=ON; PRAGMA cache_size=-32768", NULL, NULL, NULL);
}

static bool guard_same_text(struct store *s, sqlite3_stmt *q, struct store *own, sqlite3_stmt *o,
			    int column)
{
	const char *a = sql_column(s, q, column, SQL_MOST), *b = sql_text(own, o, column);

	return a && b ? !strcmp(a, b) : a == b;
}

/* Compares the next row of both schemas. The error names the first one that differs. */
static int guard_compare_rows(struct store *s, sqlite3_stmt *q, struct store *own, sqlite3_stmt *o,
			      struct error *err)
{
	int has = sql_next(s, q, err), wants = has < 0 ? 0 : sql_next(own, o, err);
	bool same = has == wants;
	const char *name;

	if (has < 0 || wants < 0)
		return has < 0 ? has : wants;
	for (int i = 0; i < 4 && same && has; i++)
		same = guard_same_text(s, q, own, o, i);
	if (same)
		return has;
	name = has ? sql_column(s, q, 1, TEXT_MOST) : sql_text(own, o, 1);
	return sql_damaged(s, err, "its tables are not those that zcost makes (see '%.*s')",
			   (int)strspn(name ? name : "", name_bytes), name ? name : "");
}

int guard_check_schema(struct store *s, struct store *own, struct error *err)
{
	static const char list[] = "SELECT type, name, tbl_name, sql FROM sqlite_master "
				   "ORDER BY type, name, tbl_name, sql";
	sqlite3_stmt *q, *o;
	int rc = sql_query(s, &q, err, list, "");

	rc = rc ?: sql_query(own, &o, err, list, "");
	if (rc)
		return rc;
	while ((rc = guard_compare_rows(s, q, own, o, err)) > 0)
		;
	sqlite3_reset(q);
	return rc;
}

static int guard_check_pages(struct store *s, struct error *err)
{
	const char *found, *line;
	sqlite3_stmt *q;
	int rc = sql_query(s, &q, err, "PRAGMA quick_check(1)", "");

	if (!rc)
		rc = sql_next(s, q, err);
	if (rc <= 0)
		return rc;
	found = sql_column(s, q, 0, TEXT_MOST);
	line = found ? strrchr(found, '\n') : NULL; /* after "*** in database main ***" */
	rc = found && !strcmp(found, "ok")
		     ? 0
		     : sql_damaged(s, err, "damaged: %s", line ? line + 1 : found);
	sqlite3_reset(q);
	return rc;
}

/* A row whose run or CPU is a text belongs to none, and nobody would miss it. SQLite sorts texts
 * last. */
static int guard_check_keys(struct store *s, struct error *err)
{
	sqlite3_stmt *q;
	int rc = sql_query(
		s, &q, err,
		"SELECT MAX(run) AS \"run or cpu\" FROM collector UNION ALL SELECT MAX(run) FROM metric UNION ALL "
		"SELECT MAX(cpu) FROM metric WHERE cpu IS NOT NULL UNION ALL "
		"SELECT MAX(run) FROM series UNION ALL SELECT MAX(run) FROM event UNION ALL "
		"SELECT MAX(run) FROM cost UNION ALL SELECT MAX(run) FROM process UNION ALL "
		"SELECT MAX(run) FROM spot UNION ALL SELECT MAX(run) FROM syscall UNION ALL "
		"SELECT MAX(run) FROM syscall_hist UNION ALL SELECT MAX(run) FROM thread UNION ALL "
		"SELECT MAX(run) FROM socket UNION ALL SELECT MAX(run) FROM note",
		"");

	while (!rc && (rc = sql_next(s, q, err)) > 0) {
		sql_int(s, q, 0);
		rc = 0;
	}
	return rc ? rc : store_failed(s, err);
}

int guard_check(struct store *s, struct error *err)
{
	struct store *own;
	int rc = store_create(&own, NULL, err);

	if (rc)
		return rc;
	/* One transaction covers all reads, so the checked schema is the schema that is read. */
	rc = sql_script(s, "BEGIN", err);
	rc = rc ?: guard_check_schema(s, own, err);
	rc = store_close(own, rc, err);
	rc = rc ?: guard_check_keys(s, err);
	return rc || !s->strange ? rc : guard_check_pages(s, err);
}
