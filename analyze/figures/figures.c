// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/figures/figures.h"

#include "analyze/scope/placement.h"

#include <math.h>

/* What a figure is read for. The reader notes in `value` where power comes from. */
struct figure_reading {
	struct store *s;
	const struct query *q;
	const struct figure_kind *k;
	struct figure_value *value;
};

/* --- how figures are computed --- */

/* Returns a rate of work. The total is that of the transfer: what passed its sides once. */
static double figure_rate_of(const struct figure_reading *r, const struct run *const sides[], int n,
			     const char *metric)
{
	return n > 1 ? transfer_rate(r->s, sides[0], metric)
		     : figure_metric(r->s, sides[0], metric);
}

static double figure_rate(const struct figure_reading *r, const struct run *const sides[], int n)
{
	return figure_rate_of(r, sides, n, r->k->over);
}

/* Returns the factor of a side's cost in a sum of `n` sides. */
static double figure_part(const struct figure_reading *r, const struct run *side, int n)
{
	return n > 1 ? transfer_part(r->s, side) : 1;
}

/* Returns the CPU time of a unit of work, added up over the sides. */
static double figure_time(const struct figure_reading *r, const struct run *const sides[], int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += figure_part(r, sides[i], n) * work_time(r->s, r->q, sides[i], r->k->under);
	return sum;
}

/* Returns what figure_time() returns with --workload-only. */
static double figure_own_time(const struct figure_reading *r, const struct run *const sides[],
			      int n)
{
	struct figure_reading own = *r;
	struct query q = *r->q;

	q.workload_only = true;
	own.q = &q;
	return figure_time(&own, sides, n);
}

/*
 * Returns whether the figure is a count of the side's CPUs although --workload-only asks for the
 * workload's processes. No part of such a count is known to be theirs.
 */
static bool figure_is_of_others(const struct query *q, const struct figure_kind *k)
{
	return k->cpus && !busy_of_cpus(q);
}

/* Returns a count per unit of work, added up over the sides. */
static double figure_cost(const struct figure_reading *r, const struct run *const sides[], int n)
{
	const struct figure_kind *k = r->k;
	double sum = figure_is_of_others(r->q, k) ? NAN : 0;

	for (int i = 0; i < n; i++) {
		double count = !strcmp(k->over, INPUT_CALLS)
				       ? calls_of_run(r->s, sides[i])
				       : figure_metric(r->s, sides[i], k->over);

		sum += figure_part(r, sides[i], n) * k->scale * count /
		       work_in_window(r->s, sides[i], k->under);
	}
	return sum;
}

/* Returns the quotient of two counts, each added up over the sides. */
static double figure_ratio(const struct figure_reading *r, const struct run *const sides[], int n)
{
	double over = figure_is_of_others(r->q, r->k) ? NAN : 0, under = 0;

	for (int i = 0; i < n; i++) {
		over += figure_metric(r->s, sides[i], r->k->over);
		under += figure_metric(r->s, sides[i], r->k->under);
	}
	return r->k->scale * over / under;
}

/* Returns the CPU use of all sides. A CPU that two sides share counts once. */
static double figure_cpu(const struct figure_reading *r, const struct run *const sides[], int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += busy_of_cpus(r->q) ? cpu_pct_unshared(r->s, sides, i)
					  : figure_metric(r->s, sides[i], busy_metric(r->q));
	return sum;
}

/* Returns the watts of the sides' hosts, each host once. */
static double figure_power(const struct figure_reading *r, const struct run *const sides[], int n)
{
	struct power p = power_of(r->s, r->q, sides, n);

	if (p.source > r->value->source) {
		r->value->source = p.source;
		r->value->kind = p.kind;
	}
	r->value->shared |= p.shared;
	return p.watts;
}

/* Returns joules per 10^9 bytes: watts x seconds / bytes. */
static double figure_joules(const struct figure_reading *r, const struct run *const sides[], int n)
{
	return r->k->scale * figure_power(r, sides, n) / figure_rate_of(r, sides, n, r->k->under);
}

