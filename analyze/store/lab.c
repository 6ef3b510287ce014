// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many stores in one database of another engine. Tables, types, keys and views come out of
 * schema.sql: each table gets a first column `capture`, each view joins by it, too.
 */
#include "analyze/store/sql.h"

#include "lib/str.h"

#include <ctype.h>

struct lab_column {
	const char *name, *type;
	bool null;
};

SQL_READER(lab_read_column, struct lab_column, sql_name(s, q, 0), sql_name(s, q, 1),
	   sql_int(s, q, 2))

static int lab_columns(struct store *schema, const char *table, struct lab_column **c,
		       struct error *err)
{
	return sql_rows(schema, c, sizeof(**c), lab_read_column, err,
			"SELECT name, type, NOT (\"notnull\" OR pk) FROM pragma_table_info(?)", "s",
			table);
}

/* Returns ", KEY, KEY": the primary key, or the columns of the first index. */
static char *lab_key(struct store *schema, const char *table)
{
	return xstrdup(
		sql_first_text(schema,
			       "SELECT ', ' || GROUP_CONCAT('\"' || name || '\"', ', ') FROM ("
			       "SELECT name FROM pragma_table_info(?1) WHERE pk ORDER BY pk)",
			       "s", table)
			?: sql_first_text(
				   schema,
				   "SELECT ', ' || GROUP_CONCAT('\"' || name || '\"', ', ') FROM ("
				   "SELECT i.name FROM pragma_index_list(?1) l JOIN pragma_index_info(l.name) i "
				   "WHERE i.name IS NOT NULL AND l.seq = (SELECT MAX(seq) FROM "
				   "pragma_index_list(?1)) ORDER BY i.seqno)",
				   "s", table)
				   ?: "");
}

/* packed is a copy of cost. */
int store_lab_tables(struct store *schema, const char ***names, struct error *err)
{
	return sql_names(schema, names, err,
			 "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'packed' "
			 "AND name NOT LIKE 'sqlite_%' ORDER BY rowid");
}

/* SQLite's type, the name that all engines know, and the one that ClickHouse writes. */
static const struct {
	const char *sqlite, *sql, *clickhouse;
	int value;
} types[] = {{"INTEGER", "BIGINT", "Int64", SQLITE_INTEGER},
	     {"REAL", "DOUBLE", "Float64", SQLITE_FLOAT},
	     {"TEXT", "TEXT", "String", SQLITE_TEXT}};

static size_t lab_type(const char *sqlite)
{
	size_t i = 0;

	while (i + 1 < array_size(types) && strcmp(types[i].sqlite, sqlite))
		i++;
	return i;
}

static int lab_write_table(struct store *schema, const char *table, FILE *out, struct error *err)
{
	autofree char *key = lab_key(schema, table);
	autofree struct lab_column *c = NULL;
	int n = lab_columns(schema, table, &c, err);

	if (n <= 0)
		return n;
	fprintf(out, "\nCREATE TABLE IF NOT EXISTS \"%s\" (\"capture\" TEXT NOT NULL", table);
	for (int i = 0; i < n; i++)
		fprintf(out, ", \"%s\" %s %s", c[i].name, types[lab_type(c[i].type)].sql,
			c[i].null ? "NULL" : "NOT NULL");
	fprintf(out,
		")\nENGINE = MergeTree ORDER BY (\"capture\"%s) SETTINGS allow_nullable_key = 1\n;\n",
		key);
	return 0;
}

/* --- views --- */

static size_t lab_skip_aggregate(const char *p, size_t n)
{
	int depth = 1;

	while (depth > 0 && p[++n])
		depth += (p[n] == '(') - (p[n] == ')');
	return n;
}

/*
 * Writes what a view selects, and adds each column a.name outside an aggregate to `keys`. A column
 * gets its name with AS, because ClickHouse keeps the a. otherwise.
 */
static void lab_write_list(const char *p, const char *end, FILE *out, struct str *keys)
{
	int depth = 0;

	while (p < end) {
		size_t n = strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.");
		bool column = n > 2 && p[1] == '.';

		if (column)
			str_printf(keys, ", %.*s", (int)n, p);
		else if (p[n] == '(' &&
			 (str_starts(p, "SUM(") || str_starts(p, "MIN(") || str_starts(p, "MAX(")))
			n = lab_skip_aggregate(p, n);
		else if (str_starts(p, "(WHERE"))
			n = lab_skip_aggregate(p, 0);
		else if (!n)
			depth += (*p == '(') - (*p == ')');
		n = n ? n : 1;
		fprintf(out, "%.*s", (int)n, p);
		if (column && !depth && strchr(",\n", p[n]))
			fprintf(out, " AS %.*s", (int)n - 2, p + 2);
		p += n;
	}
}

