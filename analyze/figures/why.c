// SPDX-License-Identifier: GPL-2.0-only
/*
 * why: why zero copy paid or did not pay, for each side that asked for it. The figures and the
 * causes are in why.def. Of the causes that hold, the reason is the one that takes the largest part
 * of the time or of the data. Causes whose part is not known come after these, in the order of
 * why.def.
 */
#include "analyze/costs/costs.h"
#include "analyze/evidence/zerocopy.h"
#include "analyze/figures/figures.h"
#include "analyze/figures/tables.h"

#include <errno.h>
#include <math.h>

struct why_row {
	struct block block;
	const char *cause;
	double reason; /* NAN: the cause does not hold */
	const char *figure;
	double value;
	const char *unit, *source;
};

static const struct column why_columns[] = {
	BLOCK_COLUMNS(struct why_row),
	{MEMBER(struct why_row, cause), .type = V_STR, .what = "what the figure tells of"},
	{MEMBER(struct why_row, reason), .type = V_INT,
	 .what = "1: the cause is the reason; 2, 3, ...: it holds, too; empty: it does not hold"},
	{MEMBER(struct why_row, figure), .type = V_STR, .shape = STAYS_WHOLE},
	{MEMBER(struct why_row, value), .type = V_REAL, .digits = 2},
	{MEMBER(struct why_row, unit), .type = V_STR, .shape = STAYS_WHOLE},
	{MEMBER(struct why_row, source), .type = V_STR,
	 .what = "account (the workload's own), profile, syscalls, threads, irq, nic, host"},
};

enum why_id {
#define WHY(id, ...) id,
#include "analyze/figures/why.def"
#undef WHY
	WHYS,
	NONE = WHYS
};

static const struct why_figure {
	const char *cause, *name, *unit, *source;
	double factor;
	const char *over, *under, *functions;
	enum purpose purpose; /* selects the runs */
	bool late;
	enum why_id needs[2]; /* the figure needs one of these two; 0: it needs none */
} figures[WHYS] = {
#define RATIO(scale, a, b) .factor = (scale), .over = (a), .under = (b)
#define CALLS(scale, a, b) RATIO(scale, a, b), .purpose = FOR_SYSCALLS
#define CODE(names)	   .functions = (names)
#define LATE_CODE(names)   CODE(names), .late = true
#define IF(one, another)   .needs = {one, another}
#define WHY(id, ...)	   [id] = {__VA_ARGS__},
#include "analyze/figures/why.def"
#undef WHY
};

static const struct why_cause {
	struct {
		enum why_id of;
		double least, most;
	} when[2];
	enum why_id weight;
	const char *reason, *remedy;
} causes[] = {
// clang-format off
#define FROM(figure, least)	 {figure, least, INFINITY}
#define TO(figure, most)	 {figure, 0, most}
#define ALWAYS			 {NONE, 0, 0}
#define CAUSE(one, another, ...) {{one, another}, __VA_ARGS__},
// clang-format on
#include "analyze/figures/why.def"
#undef CAUSE
};

struct why_side {
	const struct block_runs *b, *blocks; /* one of the n blocks of the variant */
	int n;
	const char *base; /* the variant that it is compared with, or its own */
	char cost_unit[32];
	double value[WHYS + 1]; /* the last is that of NONE: 0 */
	enum verdict verdict[THROUGHPUT + 1];
	const struct why_cause *holds[array_size(causes)];
	size_t nholds;
};

/* --- amounts of a run --- */

/* Adds up "calls:NAMES", "bytes:NAMES" or "time:NAMES" of the system calls whose names match. */
static double why_calls(struct store *s, const struct run *r, const char *what)
{
	autofree struct syscall_row *rows = NULL;
	int n = store_syscalls(s, r->id, &rows, NULL);
	double sum = n > 0 ? 0 : NAN;

	for (int i = 0; i < n; i++)
		if (str_matches_any(strchr(what, ':') + 1, rows[i].name))
			sum += (double)(*what == 'c'   ? rows[i].calls
					: *what == 'b' ? rows[i].bytes
						       : rows[i].total_ns);
	return sum;
}

/* Returns how many interfaces take packets in fragments. */
static double why_gathers(struct store *s, const struct run *r)
{
	autofree struct metric_row *rows = NULL;
	int n = store_metrics(s, r->id, "nic_state", OF_SIDE, &rows, NULL);
	double sum = NAN;

	for (int i = 0; i < n; i++)
		if (str_ends(rows[i].key.object ?: "", "/feature:tx-scatter-gather"))
			sum = fmax(0, sum) + rows[i].value;
	return sum;
}

