// SPDX-License-Identifier: GPL-2.0-only
/*
 * A comparison for the commit message of a patch: what was compared, the verdict in words, a narrow
 * table, and the conditions. The table of metrics has throughput and the cost of each side, and
 * what has a verdict: the cost and the scores of the total, and the components that moved. Another
 * table is the one that every format prints.
 */
#include "analyze/compare/diff.h"
#include "analyze/compare/figure_runs.h"

#include "lib/file.h"
#include "lib/table_layout.h"

#include <math.h>

enum { SUBJECT = 72, SIDE_WIDTH = 12 };

/* --- the verdict in words --- */

static bool metric_is_throughput(const struct shown_figure *r)
{
	return figure_kinds[r->figure].primary == PRIMARY_ONCE;
}

/* Returns whether the row is the throughput of the first side, which is that of all sides, or the
 * cost of a side. */
static bool metric_is_main(const struct figures *f, const struct shown_figure *r)
{
	bool total = !strcmp(r->side->side, SIDE_TOTAL) && r->side != f->rows->side;

	return metric_is_throughput(r) ? r->side == f->rows->side
				       : figure_kinds[r->figure].primary == PRIMARY_SIDES && !total;
}

static const char *metric_per(const struct shown_figure *r)
{
	return r->figure == FIGURE_COPY ? r->side->copy_unit : figure_kinds[r->figure].per;
}

/* Prints "receiver ns/KiB". The throughput needs no side. */
static void commit_print_metric(struct str *s, const struct shown_figure *r)
{
	const char *p = figure_kinds[r->figure].name;

	if (!metric_is_throughput(r) || !strcmp(r->side->side, "local")) {
		fit_short(s, r->side->side, SIDE_WIDTH);
		str_putc(s, ' ');
	}
	for (; *p && !str_starts(p, "_per_"); p++)
		str_putc(s, *p == '_' && !str_ends(p, "_c") && !str_ends(p, "_p") ? ' ' : *p);
	if (*p)
		str_printf(s, "/%s", metric_per(r));
}

/* Returns the digits of a percentage: from 1000 % on, tenths are noise and have no room. */
static int commit_percent_digits(double x)
{
	return fabs(x) >= 1000 ? 0 : 1;
}

static double metric_percent(const struct shown_figure *r)
{
	return 100 * (r->side->change[r->figure].ratio.value - 1);
}

static const struct {
	enum verdict verdict;
	const char *words;
} verdict_words[] = {
	{VERDICT_WORSE, "worse"},
	{VERDICT_COPIED, "better, but it copied"},
	{VERDICT_BETTER, "better"},
	{VERDICT_DRIFT, "a drift can explain"},
	{VERDICT_SAME, "no clear change"},
	{VERDICT_FEW, "too few runs to judge"},
	{VERDICT_OTHERS, "not judged beside other programs"},
};

/*
 * Appends the change, after the words of its verdict unless the last change has them. Returns false
 * where the text would be longer than `room`.
 */
static bool commit_put_change(struct str *s, size_t room, const char *words, const char **last,
			      const struct shown_figure *r, bool claim)
{
	size_t before = s->len;

	if (*last == words)
		str_puts(s, ", ");
	else
		str_printf(s, "%s%s: ", *last ? "; " : "", words);
	commit_print_metric(s, r);
	if (claim)
		str_printf(s, " %+.*f%%", commit_percent_digits(metric_percent(r)),
			   metric_percent(r));
	if (s->len <= room) {
		*last = words;
		return true;
	}
	s->buf[s->len = before] = '\0';
	return false;
}

/*
 * The words name throughput and the cost of a side always, and of the total what is worse.
 * --fail-on worse asks these rows.
 */
void commit_print_verdicts(struct str *subject, size_t room, struct str *body,
			   const struct figures *f, bool limits_differ)
{
	const char *last[2] = {NULL, NULL}, *words;
	enum verdict v;
	bool claim;

	for (size_t k = 0; k < array_size(verdict_words); k++) {
		words = verdict_words[k].words;
		v = verdict_words[k].verdict;
		claim = v != VERDICT_SAME && v != VERDICT_FEW && v != VERDICT_OTHERS;
		for (const struct shown_figure *r = f->rows; r < f->rows + f->nrows; r++) {
			if (r->side->change[r->figure].verdict != v ||
			    !(metric_is_main(f, r) || v == VERDICT_WORSE) ||
			    (metric_is_throughput(r) && (limits_differ || !metric_is_main(f, r))))
				continue;
			if (body->len ||
			    !commit_put_change(subject, room, words, &last[0], r, claim))
				commit_put_change(body, SIZE_MAX, words, &last[1], r, claim);
		}
	}
}

/* --- the table of metrics --- */

#define NUMBER .type = V_STR, .shape = STANDS_RIGHT

