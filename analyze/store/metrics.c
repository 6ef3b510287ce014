// SPDX-License-Identifier: GPL-2.0-only
/* The figures of a run: one value over the window, or a series of values. */
#include "analyze/store/sql.h"

#include <math.h>
#include <stdlib.h>

bool store_metric(struct store *s, int64_t run, const char *name, double *value,
		  const char **source)
{
	sqlite3_stmt *q;
	bool found;

	if (sql_query(s, &q, NULL, "SELECT value, source FROM metric WHERE run = ? AND name = ?",
		      "is", run, name))
		return false;
	found = sql_next(s, q, NULL) > 0 && sqlite3_column_type(q, 0) != SQLITE_NULL;
	if (found)
		*value = sqlite3_column_double(q, 0);
	if (found && source)
		*source = sql_text(s, q, 1);
	sqlite3_reset(q);
	return found;
}

double store_metric_sum(struct store *s, const struct run *like, int repeat, const char *name)
{
	double sum = NAN;
	sqlite3_stmt *q;

	if (sql_query(s, &q, NULL,
		      "SELECT SUM(m.value) FROM run r CROSS JOIN metric m ON m.run = r.id AND "
		      "m.name = ?5 WHERE r.variant = ?1 AND r.pass = ?2 AND r.side = ?3 AND "
		      "(?4 = 0 OR r.repeat = ?4) AND r.status = 'ok'",
		      "sssis", like->variant, like->pass, like->side, (int64_t)repeat, name))
		return NAN;
	if (sql_next(s, q, NULL) > 0)
		sum = sql_real(q, 0);
	sqlite3_reset(q);
	return sum;
}

bool store_has_metric(struct store *s, const char *name, const char *variant)
{
	return sql_exists(s,
			  "SELECT 1 FROM metric JOIN run ON run.id = metric.run WHERE name = ?1 "
			  "AND (?2 IS NULL OR variant = ?2 OR variant GLOB ?2) LIMIT 1",
			  "ss", name, variant);
}

/* A value that is not finite is missing, so it gets no row. */
int store_metric_put(struct store *s, int64_t run, const char *name, const char *unit, double value,
		     const char *source, struct error *err)
{
	if (!isfinite(value))
		return 0;
	return sql_run(s, err,
		       "INSERT OR REPLACE INTO metric (run, name, unit, value, source) "
		       "VALUES (?, ?, ?, ?, IFNULL(?, 'measured'))",
		       "issds", run, name, unit, value, source);
}

int store_metric_drop(struct store *s, int64_t run, const char *name, struct error *err)
{
	return sql_run(s, err, "DELETE FROM metric WHERE run = ? AND name = ?", "is", run, name);
}

static void metric_read_row(struct store *s, sqlite3_stmt *q, void *row)
{
	*(struct metric_row *)row =
		(struct metric_row){sql_name(s, q, 0), sql_text(s, q, 1),
				    sqlite3_column_double(q, 2), sql_text(s, q, 3)};
}

int store_metric_list(struct store *s, int64_t run, struct metric_row **rows, struct error *err)
{
	return sql_rows(s, rows, sizeof(**rows), metric_read_row, err,
			"SELECT name, unit, value, source FROM metric WHERE run = ? ORDER BY name",
			"i", run);
}

/* UTF-8 never has the byte 0xff, so prefix + 0xff sorts behind all names with the prefix. */
int store_metric_affixes(struct store *s, int64_t run, const char *prefix, const char *end,
			 struct metric_row **rows, struct error *err)
{
	char *behind = xasprintf("%s\xff", prefix);
	int rc = sql_rows(s, rows, sizeof(**rows), metric_read_row, err,
			  "SELECT name, unit, value, source FROM metric WHERE run = ?1 "
			  "AND name >= ?2 AND name < ?3 "
			  "AND (?4 IS NULL OR substr(name, -length(?4)) = ?4) ORDER BY name",
			  "isss", run, prefix, behind, end);

	free(behind);
	return rc;
}

int store_metric_prefix(struct store *s, int64_t run, const char *prefix, struct metric_row **rows,
			struct error *err)
{
	return store_metric_affixes(s, run, prefix, NULL, rows, err);
}

int store_series_put(struct store *s, int64_t run, const char *name, uint64_t t_ns, double value,
		     struct error *err)
{
	return sql_run(s, err, "INSERT INTO series (run, name, t_ns, value) VALUES (?, ?, ?, ?)",
		       "isid", run, name, (int64_t)t_ns, value);
}

static void series_read_row(struct store *s, sqlite3_stmt *q, void *row)
{
	*(struct series_row *)row =
		(struct series_row){sql_name(s, q, 0), (uint64_t)sqlite3_column_int64(q, 1),
				    sqlite3_column_double(q, 2)};
}

int store_series(struct store *s, int64_t run, struct series_row **rows, struct error *err)
{
	return sql_rows(s, rows, sizeof(**rows), series_read_row, err,
			"SELECT name, t_ns, value FROM series WHERE run = ? ORDER BY name, t_ns",
			"i", run);
}
