// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/probes/power/parser.h"
#include "analyze/probes/snapshots.h"
#include "analyze/probes/tsv.h"
#include "analyze/texts/text.h"
#include "lib/file.h"
#include "lib/stats.h"
#include "lib/str.h"
#include "lib/words.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <time.h>

/* --- readings --- */

/* Sorting by it keeps the order of equal times. */
static int reading_compare_time(const void *a, const void *b)
{
	uint64_t x = ((const struct reading *)a)->t_ns, y = ((const struct reading *)b)->t_ns;

	return ascending(x, y);
}

static double reading_interpolate(const struct reading *a, const struct reading *b, uint64_t t)
{
	if (b->t_ns == a->t_ns)
		return b->v;
	return a->v + (b->v - a->v) * ((double)(t - a->t_ns) / (double)(b->t_ns - a->t_ns));
}

double readings_integrate(const struct reading *r, size_t n, uint64_t from, uint64_t to)
{
	double joules = 0;

	for (size_t i = 1; i < n; i++) {
		uint64_t lo = r[i - 1].t_ns > from ? r[i - 1].t_ns : from;
		uint64_t hi = r[i].t_ns < to ? r[i].t_ns : to;

		if (hi > lo)
			joules += (reading_interpolate(&r[i - 1], &r[i], lo) +
				   reading_interpolate(&r[i - 1], &r[i], hi)) /
				  2 * ((double)(hi - lo) / 1e9);
	}
	return joules;
}

static double readings_value_at(const struct reading *r, size_t n, uint64_t t)
{
	size_t i = 1;

	while (i < n - 1 && r[i].t_ns < t)
		i++;
	return reading_interpolate(&r[i - 1], &r[i], t);
}

double readings_difference(const struct reading *r, size_t n, uint64_t from, uint64_t to)
{
	return n < 2 ? NAN : readings_value_at(r, n, to) - readings_value_at(r, n, from);
}

static double readings_median_step(const struct reading *r, size_t n)
{
	autofree double *step = xcalloc(n + 1, sizeof(*step));

	for (size_t i = 1; i < n; i++)
		step[i - 1] = (double)(r[i].t_ns - r[i - 1].t_ns) / 1e9;
	return stats_quantile(step, n ? n - 1 : 0, 0.5);
}

/*
 * Notes the longest step between readings in [from, to] that is far above the usual one, or that
 * holds the whole window.
 */
static void readings_note_gap(struct ingest *in, const char *what, const struct reading *r,
			      size_t n, uint64_t from, uint64_t to)
{
	double usual = readings_median_step(r, n), longest = 0, at = 0, step;

	for (size_t i = 1; i < n; i++) {
		step = (double)(r[i].t_ns - r[i - 1].t_ns) / 1e9;
		if (r[i].t_ns <= from || r[i - 1].t_ns >= to || step <= longest ||
		    (step <= 3 * usual && (r[i - 1].t_ns >= from || r[i].t_ns <= to)))
			continue;
		longest = step;
		at = ((double)r[i - 1].t_ns - (double)in->run.start_ns) / 1e9;
	}
	if (longest > 0)
		note_add(&in->notes, power_gap, what, longest, at)->severity =
			longest > 3 * usual ? SEVERITY_LOSSY : SEVERITY_WARNING;
}

/*
 * Returns the mean power in the window from sorted readings, with notes, or NAN where they do not
 * cover it (see ingest_cover).
 */
static double readings_power(struct ingest *in, const char *what, const struct reading *r, size_t n,
			     bool energy)
{
	uint64_t from, to;
	double seconds;

	if (n && !window_resolves(in, "power", r, n, sizeof(*r)))
		return NAN;
	from = n ? r[0].t_ns : 0;
	to = n ? r[n - 1].t_ns : 0;
	seconds = ingest_cover(in, what, &from, &to);
	if (!(seconds > 0))
		return NAN;
	readings_note_gap(in, what, r, n, from, to);
	return (energy ? readings_difference(r, n, from, to) : readings_integrate(r, n, from, to)) /
	       seconds;
}

/* A log of a meter may be hours longer than the run. */
#define SERIES_MARGIN_NS 10000000000ULL

