// SPDX-License-Identifier: GPL-2.0-only
/* The figures of merit in a commit message: their rows, and the verdict in words. */
#include "analyze/compare/commit.h"

#include "analyze/compare/figures.h"
#include "lib/table_layout.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE_WIDTH = 12 };

/* --- numbers --- */

/* Returns digits after the point, for four significant digits. */
static int commit_digits(double x)
{
	int digits = 0;

	while (x != 0 && digits < 6 && fabs(x) < 999.5 / pow(10, digits))
		digits++;
	return digits;
}

struct value commit_number(struct table *to, const char *format, int digits, double x)
{
	return value_str(to, isnan(x) ? "-" : arena_printf(&to->arena, format, digits, x));
}

struct value commit_p(struct table *to, double p)
{
	return p < 0.0005 ? value_str(to, "<.001") : commit_number(to, "%.*f", 3, p);
}

/* --- the figures of merit --- */

/* The name of a metric includes its unit and is never cut. */
static const struct column metric_columns[] = {
	{"metric", .type = V_STR, .shape = STAYS_WHOLE},
	{"base", NUMBER},
	{"new", NUMBER},
	{"change", NUMBER},
	{"interval", NUMBER},
	{"p", NUMBER},
};

/* RANK_OPEN is added to the rank of a row without a verdict, unless it is a headline. Rows up to
 * RANK_MUST stay in a text that is too long. */
enum { RANK_HEADLINE = 1, RANK_MUST = 2, RANK_MOVED = 4, RANK_OPEN = 10, RANK_NONE = 100 };

/* The rows of the text, the most important first: their rank for a side, and for the total. */
static const struct {
	const char *prefix;
	int side, total;
} metric_ranks[] = {
	{"throughput", 0, RANK_NONE},
	{"rate_", 0, RANK_NONE},
	{"ns_per_", 1, 5},
	{"roi_", 8, 3},
	{"power", 8, 3},
	{"cpu", 2, 8},
	{COPY_NAME, 2, 9},
	{"syscalls_per_", 8, 9},
	{"retransmits_per_", 8, 9},
};

/* Returns whether the row is the total of sides that have rows, too. */
static bool metric_is_total(const struct table *t, size_t i)
{
	return !strcmp(table_text(t, i, "side"), SIDE_TOTAL) &&
	       strcmp(table_text(t, 0, "side"), SIDE_TOTAL) != 0;
}

/* Returns the row's rank. The throughput of the first side is that of all sides. */
static int metric_rank(const struct table *t, size_t i)
{
	const char *name = table_text(t, i, "metric");
	bool has_total = metric_is_total(t, t->rows - 1);
	size_t k = 0;

	while (k < array_size(metric_ranks) && !str_starts(name, metric_ranks[k].prefix))
		k++;
	if (k == array_size(metric_ranks))
		return RANK_NONE;
	if (!metric_ranks[k].side && strcmp(table_text(t, i, "side"), table_text(t, 0, "side")))
		return RANK_NONE;
	if (has_total)
		return metric_is_total(t, i) ? metric_ranks[k].total : metric_ranks[k].side;
	return metric_ranks[k].side < metric_ranks[k].total ? metric_ranks[k].side
							    : metric_ranks[k].total;
}

/* Prints "receiver ns/KiB". The throughput needs no side. */
static void commit_print_metric(struct str *s, const struct table *t, size_t i)
{
	const char *p = table_text(t, i, "metric");

	if (metric_rank(t, i) || !strcmp(table_text(t, i, "side"), "local")) {
		fit_short(s, table_text(t, i, "side"), SIDE_WIDTH);
		str_putc(s, ' ');
	}
	for (; *p; p++) {
		if (str_starts(p, "_per_")) {
			bool binary = str_starts(p, "_per_kib") || str_starts(p, "_per_mib");

			str_printf(s, "/%s", !binary ? p + 5 : p[5] == 'k' ? "KiB" : "MiB");
			return;
		}
		str_putc(s, *p == '_' && !str_ends(p, "_c") && !str_ends(p, "_p") ? ' ' : *p);
	}
}

/* Prints the name with its unit, and says where a figure is modelled. */
static void commit_print_metric_unit(struct str *s, const struct table *t, size_t i)
{
	const char *unit = table_text(t, i, "unit");

	commit_print_metric(s, t, i);
	if (!strstr(table_text(t, i, "metric"), "_per_") && *unit)
		str_printf(s, ", %s", unit);
	else if (strstr(unit, "modelled"))
		str_puts(s, ", modelled");
}

