// SPDX-License-Identifier: GPL-2.0-only
/* The store itself: as SQL that makes it anew, or each of its tables and views as csv. */
#include "analyze/export/export.h"

#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int export_sql(struct export *x, struct error *err)
{
	return export_open(x, err) ? store_dump(x->store, x->out.f, err) : -err->code;
}

const struct format format_sql = {
	.name = "sql",
	.what = "the store, as SQL from which sqlite3 makes it again",
	.options = {[SOURCE_CAPTURE] = OPT_SLICE},
	.write = export_sql,
};

static int check_name(const struct export *x, const char **names, int n, struct error *err)
{
	struct str all = {0};
	int i, rc;

	for (i = 0; i < n; i++)
		if (!strcmp(names[i], x->table))
			return 0;
	for (i = 0; i < n; i++)
		str_printf(&all, "%s%s", i ? " " : "", names[i]);
	rc = error_set(err, EINVAL, "no table '%s'; there are: %s", x->table,
		       all.buf ? all.buf : "");
	str_free(&all);
	return rc;
}

static int write_one(struct export *x, struct error *err)
{
	return export_open(x, err) ? store_csv(x->store, x->table, x->out.f, err) : -err->code;
}

static char *file_of(const struct export *x, const char *name)
{
	return xasprintf("%s/%s.csv", x->path, name);
}

static int write_file(struct export *x, const char *name, struct error *err)
{
	char *path = file_of(x, name);
	struct sink out;
	int rc = sink_open(&out, path, err);

	if (!rc)
		rc = sink_close(&out, store_csv(x->store, name, out.f, err), err);
	free(path);
	return rc;
}

/* Some of the tables look like all of them. */
static void remove_files(const struct export *x, const char **names, int n)
{
	char *path;

	while (n > 0) {
		path = file_of(x, names[--n]);
		unlink(path);
		free(path);
	}
}

static int write_folder(struct export *x, const char **names, int n, struct error *err)
{
	bool was = x->path && path_exists(x->path);
	int i, rc;

	if (!x->path || !strcmp(x->path, "-"))
		return error_set(
			err, EINVAL,
			"csv is a file for each table: give a folder with -o, or one table "
			"with --table");
	rc = dir_make(x->path, err);
	for (i = 0; i < n && !rc; i++)
		rc = write_file(x, names[i], err);
	if (rc)
		remove_files(x, names, i - 1);
	if (rc && !was)
		rmdir(x->path);
	return rc;
}

static int export_csv(struct export *x, struct error *err)
{
	const char **names = NULL;
	int rc, n = store_tables(x->store, &names, err);

	if (n < 0)
		return n;
	rc = x->table ? check_name(x, names, n, err) : write_folder(x, names, n, err);
	if (!rc && x->table)
		rc = write_one(x, err);
	free(names);
	return rc;
}

const struct format format_csv = {
	.name = "csv",
	.what = "the store: a file for each table in the folder of -o, or one with --table",
	.options = {[SOURCE_CAPTURE] = "table " OPT_SLICE},
	.write = export_csv,
};