void readings_add_series(struct ingest *in, const char *kind, const char *source,
			 const char *domain, const struct reading *r, size_t n, bool energy)
{
	const char *name = arena_printf(&in->arena, "power_w:%s/%s/%s", kind, source, domain);

	for (size_t i = energy; i < n; i++) {
		double watts = r[i].v;

		if (r[i].t_ns + SERIES_MARGIN_NS < in->run.start_ns ||
		    r[i].t_ns > in->run.end_ns + SERIES_MARGIN_NS)
			continue;
		if (energy && r[i].t_ns == r[i - 1].t_ns)
			continue;
		if (energy)
			watts = 1e9 * (r[i].v - r[i - 1].v) / (double)(r[i].t_ns - r[i - 1].t_ns);
		ingest_point(in, name, r[i].t_ns, watts);
	}
}

/* --- kinds --- */

/*
 * The sources of a kind's total. The first source in this list that measures the kind gives its
 * total. Those that the user named come first.
 */
static const char *const order[] = {"csv", "command", "powercap"};

static const char *const totals[] = {"wall", "platform", "package"};

/* Returns the kind of a domain of power.tsv. */
static const char *power_kind_of(const char *source, const char *domain)
{
	if (strcmp(source, "powercap") != 0)
		return "other";
	return str_starts(domain, "psys") ? "platform" : "package";
}

static bool power_name_is_taken(const struct ingest *in, const char *kind, const char *source,
				const char *domain)
{
	size_t i;

	for (i = 0; i < in->npower; i++)
		if (!strcmp(in->power[i].kind, kind) && !strcmp(in->power[i].source, source) &&
		    !strcmp(in->power[i].domain, domain))
			return true;
	return false;
}

/* Returns the name, with a number if it is taken: two meters may have logs of one name. */
static const char *power_new_name(struct ingest *in, const char *kind, const char *source,
				  const char *domain)
{
	const char *name = domain;

	for (int k = 2; power_name_is_taken(in, kind, source, name); k++)
		name = arena_printf(&in->arena, "%s (%d)", domain, k);
	return name;
}

void power_add(struct ingest *in, const char *kind, const char *source, const char *domain,
	       double watts, const char *how)
{
	domain = power_new_name(in, kind, source, domain);
	array_add(in->power, in->npower, in->power_cap,
		  (struct ingest_power){arena_strdup(&in->arena, kind),
					arena_strdup(&in->arena, source),
					arena_strdup(&in->arena, domain), how, watts});
}

/* Returns whether RAPL counts the domain a second time within its package: cores and graphics. */
static bool domain_is_part(const char *source, const char *domain)
{
	const char *slash = strrchr(domain, '/'), *leaf = slash ? slash + 1 : domain;

	return !strcmp(source, "powercap") &&
	       (str_starts(leaf, "core") || str_starts(leaf, "uncore"));
}

static const char *power_find_source(const struct ingest *in, const char *kind)
{
	for (size_t o = 0; o < array_size(order); o++)
		for (size_t i = 0; i < in->npower; i++)
			if (!strcmp(in->power[i].kind, kind) &&
			    !strcmp(in->power[i].source, order[o]))
				return order[o];
	return NULL;
}

/* Adds a kind's total. A domain without a figure is NAN, so the total is missing too. */
static void power_add_total(struct ingest *in, const char *kind)
{
	const char *source = power_find_source(in, kind), *how = NULL;
	double watts = 0;
	bool found = false;

	for (size_t i = 0; source && i < in->npower; i++) {
		const struct ingest_power *p = &in->power[i];

		if (strcmp(p->kind, kind) || strcmp(p->source, source) ||
		    domain_is_part(source, p->domain))
			continue;
		watts += p->watts;
		how = p->how;
		found = true;
	}
	if (found && isfinite(watts)) {
		double seconds = (double)(in->run.end_ns - in->run.start_ns) / 1e9;

		ingest_metric_row(in,
				  &(struct metric_row){{"power_w", kind, NO_CPU}, "W", watts, how});
		ingest_metric_row(in,
				  &(struct metric_row){
					  {"energy_j", kind, NO_CPU}, "J", watts * seconds, how});
	}
}

/* The domains of a source are read one after the other. */
#define TOGETHER_NS 50000000