double roi_c(const struct query *q, double throughput, double cpu)
{
	return cpu > 0 ? pow(throughput, roi_exponent_n(q)) / cpu : NAN;
}

double roi_p(const struct query *q, double throughput, double watts)
{
	return watts > 0 ? pow(throughput, roi_exponent_n(q)) / pow(watts, roi_exponent_m(q)) : NAN;
}

static double figure_roi(const struct figure_reading *r, const struct run *const sides[], int n)
{
	double t = figure_rate(r, sides, n);

	for (int i = 0; i < n; i++)
		if (sent_datagrams(r->s, sides[i])) /* T is what a side sent, or what arrived */
			return NAN;
	return r->k->cpus ? roi_c(r->q, t, figure_cpu(r, sides, n))
			  : roi_p(r->q, t, figure_power(r, sides, n));
}

/* --- the table --- */

const struct figure_kind figure_kinds[FIGURES] = {
#define FIGURE(id, figure, of, ...) [FIGURE_##id] = {.name = figure, .unit = of, __VA_ARGS__},
#include "analyze/figures/figures.def"
#undef FIGURE
};

const char *figure_column(enum figure_id id)
{
	return figure_kinds[id].column ?: figure_kinds[id].name;
}

void figure_print_unit(struct str *s, const struct query *q, enum figure_id id, bool per)
{
	const struct figure_kind *k = &figure_kinds[id];
	const char *p = k->unit;
	double exponent;

	for (; *p; p++) {
		if (*p != '^') {
			str_putc(s, *p);
			continue;
		}
		exponent = *++p == 'n' ? roi_exponent_n(q) : roi_exponent_m(q);
		if (exponent != 1)
			str_printf(s, "^%g", exponent);
	}
	if (per && k->per)
		str_printf(s, "/%s", k->per);
}

void figure_print_counts_of_cpus(struct str *s)
{
	const char *names[FIGURES];
	size_t n = 0;

	for (const struct figure_kind *k = figure_kinds; k < figure_kinds + FIGURES; k++)
		if (k->in & IN_COMPARE && k->cpus && k->read == figure_cost)
			names[n++] = k->name;
	for (size_t i = 0; i < n; i++)
		str_item(s, !i, i + 1 == n, names[i]);
}

/* --- reading --- */

/*
 * Returns whether the block has work of the figure's unit: its own unit, or that of --unit. Bytes
 * are looked for in every workload.
 */
static bool figure_is_of_work(const struct figure_list *l, const struct figure_kind *k,
			      const struct block_runs *b)
{
	const char *own;

	if (!k->work || !strcmp(k->work, "KiB"))
		return true;
	own = work_unit(l->s, b->runs, b->n);
	return (own && !strcmp(own, k->work)) ||
	       (own && l->q->unit && !strcmp(l->q->unit, k->work));
}

/* Reads the figure of each repeat that has runs of all sides. */
static void figure_read_repeats(struct figure_list *l, struct figure_value *v)
{
	const struct figure_kind *k = &figure_kinds[v->id];
	const struct figure_reading r = {l->s, l->q, k, v};
	autofree const struct run **runs = xcalloc((size_t)v->nsides, sizeof(*runs));
	bool of_cpus = k->cpus && busy_of_cpus(l->q);
	double x;

	for (int i = 0; i < v->sides->n; i++) {
		if (!block_runs_same_repeat(v->sides, v->nsides, &v->sides->runs[i], runs))
			continue;
		v->repeats++;
		if (of_cpus && v->nsides > 1 && !v->twice) {
			autofree char *twice = shared_cpus(runs, v->nsides);

			v->twice = twice ? arena_strdup(&l->arena, twice) : NULL;
		}
		x = v->twice && k->cpus == CPUS_APART ? NAN : k->read(&r, runs, v->nsides);
		if (isfinite(x))
			v->x[v->n++] = x;
	}
	if (v->twice && k->cpus == CPUS_APART)
		v->n = 0;
}

