// SPDX-License-Identifier: GPL-2.0-only
/*
 * A store may come from a stranger. Its schema is SQL that SQLite runs: a view in place of a table
 * can run for ever, and a name can be a path or a command. Only the schema that zcost makes is
 * read.
 */
#include "analyze/store/sql.h"

#include <string.h>

/* Bytes of a stranger's name that a message repeats; the first other byte ends the name. */
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
	sqlite3_exec(db, "PRAGMA cell_size_check=ON", NULL, NULL, NULL);
}

static bool same_text(struct store *s, sqlite3_stmt *q, struct store *own, sqlite3_stmt *o,
		      int column)
{
	const char *a = sql_column(s, q, column, SQL_MOST), *b = sql_text(own, o, column);

	return a && b ? !strcmp(a, b) : a == b;
}

/* One row of each schema, in the same order: they are equal, or the first that differs is named. */
static int compare_rows(struct store *s, sqlite3_stmt *q, struct store *own, sqlite3_stmt *o,
			struct error *err)
{
	int has = sql_next(s, q, err), wants = has < 0 ? 0 : sql_next(own, o, err), i;
	bool same = has == wants;
	const char *name;

	if (has < 0 || wants < 0)
		return has < 0 ? has : wants;
	for (i = 0; i < 4 && same && has; i++)
		same = same_text(s, q, own, o, i);
	if (same)
		return has;
	name = has ? sql_column(s, q, 1, TEXT_MOST) : sql_text(own, o, 1);
	return sql_damaged(s, err, "its tables are not those that zcost makes (see '%.*s')",
			   (int)strspn(name ? name : "", name_bytes), name ? name : "");
}

static int check_schema(struct store *s, struct store *own, struct error *err)
{
	static const char list[] = "SELECT type, name, tbl_name, sql FROM sqlite_master "
				   "ORDER BY type, name, tbl_name, sql";
	sqlite3_stmt *q, *o;
	int rc = sql_query(s, &q, err, list, "");

	if (!rc)
		rc = sql_query(own, &o, err, list, "");
	if (rc)
		return rc;
	while ((rc = compare_rows(s, q, own, o, err)) > 0)
		;
	sqlite3_reset(q);
	return rc;
}

static int check_pages(struct store *s, struct error *err)
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

int guard_check(struct store *s, struct error *err)
{
	struct store *own;
	int rc = store_create(&own, NULL, err);

	if (rc)
		return rc;
	/* One transaction for all reads: the schema that is checked is the schema that is read. */
	rc = sql_script(s, "BEGIN", err);
	if (!rc)
		rc = check_schema(s, own, err);
	rc = store_close(own, rc, err);
	return rc || !s->strange ? rc : check_pages(s, err);
}
