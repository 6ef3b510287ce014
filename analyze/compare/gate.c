// SPDX-License-Identifier: GPL-2.0-only
/*
 * A rule of the gate only chooses rows and asks for a larger change. Whether a change is real is
 * said by the verdict alone.
 */
#include "analyze/compare/gate.h"

#include <math.h>

struct gate_row {
	const char *side, *row, *why;
	/* behind the columns */
	struct change change;
	bool by_name; /* only a rule with a name checks the row */
};

enum { SIDE, ROW, RESULT, WHY };
static const struct column columns[] = {
	[SIDE] = {MEMBER(struct gate_row, side), .type = V_STR},
	[ROW] = {MEMBER(struct gate_row, row), .type = V_STR},
	[RESULT] = {"result", .type = V_STR}, /* pass, fail or skip; empty: no rule checks it */
	[WHY] = {MEMBER(struct gate_row, why), .type = V_STR},
};

void gate_free(struct gate *g)
{
	array_free(e, g->rules, g->n, free(e->name));
	table_free(&g->rows);
}

/* --- rules --- */

bool gate_add_rule(struct gate *g, const char *text)
{
	const char *sign = strrchr(text, '>');
	struct gate_rule rule = {0};
	int end = 0;

	if (strcmp(text, "worse") != 0) {
		if (!sign || sign == text || sscanf(sign, ">%lf%%%n", &rule.percent, &end) != 1 ||
		    !end || sign[end] || !(rule.percent >= 0 && isfinite(rule.percent)))
			return false;
		rule.name = xstrndup(text, (size_t)(sign - text));
	}
	array_add(g->rules, g->n, g->cap, rule);
	return true;
}

const struct gate_rule *gate_rule_below(const struct gate *g, double percent)
{
	return array_find(rule, g->rules, g->n, rule->name && rule->percent < percent);
}

static bool gate_rule_matches(struct gate_rule *rule, const struct gate_row *row)
{
	autofree char *both = xasprintf("%s %s", row->side, row->row);

	if (!rule->name)
		return !row->by_name && row->change.verdict != VERDICT_NONE;
	if (!str_matches(rule->name, row->row) && !str_matches(rule->name, both))
		return false;
	rule->used = true;
	return true;
}

const char *gate_missing(struct gate *g)
{
	const struct gate_row *rows = table_structs(&g->rows, struct gate_row);

	for (size_t i = 0; i < g->n; i++) {
		for (size_t row = 0; row < g->rows.rows; row++)
			gate_rule_matches(&g->rules[i], &rows[row]);
		if (g->rules[i].name && !g->rules[i].used)
			return g->rules[i].name;
	}
	return NULL;
}

/* --- rows --- */

/* Prints "16.38 -> 8.192 Gbit/s, -50.0 % [-50.2, -49.8], worse". */
static void gate_print_change(struct str *s, const char *unit, const struct change *k)
{
	const struct estimate *r = &k->ratio;
	const char *verdict = verdict_name(k->verdict);

	str_printf(s, "%.6g -> %.6g%s%s", k->base, k->new, *unit ? " " : "", unit);
	if (!isnan(r->value))
		str_printf(s, ", %+.1f %%", 100 * (r->value - 1));
	if (!isnan(r->lo) && !isnan(r->hi))
		str_printf(s, " [%+.1f, %+.1f]", 100 * (r->lo - 1), 100 * (r->hi - 1));
	str_printf(s, ", %s", verdict ?: "not tested");
}

void gate_add_row(struct gate *g, const char *side, const char *name, const char *unit,
		  const struct change *change)
{
	freed(str_free) struct str why = {0};

	if (!g)
		return;
	if (!g->rows.columns)
		table_init(&g->rows, "compare", columns, array_size(columns));
	gate_print_change(&why, unit, change);
	table_add(&g->rows, struct gate_row,
		  &(struct gate_row){side, name, why.buf, *change, g->by_name});
}

