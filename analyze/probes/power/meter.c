// SPDX-License-Identifier: GPL-2.0-only
/*
 * The CSV of an external power meter, which has its own clock. The first column has the times:
 * dates, which are UTC without a zone, or seconds. Seconds are CLOCK_MONOTONIC of the measured
 * host; from 1e9 s on they are seconds since 1970. run.json relates the time of day to
 * CLOCK_MONOTONIC. The power is in the first column whose heading names its unit.
 */
#include "analyze/probes/power/parser.h"

#include "analyze/probes/tsv.h"
#include "analyze/texts/text.h"
#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/str.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- units in a heading --- */

static const struct power_unit {
	const char *name;
	double watts;
} power_units[] = {{"W", 1},	{"mW", 1e-3}, {"uW", 1e-6}, {"kW", 1e3},
		   {"watt", 1}, {"watts", 1}, {"Watts", 1}};

/* Returns the unit among the words of a heading, "power (W)" or "power_mW", or NULL. */
static const struct power_unit *power_unit_in(const char *heading)
{
	size_t n, i;

	for (; *heading; heading += n ? n : 1) {
		for (n = 0; isalpha((unsigned char)heading[n]);)
			n++;
		for (i = 0; i < array_size(power_units); i++)
			if (strlen(power_units[i].name) == n &&
			    !strncmp(power_units[i].name, heading, n))
				return &power_units[i];
	}
	return NULL;
}

/* --- the log --- */

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

/* How to read a meter's file. */
struct reader {
	const struct ingest *in;
	const struct meter *m;
	int column;	 /* the column of the power */
	double in_watts; /* its unit */
	struct reading *r;
	size_t n, bad;
	bool needs_date; /* run.json has no time of day */
};

/* Converts a time to seconds on the host's CLOCK_MONOTONIC. */
static bool meter_to_monotonic(struct reader *d, const char *text, double *t)
{
	bool date = time_parse_date(text, t);

	if (!date && !text_is_number(text, t))
		return false;
	if (date || *t >= 1e9) {
		d->needs_date |= !(d->in->wall_clock > 0);
		*t += (double)d->in->started_ns / 1e9 - d->in->wall_clock;
	}
	*t += d->m->offset_s;
	return *t >= 0;
}

static int meter_find_column(struct reader *d, const struct tsv *t, struct error *err)
{
	const struct power_unit *unit;

	for (d->column = 1; d->column < t->ncolumns; d->column++) {
		unit = power_unit_in(t->names[d->column]);
		if (unit) {
			d->in_watts = unit->watts;
			return 0;
		}
	}
	return error_set(
		err, EBADMSG,
		"%s: no heading names watts; the first line must name the columns, such as 'time,power W' (W, mW, uW or kW)",
		t->path);
}

static void meter_read_rows(struct reader *d, const struct tsv *t)
{
	size_t row;
	double s = 0, w;

	d->r = xcalloc(t->rows + 1, sizeof(*d->r));
	d->bad = t->short_rows;
	for (row = 0; row < t->rows; row++) {
		if (meter_to_monotonic(d, tsv_cell(t, row, 0), &s) &&
		    text_is_number(tsv_cell(t, row, d->column), &w))
			d->r[d->n++] =
				(struct reading){(uint64_t)llround(s * 1e9), w * d->in_watts};
		else
			d->bad++;
	}
	readings_sort(d->r, d->n);
}

int ingest_meter(struct ingest *in, const struct meter *m, double *watts, struct error *err)
{
	struct reader d = {.in = in, .m = m};
	const char *name = path_base_name(m->path), *kind = m->kind ? m->kind : "wall";
	struct tsv t = {0};
	char *what;
	int rc = (m->in_capture ? tsv_read : tsv_read_named)(&t, m->path, 0, err);

	*watts = NAN;
	if (rc)
		return rc;
	rc = meter_find_column(&d, &t, err);
	if (!rc)
		meter_read_rows(&d, &t);
	if (!rc && d.needs_date)
		rc = error_set(
			err, EINVAL,
			"%s: its times are times of day, and run.json does not say when the run was",
			t.path);
	if (!rc) {
		what = xasprintf("the power meter %s", name);
		if (d.bad)
			note_add(&in->notes, rows_unreadable, "power", d.bad, t.path);
		*watts = readings_power(in, what, d.r, d.n, false);
		readings_add_series(in, kind, "csv", name, d.r, d.n, false);
		free(what);
	}
	free(d.r);
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

/* Adds the log that the collector copied, with the options that the user gave for it. */
static void meter_add_kept_log(struct ingest *in, struct meter own)
{
	char *path = xasprintf("%s/power.csv", in->dir);

	own.path = path;
	own.in_capture = true;
	if (path_exists(path))
		meter_add_power(in, &own);
	free(path);
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
		meter_add_kept_log(in, own);
}
