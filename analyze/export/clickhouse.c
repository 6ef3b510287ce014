// SPDX-License-Identifier: GPL-2.0-only
/* The stores of many captures as files for one database: a file per table, the schema, and what
 * loads them. */
#include "analyze/export/export.h"

#include "lib/file.h"

#include <errno.h>

/* Returns the name of a capture in the database: that of its folder, or of its archive without the
 * ending. The caller frees it. */
static char *clickhouse_name(const char *capture)
{
	char path[PATH_MAX], *end;

	if (!realpath(capture, path))
		return xstrdup(path_base_name(capture));
	end = strrchr(path, '/');
	if (!strcmp(end, "/zcost.db"))
		*end = 0;
	end = strstr(path_base_name(path), ".tar");
	while (end && end[4] && end[4] != '.') /* a folder may be "6.8.target" */
		end = strstr(end + 1, ".tar");
	if (end)
		*end = 0;
	return xstrdup(path_base_name(path));
}

struct clickhouse {
	struct store *schema;
	const char **tables; /* names of the tables in the schema */
	int n;
	struct sink *out;   /* by table */
	const char **names; /* names of the captures; ends with NULL */
	char **stores;	    /* paths, by capture */
	struct arena arena; /* has the three lists, and their texts */
};

static int clickhouse_write_capture(struct clickhouse *k, const char *capture, int at,
				    struct error *err)
{
	autofree char *real = NULL;
	struct store *s = NULL;
	int rc;

	if (strchr(k->names[at], '\\'))
		return error_set(err, EINVAL, "%s: rename the folder: the name has a backslash",
				 capture);
	if (str_index(k->names, (size_t)at, k->names[at]) >= 0)
		return error_set(err, EINVAL,
				 "%s: another capture has the name '%s', too; rename the folder",
				 capture, k->names[at]);
	rc = store_open(&s, capture, err);
	if (!rc)
		real = realpath(store_path(s), NULL);
	if (!rc && !real)
		rc = error_sys(err, errno, "%s", store_path(s));
	k->stores[at] = arena_strdup(&k->arena, real);
	for (int i = 0; i < k->n && !rc; i++)
		rc = store_lab_rows(s, k->tables[i], k->names[at], k->out[i].f, err);
	return store_close(s, rc, err);
}

static int clickhouse_write_file(struct clickhouse *k, const char *folder, const char *name,
				 int (*write)(struct clickhouse *k, FILE *out, struct error *err),
				 struct error *err)
{
	autofree char *path = xasprintf("%s/%s", folder, name);
	struct sink out;
	int rc = sink_open(&out, path, err);

	return rc ?: sink_close(&out, write(k, out.f, err), err);
}

static int clickhouse_write_schema(struct clickhouse *k, FILE *out, struct error *err)
{
	return store_lab_schema(k->schema, out, err);
}

static void clickhouse_quote(FILE *out, const char *s)
{
	fputc('\'', out);
	for (; *s; s++)
		fprintf(out, *s == '\'' ? "''" : "%c", *s);
	fputc('\'', out);
}

static void clickhouse_write_delete(const char *const *names, const char *table, FILE *out)
{
	fprintf(out, "DELETE FROM \"%s\" WHERE \"capture\" IN (", table);
	for (int c = 0; names[c]; c++) {
		fputs(c ? ", " : "", out);
		clickhouse_quote(out, names[c]);
	}
	fprintf(out, ")");
}

/* The rows of the same captures go first, so that a second load replaces them. */
static int clickhouse_write_load(struct clickhouse *k, FILE *out, struct error *err)
{
	(void)err;
	for (int i = 0; i < k->n; i++) {
		clickhouse_write_delete(k->names, k->tables[i], out);
		fprintf(out,
			";\nINSERT INTO \"%s\" FROM INFILE '%s.tsv' FORMAT TabSeparatedWithNamesAndTypes;\n",
			k->tables[i], k->tables[i]);
	}
	return 0;
}

/* The same out of the stores themselves. */
static int clickhouse_write_stores(struct clickhouse *k, FILE *out, struct error *err)
{
	(void)err;
	for (int i = 0; i < k->n; i++) {
		clickhouse_write_delete(k->names, k->tables[i], out);
		fprintf(out, ";\n");
	}
	for (int c = 0; k->names[c]; c++) {
		fprintf(out, "ATTACH ");
		clickhouse_quote(out, k->stores[c]);
		fprintf(out, " AS store;\nBEGIN;\n");
		for (int i = 0; i < k->n; i++) {
			fprintf(out, "INSERT INTO \"%s\" SELECT ", k->tables[i]);
			clickhouse_quote(out, k->names[c]);
			fprintf(out, ", * FROM store.\"%s\";\n", k->tables[i]);
		}
		fprintf(out, "COMMIT;\nDETACH store;\n");
	}
	return 0;
}

static int clickhouse_write_files(struct clickhouse *k, const char **captures, const char *folder,
				  struct error *err)
{
	int rc = 0, opened = 0;

