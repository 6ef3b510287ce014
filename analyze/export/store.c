// SPDX-License-Identifier: GPL-2.0-only
/* The store as SQL, or each of its tables and views as CSV. */
#include "analyze/export/export.h"

#include "lib/file.h"

#include <errno.h>

static int export_sql(struct export *x, struct error *err)
{
	return export_open(x, err) ? store_dump(x->store, x->out.f, err) : -err->code;
}

const struct format format_sql = {
	.name = "sql",
	.what = "the store, as SQL that sqlite3 reads",
	.options = {[SOURCE_CAPTURE] = OPT_SLICE},
	.write = export_sql,
};

static int csv_check_table(const struct export *x, const char **names, int n, struct error *err)
{
	freed(str_free) struct str all = {0};

	if (str_index(names, (size_t)n, x->table) >= 0)
		return 0;
	for (int i = 0; i < n; i++)
		str_printf(&all, "%s%s", i ? " " : "", names[i]);
	return error_set(err, EINVAL, "no table '%s'; %sthe tables are: %s", x->table,
			 did_you_mean(all.buf, x->table), all.buf ? all.buf : "");
}

static int csv_write_file(struct export *x, const char *folder, const char *name, struct error *err)
{
	autofree char *path = xasprintf("%s/%s.csv", folder, name);
	struct sink out;
	return sink_open(&out, path, err)
		       ?: sink_close(&out, store_csv(x->store, name, out.f, err), err);
}

static int csv_write_folder(struct export *x, const char **names, int n, struct error *err)
{
	autofree char *tmp = NULL;
	int rc;

	if (!x->path || !strcmp(x->path, "-"))
		return error_set(
			err, EINVAL,
			"csv writes one file per table: give a folder with -o, or one table with --table");
	rc = export_open_folder(x, &tmp, err);
	for (int i = 0; i < n && !rc; i++)
		rc = csv_write_file(x, tmp, names[i], err);
	return export_close_folder(x, tmp, rc, err);
}

static int export_csv(struct export *x, struct error *err)
{
	autofree const char **names = NULL;
	int rc, n = store_tables(x->store, &names, err);

	if (n < 0)
		return n;
	rc = x->table ? csv_check_table(x, names, n, err) : csv_write_folder(x, names, n, err);
	if (!rc && x->table)
		rc = export_open(x, err) ? store_csv(x->store, x->table, x->out.f, err)
					 : -err->code;
	return rc;
}

const struct format format_csv = {
	.name = "csv",
	.what = "the store: one file per table in the folder of -o, or the one table of --table",
	.options = {[SOURCE_CAPTURE] = "table " OPT_SLICE},
	.write = export_csv,
};
