// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/probes/tsv.h"

#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/str.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>

static char tsv_find_separator(const char *heading)
{
	const char *at = strpbrk(heading, "\t;,");

	return at ? *at : ',';
}

/* Returns a field without the space and the quotes around it. */
static char *tsv_clean_cell(char *field)
{
	size_t n;

	field = str_trim(field);
	n = strlen(field);
	if (n >= 2 && field[0] == '"' && field[n - 1] == '"') {
		field[n - 1] = '\0';
		field++;
	}
	return field;
}

static void tsv_read_heading(struct tsv *t, char *line, char sep)
{
	int cap = 0;
	char *field;

	while ((field = str_token(&line, sep))) {
		array_add(t->names, t->ncolumns, cap, tsv_clean_cell(field));
	}
}

static void tsv_read_row(struct tsv *t, char *line, char sep, size_t *cap)
{
	size_t n = (size_t)t->ncolumns;

	if (t->rows >= *cap) {
		*cap = *cap ? *cap * 2 : 64;
		t->cells = xrealloc(t->cells, *cap * n * sizeof(*t->cells));
	}
	for (int i = 0; i < t->ncolumns; i++) {
		char *field = str_token(&line, sep);

		if (!field) {
			t->bad++;
			return;
		}
		t->cells[t->rows * n + (size_t)i] = tsv_clean_cell(field);
	}
	t->rows++;
}

/* Only files of users have comments: the name of a thread may begin with '#'. */
static bool tsv_line_is_blank(const char *line, bool comments)
{
	while (isspace((unsigned char)*line))
		line++;
	return !*line || (comments && *line == '#');
}

/* Parses t->buf, which the table owns. */
static int tsv_parse(struct tsv *t, char sep, struct error *err)
{
	const char *path = t->path;
	const bool comments = !sep;
	char *rest, *line;
	size_t cap = 0;

	rest = str_starts(t->buf, "\xef\xbb\xbf") ? t->buf + 3 : t->buf;
	while ((line = str_token(&rest, '\n'))) {
		if (tsv_line_is_blank(line, comments))
			continue;
		if (!sep)
			sep = tsv_find_separator(line);
		if (!t->names)
			tsv_read_heading(t, line, sep);
		else
			tsv_read_row(t, line, sep, &cap);
	}
	if (t->names)
		return 0;
	tsv_free(t);
	return error_set(err, ENODATA, "%s: is empty: it has no heading", path);
}

int tsv_read(struct tsv *t, const char *path, char sep, struct error *err)
{
	int rc;

	*t = (struct tsv){.path = path};
	rc = file_read(path, &t->buf, NULL, err);
	return rc ? rc : tsv_parse(t, sep, err);
}

int tsv_read_named(struct tsv *t, const char *path, char sep, struct error *err)
{
	int rc;

	*t = (struct tsv){.path = path};
	rc = file_read_named(path, &t->buf, NULL, err);
	return rc ? rc : tsv_parse(t, sep, err);
}

void tsv_free(struct tsv *t)
{
	free(t->buf);
	free(t->names);
	free(t->cells);
	*t = (struct tsv){0};
}

int tsv_column(const struct tsv *t, const char *name)
{
	for (int i = 0; i < t->ncolumns; i++)
		if (!strcasecmp(t->names[i], name))
			return i;
	return -1;
}

const char *tsv_cell(const struct tsv *t, size_t row, int column)
{
	return column < 0 ? "" : t->cells[row * (size_t)t->ncolumns + (size_t)column];
}

const char *tsv_text(const struct tsv *t, size_t row, const char *column)
{
	return tsv_cell(t, row, tsv_column(t, column));
}

int tsv_require(const struct tsv *t, const char *columns, struct error *err)
{
	char *name;

	each_part (name, columns, ' ')
		if (tsv_column(t, name) < 0)
			return error_set(err, EBADMSG, "%s: no column '%s' in its heading", t->path,
					 name);
	return 0;
}

bool parse_u64(const char *text, uint64_t *n)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*n = strtoull(text, &end, 10);
	return !errno && !*end;
}

bool parse_real(const char *text, double *x)
{
	char *end;

	if (!*text)
		return false;
	*x = strtod(text, &end);
	return !*end && isfinite(*x);
}

double real_or_nan(const char *text)
{
	double x;

	return parse_real(text, &x) && x >= 0 ? x : NAN;
}

bool parse_hist(const char *text, uint64_t *hist, size_t buckets)
{
	autofree char *copy = xstrdup(text);
	char *rest = *copy ? copy : NULL, *item;
	bool good = true;

	while (good && (item = str_token(&rest, ','))) {
		char *count = item, *bucket = str_token(&count, ':');
		uint64_t b, n;

		good = count && parse_u64(bucket, &b) && b < buckets && parse_u64(count, &n);
		if (good)
			hist[b] += n;
	}
	return good;
}
