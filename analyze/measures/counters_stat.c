// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/counters_stat.h"

#include "analyze/texts/perf_stat.h"
#include "analyze/measures/counters_ratios.h"
#include "lib/stats.h"
#include "lib/str.h"

#include <errno.h>
#include <math.h>
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

/* -x and -j do not print how many runs -r made, only the error of their mean. */
static bool hides_runs(const struct perf_stat *st)
{
	size_t i;

	for (i = 0; i < st->n && !st->runs; i++)
		if (!isnan(st->counters[i].error_pct))
			return true;
	return false;
}

static struct value stat_runs_of(const struct perf_stat *st)
{
	return hides_runs(st) ? value_none() : value_int(st->runs ? st->runs : 1);
}

static struct value *stat_put_row(struct table *t, const struct perf_stat *st, const char *name,
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

/* perf -r prints 100 x the standard error of the mean / what it prints as the mean. */
static void stat_put_interval(struct table *t, struct value *row, double value, double pct,
			      unsigned runs)
{
	int column = table_column(t, "value");
	double half;

	if (!row || runs < 2 || isnan(pct))
		return;
	half = stats_t_quantile(0.975, runs - 1) * pct / 100 * value;
	row[column] =
		value_with(t, row[column], (struct interval){value - half, value + half, NAN});
}

static const char *stat_unit_of(const struct stat_counter *c)
{
	if (!c->unit)
		return "1";
	return !strcmp(c->unit, "msec") ? "ms" : !strcmp(c->unit, "Joules") ? "J" : c->unit;
}

/* An event that has no count. */
static void stat_put_absent(struct table *t, const char *name, enum stat_state state)
{
	struct value *row = table_row(t);

	table_set(t, row, "name", value_str(t, name));
	table_set(t, row, "state",
		  value_str(t, state == STAT_NOT_SUPPORTED ? "<not supported>" : "<not counted>"));
}

static void put_counters(struct table *t, const struct perf_stat *st)
{
	struct str name = {0};
	struct value *row;
	size_t i;

	for (i = 0; i < st->n; i++) {
		const struct stat_counter *c = &st->counters[i];

		str_reset(&name);
		str_printf(&name, "counter:%s", c->event);
		if (c->state != STAT_COUNTED) {
			stat_put_absent(t, name.buf, c->state);
			continue;
		}
		row = stat_put_row(t, st, name.buf, stat_unit_of(c), c->value);
		stat_put_interval(t, row, c->value, c->error_pct, st->runs);
		if (row && st->runs > 1)
			table_set(t, row, "stddev_pct", value_real(c->error_pct));
		if (row && c->running_pct < 100)
			table_set(t, row, "running_pct", value_real(c->running_pct));
	}
	str_free(&name);
}

/* The clock whose time is that of the CPUs in use, in ms; NAN: there is none. */
static double clock_ms(const struct perf_stat *st)
{
	const struct stat_counter *c = stat_find(st, "task-clock");

	c = c ? c : stat_find(st, "cpu-clock");
	return c && c->unit && !strcmp(c->unit, "msec") ? c->value : NAN;
}

static void stat_put_times(struct table *t, const struct perf_stat *st)
{
	const struct stat_counter *cycles = stat_find(st, "cycles");
	double elapsed = 1000 * st->elapsed_s;
	struct value *row = stat_put_row(t, st, "elapsed_ms", "ms", elapsed);

	stat_put_interval(t, row, elapsed, st->elapsed_pct, st->runs);
	stat_put_row(t, st, "user_ms", "ms", 1000 * st->user_s);
	stat_put_row(t, st, "system_ms", "ms", 1000 * st->system_s);
	if (elapsed > 0) /* 100: one CPU */
		stat_put_row(t, st, "cpu_pct", "%", 100 * clock_ms(st) / elapsed);
	if (cycles && clock_ms(st) > 0)
		stat_put_row(t, st, "ghz", "GHz", cycles->value / clock_ms(st) / 1e6);
}

static void put_ratios(struct table *t, const struct perf_stat *st)
{
	struct counter_ratio r;
	size_t i;

	for (i = 0; i < st->n; i++)
		if (st->counters[i].state == STAT_COUNTED &&
		    counter_ratio(&r, st->counters[i].event, st->counters[i].value, stat_value_of,
				  st))
			stat_put_row(t, st, r.name, r.unit, r.value);
}

/* "per_packet", of the work that the query says was done in the measured time. */
static void put_per_unit(struct table *t, const struct perf_stat *st, const struct query *q)
{
	double units = q->units > 0 ? q->units : q->rate * st->elapsed_s;
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
		stat_put_row(t, st, name.buf, per.buf, c->value / units);
		if (strncmp(c->event, "cycles", 6))
			continue;
		str_reset(&name);
		str_reset(&per);
		str_printf(&name, "%s_per_%s", unit, c->event);
		str_printf(&per, "%s/cycle", unit);
		stat_put_row(t, st, name.buf, per.buf, units / c->value);
	}
	note_add(&t->notes, stat_per_unit, unit, units,
		 q->units > 0 ? "" : ", the rate x perf's elapsed time");
	str_free(&name);
	str_free(&per);
}

static void stat_note_absent(struct table *t, const struct perf_stat *st, enum stat_state state,
			     const char *what)
{
	struct str names = {0};
	size_t i;

	for (i = 0; i < st->n; i++)
		if (st->counters[i].state == state)
			str_printf(&names, "%s%s", names.len ? " " : "", st->counters[i].event);
	if (names.len)
		note_add(&t->notes, stat_absent, what, names.buf);
	str_free(&names);
}

static void stat_say_source(struct table *t, const struct perf_stat *st)
{
	bool shared = false, added = false;
	size_t i;

	for (i = 0; i < st->n; i++) {
		shared |= st->counters[i].running_pct < 100;
		added |= st->counters[i].parts > 1;
	}
	stat_note_absent(t, st, STAT_NOT_SUPPORTED, "this machine does not support");
	stat_note_absent(t, st, STAT_NOT_COUNTED, "not counted, or only in part");
	if (added)
		note_add(&t->notes, stat_added);
	if (shared)
		note_add(&t->notes, stat_scaled);
	if (st->runs > 1)
		note_add(&t->notes, stat_mean, st->runs);
	if (hides_runs(st))
		note_add(&t->notes, stat_mean_unknown);
	if (st->blocks > 1)
		note_add(&t->notes, stat_blocks, st->blocks);
	if (st->repeated)
		note_add(&t->notes, stat_repeated, st->repeated);
}

int counters_from_stat(const struct perf_stat *st, const struct query *q, struct table *t,
		       struct error *err)
{
	if (q->cpus || q->comm || q->by)
		return error_set(err, EINVAL,
				 "perf stat's output cannot be split: no --cpu, --comm or --by");
	put_counters(t, st);
	stat_put_times(t, st);
	put_ratios(t, st);
	put_per_unit(t, st, q);
	stat_say_source(t, st);
	return 0;
}