	for (; opened < k->n && !rc; opened++) {
		const char *path = arena_printf(&k->arena, "%s/%s.tsv", folder, k->tables[opened]);

		rc = sink_open(&k->out[opened], path, err);
		rc = rc ?: store_lab_head(k->schema, k->tables[opened], k->out[opened].f, err);
	}
	for (int i = 0; captures[i] && !rc; i++) {
		autofree char *name = clickhouse_name(captures[i]);

		k->names[i] = arena_strdup(&k->arena, name);
		rc = clickhouse_write_capture(k, captures[i], i, err);
	}
	for (int i = 0; i < opened; i++)
		rc = sink_close(&k->out[i], rc, err);
	return rc ?: clickhouse_write_file(k, folder, "schema.sql", clickhouse_write_schema, err)
		  ?: clickhouse_write_file(k, folder, "stores.sql", clickhouse_write_stores, err)
		  ?: clickhouse_write_file(k, folder, "load.sql", clickhouse_write_load, err);
}

/* --- the statements for one capture, as a server takes them --- */

static FILE *clickhouse_open_text(char **text, size_t *len)
{
	FILE *out = open_memstream(text, len);

	if (!out)
		alloc_fail();
	return out;
}

static void clickhouse_close_text(FILE *out)
{
	bool failed = ferror(out);

	if (fclose(out) || failed)
		alloc_fail();
}

static void clickhouse_split_schema(char *schema, clickhouse_fn *add, void *arg)
{
	char *at = strstr(schema, "CREATE "), *end;

	while (at && (end = strstr(at, "\n;\n"))) {
		*end = '\0';
		add(arg, at, "", 0);
		at = strstr(end + 1, "CREATE ");
	}
}

static int clickhouse_add_table(struct store *schema, struct store *s, const char *table,
				char *name, clickhouse_fn *add, void *arg, struct error *err)
{
	autofree char *insert =
		xasprintf("INSERT INTO \"%s\" FORMAT TabSeparatedWithNamesAndTypes", table);
	autofree char *delete = NULL, *rows = NULL;
	size_t len;
	FILE *out = clickhouse_open_text(&delete, &len);
	int rc;

	clickhouse_write_delete((const char *[]){name, NULL}, table, out);
	clickhouse_close_text(out);
	out = clickhouse_open_text(&rows, &len);
	rc = store_lab_head(schema, table, out, err) ?: store_lab_rows(s, table, name, out, err);
	clickhouse_close_text(out);
	if (!rc) {
		add(arg, delete, "", 0);
		add(arg, insert, rows, len);
	}
	return rc;
}

int clickhouse_statements(const char *capture, clickhouse_fn *add, void *arg, struct error *err)
{
	autofree char *name = clickhouse_name(capture), *text = NULL;
	autofree const char **tables = NULL;
	struct store *schema = NULL, *s = NULL;
	int rc = store_create(&schema, NULL, err), n = rc ?: store_lab_tables(schema, &tables, err);
	size_t len;
	FILE *out = clickhouse_open_text(&text, &len);

	rc = n < 0 ? n : store_lab_schema(schema, out, err);
	clickhouse_close_text(out);
	rc = rc ?: store_open(&s, capture, err);
	if (!rc)
		clickhouse_split_schema(text, add, arg);
	for (int i = 0; i < n && !rc; i++)
		rc = clickhouse_add_table(schema, s, tables[i], name, add, arg, err);
	return store_close(schema, store_close(s, rc, err), err);
}

static int export_clickhouse(struct export *x, struct error *err)
{
	struct clickhouse k = {0};
	autofree char *tmp = NULL;
	int captures = 0, rc;

	if (!x->path || !strcmp(x->path, "-"))
		return error_set(err, EINVAL,
				 "clickhouse writes one file per table: give a folder with -o");
	while (x->captures[captures])
		captures++;
	rc = store_create(&k.schema, NULL, err);
	k.n = rc ?: store_lab_tables(k.schema, &k.tables, err);
	rc = k.n < 0 ? k.n : export_open_folder(x, &tmp, err);
	if (!rc) {
		k.out = arena_alloc(&k.arena, (size_t)k.n * sizeof(*k.out));
		k.names = arena_alloc(&k.arena, ((size_t)captures + 1) * sizeof(*k.names));
		k.stores = arena_alloc(&k.arena, ((size_t)captures + 1) * sizeof(*k.stores));
		rc = clickhouse_write_files(&k, x->captures, tmp, err);
	}
	rc = export_close_folder(x, tmp, rc, err);
	arena_free(&k.arena);
	free(k.tables);
	return store_close(k.schema, rc, err);
}

const struct format format_clickhouse = {
	.name = "clickhouse",
	.what = "the stores of CAPTURE... in the folder of -o: tables, and SQL that loads them into ClickHouse, DuckDB or SQLite",
	.options = {[SOURCE_CAPTURE] = ""},
	.many = true,
	.write = export_clickhouse,
};
