// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/texts/text.h"
#include "analyze/probes/counters/table.h"
#include "lib/stats.h"
#include "lib/str.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct stat_counter *stat_find(const struct perf_stat *st, const char *event)
{
	size_t i;

	for (i = 0; i < st->n; i++)
		if (st->counters[i].state == STAT_COUNTED && !strcmp(st->counters[i].event, event))
			return &st->counters[i];
	return NULL;
}

static bool stat_value_of(const void *arg, const char *event, double *value)
{
	const struct stat_counter *c = stat_find(arg, event);

	if (c)
		*value = c->value;
	return c;
}

/*
 * Returns whether the format hides the number of runs. -x prints only the error of the mean.
 */
static bool stat_hides_runs(const struct perf_stat *st)
{
	size_t i;

	for (i = 0; i < st->n && !st->runs; i++)
		if (!isnan(st->counters[i].error_pct))
			return true;
	return false;
}

static struct value stat_runs_of(const struct perf_stat *st)
{
	return stat_hides_runs(st) ? value_none() : value_int(st->runs ? st->runs : 1);
}

static struct value *stat_add_row(struct table *t, const struct perf_stat *st, const char *name,
				  const char *unit, double value)
{
	struct value *row;

	if (isnan(value))
		return NULL;
	row = table_row(t);
	table_set(t, row, "name", value_str(t, name));
	table_set(t, row, "value",
		  value == floor(value) && value < 1e15 ? value_int((int64_t)value)
							: value_real(value));
	table_set(t, row, "unit", value_str(t, unit));
	table_set(t, row, "runs", stat_runs_of(st));
	return row;
}

/*
 * Sets the interval. perf -r prints 100 x the standard error of the mean / the mean. Without that
 * error, and for one run, there is no interval: its half is NAN.
 */
static void stat_fill_interval(struct table *t, struct value *row, double value, double pct,
			       unsigned runs)
{
	int column = table_column(t, "value");
	double half;

	if (!row)
		return;
	half = stats_t_quantile(0.975, (double)runs - 1) * pct / 100 * value;
	row[column] =
		value_with(t, row[column], (struct interval){value - half, value + half, NAN});
}

static const char *stat_unit_of(const struct stat_counter *c)
{
	if (!c->unit)
		return "1";
	return !strcmp(c->unit, "msec") ? "ms" : !strcmp(c->unit, "Joules") ? "J" : c->unit;
}

/* Adds a row for an event without a count. */
static void stat_add_absent(struct table *t, const char *name, enum stat_state state)
{
	struct value *row = table_row(t);

	table_set(t, row, "name", value_str(t, name));
	table_set(t, row, "state",
		  value_str(t, state == STAT_NOT_SUPPORTED ? "<not supported>" : "<not counted>"));
}

static void stat_add_counters(struct table *t, const struct perf_stat *st)
{
	struct str name = {0};
	struct value *row;
	size_t i;

	for (i = 0; i < st->n; i++) {
		const struct stat_counter *c = &st->counters[i];

		str_reset(&name);
		str_printf(&name, "counter:%s", c->event);
		if (c->state != STAT_COUNTED) {
			stat_add_absent(t, name.buf, c->state);
			continue;
		}
		row = stat_add_row(t, st, name.buf, stat_unit_of(c), c->value);
		stat_fill_interval(t, row, c->value, c->error_pct, st->runs);
		if (row && st->runs > 1)
			table_set(t, row, "stddev_pct", value_real(c->error_pct));
		if (row && c->running_pct < 100)
			table_set(t, row, "running_pct", value_real(c->running_pct));
	}
	str_free(&name);
}

/*
 * Returns the time of the clock event that measures CPU time, in ms, or NAN without such an event.
 */
static double stat_clock_ms(const struct perf_stat *st)
{
	const struct stat_counter *c = stat_find(st, "task-clock");

	c = c ? c : stat_find(st, "cpu-clock");
	return c && c->unit && !strcmp(c->unit, "msec") ? c->value : NAN;
}

