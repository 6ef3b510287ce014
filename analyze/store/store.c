// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opening, making and closing. A new store is made under a temporary name and gets its own only
 * when it is complete: a reader never sees half of one, and the old one stays until then.
 */
#include "analyze/store/sql.h"

#include "lib/alloc.h"
#include "lib/embed.h"
#include "lib/file.h"
#include "lib/str.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STORE_VERSION = 3, APPLICATION_ID = 0x7a636f73 /* "zcos" */ };

EMBED_TEXT(store_schema, "analyze/store/schema.sql");

static int set_up(struct store *s, struct error *err)
{
	char head[160];
	int rc;

	snprintf(head, sizeof(head),
		 "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA user_version=%d;"
		 "PRAGMA application_id=%d;",
		 STORE_VERSION, APPLICATION_ID);
	rc = sql_script(s, head, err);
	return rc ? rc : sql_script(s, store_schema, err);
}

/* Whoever was killed while making a store left half of one. */
static void remove_remains(const char *path)
{
	char *pattern = xasprintf("%s.tmp.*", path);
	glob_t g = {0};
	size_t i;

	if (!glob(pattern, 0, NULL, &g)) {
		for (i = 0; i < g.gl_pathc; i++) {
			pid_t pid = (pid_t)atoi(strrchr(g.gl_pathv[i], '.') + 1);

			if (pid > 0 && kill(pid, 0) && errno == ESRCH)
				unlink(g.gl_pathv[i]);
		}
	}
	globfree(&g);
	free(pattern);
}

int store_create(struct store **store, const char *path, struct error *err)
{
	struct store *s = xcalloc(1, sizeof(*s));
	int rc;

	s->writable = true;
	if (path) {
		s->path = xstrdup(path);
		s->tmp = xasprintf("%s.tmp.%d", path, (int)getpid());
		remove_remains(path);
		unlink(s->tmp);
	}
	rc = sqlite3_open(path ? s->tmp : ":memory:", &s->db) ? sql_error(s, err) : 0;
	if (!rc)
		rc = set_up(s, err);
	if (rc) {
		store_close(s);
		return rc;
	}
	*store = s;
	return 0;
}

static void close_db(struct store *s)
{
	size_t i;

	for (i = 0; i < s->nstatements; i++)
		sqlite3_finalize(s->statements[i].stmt);
	s->nstatements = 0;
	sqlite3_close(s->db);
	s->db = NULL;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	close_db(s);
	if (s->tmp)
		unlink(s->tmp);
	dictionary_free(s->dictionary);
	intern_free(&s->strings);
	free(s->statements);
	free(s->path);
	free(s->tmp);
	free(s);
}

int store_begin(struct store *s, struct error *err)
{
	return sql_run(s, err, "BEGIN", "");
}

int store_commit(struct store *s, struct error *err)
{
	return sql_run(s, err, "COMMIT", "");
}

static int sync_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return -errno;
	rc = fsync(fd) ? -errno : 0;
	close(fd);
	return rc;
}

int store_commit_all(struct store *s, struct error *err)
{
	int rc;

	if (!s->path)
		return 0;
	close_db(s);
	rc = sync_file(s->tmp);
	if (!rc && rename(s->tmp, s->path))
		rc = -errno;
	if (rc)
		return error_sys(err, -rc, "%s: cannot write", s->path);
	free(s->tmp);
	s->tmp = NULL;
	s->writable = false;
	if (sqlite3_open_v2(s->path, &s->db, SQLITE_OPEN_READONLY, NULL))
		return sql_error(s, err);
	return 0;
}

static int64_t pragma(struct store *s, const char *sql, struct error *err)
{
	sqlite3_stmt *stmt;
	int64_t value = -1;
	int rc = sql_query(s, &stmt, err, sql, "");

	if (rc)
		return rc;
	while ((rc = sql_next(s, stmt, err)) > 0)
		value = sqlite3_column_int64(stmt, 0);
	return rc ? rc : value;
}

static int check_version(struct store *s, const char *capture, struct error *err)
{
	int64_t id = pragma(s, "PRAGMA application_id", err), version;

	if (id < 0)
		return (int)id;
	if (id != APPLICATION_ID)
		return error_set(err, EBADMSG, "%s: not a store of zcost; run 'zcost analyze %s'",
				 s->path, capture);
	version = pragma(s, "PRAGMA user_version", err);
	if (version != STORE_VERSION)
		return error_set(err, ESTALE,
				 "%s: made by another version of zcost (%d, this one reads %d); "
				 "run 'zcost analyze %s' again",
				 s->path, (int)version, STORE_VERSION, capture);
	return 0;
}

/* A capture that went on after it was analyzed has runs that the store does not know. */
static int check_fresh(struct store *s, const char *capture, struct error *err)
{
	char *manifest = xasprintf("%s/manifest.json", capture), hex[65];
	const char *known = store_capture_value(s, "manifest_sha256");
	int rc = 0;

	if (known && path_exists(manifest) && !file_sha256(manifest, hex, NULL) &&
	    strcmp(known, hex))
		rc = error_set(err, ESTALE,
			       "%s: the capture has changed since; run 'zcost analyze %s' again",
			       s->path, capture);
	free(manifest);
	return rc;
}

static int missing(const char *path, const char *capture, bool folder, struct error *err)
{
	if (!path_exists(capture))
		return error_set(err, ENOENT, "%s: no such capture", capture);
	if (!folder)
		return error_sys(err, errno, "%s: cannot open", path);
	return error_set(err, ENOENT, "%s: not analyzed yet; run 'zcost analyze %s' first", capture,
			 capture);
}

int store_open(struct store **store, const char *capture, struct error *err)
{
	bool folder = path_is_dir(capture);
	struct store *s = xcalloc(1, sizeof(*s));
	int rc;

	if (!folder && str_ends(capture, ".tar.zst")) {
		free(s);
		return error_set(err, EINVAL, "%s: an archive; 'zcost unpack' opens it", capture);
	}
	s->path = folder ? xasprintf("%s/zcost.db", capture) : xstrdup(capture);
	if (access(s->path, R_OK))
		rc = missing(s->path, capture, folder, err);
	else if (sqlite3_open_v2(s->path, &s->db, SQLITE_OPEN_READONLY, NULL))
		rc = sql_error(s, err);
	else
		rc = check_version(s, capture, err);
	if (!rc && folder)
		rc = check_fresh(s, capture, err);
	if (rc) {
		store_close(s);
		return rc;
	}
	*store = s;
	return 0;
}

const char *store_path(const struct store *s)
{
	return s->path;
}
