// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/figures/scores.h"

#include "analyze/costs/basis.h"
#include "analyze/scope/placement.h"
#include "analyze/evidence/zerocopy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- inputs that are missing --- */

const char busy_absent[] =
	"no run has the CPU time of the workload's processes (collector 'threads')";

/* THE TABLE of inputs, by the prefix of their names. */
static const struct {
	const char *name, *collector, *absent;
} inputs[] = {
	{"counter:", "counters",
	 "these events were not counted (collector 'counters'; a virtual machine may have no PMU)"},
	{"sched_switches", "sched",
	 "the switches of the workload's threads were not collected (collector 'sched')"},
	{"busy_ns", "cpu", "CPU time was not collected (collector 'cpu')"},
	{"workload_cpu_ns", "threads", busy_absent},
	{"rate_kib", "workload", "the workload did not report its bytes (zcost capture --units)"},
	{"rate_", "workload",
	 "the workload did not report this unit of work (zcost capture --units)"},
	{INPUT_POWER, "power",
	 "no power source: import a meter's readings with 'zcost analyze --power-csv', or use --power-model"},
	{INPUT_CALLS, "syscalls", "no run counted its system calls (pass 'syscalls')"},
};

/*
 * Returns the input above the line: for the workload alone, its CPU time. Returns NULL for a count
 * of the side's CPUs, because no part of it is known to be the workload's.
 */
static const char *scores_over(const struct query *q, const struct score *k)
{
	if (!k->of_cpus || busy_of_cpus(q))
		return k->over;
	return !strcmp(k->over, "busy_ns") ? "workload_cpu_ns" : NULL;
}

static const char *scores_input_absent(struct store *s, const char *name)
{
	const char *sliced;
	size_t i;

	for (i = 0; i < array_size(inputs); i++) {
		if (!str_starts(name, inputs[i].name))
			continue;
		sliced = scope_slice_absent(s, inputs[i].collector);
		return sliced ? sliced : inputs[i].absent;
	}
	return "it was not measured";
}

static bool scores_has_input(struct store *s, const struct query *q, const struct run *r,
			     const char *name)
{
	if (!strcmp(name, INPUT_CALLS))
		return !isnan(calls_of_run(s, r));
	if (!strcmp(name, INPUT_POWER))
		return !isnan(power_of(s, q, &r, 1).watts);
	return !isnan(figure_metric(s, r, name));
}

/* Returns the first input that no run of the block has, or NULL if each input is in some run. */
static const char *scores_missing_input(struct store *s, const struct query *q,
					const struct block_runs *b, const struct score *k)
{
	const char *const names[] = {scores_over(q, k), k->under};
	size_t i;
	int r;

	if (!names[0])
		return "--workload-only: the counts are of all that runs on the side's CPUs";
	for (i = 0; i < array_size(names); i++) {
		for (r = 0; r < b->n && !scores_has_input(s, q, &b->runs[r], names[i]); r++)
			;
		if (r == b->n)
			return scores_input_absent(s, names[i]);
	}
	return NULL;
}

const char *score_absent(struct store *s, const struct query *q, const struct block_runs *sides,
			 int n, const struct score *k)
{
	const char *why = NULL;
	int i;

	for (i = 0; i < n && !why; i++)
		why = scores_missing_input(s, q, &sides[i], k);
	return why;
}

/* --- the table --- */

/*
 * scores: the cost of a byte or of another unit of work. Each score is computed for each run and
 * estimated over the runs, for each side and the total.
 *
 * The total cost of a unit of work is the sum of the sides' costs in the same repeat, each times
 * the side's part of the transfer. Joules count a shared host once. The total of a ratio is the
 * ratio of the sums. Sides that share a CPU have no total of figures measured by CPU, because the
 * total would count that CPU twice. A score with a missing input is absent, and a note names the
 * input and how to get it.
 */