/* Returns the smallest change in percent that a rule for the row asks for, or NAN. */
static double gate_row_percent(struct gate *g, const struct gate_row *row)
{
	struct gate_rule every = {0};
	double percent = !g->n && gate_rule_matches(&every, row) ? 0 : NAN;

	for (size_t i = 0; i < g->n; i++)
		if (gate_rule_matches(&g->rules[i], row)) {
			percent = fmin(percent, g->rules[i].percent);
			g->rules[i].tested |= row->change.verdict != VERDICT_NONE;
		}
	return percent;
}

/* Counts a row that a rule checks, and returns its result. A base of 0 has no percentage: NEW is
 * worse by more than any. */
static const char *gate_judge_row(struct gate *g, const struct change *k, double percent)
{
	bool judged = verdict_is_claim(k->verdict) || k->verdict == VERDICT_SAME;
	bool fails = k->verdict == VERDICT_WORSE && !(100 * fabs(k->ratio.value - 1) < percent);

	g->checked++;
	g->failed += fails;
	g->verdicts[k->verdict]++;
	return fails ? "fail" : judged ? "pass" : "skip";
}

void gate_judge(struct gate *g)
{
	const struct gate_row *rows = table_structs(&g->rows, struct gate_row);
	double percent;

	for (size_t i = 0; i < g->rows.rows; i++) {
		percent = gate_row_percent(g, &rows[i]);
		if (!isnan(percent))
			*table_cell(&g->rows, i, RESULT) =
				value_str(&g->rows, gate_judge_row(g, &rows[i].change, percent));
	}
}

/* Returns the name of a rule that checks no tested row, or NULL. */
static const char *gate_untested(const struct gate *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->rules[i].name && !g->rules[i].tested)
			return g->rules[i].name;
	return NULL;
}

static void gate_print_failed(const struct table *rows)
{
	for (size_t i = 0; i < rows->rows; i++)
		if (!strcmp(table_text(rows, i, "result"), "fail"))
			print_note("failed: %s%s%s: %s", table_text(rows, i, "side"),
				   *table_text(rows, i, "side") ? " " : "",
				   table_text(rows, i, "row"), table_text(rows, i, "why"));
}

int gate_print(const struct gate *g, size_t needed, int otherwise)
{
	unsigned drift = g->verdicts[VERDICT_DRIFT], untested = g->verdicts[VERDICT_NONE], n;
	autofree char *few =
		xasprintf("too few runs for a verdict; capture %zu runs a side", needed);
	const char *const doubts[] = {
		[VERDICT_FEW] = few,
		[VERDICT_OTHERS] =
			"the time of other programs on the same CPUs; gate with --workload-only"};
	const char *rule = gate_untested(g);

	if (drift)
		print_note(
			"not gated: %u row%s no more than a drift between runs that did not take turns can explain; 'zcost capture --against' makes runs that take turns",
			drift, drift == 1 ? " changes" : "s change");
	if (untested)
		print_note(
			"not gated: %u row%s of less than 1 %% of the total, which %s not tested",
			untested, untested == 1 ? "" : "s", untested == 1 ? "is" : "are");
	gate_print_failed(&g->rows);
	if (g->failed)
		return EXIT_GATE;
	for (size_t v = 0; v < array_size(doubts); v++) {
		n = doubts[v] ? g->verdicts[v] : 0;
		if (n)
			warn("--fail-on: %u gated row%s %s", n, n == 1 ? " has" : "s have",
			     doubts[v]);
		if (n)
			return EXIT_LOSSY;
	}
	if (rule)
		warn("--fail-on: no row of '%s' is tested; choose one that costs more", rule);
	if (rule)
		return EXIT_LOSSY;
	if (!g->checked)
		warn("--fail-on: no gated row has a value on both sides");
	return g->checked ? otherwise : EXIT_LOSSY;
}