/* The name of a metric includes its unit and is never cut. */
static const struct column metric_columns[] = {
	{"metric", .type = V_STR, .shape = STAYS_WHOLE},
	{"base", NUMBER},
	{"new", NUMBER},
	{"change", NUMBER},
	{"interval", NUMBER},
	{"p", NUMBER},
};

/* Returns a number with four significant digits. */
static int commit_digits(double x)
{
	int digits = 0;

	while (x != 0 && digits < 6 && fabs(x) < 999.5 / pow(10, digits))
		digits++;
	return digits;
}

static struct value commit_number(struct table *to, double x)
{
	return value_str(to,
			 isnan(x) ? "-" : arena_printf(&to->arena, "%.*f", commit_digits(x), x));
}

static struct value commit_percent(struct table *to, double x)
{
	return value_str(
		to,
		isnan(x) ? "-" : arena_printf(&to->arena, "%+.*f%%", commit_percent_digits(x), x));
}

static struct value commit_p(struct table *to, double p)
{
	return value_str(to, p < 0.0005 ? "<.001"
			     : isnan(p) ? "-"
					: arena_printf(&to->arena, "%.3f", p));
}

/* Adds a metric. Without p its interval is a bootstrap interval, not one of 95 %, and is left out.
 */
static void commit_add_metric(struct table *to, const struct comparison *c,
			      const struct shown_figure *r)
{
	const struct change *k = &r->side->change[r->figure];
	double low = 100 * (k->ratio.lo - 1), high = 100 * (k->ratio.hi - 1);
	bool tested = figure_is_tested(c, r);
	struct value *row = table_row(to);
	freed(str_free) struct str name = {0};

	commit_print_metric(&name, r);
	if (!metric_per(r)) {
		str_puts(&name, ", ");
		figure_print_unit(&name, &c->query, r->figure, false);
	}
	str_puts(&name, r->side->modelled[r->figure] ? ", modelled" : "");
	row[0] = value_str(to, name.buf);
	row[1] = commit_number(to, k->base);
	row[2] = commit_number(to, k->new);
	row[3] = commit_percent(to, metric_percent(r));
	row[4] = value_str(to, !tested || isnan(low) || isnan(high)
				       ? "-"
				       : arena_printf(&to->arena, "[%+.*f,%+.*f]",
						      commit_percent_digits(low), low,
						      commit_percent_digits(high), high));
	row[5] = commit_p(to, tested && k->verdict != VERDICT_NONE ? k->p : NAN);
}

/* Adds a component that moved. Its interval is one of ns per unit of work. */
static void commit_add_movement(struct table *to, const struct movement *moved)
{
	const struct diff_row *r = moved->row;
	double base = r->cost[BASE], new = r->cost[NEW];
	freed(str_free) struct str name = {0};
	struct value *row = table_row(to);

	fit_short(&name, moved->side, SIDE_WIDTH);
	str_printf(&name, "%s%s, ns", *moved->side ? " " : "", r->key);
	row[0] = value_str(to, name.buf);
	row[1] = commit_number(to, base);
	row[2] = commit_number(to, new);
	row[3] = commit_percent(to, base > 0 ? 100 * (new / base - 1) : NAN);
	row[4] = value_str(to, isnan(r->delta_ci)
				       ? "-"
				       : arena_printf(&to->arena, "+-%.*f ns",
						      r->delta_ci > 0 && r->delta_ci < 1
							      ? commit_digits(r->delta_ci) - 2
							      : 1,
						      r->delta_ci));
	row[5] = commit_p(to, r->p);
}

/* Replaces the rows by those of a commit message. */
static void commit_set_metrics(struct table *to, const struct comparison *c,
			       const struct figures *f)
{
	to->rows = to->cap = 0;
	free(to->cells);
	to->cells = NULL;
	to->columns = metric_columns;
	to->ncolumns = array_size(metric_columns);
	for (const struct shown_figure *r = f->rows; r < f->rows + f->nrows; r++)
		if (metric_is_main(f, r) || (verdict_is_claim(r->side->change[r->figure].verdict) &&
					     !metric_is_throughput(r)))
			commit_add_metric(to, c, r);
	for (size_t i = 0; i < f->nmoved; i++)
		if (verdict_is_claim(f->moved[i].row->verdict))
			commit_add_movement(to, &f->moved[i]);
}

/* Puts the DSO, which is the second key of functions, behind the name. Functions of the kernel need
 * none. */
static void commit_join_dsos(const struct diff_spec *spec, struct table *t)
{
	for (size_t i = 0; i < t->rows && spec && spec->key2; i++) {
		struct value *name = table_cell(t, i, 0), *dso = name + 1;

		if (dso->type == V_STR && !str_starts(dso->str, "[kernel"))
			*name = value_str(t, arena_printf(&t->arena, "%s (%s)", name->str,
							  path_base_name(dso->str)));
		*dso = value_none();
	}
}

