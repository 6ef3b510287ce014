// SPDX-License-Identifier: GPL-2.0-only
/*
 * A comparison for the commit message of a patch: what was compared, the verdict in words, one
 * narrow table of base and new, and the conditions. The text fits a screen of SCREEN lines, unless
 * its most important rows take more. Of the metrics, the least important rows make room; of a list
 * of costs, the smallest rows, which are summed up in one row. The last line counts the rows with a
 * verdict that are left out. With --limit or --all, a list may be longer.
 */
#include "analyze/compare/commit.h"

#include "lib/str.h"
#include "lib/table_layout.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCREEN = 24, SUBJECT = 72, LIST_ROWS = 12, LEAST_ROWS = 3 };

/* What the text is made from. */
struct commit {
	const struct comparison *c;
	const struct outcome *out;
	const struct figures *figures; /* a list of costs has none */
	const struct table *t;
	const char *first, *second; /* lines above and below the title */
	const char *conditions;	    /* lines below the table */
	size_t shown;		    /* rows of figures at most */
	bool warnings;		    /* in words; false: only their number */
	bool brief;		    /* without a line on a self-test that was not possible */
};

/* --- the title: what was compared, and the verdict in words --- */

/*
 * Adds the title. git takes the first paragraph for the subject, so the first line is complete and
 * an empty line follows it.
 */
static void commit_add_title(const struct commit *m, struct table *to)
{
	struct str subject = {0}, words = {0}, body = {0}, s = {0};
	const struct compare_end *end = m->c->end;
	char *title = *m->first ? xasprintf("NOT ZERO COPY: %s against %s", end[NEW].label,
					    end[BASE].label)
				: xstrdup(m->t->title);
	size_t used = strlen(title) + strlen(": ");

	if (m->figures)
		commit_print_verdicts(&words, *m->first || used > SUBJECT ? 0 : SUBJECT - used,
				      &body, m->figures, m->out->limits_differ);
	if (words.len)
		str_printf(&subject, "%s: %s", title, words.buf);
	else
		fit_short(&subject, title, SUBJECT);
	str_printf(&s, "%s\n\n", subject.buf);
	if (!strstr(subject.buf, m->t->title))
		str_printf(&s, "%s\n", m->t->title);
	str_printf(&s, "%s%s%s%s", m->first, body.len ? body.buf : "", body.len ? "\n" : "",
		   m->second);
	table_title_lines(to, str_trim(s.buf));
	free(title);
	str_free(&subject);
	str_free(&words);
	str_free(&body);
	str_free(&s);
}

/* --- lists of costs, and the steps of a waterfall --- */

