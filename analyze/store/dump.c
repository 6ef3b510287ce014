// SPDX-License-Identifier: GPL-2.0-only
/*
 * The store as text: SQL that makes the same store, or one table as csv. The names of tables and
 * their SQL come out of schema.sql, never out of the file, because a name in a file may be a path
 * or a command of the sqlite3 shell. These statements are not cached.
 */
#include "analyze/store/sql.h"

#include "lib/table.h"

int dump_prepare(struct store *s, sqlite3_stmt **q, const char *sql, struct error *err)
{
	return sqlite3_prepare_v2(s->db, sql, -1, q, NULL) ? sql_error(s, err) : 0;
}

int store_tables(struct store *s, const char ***names, struct error *err)
{
	struct store *own;
	int n = store_create(&own, NULL, err);

	*names = NULL;
	if (n)
		return n;
	n = sql_names(own, names, err,
		      "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND "
		      "name NOT LIKE 'sqlite_%' ORDER BY type = 'view', rowid");
	for (int i = 0; i < n; i++)
		(*names)[i] = intern_get(&s->strings, intern_str(&s->strings, (*names)[i]));
	return store_close(own, n, err);
}

/* --- csv --- */

/* Writes the fewest digits that give the same value again. */
void dump_real(FILE *out, double x)
{
	char digits[40];

	snprintf(digits, sizeof(digits), "%.15g", x);
	if (strtod(digits, NULL) != x)
		snprintf(digits, sizeof(digits), "%.17g", x);
	fputs(digits, out);
}

/* Writes a string. An empty string is two quotes, because an empty cell is NULL. */
static void csv_text(FILE *out, const char *s)
{
	if (*s)
		csv_write_text(out, s);
	else
		fputs("\"\"", out);
}

static void csv_cell(struct store *s, FILE *out, sqlite3_stmt *q, int i)
{
	const char *text;

	switch (sqlite3_column_type(q, i)) {
	case SQLITE_NULL:
		break;
	case SQLITE_INTEGER:
		fprintf(out, "%lld", (long long)sqlite3_column_int64(q, i));
		break;
	case SQLITE_FLOAT:
		dump_real(out, sqlite3_column_double(q, i));
		break;
	default:
		text = sql_column(s, q, i, SIZE_MAX);
		csv_text(out, text ? text : "");
	}
}

int store_csv(struct store *s, const char *table, FILE *out, struct error *err)
{
	char *sql = sqlite3_mprintf("SELECT * FROM \"%w\"", table);
	sqlite3_stmt *q = NULL;
	int rc = dump_prepare(s, &q, sql, err), n = sqlite3_column_count(q);

	for (int i = 0; !rc && i < n; i++) {
		csv_text(out, sqlite3_column_name(q, i));
		fputc(i < n - 1 ? ',' : '\n', out);
	}
	while (!rc && (rc = sql_next(s, q, err)) > 0) {
		for (int i = 0; i < n; i++) {
			csv_cell(s, out, q, i);
			fputc(i < n - 1 ? ',' : '\n', out);
		}
		rc = 0;
	}
	sqlite3_finalize(q);
	sqlite3_free(sql);
	return rc;
}

/* --- SQL --- */

/* SELECT quote(a) || ',' || quote(b) ... FROM table: SQLite quotes so that nothing is lost. */
static char *dump_quote_sql(struct store *s, const char *table)
{
	char *sql = sqlite3_mprintf("SELECT * FROM \"%w\" LIMIT 0", table);
	struct str list = {0};
	sqlite3_stmt *q = NULL;

	if (!dump_prepare(s, &q, sql, NULL)) {
		str_puts(&list, "SELECT ");
		for (int i = 0; i < sqlite3_column_count(q); i++)
			str_printf(&list, "%squote(\"%s\")", i ? " || ',' || " : "",
				   sqlite3_column_name(q, i));
		str_printf(&list, " FROM \"%s\"", table);
	}
	sqlite3_finalize(q);
	sqlite3_free(sql);
	return str_take(&list);
}

static int dump_rows(struct store *s, const char *table, FILE *out, struct error *err)
{
	autofree char *sql = dump_quote_sql(s, table);
	sqlite3_stmt *q = NULL;
	int rc = dump_prepare(s, &q, sql, err);

	while (!rc && (rc = sql_next(s, q, err)) > 0) {
		const char *values = sql_column(s, q, 0, SIZE_MAX);

		rc = values ? 0 : sql_damaged(s, err, "table '%s' is damaged", table);
		if (values)
			fprintf(out, "INSERT INTO \"%s\" VALUES(%s);\n", table, values);
	}
	sqlite3_finalize(q);
	return rc;
}

static int dump_pragma(struct store *s, const char *name, FILE *out, struct error *err)
{
	int64_t value;
	int rc = sql_pragma(s, name, &value, err);

	if (!rc)
		fprintf(out, "PRAGMA %s=%lld;\n", name, (long long)value);
	return rc;
}

/* Writes tables with their rows first, in the order of schema.sql, then indexes and views. */
int store_dump(struct store *s, FILE *out, struct error *err)
{
	struct store *own = NULL;
	sqlite3_stmt *q;
	int rc = dump_pragma(s, "user_version", out, err);

	rc = rc ?: dump_pragma(s, "application_id", out, err);
	rc = rc ?: store_create(&own, NULL, err);
	rc = rc
		     ?: sql_query(own, &q, err,
				  "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL "
				  "AND name NOT LIKE 'sqlite_%' ORDER BY type <> 'table', "
				  "type = 'view', rowid",
				  "");
	fputs("BEGIN;\n", out);
	while (!rc && (rc = sql_next(own, q, err)) > 0) {
		fprintf(out, "%s;\n", sql_text(own, q, 2));
		rc = strcmp(sql_text(own, q, 0), "table")
			     ? 0
			     : dump_rows(s, sql_text(own, q, 1), out, err);
	}
	fputs("COMMIT;\n", out);
	return store_close(own, rc, err);
}