/* Returns the digits of a percentage: from 1000 % on, tenths are noise and have no room. */
static int commit_percent_digits(double x)
{
	return fabs(x) >= 1000 ? 0 : 1;
}

static struct value commit_percent(struct table *to, double x)
{
	return commit_number(to, "%+.*f%%", commit_percent_digits(x), x);
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
	struct str name = {0};
	struct value *row = table_row(to);

	commit_print_metric_unit(&name, t, i);
	row[0] = value_str(to, name.buf);
	row[1] = commit_number(to, "%.*f", commit_digits(base), base);
	row[2] = commit_number(to, "%.*f", commit_digits(new), new);
	row[3] = commit_percent(to, table_real(t, i, "change_pct"));
	row[4] = commit_change_interval(to, t, i);
	row[5] = *table_text(t, i, "verdict") ? commit_p(to, table_real(t, i, "p"))
					      : value_str(to, "-");
	str_free(&name);
}

/* Adds a component that moved. Its interval is one of ns per unit of work. */
static void commit_add_movement(struct table *to, const struct table *moved, size_t i)
{
	double base = table_real(moved, i, "base_ns"), new = table_real(moved, i, "new_ns");
	double half = table_interval(moved, i, "delta_ns").half;
	const char *side = table_text(moved, i, "side");
	struct str name = {0};
	struct value *row = table_row(to);

	fit_short(&name, side, SIDE_WIDTH);
	str_printf(&name, "%s%s, ns", *side ? " " : "", table_text(moved, i, "what"));
	row[0] = value_str(to, name.buf);
	row[1] = commit_number(to, "%.*f", commit_digits(base), base);
	row[2] = commit_number(to, "%.*f", commit_digits(new), new);
	row[3] = commit_percent(to, base > 0 ? 100 * (new / base - 1) : NAN);
	row[4] = isnan(half) ? value_str(to, "-") : commit_number(to, "+-%.*f ns", 1, half);
	row[5] = commit_p(to, table_real(moved, i, "p"));
	str_free(&name);
}

/* --- the most important rows --- */

static bool row_has_verdict(const struct table *t, size_t i, enum verdict v)
{
	return !strcmp(table_text(t, i, "verdict"), verdict_name(v));
}

static bool row_is_decided(const struct table *t, size_t i)
{
	return row_has_verdict(t, i, VERDICT_BETTER) || row_has_verdict(t, i, VERDICT_WORSE) ||
	       row_has_verdict(t, i, VERDICT_COPIED);
}

struct ranked_row {
	const struct table *t; /* of metrics, or of movements */
	size_t row;
	int rank;
	bool decided;
};

/* Returns the rank of a component that moved. One that may not have moved has none. */
static int movement_rank(const struct table *moved, size_t i)
{
	if (row_is_decided(moved, i))
		return strcmp(table_text(moved, i, "what"), COPY_COMPONENT) ? RANK_MOVED
									    : RANK_MUST;
	return row_has_verdict(moved, i, VERDICT_FEW) ? RANK_MOVED + RANK_OPEN : RANK_NONE;
}

/* Returns whether a component's row has the cost of this metric, with its verdict. */
static bool metric_is_movement(const struct table *t, size_t i)
{
	const struct table *moved = t->detail;
	size_t k;

	if (!str_starts(table_text(t, i, "metric"), COPY_NAME))
		return false;
	for (k = 0; moved && k < moved->rows; k++)
		if (!strcmp(table_text(moved, k, "what"), COPY_COMPONENT) &&
		    !strcmp(table_text(moved, k, "side"), table_text(t, i, "side")) &&
		    movement_rank(moved, k) < RANK_NONE)
			return true;
	return false;
}

/* Returns the metrics and the movements in their order, `n` in all. The caller frees them. */
static struct ranked_row *rank_rows(const struct table *t, size_t *n)
{
	const struct table *moved = t->detail;
	struct ranked_row *rows;
	size_t i;

	*n = t->rows + (moved ? moved->rows : 0);
	rows = xcalloc(*n + 1, sizeof(*rows));
	for (i = 0; i < *n; i++) {
		struct ranked_row *r = &rows[i];

		r->t = i < t->rows ? t : moved;
		r->row = i < t->rows ? i : i - t->rows;
		r->decided = row_is_decided(r->t, r->row);
		r->rank = r->t == t ? metric_rank(t, i) : movement_rank(r->t, r->row);
		if (r->t == t && metric_is_movement(t, i))
			r->rank = RANK_NONE;
		if (r->t == t && r->rank > RANK_HEADLINE && r->rank < RANK_NONE && !r->decided)
			r->rank += RANK_OPEN;
	}
	return rows;
}