static const struct column scores_columns[] = {
	{"variant", .type = V_STR},
	{"side", .type = V_STR, .what = "of the plan, or total for all of them"},
	{"score", .type = V_STR},
	{"value", .type = V_REAL, .digits = 3, .spread = SPREAD_RANGE,
	 .what = "estimate over the runs"},
	{"unit", .type = V_STR, .shape = STAYS_WHOLE},
	{"better", .type = V_STR, .what = "lower or higher"},
	{"runs", .type = V_INT, .what = "runs that measured it"},
	{"scope", .type = V_STR, .what = SCOPE_WHAT},
};

/* Returns the factor of a side's cost in a sum of `n` sides. */
static double scores_part(struct store *s, const struct run *r, int n)
{
	return n > 1 ? transfer_part(s, r) : 1;
}

/* Returns the cost of a unit of work, summed over the sides. */
static double scores_cost(struct store *s, const struct run *const sides[], int n,
			  struct scoring *c)
{
	const struct score *k = c->score;
	const char *over = scores_over(c->q, k);
	double sum = over ? 0 : NAN;
	int i;

	for (i = 0; i < n && over; i++)
		sum += scores_part(s, sides[i], n) * k->scale * figure_metric(s, sides[i], over) /
		       work_in_window(s, sides[i], k->under);
	return sum;
}

/* Returns the ratio of two counts, each summed over the sides. */
static double scores_ratio(struct store *s, const struct run *const sides[], int n,
			   struct scoring *c)
{
	const struct score *k = c->score;
	double over = scores_over(c->q, k) ? 0 : NAN, under = 0;
	int i;

	for (i = 0; i < n; i++) {
		over += figure_metric(s, sides[i], k->over);
		under += figure_metric(s, sides[i], k->under);
	}
	return k->scale * over / under;
}

/*
 * Returns joules per 10^9 bytes: watts x seconds / bytes. Records the source, which may be a
 * model.
 */
static double scores_joules(struct store *s, const struct run *const sides[], int n,
			    struct scoring *c)
{
	const struct score *k = c->score;
	struct power p = power_of(s, c->q, sides, n);

	if (p.source > c->source) {
		c->source = p.source;
		c->kind = p.kind;
	}
	c->shared |= p.shared;
	return k->scale * p.watts /
	       (n > 1 ? transfer_rate(s, sides[0], k->under)
		      : figure_metric(s, sides[0], k->under));
}

/* Returns the system calls of the run's processes per MiB of work in the window. */
static double scores_calls(struct store *s, const struct run *const sides[], int n,
			   struct scoring *c)
{
	const struct score *k = c->score;
	double sum = 0;
	int i;

	for (i = 0; i < n; i++)
		sum += scores_part(s, sides[i], n) * k->scale * calls_of_run(s, sides[i]) /
		       work_in_window(s, sides[i], k->under);
	return sum;
}

