// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes, opens and closes a store. A new store has a temporary name until it is complete. So a
 * reader never sees half a store, and the old one stays until then.
 */
#include "analyze/store/sql.h"

#include "lib/file.h"
#include "lib/sha256.h"
#include "lib/words.h"

#include <errno.h>
#include <libgen.h>
#include <fcntl.h>
#include <unistd.h>

enum { STORE_VERSION = 22, APPLICATION_ID = 0x7a636f73 /* "zcos" */ };

EMBED_TEXT(store_schema, "analyze/store/schema.sql");

static int store_write_schema(struct store *s, struct error *err)
{
	char head[160];
	int rc;

	snprintf(head, sizeof(head),
		 "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA user_version=%d;"
		 "PRAGMA application_id=%d;",
		 STORE_VERSION, APPLICATION_ID);
	rc = sql_script(s, head, err);
	rc = rc ?: sql_script(s, store_schema, err);
	return rc ? rc : store_note_kinds(s, err);
}

/* Names the reason. SQLite would only say that it is unable to open the file. */
static int store_check_writable(const char *path, struct error *err)
{
	autofree char *copy = xstrdup(path);
	const char *folder = dirname(copy);
	int rc = caller_check_path(path, err);

	if (!rc && access(folder, W_OK | X_OK))
		rc = error_set(
			err, errno,
			"%s: cannot be written, the folder %s says: %s; analyze as its owner "
			"or as root, make it writable, or analyze a copy of the capture",
			path, folder, strerror(errno));
	return rc;
}

/* Makes the file for SQLite, because SQLite would make one that every user can read. */
static int store_make_file(struct store *s, const char *path, struct error *err)
{
	autoclose int fd = -1;
	int rc = store_check_writable(path, err);

	if (rc)
		return rc;
	s->path = xstrdup(path);
	s->tmp = remains_name(path);
	remains_remove(path);
	fd = file_create(s->tmp, 0, 0600);
	if (fd < 0)
		return error_sys(err, -fd, "%s: cannot write", s->tmp);
	caller_give(fd);
	return 0;
}

int store_create(struct store **store, const char *path, struct error *err)
{
	struct store *s = xcalloc(1, sizeof(*s));
	int rc;

	s->writable = true;
	rc = path ? store_make_file(s, path, err) : 0;
	/* Nobody asks SQLite how much memory it uses, and counting takes a lock each time. */
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	if (!rc &&
	    sqlite3_open_v2(path ? s->tmp : ":memory:", &s->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL))
		rc = sql_error(s, err);
	rc = rc ?: store_write_schema(s, err);
	if (rc)
		return store_close(s, rc, err);
	/* The triggers of table packed are for other programs. */
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	*store = s;
	return 0;
}

int store_create_in_memory(struct store **store, const char *name, struct error *err)
{
	int rc = store_create(store, NULL, err);

	if (!rc)
		(*store)->path = xstrdup(name);
	return rc;
}

static void store_close_db(struct store *s)
{
	for (size_t i = 0; i < s->nstatements; i++)
		sqlite3_finalize(s->statements[i].stmt);
	s->nstatements = 0;
	sqlite3_close(s->db);
	s->db = NULL;
}

int store_close(struct store *s, int rc, struct error *err)
{
	if (!s)
		return rc;
	if (s->failed.code) { /* the cause of whatever followed */
		if (err)
			*err = s->failed;
		rc = -s->failed.code;
	}
	store_close_db(s);
	if (s->tmp)
		unlink(s->tmp);
	dictionary_free(s->dictionary);
	sql_forget(s);
	for (int i = 0; i < KEEP_PLACES; i++)
		if (s->kept[i].data)
			s->kept[i].release(s->kept[i].data);
	intern_free(&s->strings);
	store_forget_metrics(s);
	free(s->runs);
	notes_free(&s->notes);
	free(s->note_runs);
	free(s->statements);
	free(s->path);
	free(s->tmp);
	free(s);
	return rc;
}

int store_begin(struct store *s, struct error *err)
{
	return sql_run(s, err, "BEGIN", "");
}

int store_commit(struct store *s, struct error *err)
{
	return sql_run(s, err, "COMMIT", "");
}

int store_open_for_reading(struct store *s, struct error *err)
{
	autofree char *real = realpath(s->path, NULL);
	int rc = 0;

	if (!real || lstat(real, &s->file))
		rc = error_sys(err, errno, "%s: cannot open", s->path);
	else if (!S_ISREG(s->file.st_mode))
		rc = error_set(err, EBADMSG, "%s: not a regular file", s->path);
	else if (sqlite3_open_v2(real, &s->db,
				 SQLITE_OPEN_READONLY | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_NOMUTEX,
				 NULL))
		rc = sql_error(s, err);
	if (!rc) {
		s->strange |= s->file.st_uid != geteuid();
		guard_configure(s->db);
	}
	return rc;
}

int store_open_again(struct store *s, struct error *err)
{
	struct stat was = s->file;
	int rc;

	if (!was.st_ino) /* in memory */
		return 0;
	s->nstatements = 0;
	rc = store_open_for_reading(s, err);
	rc = rc ?: sql_script(s, "BEGIN", err);
	if (!rc && (was.st_ino != s->file.st_ino || was.st_dev != s->file.st_dev))
		rc = error_set(err, ESTALE,
			       "%s: a new analysis replaced it meanwhile; run this again", s->path);
	return rc;
}

