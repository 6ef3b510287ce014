// SPDX-License-Identifier: GPL-2.0-only
/*
 * The CSV of an external power meter, which has its own clock. Its times are numbers in a unit or
 * dates. Numbers, with the offset added, are CLOCK_MONOTONIC of the measured host; from 1e9 s on
 * they are seconds since 1970. Dates without a zone are UTC; run.json relates them to
 * CLOCK_MONOTONIC.
 */
#include "analyze/probes/power/parser.h"

#include "analyze/probes/tsv.h"
#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/str.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- units, as a heading or --power-unit names them --- */

static const struct power_unit {
	const char *name;
	double watts;
} power_units[] = {{"W", 1},	{"mW", 1e-3}, {"uW", 1e-6}, {"kW", 1e3},
		   {"watt", 1}, {"watts", 1}, {"Watts", 1}};

static const struct power_unit *power_unit_named(const char *name, size_t n)
{
	size_t i;

	for (i = 0; i < array_size(power_units); i++)
		if (strlen(power_units[i].name) == n && !strncmp(power_units[i].name, name, n))
			return &power_units[i];
	return NULL;
}

/* Returns the unit among the words of a heading, "power (W)" or "power_mW", or NULL. */
static const struct power_unit *power_unit_in(const char *heading)
{
	const struct power_unit *unit = NULL;
	size_t n;

	for (; *heading && !unit; heading += n ? n : 1) {
		for (n = 0; isalpha((unsigned char)heading[n]);)
			n++;
		unit = power_unit_named(heading, n);
	}
	return unit;
}

/* --- the log --- */

static const struct {
	const char *name;
	double seconds;
} time_units[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};

static double meter_find_time_unit(const char *name)
{
	size_t i;

	for (i = 0; name && i < array_size(time_units); i++)
		if (!strcmp(time_units[i].name, name))
			return time_units[i].seconds;
	return name ? NAN : 1;
}