static void stat_add_times(struct table *t, const struct perf_stat *st)
{
	const struct stat_counter *cycles = stat_find(st, "cycles");
	double elapsed = 1000 * st->elapsed_s;
	struct value *row = stat_add_row(t, st, "elapsed_ms", "ms", elapsed);

	stat_fill_interval(t, row, elapsed, st->elapsed_pct, st->runs);
	stat_add_row(t, st, "user_ms", "ms", 1000 * st->user_s);
	stat_add_row(t, st, "system_ms", "ms", 1000 * st->system_s);
	if (elapsed > 0) /* 100 % is one CPU */
		stat_add_row(t, st, "cpu_pct", "%", 100 * stat_clock_ms(st) / elapsed);
	if (cycles && stat_clock_ms(st) > 0)
		stat_add_row(t, st, "ghz", "GHz", cycles->value / stat_clock_ms(st) / 1e6);
}

static void stat_add_ratios(struct table *t, const struct perf_stat *st)
{
	struct counter_ratio r;
	size_t i;

	for (i = 0; i < st->n; i++)
		if (st->counters[i].state == STAT_COUNTED &&
		    counter_ratio(&r, st->counters[i].event, st->counters[i].value, stat_value_of,
				  st))
			stat_add_row(t, st, r.name, r.unit, r.value);
}

/* Adds the rows "per_packet" and so on. The query gives the work done in the measured time. */
static void stat_add_per_unit(struct table *t, const struct perf_stat *st, const struct query *q)
{
	double units = q->work.units > 0 ? q->work.units : q->work.rate * st->elapsed_s;
	const char *unit = q->unit ? q->unit : "unit";
	struct str name = {0}, per = {0};
	size_t i;

	if (!(units > 0))
		return;
	for (i = 0; i < st->n; i++) {
		const struct stat_counter *c = &st->counters[i];

		if (c->state != STAT_COUNTED || !(c->value > 0))
			continue;
		str_reset(&name);
		str_reset(&per);
		str_printf(&name, "%s_per_%s", c->event, unit);
		str_printf(&per, "%s/%s", stat_unit_of(c), unit);
		stat_add_row(t, st, name.buf, per.buf, c->value / units);
		if (strncmp(c->event, "cycles", 6))
			continue;
		str_reset(&name);
		str_reset(&per);
		str_printf(&name, "%s_per_%s", unit, c->event);
		str_printf(&per, "%s/cycle", unit);
		stat_add_row(t, st, name.buf, per.buf, units / c->value);
	}
	str_free(&name);
	str_free(&per);
}

static void stat_note_source(struct table *t, const struct perf_stat *st)
{
	if (table_has_values(t, "running_pct"))
		note_add(&t->notes, table_how,
			 "perf scaled the counters that took turns to the whole time");
	if (st->runs > 1)
		note_add(
			&t->notes, table_how,
			"mean of the runs (perf 6.1 prints the last run's count instead); intervals are Student's, 95 %, from perf's standard error");
	if (stat_hides_runs(st))
		note_add(
			&t->notes, table_how,
			"mean of several runs; perf stat -x does not print how many, so there is no interval");
	if (st->blocks > 1)
		note_add(&t->notes, text_tables, st->blocks, "first");
}

int counters_from_stat(const struct perf_stat *st, const struct query *q, struct table *t,
		       struct error *err)
{
	if (q->cpus || q->comm || q->by)
		return error_set(err, EINVAL,
				 "perf stat's output cannot be split: no --cpu, --comm or --by");
	stat_add_counters(t, st);
	stat_add_times(t, st);
	stat_add_ratios(t, st);
	stat_add_per_unit(t, st, q);
	stat_note_source(t, st);
	return 0;
}

/* --- ratios of two counters --- */

