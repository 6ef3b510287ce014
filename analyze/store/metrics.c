// SPDX-License-Identifier: GPL-2.0-only
/* The figures of a run: one value over the window, or a series of values. */
#include "analyze/store/sql.h"

#include "lib/alloc.h"

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
		*value = sql_real(s, q, 0);
	if (found && source)
		*source = sql_text(s, q, 1);
	sqlite3_reset(q);
	return found;
}

double store_metric_sum(struct store *s, const struct run *like, int repeat, const char *name)
{
	double sum = NAN, value;
	sqlite3_stmt *q;

	if (sql_query(s, &q, NULL,
		      "SELECT m.value FROM run r CROSS JOIN metric m ON m.run = r.id AND "
		      "m.name = ?5 WHERE r.variant = ?1 AND r.pass = ?2 AND r.side = ?3 AND "
		      "(?4 = 0 OR r.repeat = ?4) AND r.status = 'ok'",
		      "sssis", like->variant, like->pass, like->side, (int64_t)repeat, name))
		return NAN;
	while (sql_next(s, q, NULL) > 0) {
		value = sql_real(s, q, 0);
		sum = isnan(sum) ? value : sum + value;
	}
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
	*(struct metric_row *)row = (struct metric_row){sql_name(s, q, 0), sql_text(s, q, 1),
							sql_real(s, q, 2), sql_text(s, q, 3)};
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
	double value = sql_real(s, q, 1);

	*(struct series_row *)row =
		(struct series_row){(uint64_t)sql_int(s, q, 0), value, value, value};
}

int store_series(struct store *s, int64_t run, const char *name, int64_t most,
		 struct series_row **rows, struct error *err)
{
	return sql_rows(s, rows, sizeof(**rows), series_read_row, err,
			"SELECT t_ns, value FROM series WHERE run = ? AND name = ? ORDER BY t_ns "
			"LIMIT ?",
			"isi", run, name, most);
}

/* The points of a part so far. `value` is their sum, and `t` the sum of their times after the first
 * point of the series. */
struct series_part {
	uint64_t place, n;
	double t;
	struct series_row row;
};

static void series_part_add(struct series_part *p, uint64_t after_ns, double value)
{
	p->row.low = p->n && p->row.low < value ? p->row.low : value;
	p->row.high = p->n && p->row.high > value ? p->row.high : value;
	p->row.value += value;
	p->t += (double)after_ns;
	p->n++;
}

/* Writes the means of a part behind the `n` rows, and empties the part. Returns the new number. */
static int series_part_end(struct series_part *p, uint64_t first, struct series_row *rows, int n)
{
	if (!p->n)
		return n;
	p->row.value /= (double)p->n;
	p->row.t_ns = first + (uint64_t)(p->t / (double)p->n);
	rows[n] = p->row;
	*p = (struct series_part){0};
	return n + 1;
}

int store_series_parts(struct store *s, int64_t run, const struct series_size *of, int parts,
		       struct series_row **rows, struct error *err)
{
	uint64_t width = (of->last - of->first) / (uint64_t)parts + 1, after, place;
	struct series_part part = {0};
	sqlite3_stmt *q;
	int n = 0, rc = sql_query(s, &q, err,
				  "SELECT t_ns, value FROM series WHERE run = ? AND name = ? "
				  "ORDER BY t_ns",
				  "is", run, of->name);

	*rows = xcalloc((size_t)parts + 1, sizeof(**rows));
	while (!rc && (rc = sql_next(s, q, err)) > 0) {
		rc = 0;
		after = (uint64_t)sql_int(s, q, 0) - of->first;
		place = after / width;
		if (place != part.place && n < parts)
			n = series_part_end(&part, of->first, *rows, n);
		part.place = place;
		series_part_add(&part, after, sql_real(s, q, 1));
	}
	n = series_part_end(&part, of->first, *rows, n);
	if (!rc)
		return n;
	free(*rows);
	*rows = NULL;
	return rc;
}