/* Parses "", "Z", "+01:00", "-0530", "+02" into the seconds to subtract for UTC. */
static bool time_parse_zone(const char *text, double *seconds)
{
	int hours, minutes = 0, used = 0;
	char sign;

	while (*text == ' ')
		text++;
	*seconds = 0;
	if (!*text || !strcasecmp(text, "z") || !strcasecmp(text, "utc"))
		return true;
	if (sscanf(text, "%c%2d%n", &sign, &hours, &used) < 2 || (sign != '+' && sign != '-'))
		return false;
	text += used;
	text += *text == ':';
	if (*text && (sscanf(text, "%2d%n", &minutes, &used) < 1 || text[used]))
		return false;
	*seconds = (sign == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
	return true;
}

/* "2026-01-31T12:00:05.25Z", "2026-01-31 12:00:05", "2026/01/31 13:00:05+01:00": seconds since
 * 1970. */
static bool time_parse_date(const char *text, double *seconds)
{
	struct tm tm = {0};
	const char *rest = strptime(text, "%Y-%m-%d", &tm);
	double fraction = 0, zone;
	char *end;

	if (!rest)
		rest = strptime(text, "%Y/%m/%d", &tm);
	if (!rest || (*rest != 'T' && *rest != ' '))
		return false;
	rest = strptime(rest + 1, "%H:%M:%S", &tm);
	if (!rest)
		return false;
	if (*rest == '.') {
		fraction = strtod(rest, &end);
		rest = end;
	}
	if (!time_parse_zone(rest, &zone))
		return false;
	*seconds = (double)timegm(&tm) + fraction - zone;
	return true;
}

/* Accepts a decimal comma, which only a file with another separator can have. */
static bool meter_parse_number(const char *text, double *x)
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

enum clock { CLOCK_UNKNOWN, CLOCK_MONO, CLOCK_WALL };

static const char *const clocks[] = {NULL, "monotonic", "wall"};

/* How to read a meter's file. */
struct reader {
	const struct ingest *in;
	const struct meter *m;
	enum clock clock;
	double unit;
	int time, watts; /* columns */
	const struct power_unit *power;
	struct reading *r;
	size_t n, bad;
	const char *bad_time, *bad_watts; /* of the first unreadable line */
};

/* Returns whether times are seconds since 1970. */
static bool meter_has_wall_clock(const struct reader *d, bool date, double t)
{
	return d->clock == CLOCK_WALL || (d->clock == CLOCK_UNKNOWN && (date || t >= 1e9));
}

/* Returns a time as seconds on the host's CLOCK_MONOTONIC. */
static bool meter_to_monotonic(const struct reader *d, const char *text, double *t)
{
	bool date = time_parse_date(text, t);

	if (!date && !meter_parse_number(text, t))
		return false;
	if (date && d->clock == CLOCK_MONO)
		return false;
	if (!date)
		*t *= d->unit;
	if (meter_has_wall_clock(d, date, *t))
		*t += (double)d->in->started_ns / 1e9 - d->in->wall_clock;
	*t += d->m->offset_s;
	return *t >= 0;
}

/* Finds a column by its name, else by its number from 1. */
static int meter_named_column(const struct tsv *t, const char *name, const char *option,
			      struct error *err)
{
	int i = tsv_column(t, name);
	uint64_t number;

	if (i < 0 && parse_u64(name, &number) && number >= 1 && number <= (uint64_t)t->ncolumns)
		i = (int)number - 1;
	return i >= 0 ? i
		      : error_set(err, EINVAL, "%s: no column '%s' in its heading (%s)", t->path,
				  name, option);
}

static int meter_find_watts(const struct tsv *t, const struct meter *m, int time, struct error *err)
{
	int i;

	if (m->column)
		return meter_named_column(t, m->column, "--column", err);
	for (i = 0; i < t->ncolumns; i++)
		if (i != time && power_unit_in(t->names[i]))
			return i;
	if (t->ncolumns == 2)
		return time == 1 ? 0 : 1;
	return error_set(err, EBADMSG, "%s: no heading names watts; name the column with --column",
			 t->path);
}

static int meter_find_columns(struct reader *d, const struct tsv *t, struct error *err)
{
	d->time = d->m->time_column ? meter_named_column(t, d->m->time_column, "--time-column", err)
				    : 0;
	if (d->time < 0)
		return d->time;
	d->watts = meter_find_watts(t, d->m, d->time, err);
	return d->watts < 0 ? d->watts : 0;
}

/* Uses the unit that the user named, else the unit in the heading. */
static int meter_find_power_unit(struct reader *d, const struct tsv *t, struct error *err)
{
	const char *heading = t->names[d->watts], *named = d->m->power_unit;

	d->power = named ? power_unit_named(named, strlen(named)) : power_unit_in(heading);
	if (d->power)
		return 0;
	if (named)
		return error_set(err, EINVAL, "power unit '%s': use W, mW, uW or kW", named);
	return error_set(
		err, EINVAL,
		"%s: the heading '%s' names no unit of power; give --power-unit W, mW, uW or kW",
		t->path, heading);
}

/* Notes the column and unit in use. `heading` may be the first reading. */
static void meter_note_unit(struct ingest *in, const char *what, const struct reader *d,
			    const char *heading)
{
	double x;
	char *column = meter_parse_number(heading, &x) ? xasprintf("column %d", d->watts + 1)
						       : xasprintf("column '%s'", heading);

	note_add(&in->notes, meter_unit, what, column, d->power->name);
	free(column);
}

static void meter_add_reading(struct reader *d, const char *time, const char *watts)
{
	double t, w;

	if (meter_to_monotonic(d, time, &t) && meter_parse_number(watts, &w)) {
		d->r[d->n++] = (struct reading){(uint64_t)llround(t * 1e9), w * d->power->watts};
		return;
	}
	if (!d->bad++) {
		d->bad_time = time;
		d->bad_watts = watts;
	}
}

static bool meter_needs_wall_clock(const struct reader *d, const struct tsv *t)
{
	double x;

	if (!t->rows)
		return false;
	if (time_parse_date(tsv_cell(t, 0, d->time), &x))
		return meter_has_wall_clock(d, true, x);
	return meter_parse_number(tsv_cell(t, 0, d->time), &x) &&
	       meter_has_wall_clock(d, false, x * d->unit);
}

/* Without a heading the first line is a reading. */
static void meter_read_rows(struct reader *d, const struct tsv *t)
{
	size_t row;
	double x;

	if (meter_parse_number(t->names[d->watts], &x))
		meter_add_reading(d, t->names[d->time], t->names[d->watts]);
	for (row = 0; row < t->rows; row++)
		meter_add_reading(d, tsv_cell(t, row, d->time), tsv_cell(t, row, d->watts));
}

static int meter_mean_watts(struct ingest *in, struct reader *d, const struct tsv *t, double *watts,
			    struct error *err)
{
	char *what;
	int rc = meter_find_columns(d, t, err);

	if (!rc)
		rc = meter_find_power_unit(d, t, err);
	if (rc)
		return rc;
	if (meter_needs_wall_clock(d, t) && !(in->wall_clock > 0))
		return error_set(
			err, EINVAL,
			"%s: its times are times of day, and run.json does not say when the run was",
			t->path);
	what = xasprintf("the power meter %s", path_base_name(t->path));
	meter_note_unit(in, what, d, t->names[d->watts]);
	d->r = xcalloc(t->rows + 1, sizeof(*d->r));
	meter_read_rows(d, t);
	d->bad += t->short_rows;
	if (d->bad)
		note_add(&in->notes, meter_bad_lines, d->bad, t->path, d->bad_time ?: "",
			 d->bad_watts ?: "");
	readings_sort(d->r, d->n);
	*watts = readings_metered(in, what, d->r, d->n);
	readings_add_series(in, d->m->kind ? d->m->kind : "wall", "csv", path_base_name(d->m->path),
			    d->r, d->n, false);
	free(what);
	free(d->r);
	return 0;
}

static int meter_set_clock(struct reader *d, struct error *err)
{
	d->clock = CLOCK_UNKNOWN;
	if (!d->m->clock)
		return 0;
	for (d->clock = CLOCK_MONO; d->clock <= CLOCK_WALL; d->clock++)
		if (!strcmp(clocks[d->clock], d->m->clock))
			return 0;
	return error_set(err, EINVAL, "clock '%s': use wall or monotonic", d->m->clock);
}

int ingest_meter(struct ingest *in, const struct meter *m, double *watts, struct error *err)
{
	struct reader d = {.in = in, .m = m, .unit = meter_find_time_unit(m->time_unit)};
	struct tsv t;
	int rc = meter_set_clock(&d, err);

	*watts = NAN;
	if (isnan(d.unit))
		return error_set(err, EINVAL, "time unit '%s': use s, ms, us or ns", m->time_unit);
	if (!rc)
		rc = (m->in_capture ? tsv_read : tsv_read_named)(&t, m->path, 0, err);
	if (rc)
		return rc;
	rc = meter_mean_watts(in, &d, &t, watts, err);
	tsv_free(&t);
	return rc;
}

/* Adds a meter's power. A meter that fails makes the total of its kind missing. */
static void meter_add_power(struct ingest *in, const struct meter *m)
{
	struct error err = {0};
	double watts;

	if (ingest_meter(in, m, &watts, &err))
		note_add(&in->notes, file_damaged, "power", err.text);
	power_add(in, m->kind ? m->kind : "wall", "csv", path_base_name(m->path), watts,
		  "imported");
}

/* Adds the logs that the collector copied, with the options that the user gave for them. */
static void meter_add_kept_logs(struct ingest *in, struct meter own)
{
	bool more = true;
	char *path;
	size_t i;

	for (i = 1; more; i++) {
		path = i > 1 ? xasprintf("%s/power-%zu.csv", in->dir, i)
			     : xasprintf("%s/power.csv", in->dir);
		own.path = path;
		own.in_capture = true;
		more = path_exists(path);
		if (more)
			meter_add_power(in, &own);
		free(path);
	}
}

void ingest_meters(struct ingest *in)
{
	struct meter own = {.path = NULL};
	size_t n = 0, i;

	for (i = 0; i < in->how.nmeters; i++) {
		const struct meter *m = &in->how.meters[i];

		if (m->side && strcmp(m->side, in->run.side))
			continue;
		if (m->path)
			meter_add_power(in, m);
		else
			own = *m;
		n += m->path != NULL;
	}
	if (!n)
		meter_add_kept_logs(in, own);
}