/* THE TABLE of scores. */
static const struct score scores[] = {
	{"ns_per_kib", "ns/KiB", "lower", "cpus", scores_cost, "busy_ns", "rate_kib", 1,
	 FOR_FIGURES, true, NULL},
	{"cycles_per_byte", "1/B", "lower", "cpus", scores_cost, "counter:cycles", "rate_kib",
	 PER_BYTE, FOR_FIGURES, true, NULL},
	{"instructions_per_byte", "1/B", "lower", "cpus", scores_cost, "counter:instructions",
	 "rate_kib", PER_BYTE, FOR_FIGURES, true, NULL},
	{"ns_per_packet", "ns/packet", "lower", "cpus", scores_cost, "busy_ns", "rate_packets", 1,
	 FOR_FIGURES, true, "packet"},
	{"cycles_per_packet", "1/packet", "lower", "cpus", scores_cost, "counter:cycles",
	 "rate_packets", 1, FOR_FIGURES, true, "packet"},
	{"instructions_per_packet", "1/packet", "lower", "cpus", scores_cost,
	 "counter:instructions", "rate_packets", 1, FOR_FIGURES, true, "packet"},
	{"ns_per_message", "ns/message", "lower", "cpus", scores_cost, "busy_ns", "rate_messages",
	 1, FOR_FIGURES, true, "message"},
	{"cycles_per_message", "1/message", "lower", "cpus", scores_cost, "counter:cycles",
	 "rate_messages", 1, FOR_FIGURES, true, "message"},
	{"instructions_per_message", "1/message", "lower", "cpus", scores_cost,
	 "counter:instructions", "rate_messages", 1, FOR_FIGURES, true, "message"},
	{"ipc", "1/cycle", "higher", "cpus", scores_ratio, "counter:instructions", "counter:cycles",
	 1, FOR_FIGURES, true, NULL},
	{"cache_miss_pct", "%", "lower", "cpus", scores_ratio, "counter:cache-misses",
	 "counter:cache-references", 100, FOR_FIGURES, true, NULL},
	{"branch_miss_pct", "%", "lower", "cpus", scores_ratio, "counter:branch-misses",
	 "counter:branches", 100, FOR_FIGURES, true, NULL},
	{"context_switches_per_mib", "1/MiB", "lower", "cpus", scores_cost,
	 "counter:context-switches", "rate_kib", PER_MIB, FOR_FIGURES, true, NULL},
	{"workload_context_switches_per_mib", "1/MiB", "lower", "workload", scores_cost,
	 "sched_switches", "rate_kib", PER_MIB, FOR_FIGURES, false, NULL},
	{"j_per_gb", "J/GB", "lower", "host", scores_joules, INPUT_POWER, "rate_kib", PER_GB,
	 FOR_FIGURES, false, NULL},
	{"syscalls_per_mib", "1/MiB", "lower", "workload", scores_calls, INPUT_CALLS, "rate_kib",
	 PER_MIB, FOR_SYSCALLS, false, NULL},
};

/*
 * Returns true if the score applies to the block's unit of work. Other scores have no row and are
 * not missing.
 */
static bool scores_is_of(struct store *s, const struct query *q, const struct block_runs *b,
			 const struct score *k)
{
	return !k->unit_of_work || work_is_in(s, q, b->runs, b->n, k->unit_of_work);
}

/* --- rows --- */

static void scores_put_row(struct table *t, const struct block *b, const char *side,
			   const struct scoring *c, const struct estimate *e)
{
	const struct score *k = c->score;
	struct value *row = table_row(t);
	const char *modelled = c->source == POWER_MODELLED ? ", modelled" : "";

	table_set(t, row, "variant", value_str(t, b->variant));
	table_set(t, row, "side", value_str(t, side));
	table_set(t, row, "score", value_str(t, k->name));
	table_set(t, row, "unit", value_str(t, arena_printf(&t->arena, "%s%s", k->unit, modelled)));
	table_set(t, row, "scope", value_str(t, scope_of(c->q, k->scope)));
	table_set(t, row, "better", value_str(t, k->better));
	table_set(t, row, "runs", value_int((int64_t)e->n));
	put_estimate(t, row, "value", e);
	if (c->kind)
		note_add_of(&t->notes, b->variant, side, score_power_kind, k->name, c->kind);
	if (c->source == POWER_MODELLED)
		note_add_of(&t->notes, b->variant, side, score_modelled, k->name);
	else if (c->shared)
		note_add_of(&t->notes, b->variant, side, score_of_host, k->name);
}

static struct estimate scores_estimate(struct store *s, const struct block_runs *sides, int n,
				       enum estimator est, struct scoring *c)
{
	double *x = xcalloc((size_t)sides->n + 1, sizeof(*x)), v;
	struct estimate e = {NAN, NAN, NAN, NAN, 0, 0};
	const struct run **runs = xcalloc((size_t)n, sizeof(*runs));
	size_t known = 0;
	int i;