/* --- title and notes --- */

/*
 * Sets the title. git takes the first paragraph for the subject, so the first line is complete and
 * an empty line follows it.
 */
static void commit_set_title(struct table *to, const struct comparison *c,
			     const struct outcome *out, const char *first, const char *second)
{
	freed(str_free) struct str subject = {0}, words = {0}, body = {0}, s = {0};
	const char *title = to->title;
	size_t used;

	if (*first)
		title = arena_printf(&to->arena, "NOT ZERO COPY: %s against %s", c->end[NEW].label,
				     c->end[BASE].label);
	used = strlen(title) + strlen(": ");
	if (out->figures)
		commit_print_verdicts(&words, *first || used > SUBJECT ? 0 : SUBJECT - used, &body,
				      out->figures, out->limits_differ);
	if (words.len)
		str_printf(&subject, "%s: %s", title, words.buf);
	else
		fit_short(&subject, title, SUBJECT);
	str_printf(&s, "%s\n\n", subject.buf);
	if (!strstr(subject.buf, to->title))
		str_printf(&s, "%s\n", to->title);
	str_printf(&s, "%s%s%s%s", first, body.len ? body.buf : "", body.len ? "\n" : "", second);
	to->title = NULL;
	table_title_lines(to, str_trim(s.buf));
}

/* Adds a line below the table. */
#define COMMIT_LINE(to, ...) \
	note_add(&(to)->notes, commit_line, arena_printf(&(to)->arena, __VA_ARGS__))

static void commit_note_test(struct table *to, const struct comparison *c,
			     const struct outcome *out)
{
	const char *s = out->tests == 1 ? "" : "s";

	if (!verdict_possible(&c->rule, out->runs[BASE], out->runs[NEW], out->tests))
		COMMIT_LINE(to, "too few runs to test %zu row%s, which takes %zu a side",
			    out->tests, s, verdict_runs_needed(&c->rule, out->tests));
	else if (out->figures)
		COMMIT_LINE(
			to,
			"p: Holm's correction over %zu primary figure%s, or the components; -: secondary",
			out->tests, s);
	else
		COMMIT_LINE(
			to,
			"verdict: exact Mann-Whitney, Holm's correction over %zu row%s; -: not tested",
			out->tests, s);
}

/* Adds the number of warnings, and the worst one in few words. The table of kinds has the worst
 * first. */
static void commit_note_warnings(struct table *to, const struct notes *from)
{
	const struct note *worst = NULL;
	freed(note_lines_free) struct note_lines lines;
	size_t n = 0;

	note_lines_make(&lines, from);
	for (size_t i = 0; i < lines.n; i++)
		n += lines.line[i].severity == SEVERITY_WARNING;
	for (size_t i = 0; i < from->n; i++)
		if (note_brief(&from->note[i]) && (!worst || from->note[i].kind < worst->kind))
			worst = &from->note[i];
	if (n)
		COMMIT_LINE(to, "%zu warning%s, see zcost compare --verbose%s%s", n,
			    n == 1 ? "" : "s", worst ? "; the worst: " : "",
			    worst ? note_brief(worst) : "");
}

int compare_commit(const struct comparison *c, const struct outcome *out, const struct str *first,
		   const struct str *second, struct table *t, struct error *err)
{
	freed(notes_free) struct notes from = t->notes;
	freed(str_free) struct str conditions = {0};
	int ret = compare_conditions(c, out->side, &conditions, err);
	char *rest = conditions.buf, *line;

	t->notes = (struct notes){0};
	t->least = "state delta_calls base_total_ns new_total_ns p";
	if (out->figures)
		commit_set_metrics(t, c, out->figures);
	else
		commit_join_dsos(c->table->spec, t);
	commit_set_title(t, c, out, first->len ? first->buf : "", second->len ? second->buf : "");
	for (size_t i = 0; i < from.n; i++) {
		const struct note *n = &from.note[i];

		/* Without these notes a reader would misread the printed figures. */
		if (n->severity == SEVERITY_LOSSY || note_is(n, NOTE_slice) ||
		    note_is(n, NOTE_cost_sum) || note_is(n, NOTE_syscalls_times))
			notes_copy(&t->notes, n);
	}
	while ((line = str_token(&rest, '\n')))
		if (*line)
			COMMIT_LINE(t, "%s", line);
	for (size_t i = 0; i < from.n; i++)
		if (note_is(&from.note[i], NOTE_limited_by))
			COMMIT_LINE(t, "limited: %s", from.note[i].value[0].text);
	commit_note_warnings(t, &from);
	if (out->runs[BASE])
		commit_note_test(t, c, out);
	return ret;
}
