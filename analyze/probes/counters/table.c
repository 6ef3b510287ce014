// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/probes/counters/table.h"
#include "analyze/scope/changes.h"
#include "analyze/texts/text.h"

#include <errno.h>
#include <math.h>

static const struct stat_counter *stat_find(const struct perf_stat *st, const char *event)
{
	return array_find(c, st->counters, st->n,
			  c->state == STAT_COUNTED && !strcmp(c->event, event));
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
	return !st->runs && array_find(c, st->counters, st->n, !isnan(c->error_pct));
}

static struct value *stat_add_row(struct table *t, const struct perf_stat *st, const char *name,
				  const char *unit, double value)
{
	struct value *row;

	if (isnan(value))
		return NULL;
	row = table_row(t);
	table_set(t, row, "name", value_str(t, name));
	table_set(t, row, "value", value_count(value));
	table_set(t, row, "unit", value_str(t, unit));
	if (!stat_hides_runs(st))
		table_set(t, row, "runs", value_int(st->runs ? st->runs : 1));
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
	freed(str_free) struct str name = {0};
	struct value *row;

	for (size_t i = 0; i < st->n; i++) {
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

	for (size_t i = 0; i < st->n; i++)
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
	freed(str_free) struct str name = {0}, per = {0};

	if (!(units > 0))
		return;
	for (size_t i = 0; i < st->n; i++) {
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

/*
 * Adds each counter as perf printed it, with Student's 95 % interval from perf's standard error
 * over its repeats. stddev_pct is that standard error, 100 x s / sqrt(n) / mean, not a standard
 * deviation (docs/method.md). Adds the ratios of two counters with the same modifiers, and each
 * counter per unit of work if the query has --units, or --rate together with perf's elapsed time.
 */
static int counters_from_stat(const struct perf_stat *st, const struct query *q, struct table *t,
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

	if (!ratio_split(event, &p))
		return false;
	for (size_t i = 0; i < array_size(ratios); i++) {
		if (strcmp(ratios[i].over, p.name))
			continue;
		for (size_t k = 0; k < array_size(ratios[i].under) && ratios[i].under[k]; k++) {
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

/* --- the table of a capture --- */

static const struct column counters_columns[] = {
	SIDE_COLUMNS,
	{"name", .type = V_STR, .what = "an event, or a ratio of two events"},
	{"value", .type = V_REAL, .digits = 3, .spread = SPREAD_RANGE,
	 .what = "estimate over the runs"},
	{"unit", .type = V_STR, .shape = STAYS_WHOLE},
	{"mean", .type = V_REAL, .digits = 3,
	 .what = "mean over the runs, as perf stat -r prints it"},
	{"stddev_pct", "%", V_REAL, .digits = 2,
	 .what = "standard error of the mean, as perf stat -r prints it"},
	{"running_pct", "%", V_REAL, .digits = 1,
	 .what = "part of the time with a hardware counter; the count is scaled up"},
	{"state", .type = V_STR, .what = "<not supported>, <not counted>"},
	{"runs", .type = V_INT, .what = "runs that have it"},
};

/* --- one figure of one run --- */

static double counters_metric(struct store *s, const struct run *r, const char *what,
			      const char *event)
{
	return run_metric(s, r, what, event, NO_CPU);
}

/* --- ratios: "instructions@2" goes with "cycles@2", else with "cycles" --- */

struct counters_pair {
	struct store *s;
	const struct run *r;
	const char *event; /* the numerator */
	bool apart;	   /* the two events were counted in turns, not in one group */
};

static bool counters_same_time(const struct counters_pair *p, const char *other)
{
	double a = counters_metric(p->s, p->r, "counter_group", p->event);
	double b = counters_metric(p->s, p->r, "counter_group", other);

	return a == b || (isnan(counters_metric(p->s, p->r, "counter_running", p->event)) &&
			  isnan(counters_metric(p->s, p->r, "counter_running", other)));
}

static bool counters_value_of(const void *arg, const char *event, double *value)
{
	struct counters_pair *p = (struct counters_pair *)arg;
	const char *group = strrchr(p->event, '@');
	autofree char *mate = xasprintf("%s%s", event, group ? group : "");
	const char *used = mate;

	*value = counters_metric(p->s, p->r, "counter", mate);
	if (isnan(*value)) {
		used = event;
		*value = counters_metric(p->s, p->r, "counter", event);
	}
	if (!isnan(*value))
		p->apart = !counters_same_time(p, used);
	return !isnan(*value);
}

static bool counters_ratio_of(struct counters_pair *p, struct counter_ratio *ratio)
{
	double value = counters_metric(p->s, p->r, "counter", p->event);
	autofree char *event = xstrdup(p->event);
	char *at = strrchr(event, '@');

	if (at)
		*at = '\0';
	return !isnan(value) && counter_ratio(ratio, event, value, counters_value_of, p);
}

static double counters_figure_ratio(struct store *s, const struct run *r, const void *event)
{
	struct counters_pair p = {s, r, event, false};
	struct counter_ratio ratio;

	return counters_ratio_of(&p, &ratio) ? ratio.value : NAN;
}

/* --- rows --- */

/*
 * Sets the mean and stddev_pct as perf stat -r does (stddev_stats and rel_stddev_stats in its
 * util/stat.c). stddev_pct is 100 x the standard error of the mean, s / sqrt(n), / mean.
 */
static void counters_add_mean(const struct block_table *m, struct value *row, figure_fn figure,
			      const void *arg)
{
	size_t n;
	autofree double *x = scope_figures(m->s, m->b->runs, m->b->n, figure, arg, &n);
	double mean = stats_mean(x, n);

	if (n > 1) {
		table_set(m->t, row, "mean", value_count(mean));
		table_set(m->t, row, "stddev_pct",
			  value_real(100 * stats_sd(x, n) / sqrt((double)n) / fabs(mean)));
	}
}

static struct value *counters_begin(const struct block_table *m, const char *name, const char *unit)
{
	struct value *row = block_row(m->t, &m->b->block);

	table_set(m->t, row, "name", value_str(m->t, name));
	table_set(m->t, row, "unit", value_str(m->t, unit));
	return row;
}

/* Adds a row for the figure, and returns it. Returns NULL when no run has the figure. */
static struct value *counters_add_figure(const struct block_table *m, const char *name,
					 const char *unit, figure_fn figure, const void *arg)
{
	struct estimate e = block_estimate(m, figure, arg);
	struct value *row, v;

	if (!e.n)
		return NULL;
	row = counters_begin(m, name, unit);
	table_set(m->t, row, "runs", value_int((int64_t)e.n));
	v = value_count(e.value);
	if (e.n > 1)
		v = value_with(m->t, v, (struct interval){e.lo, e.hi, NAN});
	table_set(m->t, row, "value", v);
	counters_add_mean(m, row, figure, arg);
	return row;
}

static void counters_add_event(const struct block_table *m, const struct metric_row *event)
{
	const struct metric_key count = {"counter", event->key.object, NO_CPU},
				running = {"counter_running", event->key.object, NO_CPU};
	autofree char *name = xasprintf("counter:%s", event->key.object);
	struct value *row = counters_add_figure(m, name, event->unit, figure_metric_of, &count);

	if (row)
		table_set(m->t, row, "running_pct",
			  value_real(block_estimate(m, figure_metric_of, &running).value));
	else
		table_set(m->t, counters_begin(m, name, NULL), "state",
			  value_str(m->t, str_ends(event->key.name, "_supported")
						  ? "<not supported>"
						  : "<not counted>"));
}

static void counters_add_ratio(const struct block_table *m, const char *event)
{
	const char *group = strrchr(event, '@');
	struct counter_ratio ratio;
	struct counters_pair p = {m->s, NULL, event, false};
	bool found = false;
	autofree char *name = NULL;

	for (int i = 0; i < m->b->n && !found; i++) {
		p.r = &m->b->runs[i];
		found = counters_ratio_of(&p, &ratio);
	}
	if (!found)
		return;
	name = xasprintf("%s%s", ratio.name, group ? group : "");
	counters_add_figure(m, name, ratio.unit, counters_figure_ratio, event);
	if (p.apart)
		note_add_block(&m->t->notes, &m->b->block, ratio_of_turns, name);
}

/* --- the events of a block --- */

static int counters_by_event(const void *a, const void *b)
{
	const struct metric_key *x = &((const struct metric_row *)a)->key;
	const struct metric_key *y = &((const struct metric_row *)b)->key;
	return strverscmp(x->object, y->object) ?: strcmp(x->name, y->name);
}

/*
 * Finds one metric for each event: its count. For an event that no run counted, it finds the last
 * metric that says why.
 */
static int counters_find_events(const struct block_table *m, struct metric_keys *list,
				struct error *err)
{
	static const char *const what[] = {"counter", "counter_not_counted",
					   "counter_not_supported"};
	size_t k, n = 0;
	int rc = 0;

	for (size_t i = 0; i < array_size(what) && !rc; i++)
		rc = metric_keys_add(list, m->s, m->b, what[i], OF_SIDE, err);
	array_sort(list->m, list->n, counters_by_event);
	for (size_t i = 0; i < list->n; i = k + 1) {
		for (k = i;
		     k + 1 < list->n && !strcmp(list->m[k + 1].key.object, list->m[i].key.object);)
			k++;
		list->m[n++] = list->m[strcmp(list->m[i].key.name, "counter") ? k : i];
	}
	list->n = n;
	return rc;
}

/*
 * Adds a row for each requested event. A row has the estimate over the runs, the mean and its
 * standard error in percent (as perf stat -r prints them), and the part of the time with a
 * hardware counter. The row of an event without a count has its state instead. Adds the ratios of
 * two events after that. A ratio uses events of the same group where possible.
 */
static int counters_add_block(struct block_table *m, struct error *err)
{
	freed(metric_keys_free) struct metric_keys list = {0};
	int rc = counters_find_events(m, &list, err);

	for (size_t i = 0; i < list.n && !rc; i++)
		counters_add_event(m, &list.m[i]);
	for (size_t i = 0; i < list.n && !rc; i++)
		counters_add_ratio(m, list.m[i].key.object);
	return rc;
}

static void counters_add_notes(struct block_table *m)
{
	if (!m->t->rows)
		changes_nothing(m->s, m->t, NULL);
	else
		note_add(
			&m->t->notes, table_how,
			"events are counted for all that runs on the side's CPUs, other programs and the kernel's threads included; 'zcost report scores' has them per unit of work");
	if (table_has_values(m->t, "running_pct"))
		note_add(
			&m->t->notes, table_how,
			"events that shared a hardware counter are scaled to the whole time; running_pct is the counted part");
	if (table_has_values(m->t, "stddev_pct"))
		note_add(
			&m->t->notes, table_how,
			"mean and stddev_pct are those of perf stat -r: the mean over the runs and its standard error in percent");
}

static int counters_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	(void)s;
	if (q->bare.stat)
		return counters_from_stat(q->bare.stat, q, t, err);
	return error_set(
		err, EINVAL,
		"table 'counters' needs a capture, or perf stat's output with --perf-stat");
}

const struct measure measure_counters = {
	.name = "counters",
	.what = "hardware and software counters, and their ratios",
	MEASURE_COLUMNS(counters_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS, [SOURCE_TEXT] = "cpu comm by unit units rate"},
	.whole =
		"the events are counted on the side's CPUs, for all processes; 'zcost report scores' has the context switches of the workload",
	.spare = "mean runs running_pct",
	.block = counters_add_block,
	.notes = counters_add_notes,
	.run = counters_run,
};