	for (i = 0; i < sides->n; i++) {
		if (!block_runs_same_repeat(sides, n, &sides->runs[i], runs))
			continue;
		if (c->score->of_cpus && busy_of_cpus(c->q) && !c->twice)
			c->twice = shared_cpus(runs, n);
		if (c->twice)
			break;
		v = c->score->figure(s, runs, n, c);
		if (isfinite(v))
			x[known++] = v;
	}
	if (known && !c->twice)
		e = stats_estimate(est, x, known, 0.95);
	free(runs);
	free(x);
	return e;
}

/*
 * Records why a score is absent. A missing input comes before shared CPUs, because separate CPUs
 * would not supply the input.
 */
static void scores_put_absent(struct store *s, const struct query *q,
			      const struct block_runs *sides, int n, const struct scoring *c,
			      const char *side, struct absences *absent)
{
	const char *missing = score_absent(s, q, sides, n, c->score);
	char *why = missing    ? xstrdup(missing)
		    : c->twice ? xasprintf("%s: %s", c->twice, SHARED_CPUS_TWICE)
		    : n > 1    ? xstrdup("no repeat has the score on all sides")
			       : xstrdup("no run has both inputs");

	absences_add(absent, c->score->name, sides->block.variant, side, why);
	free(why);
}

/* Adds the row of one side or of the total. */
static void scores_put_score(struct store *s, const struct query *q, const struct block_runs *sides,
			     int n, const struct score *k, enum estimator est,
			     struct absences *absent, struct table *t)
{
	const char *side = n > 1 ? "total" : sides->block.side;
	struct scoring c = {.score = k, .q = q};
	struct estimate e = scores_estimate(s, sides, n, est, &c);

	if (e.n)
		scores_put_row(t, &sides->block, side, &c, &e);
	else
		scores_put_absent(s, q, sides, n, &c, side, absent);
	free(c.twice);
}

static bool scores_are_of(struct store *s, const struct query *q, const struct block_runs *sides,
			  int n, const struct score *k)
{
	while (n && scores_is_of(s, q, &sides[n - 1], k))
		n--;
	return !n;
}

static void scores_put_scores(struct store *s, const struct query *q, const struct block_list *list,
			      const struct score *k, struct absences *absent, struct table *t)
{
	size_t wanted = 0;
	int i, n;

	for (i = 0; i < list->n; i++) {
		const struct block_runs *b = &list->blocks[i];

		if (scores_is_of(s, q, b, k)) {
			scores_put_score(s, q, b, 1, k, list->estimator, absent, t);
			wanted++;
		}
		n = block_list_total(list, i);
		if (n && scores_are_of(s, q, b + 1 - n, n, k)) {
			scores_put_score(s, q, b + 1 - n, n, k, list->estimator, absent, t);
			wanted++;
		}
	}
	absences_next(absent, wanted);
}

static int scores_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	struct block_list figures = {0}, accounted = {0};
	struct absences absent = {0};
	int rc = block_list_read(&figures, s, q, FOR_FIGURES, err);
	size_t i;

	if (!rc)
		rc = block_list_read(&accounted, s, q, FOR_SYSCALLS, err);
	for (i = 0; i < array_size(scores) && !rc; i++)
		scores_put_scores(s, q, scores[i].purpose == FOR_SYSCALLS ? &accounted : &figures,
				  &scores[i], &absent, t);
	if (!rc) {
		absences_add_notes(&absent, t);
		block_list_notes(&figures, s, t);
		rc = busy_notes(s, q, NULL, t, err);
	}
	absences_free(&absent);
	block_list_free(&figures);
	block_list_free(&accounted);
	return rc;
}

const struct measure measure_scores = {
	.name = "scores",
	.what = "cost per unit of work: time, cycles, joules, system calls",
	MEASURE_COLUMNS(scores_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS OPT_MODEL "unit workload-only "},
	.spare = "runs better scope",
	.flags = MEASURE_TOTAL,
	.run = scores_run,
};