/* Returns the CPU time of io_uring's worker threads in ns. */
static double why_workers(struct store *s, const struct run *r)
{
	autofree struct thread_row *rows = NULL;
	int n = store_threads(s, r->id, &rows, NULL);
	double ns = n > 0 ? 0 : NAN;

	for (int i = 0; i < n; i++)
		if (rows[i].comm && str_starts(rows[i].comm, "iou-wrk"))
			ns += fmax(0, rows[i].run_ns);
	return ns;
}

static double why_amount(struct store *s, const struct run *r, enum purpose from, const char *name)
{
	return !strcmp(name, "gathers")			   ? why_gathers(s, r)
	       : !strcmp(name, "workers")		   ? why_workers(s, r)
	       : from == FOR_SYSCALLS && strchr(name, ':') ? why_calls(s, r, name)
							   : figure_metric(s, r, name);
}

/* Returns the ratio of the sums over the runs. A rate or a value alone is the estimate over them.
 */
static double why_ratio(struct store *s, const struct why_figure *f, const struct run *runs, int n,
			enum estimator e)
{
	autofree double *x = xcalloc((size_t)n + 1, sizeof(*x));
	double over = 0, under = 0, amount, by;
	bool pool = f->under && strcmp(f->under, "seconds") != 0;
	size_t used = 0;

	for (int i = 0; i < n; i++) {
		by = f->under ? why_amount(s, &runs[i], f->purpose, f->under) : 1;
		amount = f->factor * why_amount(s, &runs[i], f->purpose, f->over);
		x[used] = amount / by;
		used += isfinite(amount / by);
		if (isnan(amount) || isnan(by))
			continue;
		over += amount;
		under += by;
	}
	return !pool ? stats_point(e, x, used) : under > 0 ? over / under : NAN;
}

/* --- the figures of a side --- */

static int why_read_figures(struct store *s, const struct query *q, struct why_side *side,
			    enum estimator e, struct error *err)
{
	autofree struct run *traced = NULL;
	int n = scope_runs(s, q, &side->b->block, FOR_SYSCALLS, &traced, err), rc = 0;
	double *value = side->value;
	const char *unit;
	struct cost cost;

	for (enum why_id id = 0; id < WHYS; id++)
		value[id] = NAN;
	for (enum why_id id = 0; id < WHYS && !rc && n >= 0; id++) {
		const struct why_figure *f = &figures[id];
		bool calls = f->purpose == FOR_SYSCALLS;

		if (f->needs[0] && isnan(value[f->needs[0]]) && !(value[f->needs[1]] > 0))
			continue;
		for (int k = 0; k < side->n && f->functions && !rc; k++) {
			if (!f->late && &side->blocks[k] != side->b)
				continue;
			rc = group_cost(s, q, &side->blocks[k].block, f->functions, &cost, &unit,
					err);
			if (!isnan(cost.ns))
				snprintf(side->cost_unit, sizeof(side->cost_unit), "ns/%s", unit);
			value[id] = fmax(value[id], *f->unit == '%' ? 100 * cost.share : cost.ns);
		}
		if (f->over)
			value[id] = why_ratio(s, f, calls ? traced : side->b->runs,
					      calls ? n : side->b->n, e);
	}
	if (!isnan(value[COPIED_SENDS]) && zero_copy_one_host(side->blocks, side->n))
		value[ONE_HOST] = 1;
	return n < 0 ? n : rc;
}

/*
 * Judges a figure of all sides of the variant against the base, as table sweep judges a value, and
 * keeps the verdict and the change of this side.
 */
static void why_judge(const struct figure_list *l, struct why_side *side, enum why_id to,
		      enum figure_id id)
{
	autofree struct crossover_point *points = xcalloc((size_t)side->n + 1, sizeof(*points));

