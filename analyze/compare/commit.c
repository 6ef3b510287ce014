// SPDX-License-Identifier: GPL-2.0-only
/*
 * A comparison for the commit message of a patch: hosts and commands, then one narrow table of base
 * and new. It has the rows of the compared table; only a list of functions is shorter, with the
 * rest in one row.
 */
#include "analyze/compare/compare.h"

#include "analyze/measures/runs.h"
#include "lib/str.h"
#include "lib/table_layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_ROWS = 12, SIDE_WIDTH = 18 };

/* --- hosts and commands --- */

static bool texts_equal(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Returns the facts of an end; a bare file has none. */
static struct run_facts commit_end_facts(const struct compare_end *e, const char *side)
{
	return e->bare ? (struct run_facts){0} : run_facts_of(e->store, e->variant, side);
}

/* Prints kernel, host and command of a side, once where both ends agree. */
static void commit_print_facts(struct str *s, const struct comparison *c, const char *side)
{
	struct run_facts base = commit_end_facts(&c->end[BASE], side);
	struct run_facts new = commit_end_facts(&c->end[NEW], side);
	bool one_host = texts_equal(base.host, new.host) && texts_equal(base.kernel, new.kernel);
	bool one_command = texts_equal(base.command, new.command);

	if (base.command || new.command || base.host || new.host) {
		str_printf(s, "%s%s", side ? side : "", side ? ": " : "");
		if (one_host) {
			run_facts_host(s, &base);
		} else {
			str_puts(s, "base: ");
			run_facts_host(s, &base);
			str_puts(s, "new: ");
			run_facts_host(s, &new);
		}
		if (one_command && base.command)
			str_printf(s, "command: %s\n", base.command);
		else
			str_printf(s, "base: %s\nnew: %s\n", base.command ? base.command : "?",
				   new.command ? new.command : "?");
	}
	run_facts_free(&base);
	run_facts_free(&new);
}

/* Sets the title: that of the compared table, then the facts of each side in it. */
static void commit_add_title(const struct comparison *c, const struct outcome *out,
			     const struct table *t, struct table *to)
{
	const char *side, *last = NULL;
	struct str s = {0};
	size_t i;

	str_printf(&s, "%s\n", t->title);
	if (*out->side)
		commit_print_facts(&s, c, out->side);
	for (i = 0; !*out->side && i < t->rows; i++) {
		side = table_text(t, i, "side");
		if (*side && strcmp(side, "total") && !texts_equal(side, last))
			commit_print_facts(&s, c, side);
		last = side;
	}
	if (out->runs[BASE])
		str_printf(&s, "n: %zu and %zu runs", out->runs[BASE], out->runs[NEW]);
	table_title_lines(to, str_trim(s.buf));
	str_free(&s);
}

/* --- numbers --- */

/* Returns digits after the point, for four significant digits. */
static int commit_digits(double x)
{
	int digits = 0;

	while (digits < 6 && fabs(x) < 999.5 / pow(10, digits) && x != 0)
		digits++;
	return x == 0 ? 0 : digits;
}

static struct value commit_number(struct table *to, const char *format, int digits, double x)
{
	return value_str(to, isnan(x) ? "-" : arena_printf(&to->arena, format, digits, x));
}

static struct value commit_p(struct table *to, double p)
{
	return p < 0.0005 ? value_str(to, "<.001") : commit_number(to, "%.*f", 3, p);
}

#define NUMBER .type = V_STR, .shape = STANDS_RIGHT

/* --- the figures of merit --- */

/* The name of a metric includes its unit and is never cut. */
static const struct column metric_columns[] = {
	{"metric", .type = V_STR, .shape = STAYS_WHOLE},
	{"base", NUMBER},
	{"new", NUMBER},
	{"change", NUMBER},
	{"95% interval", NUMBER},
	{"p", NUMBER},
	{"n", NUMBER},
};

/* Prints "syscalls_per_mib" as "syscalls per MiB", other names with their unit. */
static void commit_print_metric(struct str *s, const char *name, const char *unit)
{
	bool per = strstr(name, "_per_");
	const char *p;

	str_puts(s, "  ");
	for (p = name; *p; p++) {
		if (str_starts(p, "_kib") || str_starts(p, "_mib")) {
			str_puts(s, p[1] == 'k' ? " KiB" : " MiB");
			p += 3;
		} else {
			str_putc(s, *p == '_' ? ' ' : *p);
		}
	}
	if (!per && *unit)
		str_printf(s, ", %s", unit);
	else if (strstr(unit, "modelled"))
		str_puts(s, ", modelled");
}

/* Adds a row with the side's name, cut to the width of the metrics. */
static void commit_add_side(struct table *to, const char *side)
{
	struct value *row = table_row(to);
	struct str name = {0};
	int i;

	for (i = 0; i < to->ncolumns; i++)
		row[i] = value_str(to, "");
	fit_short(&name, side, SIDE_WIDTH);
	row[0] = value_str(to, name.buf);
	str_free(&name);
}

/* Returns the digits of a percentage: from 1000 % on, tenths are noise and have no room. */
static int commit_percent_digits(double x)
{
	return fabs(x) >= 1000 ? 0 : 1;
}

/* Returns the interval of the test. Without p it is a bootstrap interval, not one of 95 %. */
static struct value commit_change_interval(struct table *to, const struct table *t, size_t i)
{
	struct interval change = table_interval(t, i, "change_pct");

	if (isnan(table_real(t, i, "p")) || isnan(change.low) || isnan(change.high))
		return value_str(to, "-");
	return value_str(to, arena_printf(&to->arena, "[%+.*f,%+.*f]",
					  commit_percent_digits(change.low), change.low,
					  commit_percent_digits(change.high), change.high));
}

static void commit_add_metric(struct table *to, const struct table *t, size_t i)
{
	double base = table_real(t, i, "base"), new = table_real(t, i, "new");
	double change = table_real(t, i, "change_pct");
	struct str name = {0};
	struct value *row = table_row(to);

	commit_print_metric(&name, table_text(t, i, "metric"), table_text(t, i, "unit"));
	row[0] = value_str(to, name.buf);
	row[1] = commit_number(to, "%.*f", commit_digits(base), base);
	row[2] = commit_number(to, "%.*f", commit_digits(new), new);
	row[3] = commit_number(to, "%+.*f%%", commit_percent_digits(change), change);
	row[4] = commit_change_interval(to, t, i);
	row[5] = commit_p(to, table_real(t, i, "p"));
	row[6] = value_str(to, arena_printf(&to->arena, "%.0f+%.0f", table_real(t, i, "base_runs"),
					    table_real(t, i, "new_runs")));
	str_free(&name);
}

/* Returns the runs of every row, "6+6", or NULL where rows differ. */
static const char *commit_common_runs(const struct table *to)
{
	const char *runs = NULL, *cell;
	size_t i;

	for (i = 0; i < to->rows; i++) {
		cell = table_text(to, i, "n");
		if (!*cell)
			continue;
		if (runs && strcmp(runs, cell))
			return NULL;
		runs = cell;
	}
	return runs;
}

/* Notes the number of runs: a narrow table leaves out column n first. */
static void commit_note_metrics(struct table *to)
{
	const char *runs = commit_common_runs(to);

	note_add(&to->notes, commit_rule, runs ? ", everywhere " : "", runs ? runs : "");
}

static void commit_add_metrics(struct table *to, const struct table *t)
{
	const char *side, *last = NULL;
	size_t i;

	for (i = 0; i < t->rows; i++) {
		side = table_text(t, i, "side");
		if (!texts_equal(side, last))
			commit_add_side(to, side);
		last = side;
		commit_add_metric(to, t, i);
	}
	commit_note_metrics(to);
}

/* --- lists of costs, and the steps of a waterfall --- */

static const struct column cost_columns[] = {
	{"name", .type = V_STR}, {"base", NUMBER},     {"new", NUMBER},
	{"change", NUMBER},	 {"interval", NUMBER}, {"p", NUMBER},
};
static const struct column step_columns[] = {
	{"step", .type = V_STR}, {"change", NUMBER}, {"total", NUMBER},
	{"interval", NUMBER},	 {"p", NUMBER},
};

/* Returns the name with its DSO; functions of the kernel have none. */
static struct value commit_cost_name(struct table *to, const struct table *t, size_t i)
{
	const char *name = table_text(t, i, t->columns[0].name), *dso = table_text(t, i, "dso"),
		   *slash;

	if (!*dso || str_starts(dso, "[kernel"))
		return value_str(to, name);
	slash = strrchr(dso, '/');
	return value_str(to, arena_printf(&to->arena, "%s (%s)", name, slash ? slash + 1 : dso));
}

static struct value commit_cost_interval(struct table *to, const struct table *t, size_t i,
					 int digits)
{
	return commit_number(to, "+-%.*f", digits, table_interval(t, i, "delta_ns").half);
}

static double commit_sum(const struct table *t, size_t from, const char *column)
{
	double sum = 0;

	for (; from < t->rows; from++)
		sum += table_real(t, from, column);
	return sum;
}

static void commit_add_sum(struct table *to, const struct table *t, size_t from, const char *name,
			   int digits)
{
	struct value *row = table_row(to);

	row[0] = value_str(to, name);
	row[1] = commit_number(to, "%.*f", digits, commit_sum(t, from, "base_ns"));
	row[2] = commit_number(to, "%.*f", digits, commit_sum(t, from, "new_ns"));
	row[3] = commit_number(to, "%+.*f", digits, commit_sum(t, from, "delta_ns"));
	row[4] = row[5] = value_str(to, "");
}

/* Adds the total of all samples. Groups may overlap, so their sum is no total. */
static void commit_add_whole(struct table *to, const struct outcome *out, int digits)
{
	struct value *row = table_row(to);

	row[0] = value_str(to, "(all)");
	row[1] = commit_number(to, "%.*f", digits, out->whole[BASE]);
	row[2] = commit_number(to, "%.*f", digits, out->whole[NEW]);
	row[3] = commit_number(to, "%+.*f", digits, out->whole[NEW] - out->whole[BASE]);
	row[4] = row[5] = value_str(to, "");
}

static void commit_add_costs(struct table *to, const struct comparison *c,
			     const struct outcome *out, const struct table *t, int digits)
{
	bool all = c->limit > 0 || c->all || out->parts || t->rows <= LIST_ROWS;
	size_t shown = all ? t->rows : LIST_ROWS, i;
	struct value *row;

	for (i = 0; i < shown; i++) {
		row = table_row(to);
		row[0] = commit_cost_name(to, t, i);
		row[1] = commit_number(to, "%.*f", digits, table_real(t, i, "base_ns"));
		row[2] = commit_number(to, "%.*f", digits, table_real(t, i, "new_ns"));
		row[3] = commit_number(to, "%+.*f", digits, table_real(t, i, "delta_ns"));
		row[4] = commit_cost_interval(to, t, i, digits);
		row[5] = commit_p(to, table_real(t, i, "p"));
	}
	if (shown < t->rows)
		commit_add_sum(to, t, shown, "(others)", digits);
	if (out->parts)
		commit_add_whole(to, out, digits);
	else
		commit_add_sum(to, t, 0, "total", digits);
}

static void commit_add_steps(struct table *to, const struct table *t, int digits)
{
	struct value *row;
	size_t i;

	for (i = 0; i < t->rows; i++) {
		bool is_end = isnan(table_real(t, i, "delta_ns"));

		row = table_row(to);
		row[0] = value_str(to, table_text(t, i, "step"));
		row[2] = commit_number(to, "%.*f", digits, table_real(t, i, "total_ns"));
		row[1] = row[3] = row[4] = value_str(to, "");
		if (is_end)
			continue;
		row[1] = commit_number(to, "%+.*f", digits, table_real(t, i, "delta_ns"));
		row[3] = commit_cost_interval(to, t, i, digits);
		row[4] = commit_p(to, table_real(t, i, "p"));
	}
}

static bool commit_has_errors(const struct table *to)
{
	size_t i;

	for (i = 0; i < to->rows; i++)
		if (str_starts(table_text(to, i, "interval"), "+-"))
			return true;
	return false;
}

static void commit_note_test(struct table *to, const struct comparison *c,
			     const struct outcome *out)
{
	if (verdict_possible(&c->rule, out->runs[BASE], out->runs[NEW], out->tests))
		note_add(&to->notes, commit_rule_rows, out->tests);
	else
		note_add(&to->notes, commit_too_few, out->tests,
			 verdict_runs_needed(&c->rule, out->tests));
	if (commit_has_errors(to))
		note_add(&to->notes, commit_error);
}

/* --- notes --- */

/* Returns whether a reader would misread the figures without this note. */
static bool commit_keeps_note(const struct note *n)
{
	static const enum note_id kept[] = {
		NOTE_slice,	     NOTE_slice_absent,	     NOTE_compare_side_names,
		NOTE_syscalls_times, NOTE_compare_zero_base, NOTE_compare_self_test};
	size_t i;

	for (i = 0; i < array_size(kept); i++)
		if (note_is(n, kept[i]))
			return true;
	return n->severity == SEVERITY_WARNING || n->severity == SEVERITY_LOSSY;
}

static void commit_carry_notes(struct table *to, const struct table *t)
{
	size_t i;

	to->lossy = t->lossy;
	for (i = 0; i < t->notes.n; i++)
		if (commit_keeps_note(&t->notes.note[i]))
			notes_copy(&to->notes, &t->notes.note[i]);
}

void compare_commit(const struct comparison *c, const struct outcome *out, struct table *t)
{
	int value = table_column(t, "base_ns"), step = table_column(t, "total_ns");
	struct table to;

	if (table_column(t, "metric") >= 0)
		table_init(&to, t->name, metric_columns, array_size(metric_columns));
	else if (step >= 0)
		table_init(&to, t->name, step_columns, array_size(step_columns));
	else
		table_init(&to, t->name, cost_columns, array_size(cost_columns));
	commit_add_title(c, out, t, &to);
	if (table_column(t, "metric") >= 0)
		commit_add_metrics(&to, t);
	else if (step >= 0)
		commit_add_steps(&to, t, t->columns[step].digits);
	else
		commit_add_costs(&to, c, out, t, t->columns[value].digits);
	if (out->runs[BASE])
		commit_note_test(&to, c, out);
	commit_carry_notes(&to, t);
	table_free(t);
	*t = to;
}