/* Adds up the domains' readings at each time. A time without one of the domains has no total. */
static void power_add_total_series(struct ingest *in, const char *kind)
{
	const char *source = power_find_source(in, kind), *name;
	autofree char *prefix = xasprintf("power_w:%s/%s/", kind, source ? source : "");
	size_t n = 0, cap = 0, domains = 0, together, k;
	autofree struct reading *r = NULL;
	double watts;

	for (size_t i = 0; i < in->npower; i++)
		domains += source && !strcmp(in->power[i].kind, kind) &&
			   !strcmp(in->power[i].source, source) &&
			   !domain_is_part(source, in->power[i].domain);
	for (size_t i = 0; i < in->nseries; i++)
		if (str_starts(in->series[i].name, prefix) &&
		    !domain_is_part(source, in->series[i].name + strlen(prefix)))
			array_add(r, n, cap,
				  (struct reading){in->series[i].t_ns, in->series[i].value});
	array_sort(r, n, reading_compare_time);
	name = arena_printf(&in->arena, "power_w:%s", kind);
	for (size_t i = 0; i < n; i += together) {
		watts = 0;
		for (k = i; k < n && k - i < domains && r[k].t_ns - r[i].t_ns < TOGETHER_NS; k++)
			watts += r[k].v;
		together = k - i;
		if (together == domains)
			ingest_point(in, name, r[i].t_ns, watts);
	}
}

void power_put(struct ingest *in)
{
	for (size_t i = 0; i < in->npower; i++) {
		const struct ingest_power *p = &in->power[i];
		autofree char *object = xasprintf("%s/%s/%s", p->kind, p->source, p->domain);

		ingest_metric_row(in, &(struct metric_row){
					      {"power_w", object, NO_CPU}, "W", p->watts, p->how});
	}
	for (size_t i = 0; i < array_size(totals); i++)
		power_add_total(in, totals[i]);
	for (size_t i = 0; i < array_size(totals); i++)
		power_add_total_series(in, totals[i]);
}

/* --- power.tsv --- */

struct domain {
	const char *source, *name;
	bool energy;
	struct reading *r;
	size_t n, cap;
};

struct domains {
	struct domain *d;
	size_t n, cap;
};

static struct domain *domains_find(struct domains *list, const char *source, const char *name)
{
	for (size_t i = 0; i < list->n; i++)
		if (!strcmp(list->d[i].source, source) && !strcmp(list->d[i].name, name))
			return &list->d[i];
	array_add(list->d, list->n, list->cap, (struct domain){.source = source, .name = name});
	return &list->d[list->n - 1];
}

static void domains_read_rows(struct tsv *t, struct domains *list)
{
	for (size_t row = 0; row < t->rows; row++) {
		struct reading r;
		struct domain *d;
		double v;
		bool energy = parse_real(tsv_text(t, row, "microjoules"), &v);

		if ((!energy && !parse_real(tsv_text(t, row, "watts"), &v)) ||
		    !parse_u64(tsv_text(t, row, "t_ns"), &r.t_ns)) {
			t->bad++;
			continue;
		}
		r.v = energy ? v / 1e6 : v;
		d = domains_find(list, tsv_text(t, row, "source"), tsv_text(t, row, "domain"));
		d->energy = energy;
		array_add(d->r, d->n, d->cap, r);
	}
}

static void domains_add_power(struct ingest *in, struct domains *list)
{
	for (size_t i = 0; i < list->n; i++) {
		struct domain *d = &list->d[i];
		autofree char *what = xasprintf("power of %s %s", d->source, d->name);

		array_sort(d->r, d->n, reading_compare_time);
		power_add(in, power_kind_of(d->source, d->name), d->source, d->name,
			  readings_power(in, what, d->r, d->n, d->energy), NULL);
		readings_add_series(in, power_kind_of(d->source, d->name), d->source, d->name, d->r,
				    d->n, d->energy);
	}
}

static int power_read_rows(struct ingest *in, struct tsv *t, struct error *err)
{
	struct domains list = {0};

	(void)err;
	domains_read_rows(t, &list);
	domains_add_power(in, &list);
	array_free(e, list.d, list.n, free(e->r));
	return 0;
}

const struct parser parser_power = {.files = {"power.tsv"},
				    .timed = true,
				    .collector = "power",
				    .columns = "source domain t_ns microjoules watts",
				    .rows = power_read_rows};

/*
 * Reads what a --power-command printed: a record of power-command.snap is a line. The collector
 * writes the first record: a '#' and the kind. A record without a reading is left out, because a
 * command may print a heading.
 */

struct polled {
	struct reading *r;
	size_t n, bad;
};

static void polled_read_snaps(struct polled *p, struct snaps *snaps)
{
	struct error why;
	const char *text;
	double watts;

	p->r = xcalloc(snaps->n + 1, sizeof(*p->r));
	for (size_t i = 0; i < snaps->n; i++) {
		text = snaps_text(snaps, i);
		if (*text == '#')
			continue;
		if (watts_of_line(text, &watts, &why))
			p->bad++;
		else
			p->r[p->n++] = (struct reading){snaps->snap[i].mono_ns, watts};
	}
	array_sort(p->r, p->n, reading_compare_time);
}