/* Returns whether fewer than `shown` rows are more important, or as important and earlier. */
static bool rank_is_shown(const struct ranked_row *rows, size_t n, size_t i, size_t shown)
{
	size_t k, place = 0;

	for (k = 0; k < n; k++)
		place += rows[k].rank < rows[i].rank || (rows[k].rank == rows[i].rank && k < i);
	return rows[i].rank < RANK_NONE && place < shown;
}

void commit_add_metrics(struct table *to, const struct table *t, size_t shown)
{
	size_t n, i;
	struct ranked_row *rows = rank_rows(t, &n);

	for (i = 0; i < n; i++) {
		if (!rank_is_shown(rows, n, i, shown))
			continue;
		if (rows[i].t == t)
			commit_add_metric(to, t, rows[i].row);
		else
			commit_add_movement(to, rows[i].t, rows[i].row);
	}
	free(rows);
}

size_t commit_least_metrics(const struct table *t, bool decided)
{
	size_t n, i, least = 0;
	struct ranked_row *rows = rank_rows(t, &n);

	for (i = 0; i < n; i++)
		least += rows[i].rank <= (decided ? RANK_OPEN - 1 : RANK_MUST);
	free(rows);
	return least;
}

/* Returns whether the row is a throughput of another side than the first. */
static bool is_throughput_again(const struct table *t, size_t i)
{
	return metric_rank(t, i) && !strcmp(table_text(t, i, "metric"), table_text(t, 0, "metric"));
}

size_t commit_metrics_left(const struct table *t, size_t shown)
{
	size_t n, i, left = 0;
	struct ranked_row *rows = rank_rows(t, &n);

	for (i = 0; i < n; i++)
		left += rows[i].decided && !rank_is_shown(rows, n, i, shown) &&
			!(rows[i].t == t && is_throughput_again(t, i));
	free(rows);
	return left;
}

/* --- the verdict in words --- */

static const struct {
	enum verdict verdict;
	const char *words;
} verdict_words[] = {
	{VERDICT_WORSE, "worse"},	   {VERDICT_COPIED, "better, but it copied"},
	{VERDICT_BETTER, "better"},	   {VERDICT_DRIFT, "a drift can explain"},
	{VERDICT_SAME, "no clear change"}, {VERDICT_FEW, "too few runs to judge"},
};

/*
 * Returns whether the words name the row: throughput and the cost of a side always, and of the
 * total what is worse. --fail-on worse asks these rows.
 */
static bool metric_is_headline(const struct table *t, size_t i, enum verdict v)
{
	if (is_throughput_again(t, i))
		return false;
	return v == VERDICT_WORSE || (!metric_is_total(t, i) && metric_rank(t, i) <= RANK_HEADLINE);
}

static void commit_print_change(struct str *s, const struct table *t, size_t i, enum verdict v)
{
	double change = table_real(t, i, "change_pct");

	commit_print_metric(s, t, i);
	if (v != VERDICT_SAME && v != VERDICT_FEW)
		str_printf(s, " %+.*f%%", commit_percent_digits(change), change);
}

/*
 * Appends the change, after the words of its verdict unless the last change has them. Returns false
 * where the text would be longer than `room`.
 */
static bool commit_put_change(struct str *s, size_t room, const char *words, const char **last,
			      const char *change)
{
	bool same = *last == words;
	char *text = xasprintf("%s%s%s%s",
			       same    ? ", "
			       : *last ? "; "
				       : "",
			       same ? "" : words, same ? "" : ": ", change);
	bool fits = s->len + strlen(text) <= room;

	if (fits) {
		str_puts(s, text);
		*last = words;
	}
	free(text);
	return fits;
}

void commit_print_verdicts(struct str *subject, size_t room, struct str *body,
			   const struct table *t, bool limits_differ)
{
	const char *last[2] = {NULL, NULL}, *words;
	struct str change = {0};
	enum verdict v;
	size_t k, i;

	for (k = 0; k < array_size(verdict_words); k++) {
		words = verdict_words[k].words;
		v = verdict_words[k].verdict;
		for (i = 0; i < t->rows; i++) {
			if (!row_has_verdict(t, i, v) || !metric_is_headline(t, i, v) ||
			    (limits_differ && !metric_rank(t, i)))
				continue;
			change.len = 0;
			commit_print_change(&change, t, i, v);
			if (body->len ||
			    !commit_put_change(subject, room, words, &last[0], change.buf))
				commit_put_change(body, SIZE_MAX, words, &last[1], change.buf);
		}
	}
	str_free(&change);
}

void commit_init_metrics(struct table *to, const struct table *t)
{
	table_init(to, t->name, metric_columns, array_size(metric_columns));
}
