// SPDX-License-Identifier: GPL-2.0-only
/* The figures of a run: one value over the window, or a series of values. */
#include "analyze/store/sql.h"

#include "lib/alloc.h"

#include <math.h>
#include <stdlib.h>

/* The unique index of the table has these terms, so a search by a whole key reads one row. */
#define KEY_IS "name = ?2 AND IFNULL(object, '') = IFNULL(?3, '') AND IFNULL(cpu, -1) = ?4"

bool store_metric_of(struct store *s, int64_t run, const struct metric_key *key, double *value,
		     const char **source)
{
	sqlite3_stmt *q;
	bool found;

	if (sql_query(s, &q, NULL, "SELECT value, source FROM metric WHERE run = ?1 AND " KEY_IS,
		      "issi", run, key->name, key->object, (int64_t)key->cpu))
		return false;
	found = sql_next(s, q, NULL) > 0 && sqlite3_column_type(q, 0) != SQLITE_NULL;
	if (found)
		*value = sql_real(s, q, 0);
	if (found && source)
		*source = sql_text(s, q, 1);
	sqlite3_reset(q);
	return found;
}

bool store_metric(struct store *s, int64_t run, const char *name, double *value)
{
	return store_metric_of(s, run, &(struct metric_key){name, NULL, NO_CPU}, value, NULL);
}

double store_metric_sum(struct store *s, const struct run *like, int repeat, const char *name)
{
	double sum = NAN, value;
	sqlite3_stmt *q;

	if (sql_query(s, &q, NULL,
		      "SELECT m.value FROM run r CROSS JOIN metric m ON m.run = r.id AND "
		      "m.name = ?5 AND m.object IS NULL AND m.cpu IS NULL WHERE r.variant = ?1 AND "
		      "r.pass = ?2 AND r.side = ?3 AND (?4 = 0 OR r.repeat = ?4) AND "
		      "r.status = 'ok'",
		      "sssis", like->variant, like->pass, like->side, (int64_t)repeat, name))
		return NAN;
	while (sql_next(s, q, NULL) > 0) {
		value = sql_real(s, q, 0);
		sum = isnan(sum) ? value : sum + value;
	}
	return sum;
}

bool store_has_metric(struct store *s, const char *name, const char *object, const char *variant)
{
	return sql_exists(s,
			  "SELECT 1 FROM metric JOIN run ON run.id = metric.run WHERE name = ?1 "
			  "AND object IS ?2 AND (?3 IS NULL OR variant = ?3 OR variant GLOB ?3) "
			  "LIMIT 1",
			  "sss", name, object, variant);
}

/* A value that is not finite is missing, so it gets no row. */
int store_metric_put(struct store *s, int64_t run, const struct metric_row *m, struct error *err)
{
	if (!isfinite(m->value))
		return 0;
	return sql_run(
		s, err,
		"INSERT OR REPLACE INTO metric (run, name, object, cpu, unit, value, source) "
		"VALUES (?, ?, ?, NULLIF(?, -1), ?, ?, IFNULL(?, 'measured'))",
		"issisds", run, m->key.name, m->key.object, (int64_t)m->key.cpu, m->unit, m->value,
		m->source);
}

int store_metric_drop(struct store *s, int64_t run, const char *name, struct error *err)
{
	return sql_run(s, err, "DELETE FROM metric WHERE run = ? AND name = ?", "is", run, name);
}

static void metric_read_row(struct store *s, sqlite3_stmt *q, void *row)
{
	*(struct metric_row *)row =
		(struct metric_row){{sql_name(s, q, 0), sql_text(s, q, 1), sql_small(s, q, 2)},
				    sql_text(s, q, 3),
				    sql_real(s, q, 4),
				    sql_text(s, q, 5)};
}

int store_metrics(struct store *s, int64_t run, const char *name, enum metric_cpus cpus,
		  struct metric_row **rows, struct error *err)
{
	return sql_rows(
		s, rows, sizeof(**rows), metric_read_row, err,
		"SELECT name, object, IFNULL(cpu, -1), unit, value, source FROM metric WHERE "
		"run = ?1 AND name = ?2 AND (?3 = 2 OR (cpu IS NOT NULL) = ?3) "
		"ORDER BY object, cpu",
		"isi", run, name, (int64_t)cpus);
}

int store_series_put(struct store *s, int64_t run, const char *name, uint64_t t_ns, double value,
		     struct error *err)
{
	return sql_run(s, err, "INSERT INTO series (run, name, t_ns, value) VALUES (?, ?, ?, ?)",
		       "isid", run, name, (int64_t)t_ns, value);
}

static void series_read_size(struct store *s, sqlite3_stmt *q, void *row)
{
	*(struct series_size *)row =
		(struct series_size){sql_name(s, q, 0), (uint64_t)sql_int(s, q, 1),
				     (uint64_t)sql_int(s, q, 2), sql_int(s, q, 3)};
}

int store_series_sizes(struct store *s, int64_t run, struct series_size **rows, struct error *err)
{
	return sql_rows(s, rows, sizeof(**rows), series_read_size, err,
			"SELECT name, MIN(t_ns), MAX(t_ns), COUNT(*) FROM series WHERE run = ? "
			"GROUP BY name ORDER BY name",
			"i", run);
}

static void series_read_row(struct store *s, sqlite3_stmt *q, void *row)
{
	*(struct series_row *)row =
		(struct series_row){(uint64_t)sql_int(s, q, 0), sql_real(s, q, 1),
				    sql_real(s, q, 2), sql_real(s, q, 3)};
}

int store_series(struct store *s, int64_t run, const char *name, int64_t most,
		 struct series_row **rows, struct error *err)
{
	return sql_rows(s, rows, sizeof(**rows), series_read_row, err,
			"SELECT t_ns, value, value, value FROM series WHERE run = ? AND name = ? "
			"ORDER BY t_ns LIMIT ?",
			"isi", run, name, most);
}

int store_series_parts(struct store *s, int64_t run, const struct series_size *of, int parts,
		       struct series_row **rows, struct error *err)
{
	int64_t width = (int64_t)((of->last - of->first) / (uint64_t)parts + 1);

	return sql_rows(s, rows, sizeof(**rows), series_read_row, err,
			"SELECT ?3 + CAST(AVG(t_ns - ?3) AS INTEGER), AVG(value), MIN(value), "
			"MAX(value) FROM series WHERE run = ?1 AND name = ?2 "
			"GROUP BY (t_ns - ?3) / ?4 ORDER BY 1",
			"isii", run, of->name, (int64_t)of->first, width);
}