	for (int i = 0; i < side->n; i++) {
		const struct block *b = &side->blocks[i].block;
		const struct figure_value *base = figure_find(l, id, side->base, b->side);
		const struct figure_value *new = figure_find(l, id, b->variant, b->side);
		struct crossover_point *p = &points[i];

		if (!base || !new || !base->n || !new->n)
			continue;
		*p = (struct crossover_point){
			.base = base->x, .nbase = base->n, .new = new->x, .nnew = new->n};
		p->copied = side->value[COPIED_SENDS] > 10 ||
			    zero_copy_fell_back(l->s, l->q, b->variant);
		p->others = fmax(figure_others(l->s, l->q, base), figure_others(l->s, l->q, new));
		if (&side->blocks[i] == side->b)
			side->value[to] = 100 * new->e.value / base->e.value - 100;
	}
	crossover_find(points, (size_t)side->n, figure_kinds[id].better, false);
	side->verdict[to] = points[side->b - side->blocks].verdict;
}

/* --- causes --- */

static const char *why_name(const struct why_cause *c)
{
	return figures[c->when[0].of].cause;
}

/* Returns the cause's part of the time or of the data, 0 if it is not known, -1 if none holds. */
static double why_weight(const struct why_side *side, const struct why_cause *c)
{
	for (size_t i = 0; i < array_size(c->when); i++)
		if (!(side->value[c->when[i].of] >= c->when[i].least &&
		      side->value[c->when[i].of] <= c->when[i].most))
			return -1;
	for (size_t i = 0; i < side->nholds; i++)
		if (side->holds[i] != c && !strcmp(why_name(side->holds[i]), why_name(c)))
			return -1;
	return fmax(0, side->value[c->weight]);
}

/* Lists the causes that hold, one of each name, the heaviest first. */
static void why_find_causes(struct why_side *side)
{
	for (const struct why_cause *c = causes; c < causes + array_size(causes); c++) {
		double weight = why_weight(side, c);
		size_t at = side->nholds;

		if (weight < 0)
			continue;
		for (; at && why_weight(side, side->holds[at - 1]) < weight; at--)
			side->holds[at] = side->holds[at - 1];
		side->holds[at] = c;
		side->nholds++;
	}
}

static const char *why_unit(const struct why_side *side, const struct why_figure *f)
{
	return str_starts(f->unit, "ns") ? side->cost_unit : f->unit;
}

/* Appends a text, with the figures that it names. */
static void why_print_text(struct str *s, const struct why_side *side, const char *text)
{
	for (const char *p = text, *end; *p; p = end + 1) {
		end = *p == '{' ? strchr(p, '}') : p;
		for (enum why_id id = 0; end > p && id < WHYS; id++) {
			const char *name = figures[id].name;
			const char *unit = why_unit(side, &figures[id]);
			double x = side->value[id];

			if (strlen(name) != (size_t)(end - p) - 1 || !str_starts(p + 1, name))
				continue;
			if (isnan(x))
				str_printf(s, "an unknown %s",
					   id == IN_FLIGHT ? "number of sends" : "time");
			else
				str_printf(s, "%.*f%s%s", fabs(x) >= 20 || x == floor(x) ? 0 : 1, x,
					   *unit ? " " : "", unit);
		}
		if (end == p)
			str_putc(s, *p);
	}
}

/* Prints "did not pay against send, CPU time per KiB +35 % (worse), because ..." */
static void why_print(struct str *s, const struct why_side *side)
{
	static const char *const words[] = {"CPU time per KiB", "throughput"};
	bool better = false, worse = false, any = false, judged = false;
	freed(str_free) struct str list = {0};

	for (enum why_id id = COST; id <= THROUGHPUT; id++) {
		const char *verdict = verdict_name(side->verdict[id]);

		if (isnan(side->value[id]))
			continue;
		any = true;
		judged |= verdict && side->verdict[id] != VERDICT_FEW;
		better |= side->verdict[id] == VERDICT_BETTER;
		worse |= side->verdict[id] == VERDICT_WORSE;
		str_printf(&list, ", %s %+.0f %%%s%s%s", words[id], side->value[id],
			   verdict ? " (" : "", verdict ?: "", verdict ? ")" : "");
	}
	str_puts(s, better && worse ? "paid in part against "
		    : better	    ? "paid against "
		    : worse	    ? "did not pay against "
		    : judged	    ? "shows no gain against "
		    : any	    ? "has no verdict against "
				    : "is not compared");
	str_printf(s, "%s%s", any ? side->base : "", any ? list.buf : "");
	str_puts(s, !side->nholds && better ? "; 'zcost report components' has what is left"
		    : !side->nholds	    ? ". No cause reaches its threshold"
		    : worse		    ? ", because "
		    : better		    ? ". What is left to gain: "
					    : ". Most of all, ");
	if (!side->nholds)
		return;
	why_print_text(s, side, side->holds[0]->reason);
	str_puts(s, ". Way out: ");
	why_print_text(s, side, side->holds[0]->remedy);
}