static const struct column list_columns[] = {
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

static void commit_add_costs(const struct commit *m, struct table *to, int digits)
{
	const struct table *t = m->t;
	size_t shown = m->shown < t->rows ? m->shown : t->rows, i;
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
	if (m->out->parts)
		commit_add_whole(to, m->out, digits);
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

/* Adds a line below the table of a commit message. */
static void __attribute__((format(printf, 2, 3)))
commit_add_line(struct table *to, const char *fmt, ...)
{
	va_list ap;
	char *line;

	va_start(ap, fmt);
	line = xvasprintf(fmt, ap);
	va_end(ap);
	note_add(&to->notes, commit_line, line);
	free(line);
}

static void commit_note_test(const struct commit *m, struct table *to)
{
	const struct comparison *c = m->c;
	const struct outcome *out = m->out;
	bool possible = verdict_possible(&c->rule, out->runs[BASE], out->runs[NEW], out->tests);

	if (possible && m->figures)
		commit_add_line(
			to,
			"p: Holm's correction over %zu primary figure%s, or the components; -: secondary",
			out->tests, out->tests == 1 ? "" : "s");
	else if (possible)
		commit_add_line(
			to,
			"p: exact Mann-Whitney, Holm's correction over %zu row%s; -: not tested",
			out->tests, out->tests == 1 ? "" : "s");
	else
		commit_add_line(to, "p: too few runs to test %zu row%s, which takes %zu a side",
				out->tests, out->tests == 1 ? "" : "s",
				verdict_runs_needed(&c->rule, out->tests));
	if (!m->figures && commit_has_errors(to))
		commit_add_line(to, "+-: half of the 95 %% interval");
}

/* --- notes --- */

/* Returns whether a printed metric has a p and no interval. */
static bool commit_lacks_interval(const struct table *to)
{
	size_t i;

	for (i = 0; i < to->rows; i++)
		if (!strcmp(table_text(to, i, "interval"), "-") &&
		    strcmp(table_text(to, i, "p"), "-") != 0)
			return true;
	return false;
}

/* Returns whether a reader would misread the printed figures without this note. */
static bool commit_keeps_note(const struct note *n, const struct table *to)
{
	static const enum note_id kept[] = {NOTE_slice, NOTE_compare_side_names,
					    NOTE_syscalls_times};
	size_t i;

	if (note_is(n, NOTE_compare_zero_base))
		return commit_lacks_interval(to);
	for (i = 0; i < array_size(kept); i++)
		if (note_is(n, kept[i]))
			return true;
	return n->severity == SEVERITY_LOSSY;
}

/* Adds the conditions, and the self-test without its explanation. */
static void commit_add_conditions(const struct commit *m, struct table *to)
{
	char *copy = xstrdup(m->conditions), *rest = copy, *line;
	size_t i;

	while ((line = str_token(&rest, '\n')))
		if (*line)
			commit_add_line(to, "%s", line);
	for (i = 0; i < m->t->notes.n; i++) {
		const struct note *n = &m->t->notes.note[i];

		if (note_is(n, NOTE_compare_self_test))
			commit_add_line(to, "self-test: %s", n->value[1].text);
		if (note_is(n, NOTE_compare_self_test_few) && !m->brief)
			notes_copy(&to->notes, n)->severity = SEVERITY_RESULT;
		if (note_is(n, NOTE_limited_by))
			commit_add_line(to, "limited: %s", n->value[0].text);
	}
	free(copy);
}

/* Adds the largest share that other programs took of a side's busy time, which a reader cannot look
 * up. */
static void commit_add_others(const struct table *t, struct table *to)
{
	double most = 0;
	size_t i;

	for (i = 0; i < t->notes.n; i++)
		if (note_is(&t->notes.note[i], NOTE_cpu_others))
			most = fmax(most, t->notes.note[i].value[0].number);
	if (most > 0)
		commit_add_line(
			to,
			"other programs took up to %.0f %% of a side's busy time; figures by CPU include their work",
			most);
}

static size_t commit_count_warnings(const struct table *t)
{
	struct note_lines lines;
	size_t i, n = 0;

	note_lines_make(&lines, &t->notes);
	for (i = 0; i < lines.n; i++)
		n += lines.line[i].severity == SEVERITY_WARNING;
	note_lines_free(&lines);
	return n;
}

/* Returns the worst doubt in few words, or NULL. The table of kinds has the worst first. */
static const char *commit_worst_warning(const struct table *t)
{
	const struct note *worst = NULL;
	size_t i;

	for (i = 0; i < t->notes.n; i++)
		if (note_brief(&t->notes.note[i]) &&
		    (!worst || t->notes.note[i].kind < worst->kind))
			worst = &t->notes.note[i];
	return worst ? note_brief(worst) : NULL;
}

/* Adds the line that says what is left out, and where it stands. A list of costs has its own row of
 * what is left out. */
static void commit_note_left(const struct commit *m, struct table *to)
{
	size_t rows = m->figures ? commit_metrics_left(m->figures, m->shown) : 0;
	size_t warnings = m->warnings ? 0 : commit_count_warnings(m->t);
	const char *worst = warnings ? commit_worst_warning(m->t) : NULL;
	struct str s = {0};

	if (rows)
		str_printf(&s, "%zu row%s with a verdict%s", rows, rows == 1 ? "" : "s",
			   warnings ? ", " : "");
	if (warnings)
		str_printf(&s, "%zu warning%s", warnings, warnings == 1 ? "" : "s");
	if (worst)
		str_printf(&s, " (the worst: %s)", worst);
	if (s.len)
		commit_add_line(to, "left out, see zcost compare --verbose: %s", s.buf);
	str_free(&s);
}

static void commit_add_notes(const struct commit *m, struct table *to)
{
	const struct table *t = m->t;
	size_t i;

	to->lossy = t->lossy;
	for (i = 0; i < t->notes.n; i++)
		if (commit_keeps_note(&t->notes.note[i], to) ||
		    (m->warnings && t->notes.note[i].severity == SEVERITY_WARNING))
			notes_copy(&to->notes, &t->notes.note[i]);
	commit_add_conditions(m, to);
	if (!m->warnings)
		commit_add_others(t, to);
	commit_note_left(m, to);
	if (m->out->runs[BASE])
		commit_note_test(m, to);
}

/* --- the text --- */

static void commit_make(const struct commit *m, struct table *to)
{
	const struct table *t = m->t;
	int value = table_column(t, "base_ns"), step = table_column(t, "total_ns");

	if (m->figures) {
		*to = (struct table){.name = t->name};
		commit_add_metrics(to, m->c, m->figures, m->shown);
	} else if (step >= 0) {
		table_init(to, t->name, step_columns, array_size(step_columns));
		commit_add_steps(to, t, t->columns[step].digits);
	} else {
		table_init(to, t->name, list_columns, array_size(list_columns));
		commit_add_costs(m, to, t->columns[value].digits);
	}
	commit_add_title(m, to);
	commit_add_notes(m, to);
}

static size_t commit_lines(const struct table *to)
{
	char *text = NULL, *at;
	size_t size, lines = 0;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return 0;
	table_write_commit(to, f);
	fclose(f);
	for (at = text; (at = strchr(at, '\n')); at++)
		lines++;
	free(text);
	return lines;
}

/*
 * Makes the text again with less until it fits the screen: first without the least important rows
 * that have no verdict, then without the self-test, then without other rows.
 */
static void commit_fit(struct commit *m, struct table *to)
{
	size_t decided = m->figures ? commit_least_metrics(m->figures, true) : LEAST_ROWS;
	size_t least = m->figures ? commit_least_metrics(m->figures, false) : LEAST_ROWS;

	commit_make(m, to);
	m->shown = to->rows < m->shown ? to->rows : m->shown;
	while (commit_lines(to) > SCREEN && (m->shown > least || !m->brief)) {
		if (m->shown > decided || m->brief)
			m->shown--;
		else
			m->brief = true;
		table_free(to);
		commit_make(m, to);
	}
}

/* Replaces the number of warnings by their words where these have room. */
static void commit_try_warnings(struct commit *m, struct table *to)
{
	struct table more;

	m->warnings = true;
	commit_make(m, &more);
	if (commit_lines(&more) <= SCREEN) {
		table_free(to);
		*to = more;
	} else {
		table_free(&more);
	}
}

int compare_commit(const struct comparison *c, const struct outcome *out, const struct str *first,
		   const struct str *second, struct table *t, struct error *err)
{
	struct str conditions = {0};
	struct commit m = {.c = c,
			   .out = out,
			   .figures = out->figures,
			   .t = t,
			   .first = first->len ? first->buf : "",
			   .second = second->len ? second->buf : ""};
	struct table to;
	int ret = compare_conditions(c, out->side, &conditions, err);

	if (ret) {
		str_free(&conditions);
		return ret;
	}
	m.conditions = conditions.len ? conditions.buf : "";
	m.shown = m.figures || c->limit > 0 || c->all || out->parts ? SIZE_MAX : LIST_ROWS;
	if (m.figures || m.shown == LIST_ROWS)
		commit_fit(&m, &to);
	else
		commit_make(&m, &to);
	commit_try_warnings(&m, &to);
	str_free(&conditions);
	table_free(t);
	*t = to;
	return 0;
}