/*
 * Writes a view of schema.sql, whose tables have names of one letter there. SQLite alone lets a row
 * of a group have a column that is no key of the group. ClickHouse reads NULL for a missing row
 * only with join_use_nulls. If it may choose the order of joins, it may join by the capture alone.
 */
static void lab_write_view(const char *sql, FILE *out)
{
	freed(str_free) struct str keys = {0};
	const char *list = strstr(sql, "SELECT ") + strlen("SELECT "),
		   *from = strstr(list, "FROM "), *on;
	const char *group = strstr(sql, "GROUP BY ");

	sql += strlen("CREATE VIEW ");
	fprintf(out, "\nCREATE VIEW IF NOT EXISTS %.*s%c.capture AS capture, ", (int)(list - sql),
		sql, *list);
	lab_write_list(list, from, out, &keys);
	sql = from;
	while ((on = strstr(sql, " ON "))) {
		fprintf(out, "%.*s ON %c.capture = %c.capture AND ", (int)(on - sql), sql, on[-1],
			*list);
		sql = on + strlen(" ON ");
	}
	fprintf(out, "%.*s", (int)((group ? group : sql + strlen(sql)) - sql), sql);
	if (group)
		fprintf(out, "GROUP BY %c.capture, %s%s", *list, group + strlen("GROUP BY "),
			keys.buf);
	fprintf(out,
		"\nSETTINGS join_use_nulls = 1, query_plan_optimize_join_order_limit = 1\n;\n");
}

int store_lab_schema(struct store *schema, FILE *out, struct error *err)
{
	autofree const char **tables = NULL, **views = NULL;
	int n = store_lab_tables(schema, &tables, err), rc = n < 0 ? n : 0;

	fprintf(out,
		"-- The stores of many captures in one database: docs/reference/store.md describes tables and views.\n"
		"-- SQLite and DuckDB read this file without the lines that begin with ENGINE or SETTINGS.\n");
	for (int i = 0; i < n && !rc; i++)
		rc = lab_write_table(schema, tables[i], out, err);
	n = rc
		    ?: sql_names(
			       schema, &views, err,
			       "SELECT sql FROM sqlite_master WHERE type = 'view' ORDER BY rowid");
	for (int i = 0; i < n && views; i++)
		lab_write_view(views[i], out);
	return n < 0 ? n : 0;
}

/* --- rows --- */

int store_lab_head(struct store *schema, const char *table, FILE *out, struct error *err)
{
	autofree struct lab_column *c = NULL;
	int n = lab_columns(schema, table, &c, err);

	fprintf(out, "capture");
	for (int i = 0; i < n; i++)
		fprintf(out, "\t%s", c[i].name);
	fprintf(out, "\nString");
	for (int i = 0; i < n; i++)
		fprintf(out, c[i].null ? "\tNullable(%s)" : "\t%s",
			types[lab_type(c[i].type)].clickhouse);
	fputc('\n', out);
	return n < 0 ? n : 0;
}

static void lab_write_text(FILE *out, const char *s)
{
	static const char special[] = "\t\n\r\b\f\\", letter[] = "tnrbf\\";

	for (; *s; s++) {
		const char *at = strchr(special, *s);

		if (at)
			fputc('\\', out);
		fputc(at ? letter[at - special] : *s, out);
	}
}

static int lab_write_cell(struct store *s, FILE *out, sqlite3_stmt *q, int i, struct error *err)
{
	const char *declared = sqlite3_column_decltype(q, i), *text;
	int type = sqlite3_column_type(q, i);

	fputc('\t', out);
	if (type == SQLITE_NULL)
		fputs("\\N", out);
	else if (type != types[lab_type(declared ?: "")].value)
		return sql_damaged(s, err, "column '%s' has a value of another type",
				   sqlite3_column_name(q, i));
	else if (type == SQLITE_INTEGER)
		fprintf(out, "%lld", (long long)sqlite3_column_int64(q, i));
	else if (type == SQLITE_FLOAT)
		dump_real(out, sqlite3_column_double(q, i));
	else if ((text = sql_column(s, q, i, SIZE_MAX)))
		lab_write_text(out, text);
	return 0;
}

int store_lab_rows(struct store *s, const char *table, const char *capture, FILE *out,
		   struct error *err)
{
	char *sql = sqlite3_mprintf("SELECT * FROM \"%w\"", table);
	sqlite3_stmt *q = NULL;
	int rc = dump_prepare(s, &q, sql, err), n = sqlite3_column_count(q);

	while (!rc && (rc = sql_next(s, q, err)) > 0) {
		rc = 0;
		lab_write_text(out, capture);
		for (int i = 0; i < n && !rc; i++)
			rc = lab_write_cell(s, out, q, i, err);
		fputc('\n', out);
	}
	sqlite3_finalize(q);
	sqlite3_free(sql);
	return rc;
}