static void figure_list_add(struct figure_list *l, enum figure_id id,
			    const struct block_runs *sides, int nsides)
{
	struct figure_value *v;

	v = array_new(l->list, l->n, l->cap);
	*v = (struct figure_value){.id = id,
				   .variant = sides->block.variant,
				   .side = nsides > 1 ? SIDE_TOTAL : sides->block.side,
				   .sides = sides,
				   .nsides = nsides};
	v->x = arena_alloc(&l->arena, ((size_t)sides->n + 1) * sizeof(*v->x));
	figure_read_repeats(l, v);
	v->e = stats_estimate(l->blocks->estimator, v->x, v->n, 0.95);
}

double figure_others(struct store *s, const struct query *q, const struct figure_value *v)
{
	double most = 0;

	for (int i = 0; i < v->nsides && figure_kinds[v->id].cpus; i++)
		most = fmax(most, busy_others_pct(s, q, v->sides[i].runs, v->sides[i].n));
	return most;
}

/* Adds the figure of each side, and of a variant's total behind its last side. */
static void figure_list_add_figure(struct figure_list *l, enum figure_id id, bool total)
{
	const struct figure_kind *k = &figure_kinds[id];
	const struct block_list *blocks = &l->blocks[k->purpose];
	int n, of;

	for (int i = 0; i < blocks->n; i++) {
		const struct block_runs *b = &blocks->blocks[i];

		if (figure_is_of_work(l, k, b))
			figure_list_add(l, id, b, 1);
		n = total ? block_list_total(blocks, i) : 0;
		for (of = 0; of < n && figure_is_of_work(l, k, b - of); of++)
			;
		if (n && of == n)
			figure_list_add(l, id, b + 1 - n, n);
	}
}

int figure_list_read(struct figure_list *l, struct store *s, const struct query *q, unsigned tables,
		     unsigned totals, struct error *err)
{
	int rc;

	*l = (struct figure_list){.s = s, .q = q};
	rc = block_list_read(&l->blocks[FOR_FIGURES], s, q, FOR_FIGURES, err);
	for (enum figure_id id = 0; id < FIGURES && !rc; id++) {
		const struct figure_kind *k = &figure_kinds[id];

		if (!(k->in & tables) || !k->read)
			continue;
		if (!l->blocks[k->purpose].blocks)
			rc = block_list_read(&l->blocks[k->purpose], s, q, k->purpose, err);
		if (!rc)
			figure_list_add_figure(l, id, k->in & totals);
	}
	return rc;
}

void figure_list_free(struct figure_list *l)
{
	for (size_t i = 0; i < array_size(l->blocks); i++)
		block_list_free(&l->blocks[i]);
	free(l->list);
	arena_free(&l->arena);
	*l = (struct figure_list){0};
}

const struct figure_value *figure_find(const struct figure_list *l, enum figure_id id,
				       const char *variant, const char *side)
{
	return array_find(v, l->list, l->n,
			  v->id == id && !strcmp(v->variant, variant) && !strcmp(v->side, side));
}

/* --- figures that are missing --- */

/* THE TABLE of inputs, by the prefix of their names. */
static const struct {
	const char *name, *collector, *absent;
} inputs[] = {
	{"counter:", "counters",
	 "these events were not counted (collector 'counters'; a virtual machine may have no PMU)"},
	{"sched_switches", "sched",
	 "the switches of the workload's threads were not collected (collector 'sched')"},
	{"cpu_pct", "cpu", "CPU time was not collected (collector 'cpu')"},
	{"workload_cpu_pct", "threads",
	 "no run has the CPU time of the workload's processes (collector 'threads')"},
	{"throughput", "workload", "the workload did not report its bytes (zcost capture --units)"},
	{"rate_kib", "workload", "the workload did not report its bytes (zcost capture --units)"},
	{"rate_", "workload",
	 "the workload did not report this unit of work (zcost capture --units)"},
	{INPUT_POWER, "power",
	 "no power source: import a meter's readings with 'zcost analyze --power-csv', or use --power-model"},
	{INPUT_CALLS, "syscalls", "no run counted its system calls (pass 'syscalls')"},
};