/* The ratios. Any other "<what>-misses" is divided by "<what>s" or "<what>". */
static const struct {
	const char *over, *under[2], *name, *unit;
	double scale;
} ratios[] = {
	{"instructions", {"cycles", "cpu-cycles"}, "ipc", "1/cycle", 1},
	{"cache-misses", {"cache-references"}, "cache_miss_pct", "%", 100},
	{"branch-misses", {"branches", "branch-instructions"}, "branch_miss_pct", "%", 100},
	{"stalled-cycles-frontend", {"cycles", "cpu-cycles"}, "frontend_stalled_pct", "%", 100},
	{"stalled-cycles-backend", {"cycles", "cpu-cycles"}, "backend_stalled_pct", "%", 100},
};

/*
 * The parts of an event's name. "cpu_core/instructions/k" splits into "cpu_core/", "instructions"
 * and "/k". "cycles:k" ends with ":k".
 */
struct ratio_parts {
	char before[48], name[64], after[32];
};

static bool ratio_copy_part(char *to, size_t size, const char *from, size_t n)
{
	if (n >= size)
		return false;
	memcpy(to, from, n);
	to[n] = 0;
	return true;
}

static bool ratio_split(const char *event, struct ratio_parts *p)
{
	const char *slash = strchr(event, '/'), *name = slash ? slash + 1 : event;
	size_t n = strcspn(name, ":/");

	return n && ratio_copy_part(p->before, sizeof(p->before), event, (size_t)(name - event)) &&
	       ratio_copy_part(p->name, sizeof(p->name), name, n) &&
	       ratio_copy_part(p->after, sizeof(p->after), name + n, strlen(name + n));
}

static bool ratio_counted(const struct ratio_parts *p, const char *name, double *value,
			  counter_value_fn value_of, const void *arg)
{
	char event[160];

	snprintf(event, sizeof(event), "%s%s%s", p->before, name, p->after);
	return value_of(arg, event, value) && *value > 0;
}

/*
 * Sets the readable name of a ratio. The name has the PMU and its first "/", without the closing
 * one.
 */
static void ratio_fill_name(struct counter_ratio *r, const struct ratio_parts *p, const char *name)
{
	snprintf(r->name, sizeof(r->name), "%s%s%s", p->before, name,
		 strcmp(p->after, "/") ? p->after : "");
}

static bool ratio_find_misses(struct counter_ratio *r, const struct ratio_parts *p, double value,
			      counter_value_fn value_of, const void *arg)
{
	size_t n = strlen(p->name) - strlen("-misses");
	char stem[72];
	double under;

	snprintf(stem, sizeof(stem), "%.*ss", (int)n, p->name);
	if (!ratio_counted(p, stem, &under, value_of, arg)) {
		stem[n] = 0;
		if (!ratio_counted(p, stem, &under, value_of, arg))
			return false;
	}
	snprintf(stem, sizeof(stem), "%.*s_miss_pct", (int)(n < 60 ? n : 60), p->name);
	ratio_fill_name(r, p, stem);
	r->unit = "%";
	r->value = 100 * value / under;
	return true;
}

bool counter_ratio(struct counter_ratio *r, const char *event, double value,
		   counter_value_fn value_of, const void *arg)
{
	struct ratio_parts p;
	double under;
	size_t i, k;

	if (!ratio_split(event, &p))
		return false;
	for (i = 0; i < array_size(ratios); i++) {
		if (strcmp(ratios[i].over, p.name))
			continue;
		for (k = 0; k < array_size(ratios[i].under) && ratios[i].under[k]; k++) {
			if (!ratio_counted(&p, ratios[i].under[k], &under, value_of, arg))
				continue;
			ratio_fill_name(r, &p, ratios[i].name);
			r->unit = ratios[i].unit;
			r->value = ratios[i].scale * value / under;
			return true;
		}
		return false;
	}
	return str_ends(p.name, "-misses") && ratio_find_misses(r, &p, value, value_of, arg);
}
