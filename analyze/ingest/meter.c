// SPDX-License-Identifier: GPL-2.0-only
/*
 * An external power meter's CSV. Its clock is its own: times are numbers in a unit (with the
 * offset they are CLOCK_MONOTONIC of the measured host, or, from 1e9 s on, seconds since 1970), or
 * dates in UTC, which run.json ties to CLOCK_MONOTONIC.
 */
#include "analyze/ingest/power.h"

#include "analyze/ingest/tsv.h"
#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/str.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct {
	const char *name;
	double seconds;
} units[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};

static double unit_of(const char *name)
{
	size_t i;

	for (i = 0; name && i < array_size(units); i++)
		if (!strcmp(units[i].name, name))
			return units[i].seconds;
	return name ? NAN : 1;
}

/* "2026-01-31T12:00:05.25Z", "2026-01-31 12:00:05": seconds since 1970. */
static bool parse_date(const char *text, double *seconds)
{
	struct tm tm = {0};
	const char *rest = strptime(text, "%Y-%m-%d", &tm);

	if (!rest || (*rest != 'T' && *rest != ' '))
		return false;
	rest = strptime(rest + 1, "%H:%M:%S", &tm);
	if (!rest)
		return false;
	*seconds = (double)timegm(&tm) + (*rest == '.' ? strtod(rest, NULL) : 0);
	return true;
}

/* A decimal comma is one where the fields are parted by something else. */
static bool parse_number(const char *text, double *x)
{
	char *copy, *comma;
	bool good;

	if (parse_real(text, x))
		return true;
	copy = xstrdup(text);
	comma = strchr(copy, ',');
	if (comma)
		*comma = '.';
	good = parse_real(copy, x);
	free(copy);
	return good;
}

/* Seconds on the host's CLOCK_MONOTONIC. */
static bool to_monotonic(const struct ingest *in, const struct meter *m, const char *text,
			 double unit, double *t)
{
	bool date = parse_date(text, t);

	if (!date && !parse_number(text, t))
		return false;
	if (!date)
		*t *= unit;
	if (*t >= 1e9)
		*t += (double)in->started_ns / 1e9 - in->wall_clock;
	*t += m->offset_s;
	return *t >= 0;
}

static bool looks_like_watts(const char *name)
{
	return strcasestr(name, "watt") || strcasestr(name, "power") || !strcasecmp(name, "w") ||
	       strcasestr(name, "(w)") || strcasestr(name, "[w]");
}

static int find_column(const struct tsv *t, const struct meter *m, struct error *err)
{
	uint64_t number;
	int i;

	if (m->column) {
		i = tsv_column(t, m->column);
		if (i < 0 && parse_u64(m->column, &number) && number >= 1 &&
		    number <= (uint64_t)t->ncolumns)
			i = (int)number - 1;
		return i >= 0 ? i
			      : error_set(err, EINVAL, "%s: no column '%s' in its heading", t->path,
					  m->column);
	}
	for (i = 1; i < t->ncolumns; i++)
		if (looks_like_watts(t->names[i]))
			return i;
	return t->ncolumns > 1 ? 1
			       : error_set(err, EBADMSG,
					   "%s: no column of watts; name it with "
					   "--column",
					   t->path);
}

/* A meter's file without a heading: its first line is a reading like the others. */
static void add_reading(struct ingest *in, const struct meter *m, double unit, const char *time,
			const char *watts, struct reading *r, size_t *n, size_t *bad)
{
	double t, w;

	if (!to_monotonic(in, m, time, unit, &t) || !parse_number(watts, &w)) {
		++*bad;
		return;
	}
	r[(*n)++] = (struct reading){(uint64_t)llround(t * 1e9), w};
}

static bool has_dates(const struct tsv *t, double unit)
{
	double x;

	if (!t->rows)
		return false;
	return parse_date(tsv_cell(t, 0, 0), &x) ||
	       (parse_number(tsv_cell(t, 0, 0), &x) && x * unit >= 1e9);
}

static int evaluate(struct ingest *in, const struct meter *m, const struct tsv *t, double unit,
		    double *watts, struct error *err)
{
	int column = find_column(t, m, err);
	struct reading *r;
	size_t n = 0, bad = 0, row;
	double x;

	if (column < 0)
		return column;
	if (has_dates(t, unit) && !(in->wall_clock > 0))
		return error_set(err, EINVAL,
				 "%s: has dates, but run.json does not say the time of day",
				 t->path);
	r = xcalloc(t->rows + 1, sizeof(*r));
	if (parse_number(t->names[column], &x))
		add_reading(in, m, unit, t->names[0], t->names[column], r, &n, &bad);
	for (row = 0; row < t->rows; row++)
		add_reading(in, m, unit, tsv_cell(t, row, 0), tsv_cell(t, row, column), r, &n,
			    &bad);
	if (bad + t->short_rows)
		ingest_note(in, "lossy", "power: %zu lines of %s are not readable",
			    bad + t->short_rows, t->path);
	readings_sort(r, n);
	*watts = readings_power(in, "the power meter", r, n, false);
	free(r);
	return 0;
}

int ingest_meter(struct ingest *in, const struct meter *m, double *watts, struct error *err)
{
	double unit = unit_of(m->time_unit);
	struct tsv t;
	int rc;

	*watts = NAN;
	if (isnan(unit))
		return error_set(err, EINVAL, "time unit '%s': use s, ms, us or ns", m->time_unit);
	rc = tsv_read(&t, m->path, 0, err);
	if (rc)
		return rc;
	rc = evaluate(in, m, &t, unit, watts, err);
	tsv_free(&t);
	return rc;
}

/* Adds a meter's power to *sum; a meter that fails makes the sum missing. */
static void add_meter(struct ingest *in, const struct meter *m, double *sum, size_t *n)
{
	struct error err = {0};
	double watts;

	if (ingest_meter(in, m, &watts, &err))
		ingest_note(in, "lossy", "power: %s", err.text);
	*sum += watts;
	++*n;
}

void ingest_meters(struct ingest *in)
{
	struct meter own = {.path = NULL};
	size_t n = 0, i;
	double sum = 0;
	char *path;
	bool more;

	for (i = 0; i < in->nmeters; i++)
		if (!in->meters[i].side || !strcmp(in->meters[i].side, in->run.side))
			add_meter(in, &in->meters[i], &sum, &n);
	for (i = 1, more = !n; more; i++) {
		path = i > 1 ? xasprintf("%s/power-%zu.csv", in->dir, i)
			     : xasprintf("%s/power.csv", in->dir);
		own.path = path;
		more = path_exists(path);
		if (more)
			add_meter(in, &own, &sum, &n);
		free(path);
	}
	if (!n)
		return;
	if (n > 1)
		ingest_note(in, "note", "power: the sum of %zu meters", n);
	ingest_metric(in, "power_w", "W", sum, "imported");
	ingest_metric(in, "energy_j", "J", sum * (double)(in->run.end_ns - in->run.start_ns) / 1e9,
		      "imported");
}