static int store_sync_file(const char *path)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 || fsync(fd) ? -errno : 0;
}

int store_commit_all(struct store *s, struct error *err)
{
	int rc = store_failed(s, err);

	if (rc)
		return rc;
	s->writable = !!s->tmp;
	if (!s->tmp)
		return 0;
	store_close_db(s);
	rc = store_sync_file(s->tmp);
	if (!rc && rename(s->tmp, s->path))
		rc = -errno;
	if (rc)
		return error_sys(err, -rc, "%s: cannot write", s->path);
	free(s->tmp);
	s->tmp = NULL;
	s->writable = false;
	return store_open_for_reading(s, err);
}

static int store_check_version(struct store *s, const char *capture, struct error *err)
{
	autofree char *word = shell_word(capture);
	int64_t id, version;
	int rc = sql_pragma(s, "application_id", &id, err);

	if (rc)
		return rc;
	if (id != APPLICATION_ID)
		return error_set(err, EBADMSG, "%s: not a store of zcost; run 'zcost analyze %s'",
				 s->path, word);
	rc = sql_pragma(s, "user_version", &version, err);
	if (rc)
		return rc;
	if (version != STORE_VERSION)
		return error_set(err, ESTALE,
				 "%s: made by another version of zcost (%d, this one reads %d); "
				 "run 'zcost analyze %s' again",
				 s->path, (int)version, STORE_VERSION, word);
	return 0;
}

/*
 * Refuses a store whose source changed: a capture may continue after the analysis, and the next
 * `zcost collect` may replace the run. `key` has the checksum of the source that was analyzed.
 */
static int store_check_fresh(struct store *s, const char *capture, struct error *err)
{
	static const struct {
		const char *file, *key, *what;
	} sources[] = {{"manifest.json", "manifest_sha256", "capture"},
		       {"run.json", "run_sha256", "run"}};
	autofree char *word = shell_word(capture);
	int rc = 0;

	for (size_t i = 0; i < array_size(sources) && !rc; i++) {
		autofree char *path = xasprintf("%s/%s", capture, sources[i].file);
		char hex[65];
		const char *known = store_capture_value(s, sources[i].key);
		struct error unread = {0};

		if (known && path_exists(path) && sha256_file(path, hex, &unread)) {
			if (error_of_machine(unread.code))
				rc = error_set(err, unread.code, "%s", unread.text);
		} else if (known && path_exists(path) && strcmp(known, hex)) {
			rc = error_set(err, ESTALE,
				       "%s: the %s has changed since; run 'zcost analyze %s' again",
				       s->path, sources[i].what, word);
		}
	}
	return rc;
}

static bool store_folder_is_capture(const char *folder)
{
	static const char *const names[] = {"manifest.json", "runs", "run.json"};
	bool is = false;

	for (size_t i = 0; i < array_size(names) && !is; i++) {
		autofree char *path = xasprintf("%s/%s", folder, names[i]);

		is = path_exists(path);
	}
	return is;
}

static int store_report_missing(const char *path, const char *capture, bool folder,
				struct error *err)
{
	int why = errno;
	autofree char *word = shell_word(capture);

	if (why != EACCES && !path_exists(capture))
		return error_set(err, ENOENT, NO_SUCH_CAPTURE, capture);
	if (!folder || why != ENOENT)
		return error_sys(err, why, "%s: cannot open", path);
	if (!store_folder_is_capture(capture))
		return error_set(
			err, ENOENT,
			"%s: no capture: it has no manifest.json, no runs/ and no run.json",
			capture);
	return error_set(err, ENOENT, "%s: not analyzed yet; run 'zcost analyze %s' first", capture,
			 word);
}

static int store_open_plain(struct store *s, const char *capture, struct error *err)
{
	bool folder = path_is_dir(capture);
	int rc;

	s->path = folder ? xasprintf("%s/zcost.db", capture) : xstrdup(capture);
	if (access(s->path, R_OK))
		rc = store_report_missing(s->path, capture, folder, err);
	else if (!folder && !file_begins_with(s->path, "SQLite format 3", 16))
		return error_set(err, EBADMSG, "%s: neither a capture's folder nor a zcost.db",
				 s->path);
	else
		rc = store_open_for_reading(s, err);
	rc = rc ?: store_check_version(s, capture, err);
	rc = rc ?: guard_check(s, err);
	return rc || !folder ? rc : store_check_fresh(s, capture, err);
}

int store_open(struct store **store, const char *capture, struct error *err)
{
	struct store *s = xcalloc(1, sizeof(*s));
	autofree char *word = shell_word(capture);
	int rc;

	/* Users pass a perf.data as a capture now and then. */
	if (file_begins_with(capture, "PERFILE2", 8) || file_begins_with(capture, "2ELIFREP", 8))
		rc = error_set(err, EBADMSG,
			       "%s is a perf.data, not a capture: give it with --perf", capture);
	else if (file_begins_with(capture, "\x28\xb5\x2f\xfd", 4)) /* zstd */
		rc = error_set(err, EBADMSG, "%s is an archive: unpack it first: zcost unpack %s",
			       capture, word);
	else
		rc = store_open_plain(s, capture, err);
	if (rc)
		return store_close(s, rc, err);
	*store = s;
	return 0;
}

const char *store_path(const struct store *s)
{
	return s->path;
}

void **store_keep(struct store *s, enum store_place place, void (*release)(void *data))
{
	s->kept[place].release = release;
	return &s->kept[place].data;
}