/* Returns the kind in "# kind: wall" of the first record. */
static const char *polled_find_kind(struct snaps *snaps)
{
	static const char key[] = "# kind: ";
	const char *line = snaps->n ? strstr(snaps_text(snaps, 0), key) : NULL;
	size_t n = line ? strcspn(line + sizeof(key) - 1, "\n") : 0;

	for (size_t i = 0; i < array_size(totals); i++)
		if (strlen(totals[i]) == n && !strncmp(line + sizeof(key) - 1, totals[i], n))
			return totals[i];
	return "other";
}

static int power_command_read_file(struct ingest *in, const char *path, struct error *err)
{
	struct error damage = {0};
	struct polled p = {0};
	freed(snaps_free) struct snaps snaps = {0};
	const char *kind;
	int rc = snaps_read(&snaps, path, &damage);

	if (rc && rc != -EBADMSG)
		return error_set(err, -rc, "%s", damage.text);
	if (rc)
		note_add(&in->notes, file_damaged, "power", damage.text);
	polled_read_snaps(&p, &snaps);
	if (p.bad)
		note_add(&in->notes, rows_unreadable, "power", p.bad, path_base_name(path))
			->severity = SEVERITY_INFO; /* the command may print a heading */
	kind = polled_find_kind(&snaps);
	power_add(in, kind, "command", "power",
		  readings_power(in, "power by the command", p.r, p.n, false), NULL);
	readings_add_series(in, kind, "command", "power", p.r, p.n, false);
	free(p.r);
	snaps_close(in, &snaps);
	return 0;
}

const struct parser parser_power_command = {.files = {"power-command.snap"},
					    .read = power_command_read_file};

/*
 * The CSV of an external power meter, which has its own clock. The first column has the times:
 * dates, which are UTC without a zone, or seconds. Seconds are CLOCK_MONOTONIC of the measured
 * host; from 1e9 s on they are seconds since 1970. run.json relates the time of day to
 * CLOCK_MONOTONIC. The power is in the first column whose heading names its unit.
 */

/* --- units in a heading --- */

static const struct power_unit {
	const char *name;
	double watts;
} power_units[] = {{"W", 1},	{"mW", 1e-3}, {"uW", 1e-6}, {"kW", 1e3},
		   {"watt", 1}, {"watts", 1}, {"Watts", 1}};

/* Returns the unit among the words of a heading, "power (W)" or "power_mW", or NULL. */
static const struct power_unit *power_unit_in(const char *heading)
{
	size_t n;

	for (; *heading; heading += n ? n : 1) {
		for (n = 0; isalpha((unsigned char)heading[n]);)
			n++;
		for (size_t i = 0; i < array_size(power_units); i++)
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
	double s = 0, w;

	d->r = xcalloc(t->rows + 1, sizeof(*d->r));
	d->bad = t->bad;
	for (size_t row = 0; row < t->rows; row++) {
		if (meter_to_monotonic(d, tsv_cell(t, row, 0), &s) &&
		    text_is_number(tsv_cell(t, row, d->column), &w))
			d->r[d->n++] =
				(struct reading){(uint64_t)llround(s * 1e9), w * d->in_watts};
		else
			d->bad++;
	}
	array_sort(d->r, d->n, reading_compare_time);
}

int ingest_meter(struct ingest *in, const struct meter *m, double *watts, struct error *err)
{
	struct reader d = {.in = in, .m = m};
	const char *name = path_base_name(m->path), *kind = m->kind ? m->kind : "wall";
	freed(tsv_free) struct tsv t = {0};
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
		autofree char *what = xasprintf("the power meter %s", name);

		if (d.bad)
			note_add(&in->notes, rows_unreadable, "power", d.bad, "the meter's log");
		*watts = readings_power(in, what, d.r, d.n, false);
		readings_add_series(in, kind, "csv", power_new_name(in, kind, "csv", name), d.r,
				    d.n, false);
	}
	free(d.r);
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
	autofree char *path = xasprintf("%s/power.csv", in->dir);

	own.path = path;
	own.in_capture = true;
	if (path_exists(path))
		meter_add_power(in, &own);
}

void ingest_meters(struct ingest *in)
{
	struct meter own = {.path = NULL};
	size_t n = 0;

	for (size_t i = 0; i < in->how.nmeters; i++) {
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
