// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/store/history.h"

#include "analyze/store/sql.h"
#include "lib/file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { HISTORY_VERSION = 1, HISTORY_ID = 0x7a636869 /* "zchi" */, WAIT_MS = 10000 };

EMBED_TEXT(history_schema, "analyze/store/history.sql");

static int history_write_schema(struct store *h, struct error *err)
{
	char head[80];
	int rc;

	snprintf(head, sizeof(head), "PRAGMA user_version=%d; PRAGMA application_id=%d;",
		 HISTORY_VERSION, HISTORY_ID);
	rc = sql_script(h, head, err);
	return rc ? rc : sql_script(h, history_schema, err);
}

static int history_check(struct store *h, struct error *err)
{
	int64_t id, version;
	struct store *own;
	int rc = sql_pragma(h, "application_id", &id, err)
			 ?: sql_pragma(h, "user_version", &version, err);

	if (!rc && (id != HISTORY_ID || version != HISTORY_VERSION))
		rc = error_set(
			err, EBADMSG,
			"%s: no history of this version of zcost; 'zcost history add' makes one",
			h->path);
	if (rc)
		return rc;
	own = xcalloc(1, sizeof(*own));
	rc = sqlite3_open(":memory:", &own->db) ? sql_error(own, err)
						: history_write_schema(own, err);
	return store_close(own, rc ? rc : guard_check_schema(h, own, err), err);
}

/*
 * Opens the file, which the first of several writers makes. Its schema is in the transaction, so
 * that a reader never sees half of it. SQLite would make a file that every user can read.
 */
static int history_open_for_writing(struct store *h, struct error *err)
{
	struct stat st = {.st_size = 0};
	int rc = caller_check_path(h->path, err), fd;

	if (rc)
		return rc;
	fd = open(h->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_sys(err, errno, "%s: cannot be written", h->path);
	caller_give(fd);
	close(fd);
	h->writable = true;
	if (sqlite3_open_v2(h->path, &h->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL))
		return sql_error(h, err);
	guard_configure(h->db);
	sqlite3_busy_timeout(h->db, WAIT_MS);
	rc = sql_script(h, "PRAGMA foreign_keys=ON; BEGIN IMMEDIATE", err);
	if (!rc && !stat(h->path, &st) && !st.st_size)
		rc = history_write_schema(h, err);
	return rc;
}

int history_open(struct store **history, const char *path, bool write, struct error *err)
{
	struct store *h = xcalloc(1, sizeof(*h));
	int rc;

	h->path = xstrdup(path);
	if (!write && !path_exists(path))
		rc = error_set(err, ENOENT, "%s: no such history; 'zcost history add' makes one",
			       path);
	else
		rc = write ? history_open_for_writing(h, err) : store_open_for_reading(h, err);
	if (!rc && !write) {
		sqlite3_busy_timeout(h->db, WAIT_MS); /* another program may be adding */
		rc = sql_script(h, "BEGIN", err);
	}
	rc = rc ?: history_check(h, err);
	if (rc)
		return store_close(h, rc, err);
	*history = h;
	return 0;
}

int history_capture_add(struct store *h, struct history_capture *c, struct error *err)
{
	int rc = sql_run(
		h, err,
		"INSERT OR REPLACE INTO capture (name, created, host, kernel, nic, \"commit\", labels) VALUES (?, ?, ?, ?, ?, ?, ?)",
		"sssssss", c->name, c->created, c->host, c->kernel, c->nic, c->commit, c->labels);

	c->id = sqlite3_last_insert_rowid(h->db);
	return rc;
}

int history_setting_add(struct store *h, const char *variant, const char *side,
			const struct history_setting *s, const char **known, struct error *err)
{
	*known = sql_first_text(
		h, "SELECT value FROM setting WHERE variant = ? AND side = ? AND name = ?", "sss",
		variant, side, s->name);
	return *known ? 0
		      : sql_run(h, err,
				"INSERT INTO setting (variant, side, name, value) VALUES (?, ?, ?, ?)",
				"ssss", variant, side, s->name, s->value);
}

int history_values_add(struct store *h, const struct history_series *s, int64_t capture,
		       const double *x, size_t n, struct error *err)
{
	int rc = sql_run(
		h, err,
		"INSERT OR IGNORE INTO series (variant, side, figure, unit, better, main) VALUES (?, ?, ?, ?, ?, ?)",
		"ssssii", s->variant, s->side, s->figure, s->unit, (int64_t)s->better,
		(int64_t)s->main);

	for (size_t i = 0; i < n && !rc; i++)
		rc = sql_run(
			h, err,
			"INSERT INTO value (series, capture, run, value) SELECT id, ?4, ?5, ?6 FROM series WHERE variant = ?1 AND side = ?2 AND figure = ?3",
			"sssiid", s->variant, s->side, s->figure, capture, (int64_t)i + 1, x[i]);
	return rc;
}

static void value_read_row(struct store *h, sqlite3_stmt *q, void *row)
{
	*(struct history_value *)row = (struct history_value){
		{sql_int(h, q, 0), sql_name(h, q, 1), sql_name(h, q, 2), sql_name(h, q, 3),
		 sql_name(h, q, 4), sql_small(h, q, 5), sql_int(h, q, 6) != 0},
		{sql_int(h, q, 7), sql_name(h, q, 8), sql_name(h, q, 9), sql_name(h, q, 10),
		 sql_text(h, q, 11), sql_text(h, q, 12), sql_text(h, q, 13), sql_text(h, q, 14)},
		sql_real(h, q, 15),
		sql_real(h, q, 16)};
}

int history_values(struct store *h, const struct history_choice *choice,
		   struct history_value **rows, struct error *err)
{
	return sql_rows(
		h, rows, sizeof(**rows), value_read_row, err,
		"SELECT s.id, variant, side, figure, unit, better, main, c.id, name, created, host, kernel, nic, \"commit\", labels, JULIANDAY(created) - (SELECT MIN(JULIANDAY(created)) FROM capture), value FROM series s JOIN value v ON v.series = s.id JOIN capture c ON c.id = v.capture WHERE variant GLOB IFNULL(?1, '*') AND side GLOB IFNULL(?2, '*') AND IFNULL(figure GLOB ?3, main) ORDER BY figure, s.id, created, c.id, run",
		"sss", choice->variant, choice->side, choice->figure);
}