/* --- the table --- */

static void why_put_rows(struct table *t, const struct why_side *side)
{
	freed(str_free) struct str words = {0};

	for (enum why_id id = 0; id < WHYS; id++) {
		const struct why_figure *f = &figures[id];
		struct why_row row = {side->b->block,  f->cause,	  NAN,	    f->name,
				      side->value[id], why_unit(side, f), f->source};

		for (size_t i = 0; i < side->nholds; i++)
			if (!strcmp(why_name(side->holds[i]), f->cause))
				row.reason = (double)i + 1;
		if (!isnan(row.value))
			table_add(t, struct why_row, &row);
	}
	why_print(&words, side);
	note_add_block(&t->notes, &side->b->block, why_reason, words.buf);
}

static int why_add_side(const struct figure_list *l, struct why_side *side, struct table *t,
			struct error *err)
{
	enum estimator e = l->blocks[FOR_FIGURES].estimator;
	double asked =
		scope_estimate(l->s, side->b->runs, side->b->n, e, figure_metric, "asked_zero_copy")
			.value;
	int rc = asked == 0 ? 0 : why_read_figures(l->s, l->q, side, e, err);

	if (rc || !(asked > 0 || (isnan(asked) && side->value[CALL_BYTES] > 0)))
		return rc;
	if (strcmp(side->base, side->b->block.variant) != 0) {
		why_judge(l, side, COST, FIGURE_NS_PER_KIB);
		why_judge(l, side, THROUGHPUT, FIGURE_THROUGHPUT);
	}
	why_find_causes(side);
	why_put_rows(t, side);
	return 0;
}

/* Adds where the variants begin to be cheaper, if the capture has a setting with several numbers.
 */
static void why_note_break_even(struct store *s, const struct query *q, struct table *t)
{
	struct error none = {0};
	freed(table_free) struct table sweep = {0};
	int rc = measure_run("sweep", s, q, &sweep, &none);

	for (size_t i = 0; !rc && sweep.detail && i < sweep.detail->rows; i++) {
		const struct crossover_row *r =
			&table_structs(sweep.detail, struct crossover_row)[i];
		autofree char *of = xasprintf("%s %s", r->side, r->metric);

		if (!strcmp(r->metric, figure_column(FIGURE_NS_PER_KIB)))
			note_add(&t->notes, sweep_verdicts, of, r->words);
	}
}

static int why_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	struct query all = *q;
	freed(figure_list_free) struct figure_list l = {0};
	const struct block_list *list = &l.blocks[FOR_FIGURES];
	int rc, end, from = 0;

	all.variant = all.side = NULL; /* the base may be none of the variants asked for */
	rc = figure_list_read(&l, s, &all, IN_PAIRS, 0, err);
	for (int i = 0; i < list->n && !rc; i++) {
		const struct block *b = &list->blocks[i].block;

		from = strcmp(list->blocks[from].block.variant, b->variant) ? i : from;
		for (end = i;
		     end < list->n && !strcmp(list->blocks[end].block.variant, b->variant);)
			end++;
		if (str_matches(q->variant, b->variant) && (!q->side || !strcmp(q->side, b->side)))
			rc = why_add_side(&l,
					  &(struct why_side){.b = &list->blocks[i],
							     .blocks = &list->blocks[from],
							     .n = end - from,
							     .base = copying_base(s, b->variant)},
					  t, err);
	}
	if (!rc && !t->rows)
		rc = error_set(
			err, ENODATA,
			"no side is known to use MSG_ZEROCOPY, io_uring's zero copy, TCP_ZEROCOPY_RECEIVE or devmem; 'zcost report zerocopy' has sendfile and splice");
	if (!rc) {
		why_note_break_even(s, q, t);
		block_list_run_notes(list, s, t);
	}
	return rc;
}

const struct measure measure_why = {
	.name = "why",
	.what = "why zero copy paid or did not pay: figures, and the reason in words",
	MEASURE_COLUMNS(why_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS "workload-only"},
	.spare = "source",
	.flags = MEASURE_BASE,
	.collectors = "workload perf syscalls threads irq nic",
	.run = why_run,
};
