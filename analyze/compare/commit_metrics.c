// SPDX-License-Identifier: GPL-2.0-only
/* The figures of merit in a commit message: their rows, and the verdict in words. */
#include "analyze/compare/commit.h"

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

/* Added to the rank of a row without a verdict, unless it is a headline. */
enum { RANK_OPEN = 10 };

/* Returns whether the row is the total of sides that have rows, too. */
static bool metric_is_total(const struct figures *f, const struct shown_figure *r)
{
	return !strcmp(r->side->side, SIDE_TOTAL) && strcmp(f->rows->side->side, SIDE_TOTAL);
}

/* Returns the row's rank. The throughput of the first side is that of all sides. */
static enum figure_rank metric_rank(const struct figures *f, const struct shown_figure *r)
{
	enum figure_rank side = figure_kinds[r->figure].rank.side;
	enum figure_rank total = figure_kinds[r->figure].rank.total;

	if (side == RANK_THROUGHPUT && r->side != f->rows->side)
		return RANK_NONE;
	if (metric_is_total(f, &f->rows[f->nrows - 1]))
		return metric_is_total(f, r) ? total : side;
	return !total || side < total ? side : total;
}

/* Returns whether the row is the throughput, or the cost of a side. */
static bool metric_is_main(const struct figures *f, const struct shown_figure *r)
{
	enum figure_rank rank = metric_rank(f, r);

	return rank == RANK_THROUGHPUT || rank == RANK_COST;
}

static const char *metric_per(const struct shown_figure *r)
{
	return r->figure == FIGURE_COPY ? r->side->copy_unit : figure_kinds[r->figure].per;
}

/* Prints "receiver ns/KiB". The throughput needs no side. */
static void commit_print_metric(struct str *s, const struct figures *f,
				const struct shown_figure *r)
{
	const char *p = figure_kinds[r->figure].name;

	if (metric_rank(f, r) != RANK_THROUGHPUT || !strcmp(r->side->side, "local")) {
		fit_short(s, r->side->side, SIDE_WIDTH);
		str_putc(s, ' ');
	}
	for (; *p && !str_starts(p, "_per_"); p++)
		str_putc(s, *p == '_' && !str_ends(p, "_c") && !str_ends(p, "_p") ? ' ' : *p);
	if (*p)
		str_printf(s, "/%s", metric_per(r));
}