static const char *input_absent(struct store *s, const char *name)
{
	const char *sliced;

	for (size_t i = 0; i < array_size(inputs); i++) {
		if (!str_starts(name, inputs[i].name))
			continue;
		sliced = scope_slice_absent(s, inputs[i].collector);
		return sliced ? sliced : inputs[i].absent;
	}
	return "it was not measured";
}

static bool input_is_known(const struct figure_list *l, const struct run *r, const char *name)
{
	if (!strcmp(name, INPUT_CALLS))
		return !isnan(calls_of_run(l->s, r));
	if (!strcmp(name, INPUT_POWER))
		return !isnan(power_of(l->s, l->q, &r, 1).watts);
	return !isnan(figure_metric(l->s, r, name));
}

/* Returns why a side has no run with an input of the figure, or NULL if all inputs are there. */
static const char *figure_missing_input(const struct figure_list *l, const struct figure_kind *k,
					const struct block_runs *b)
{
	bool busy = k->cpus == CPUS_ONCE || k->read == figure_time;
	const char *const names[] = {k->over, k->under, busy ? busy_metric(l->q) : NULL};
	int r;

	if (!busy && figure_is_of_others(l->q, k))
		return "--workload-only: the counts are of all that runs on the side's CPUs";
	for (size_t i = 0; i < array_size(names); i++) {
		if (!names[i])
			continue;
		for (r = 0; r < b->n && !input_is_known(l, &b->runs[r], names[i]); r++)
			;
		if (r == b->n)
			return input_absent(l->s, names[i]);
	}
	return NULL;
}

/*
 * Returns why the value has no repeat, or NULL for datagrams, which have no scores. A missing input
 * comes before shared CPUs, because separate CPUs would not supply the input.
 */
static const char *figure_absent(struct figure_list *l, const struct figure_value *v)
{
	const struct figure_kind *k = &figure_kinds[v->id];
	const char *why = NULL;

	for (int i = 0; i < v->nsides && !why; i++)
		why = figure_missing_input(l, k, &v->sides[i]);
	if (why)
		return why;
	for (int i = 0; i < v->nsides && k->read == figure_roi; i++)
		for (int r = 0; r < v->sides[i].n; r++)
			if (sent_datagrams(l->s, &v->sides[i].runs[r]))
				return NULL;
	if (v->twice)
		return arena_printf(&l->arena, "%s: %s", v->twice,
				    k->cpus == CPUS_APART ? SHARED_CPUS_TWICE
							  : "CPU time is not known for each CPU");
	return v->nsides > 1 ? "no repeat has the figure on all sides" : "no run has both inputs";
}

void figure_list_note_absent(struct figure_list *l, struct table *t)
{
	freed(absences_free) struct absences absent = {0};
	size_t wanted = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct figure_value *v = &l->list[i];

		wanted++;
		if (!v->n)
			absences_add(&absent, figure_column(v->id), v->variant, v->side,
				     figure_absent(l, v));
		if (i + 1 < l->n && l->list[i + 1].id == v->id)
			continue;
		absences_next(&absent, wanted);
		wanted = 0;
	}
	absences_add_notes(&absent, t);
}

void figure_list_notes(const struct figure_list *l, struct table *t)
{
	block_list_notes(&l->blocks[FOR_FIGURES], l->s, t);
}

/* --- rows --- */

struct figure_row figure_row_of(const struct block *b)
{
	struct figure_row row = {.block = *b, .zero_copy_share = NAN};

	for (enum figure_id id = 0; id < FIGURES; id++)
		row.of[id] = (struct estimate){.value = NAN, .lo = NAN, .hi = NAN};
	return row;
}