/* Prints the name with its unit, and says where a figure is modelled. */
static void commit_print_metric_unit(struct str *s, const struct comparison *c,
				     const struct figures *f, const struct shown_figure *r)
{
	commit_print_metric(s, f, r);
	if (!metric_per(r)) {
		str_puts(s, ", ");
		figure_print_unit(s, &c->query, r->figure, false);
	}
	if (r->side->modelled[r->figure])
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
static struct value commit_change_interval(struct table *to, const struct change *k, bool tested)
{
	double low = 100 * (k->ratio.lo - 1), high = 100 * (k->ratio.hi - 1);

	if (!tested || isnan(low) || isnan(high))
		return value_str(to, "-");
	return value_str(to, arena_printf(&to->arena, "[%+.*f,%+.*f]", commit_percent_digits(low),
					  low, commit_percent_digits(high), high));
}

static void commit_add_metric(struct table *to, const struct comparison *c, const struct figures *f,
			      const struct shown_figure *r)
{
	const struct change *k = &r->side->change[r->figure];
	bool tested = figure_is_tested(c, r);
	struct str name = {0};
	struct value *row = table_row(to);

	commit_print_metric_unit(&name, c, f, r);
	row[0] = value_str(to, name.buf);
	row[1] = commit_number(to, "%.*f", commit_digits(k->base), k->base);
	row[2] = commit_number(to, "%.*f", commit_digits(k->new), k->new);
	row[3] = commit_percent(to, 100 * (k->ratio.value - 1));
	row[4] = commit_change_interval(to, k, tested);
	row[5] =
		k->verdict != VERDICT_NONE ? commit_p(to, tested ? k->p : NAN) : value_str(to, "-");
	str_free(&name);
}

/* Adds a component that moved. Its interval is one of ns per unit of work. */
static void commit_add_movement(struct table *to, const struct movement *moved)
{
	const struct diff_row *r = moved->row;
	double base = r->cost[BASE], new = r->cost[NEW];
	const struct value p = diff_p(r);
	struct str name = {0};
	struct value *row = table_row(to);

	fit_short(&name, moved->side, SIDE_WIDTH);
	str_printf(&name, "%s%s, ns", *moved->side ? " " : "", r->key);
	row[0] = value_str(to, name.buf);
	row[1] = commit_number(to, "%.*f", commit_digits(base), base);
	row[2] = commit_number(to, "%.*f", commit_digits(new), new);
	row[3] = commit_percent(to, base > 0 ? 100 * (new / base - 1) : NAN);
	row[4] = isnan(r->delta_ci) ? value_str(to, "-")
				    : commit_number(to, "+-%.*f ns", 1, r->delta_ci);
	row[5] = commit_p(to, p.type == V_NONE ? NAN : r->p);
	str_free(&name);
}

/* --- the most important rows --- */

struct ranked_row {
	const struct shown_figure *metric; /* the row is `moved` where this is NULL */
	const struct movement *moved;
	int rank; /* RANK_NONE: not in the text */
	bool decided;
};

/* Returns the rank of a component that moved. One that may not have moved has none. */
static int movement_rank(const struct movement *m)
{
	if (verdict_is_claim(m->row->verdict))
		return strcmp(m->row->key, COPY_COMPONENT) ? RANK_MOVED : RANK_MUST;
	return m->row->verdict == VERDICT_FEW ? RANK_MOVED + RANK_OPEN : RANK_NONE;
}

/* Returns whether a component's row has the cost of this metric, with its verdict. */
static bool metric_is_movement(const struct figures *f, const struct shown_figure *r)
{
	size_t k;

	for (k = 0; k < f->nmoved && r->figure == FIGURE_COPY; k++)
		if (!strcmp(f->moved[k].row->key, COPY_COMPONENT) &&
		    !strcmp(f->moved[k].side, r->side->side) && movement_rank(&f->moved[k]))
			return true;
	return false;
}

/* Returns the metrics and the movements in their order, `n` in all. The caller frees them. */
static struct ranked_row *rank_rows(const struct figures *f, size_t *n)
{
	struct ranked_row *rows = xcalloc(f->nrows + f->nmoved + 1, sizeof(*rows)), *r = rows;
	size_t i;

	*n = f->nrows + f->nmoved;
	for (i = 0; i < f->nrows; i++, r++) {
		r->metric = &f->rows[i];
		r->decided = verdict_is_claim(r->metric->side->change[r->metric->figure].verdict);
		r->rank = metric_is_movement(f, r->metric) ? RANK_NONE
							   : (int)metric_rank(f, r->metric);
		if (r->rank && !r->decided && !metric_is_main(f, r->metric))
			r->rank += RANK_OPEN;
	}
	for (i = 0; i < f->nmoved; i++, r++) {
		r->moved = &f->moved[i];
		r->decided = verdict_is_claim(r->moved->row->verdict);
		r->rank = movement_rank(r->moved);
	}
	return rows;
}

/* Returns whether fewer than `shown` rows are more important, or as important and earlier. */
static bool rank_is_shown(const struct ranked_row *rows, size_t n, size_t i, size_t shown)
{
	size_t k, place = 0;

	for (k = 0; k < n; k++)
		place += rows[k].rank &&
			 (rows[k].rank < rows[i].rank || (rows[k].rank == rows[i].rank && k < i));
	return rows[i].rank && place < shown;
}

void commit_add_metrics(struct table *to, const struct comparison *c, const struct figures *f,
			size_t shown)
{
	size_t n, i;
	struct ranked_row *rows = rank_rows(f, &n);

	table_init(to, to->name, metric_columns, array_size(metric_columns));
	for (i = 0; i < n; i++) {
		if (!rank_is_shown(rows, n, i, shown))
			continue;
		if (rows[i].metric)
			commit_add_metric(to, c, f, rows[i].metric);
		else
			commit_add_movement(to, rows[i].moved);
	}
	free(rows);
}

size_t commit_least_metrics(const struct figures *f, bool decided)
{
	size_t n, i, least = 0;
	struct ranked_row *rows = rank_rows(f, &n);

	for (i = 0; i < n; i++)
		least += rows[i].rank && rows[i].rank <= (decided ? RANK_OPEN - 1 : RANK_MUST);
	free(rows);
	return least;
}

/* Returns whether the row is a throughput of another side than the first. */
static bool is_throughput_again(const struct figures *f, const struct shown_figure *r)
{
	return metric_rank(f, r) != RANK_THROUGHPUT && r->figure == f->rows->figure;
}

size_t commit_metrics_left(const struct figures *f, size_t shown)
{
	size_t n, i, left = 0;
	struct ranked_row *rows = rank_rows(f, &n);

	for (i = 0; i < n; i++)
		left += rows[i].decided && !rank_is_shown(rows, n, i, shown) &&
			!(rows[i].metric && is_throughput_again(f, rows[i].metric));
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
static bool metric_is_headline(const struct figures *f, const struct shown_figure *r,
			       enum verdict v)
{
	if (is_throughput_again(f, r))
		return false;
	return v == VERDICT_WORSE || (!metric_is_total(f, r) && metric_is_main(f, r));
}

static void commit_print_change(struct str *s, const struct figures *f,
				const struct shown_figure *r, enum verdict v)
{
	double change = 100 * (r->side->change[r->figure].ratio.value - 1);

	commit_print_metric(s, f, r);
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
			   const struct figures *f, bool limits_differ)
{
	const char *last[2] = {NULL, NULL}, *words;
	const struct shown_figure *r;
	struct str change = {0};
	enum verdict v;
	size_t k;

	for (k = 0; k < array_size(verdict_words); k++) {
		words = verdict_words[k].words;
		v = verdict_words[k].verdict;
		for (r = f->rows; r < f->rows + f->nrows; r++) {
			if (r->side->change[r->figure].verdict != v ||
			    !metric_is_headline(f, r, v) ||
			    (limits_differ && metric_rank(f, r) == RANK_THROUGHPUT))
				continue;
			change.len = 0;
			commit_print_change(&change, f, r, v);
			if (body->len ||
			    !commit_put_change(subject, room, words, &last[0], change.buf))
				commit_put_change(body, SIZE_MAX, words, &last[1], change.buf);
		}
	}
	str_free(&change);
}
