// SPDX-License-Identifier: GPL-2.0-only
/* Reads and prints tables of costs: rows by keys, or by groups of functions. */
#include "analyze/costs/costs.h"

#include "analyze/costs/basis.h"
#include "analyze/texts/text.h"

#include <errno.h>
#include <math.h>

/* The columns after the keys. The ns columns add the unit of work to their unit. */
static const struct column shares[] = {
	COST_SAMPLES("number of samples"),
	COST_SHARE(self, "self share of all samples' weights"),
	COST_SHARE(total, "share of samples with the row anywhere in the call chain"),
	COST_COLUMN(self),
	COST_COLUMN(total),
};

/* The columns that replace the intervals of costs when there is no basis. */
static const struct column share_intervals[] = {
	{"self_share_ci", "%", V_REAL, .part_of = "self_share", .part = PART_HALF,
	 .what = "half the 95 % interval of self_share"},
	{"total_share_ci", "%", V_REAL, .part_of = "total_share", .part = PART_HALF,
	 .what = "half the 95 % interval of total_share"},
};

/* The columns of a single run, which has no interval. Their unit is that of the costs, or "%". */
static const struct column sampling_errors[] = {
	{MEMBER(struct cost_row, self_sampling_error), "%", V_REAL, .digits = 2, .optional = true,
	 .what = "half the 95 % sampling error of the self cost, or of its share"},
	{MEMBER(struct cost_row, total_sampling_error), "%", V_REAL, .digits = 2, .optional = true,
	 .what = "half the 95 % sampling error of the total cost, or of its share"},
};

static const struct column load_column = {
	MEMBER(struct cost_row, cpu_use_pct),	  "%", V_REAL, .digits = 3, .spread = SPREAD_HALF,
	.what = "self_share x the machine's load"};

enum { GROUPS_MAX = 64, NAMED_MAX = 5 };

/* --- the load under which samples were taken --- */

static double system_load_of_run(struct store *s, const struct run *r, const void *query)
{
	return r->ncpus > 0 ? figure_metric(s, r, busy_metric(query)) / r->ncpus : NAN;
}

static struct system_load system_load_of(struct store *s, const struct query *q,
					 const struct block *b)
{
	struct system_load l = {
		.pct = q->system_load, .measured = q->load_measured, .one_cpu = q->cpus != NULL};
	enum estimator est = EST_MEDIAN;
	autofree struct run *runs = NULL;
	autofree double *x = NULL;
	size_t used;
	int n;

	if (!l.measured)
		return l;
	l.pct = l.ci = NAN;
	if (l.one_cpu)
		return l;
	n = scope_runs(s, q, b, FOR_FIGURES, &runs, NULL);
	if (n < 0)
		return l;
	scope_estimator(s, q, &est, NULL);
	x = scope_figures(s, runs, n, system_load_of_run, q, &used);
	l.pct = stats_point(est, x, used);
	l.ci = stats_error_half(stats_error_of(est, x, used), 0.95);
	return l;
}

static void system_load_note(const struct system_load *l, const struct block *b, struct table *t)
{
	freed(str_free) struct str s = {0};

	if (l->measured && isnan(l->pct))
		str_printf(&s, "absent: %s",
			   l->one_cpu
				   ? "the load is known only for all CPUs of the side; omit --cpu"
				   : "CPU time was not collected (collector 'cpu')");
	else if (l->measured)
		str_printf(&s,
			   "share x the measured load of %.2f %% of the time of the side's CPUs",
			   l->pct);
	else
		str_printf(
			&s,
			"share x the given load of %.2f %% of the time of all CPUs; the samples must be of all CPUs under that load, without idle",
			l->pct);
	if (l->measured)
		note_add_block(&t->notes, b, system_load, s.buf);
	else
		note_add(&t->notes, system_load, s.buf);
}

/* --- what is read --- */

static bool cost_parts_has_key(const struct cost_parts *c, enum tally_key key)
{
	return array_find(own, c->spec.keys, c->spec.nkeys, *own == key);
}

static int cost_parts_add_key(struct cost_parts *c, const char *name, struct error *err)
{
	int key = tally_key_find(name);

	if (!strcmp(name, "variant") || !strcmp(name, "side")) {
		c->by_block = true;
		return 0;
	}
	if (key < 0)
		return error_set(
			err, EINVAL,
			"cannot split by '%s'; the keys are comm, pid, tid, thread, cpu, context, component, module, dso, symbol, variant and side",
			name);
	if (!cost_parts_has_key(c, (enum tally_key)key))
		c->spec.keys[c->spec.nkeys++] = (enum tally_key)key;
	return 0;
}

static int cost_parts_add_keys(struct cost_parts *c, const struct query *q, struct error *err)
{
	char *word;
	int rc = 0;

	each_part (word, q->by ? q->by : "", ',')
		if (*str_trim(word) && !rc)
			rc = cost_parts_add_key(c, str_trim(word), err);
	for (int i = 0; i < c->table->nkeys; i++)
		if (!cost_parts_has_key(c, c->table->keys[i]))
			c->spec.keys[c->spec.nkeys++] = c->table->keys[i];
	return rc;
}

static int cost_parts_read_rules(struct cost_parts *c, struct store *s, const struct query *q,
				 struct error *err)
{
	size_t n = c->table->groups ? q->ngroups : 1;
	int rc = 0;

	if (!n)
		return error_set(
			err, EINVAL,
			"no groups: give --group NAME=FUNCTION,FUNCTION,... once or more; names may be globs");
	if (n > GROUPS_MAX)
		return error_set(err, EINVAL, "more than %d groups", GROUPS_MAX);
	c->rules = xcalloc(n, sizeof(struct components *));
	for (size_t i = 0; i < n && !rc; i++) {
		rc = c->table->groups ? components_group(&c->rules[i], q->groups[i], err)
				      : components_keep(&c->rules[i], s, q->components_file,
							q->components_set, err);
		c->nrules += !rc;
	}
	return rc;
}

/* Refuses a query that the text of perf report has no data for. */
static int cost_parts_check_text(const struct cost_parts *c, const struct query *q,
				 struct error *err)
{
	const struct flat *f = q->bare.flat;
	const struct {
		bool lacks;
		const char *what, *way_out;
	} checks[] = {
		{q->cpus, "CPUs", "give the perf.data itself with --perf"},
		{q->children && !c->table->totals, "call chains to add up (--children)",
		 "give the perf.data itself with --perf"},
		{!f->has_comm && (q->comm || cost_parts_has_key(c, BY_COMM)), "Command column",
		 "run perf report with --sort comm,dso,symbol"},
		{!f->has_dso && (q->dso || (q->by && strstr(q->by, "dso"))), "Shared Object column",
		 "run perf report with --sort dso,symbol"},
	};

	for (int i = 0; i < c->spec.nkeys; i++)
		if (c->spec.keys[i] > BY_COMM && c->spec.keys[i] <= BY_CONTEXT)
			return error_set(
				err, EINVAL,
				"the text of perf report has no %s; give the perf.data itself with --perf",
				tally_key_name(c->spec.keys[i]));
	for (int i = 0; i < (int)array_size(checks); i++)
		if (checks[i].lacks)
			return error_set(err, EINVAL, "the text of perf report has no %s; %s",
					 checks[i].what, checks[i].way_out);
	return 0;
}

/* Reads all functions of a block: groups may overlap, so their sum is no total. */
static int cost_parts_read_whole(struct cost_parts *c, struct store *s, const struct query *q,
				 int block, struct error *err)
{
	struct tally_spec spec = c->spec;

	spec.nkeys = 2;
	spec.keys[0] = BY_SYMBOL;
	spec.keys[1] = BY_MODULE;
	spec.totals = false;
	spec.merge_unresolved = false;
	spec.components = NULL;
	return cost_part_read(s, q, &c->blocks[block], &spec, &c->whole[block], err);
}

static int cost_parts_read_all(struct cost_parts *c, struct store *s, const struct query *q,
			       struct error *err)
{
	int rc = 0, all = c->nblocks * c->nrules;

	c->part = xcalloc((size_t)all + 1, sizeof(*c->part));
	for (int i = 0; i < all && !rc; i++) {
		c->spec.components = c->rules[i / c->nblocks];
		rc = cost_part_read(s, q, &c->blocks[i % c->nblocks], &c->spec, &c->part[i], err);
		c->part[i].load = system_load_of(s, q, &c->blocks[i % c->nblocks]);
		/* The rows of a text call each other: a sum of totals counts samples twice. */
		c->part[i].tally.no_total |= q->bare.flat && c->table->groups;
		c->n++;
	}
	if (c->table->groups)
		c->whole = xcalloc((size_t)c->nblocks + 1, sizeof(*c->whole));
	for (int i = 0; c->whole && i < c->nblocks && !rc; i++)
		rc = cost_parts_read_whole(c, s, q, i, err);
	return rc;
}

int cost_parts_read(struct cost_parts *c, const struct cost_table *ct, struct store *s,
		    const struct query *q, struct error *err)
{
	int rc;

	*c = (struct cost_parts){.table = ct,
				 .spec = {.totals = ct->totals || q->children,
					  .merge_unresolved = !q->all,
					  .event = q->event,
					  .in = q->in,
					  .comm = q->comm,
					  .dso = q->dso,
					  .symbol = ct->relation ? NULL : q->symbol,
					  .relation = ct->relation,
					  .function = q->symbol,
					  .cpus = q->cpus}};
	if (!s && !q->bare.profile && !q->bare.flat)
		return error_set(err, EINVAL, "table '%s' needs a capture, --perf or --perf-report",
				 ct->name);
	rc = cost_parts_add_keys(c, q, err);
	if (!rc && q->bare.flat)
		rc = cost_parts_check_text(c, q, err);
	rc = rc ?: cost_parts_read_rules(c, s, q, err);
	rc = rc ?: cost_blocks(s, q, &c->blocks, err);
	if (rc < 0)
		return rc;
	c->nblocks = rc;
	c->by_block |= c->nblocks > 1;
	return cost_parts_read_all(c, s, q, err);
}

void cost_parts_free(struct cost_parts *c)
{
	for (int i = 0; i < c->n; i++)
		cost_part_free(&c->part[i]);
	for (int i = 0; c->whole && i < c->nblocks; i++)
		cost_part_free(&c->whole[i]);
	for (int i = 0; i < c->nrules; i++)
		components_free(c->rules[i]);
	free(c->part);
	free(c->whole);
	free(c->rules);
	free(c->blocks);
}

bool cost_parts_has_row(const struct cost_parts *c, const struct tally_row *r)
{
	for (int i = 0; c->table->groups && i < c->spec.nkeys; i++)
		if (c->spec.keys[i] == BY_COMPONENT)
			return strcmp(r->key[i], component_none) != 0;
	return true;
}

/* --- columns --- */

/* Returns the unit of work, or NULL if no part has a basis. The intervals are then of shares. */
static const char *cost_parts_unit(const struct cost_parts *c)
{
	int i;

	for (i = 0; i < c->n && !c->part[i].basis.unit; i++)
		;
	return i < c->n ? c->part[i].basis.unit : NULL;
}

/* A column has one unit of work. */
static int cost_parts_check_unit(const struct cost_parts *c, struct error *err)
{
	for (int i = 0; i < c->n; i++)
		if (c->part[i].basis.unit && strcmp(c->part[i].basis.unit, cost_parts_unit(c)) != 0)
			return error_set(
				err, EINVAL,
				"the sides or variants count different work (%s and %s): give --unit, or choose with --variant and --side",
				cost_parts_unit(c), c->part[i].basis.unit);
	return 0;
}

static bool cost_parts_shows_load(const struct query *q)
{
	return q->system_load > 0 || q->load_measured;
}

static bool cost_parts_has_column(const struct cost_parts *c, const struct column *column)
{
	if (str_starts(column->name, "total_"))
		return c->spec.totals || c->table->relation;
	return !c->table->relation || !str_starts(column->name, "self_");
}

/* Adds the columns that the table has. With a `unit`, those in `in` have this unit. */
static void cost_table_add_columns(struct column *list, int *n, const struct cost_parts *c,
				   const struct column *from, size_t count, const char *in,
				   const char *unit)
{
	for (size_t i = 0; i < count; i++) {
		if (!cost_parts_has_column(c, &from[i]))
			continue;
		list[*n] = from[i];
		if (unit && from[i].unit && !strcmp(from[i].unit, in))
			list[*n].unit = unit;
		++*n;
	}
}

static void cost_table_make_columns(struct table *t, const struct cost_parts *c,
				    const struct query *q)
{
	struct column *list = arena_alloc(&t->arena, 24 * sizeof(*list));
	const char *work = cost_parts_unit(c),
		   *unit = work ? arena_printf(&t->arena, "ns/%s", work) : NULL;
	int n = 0;

	if (c->by_block) {
		const struct column block[] = {BLOCK_COLUMNS(struct cost_row)};

		list[n++] = block[0];
		list[n++] = block[1];
	}
	for (int i = 0; i < c->spec.nkeys; i++)
		list[n++] = (struct column){c->table->groups && c->spec.keys[i] == BY_COMPONENT
						    ? "group"
						    : tally_key_name(c->spec.keys[i]),
					    .type = V_STR, .member = MEMBER_TEXT,
					    .at = offsetof(struct cost_row, key) +
						  c->spec.keys[i] * sizeof(const char *)};
	cost_table_add_columns(list, &n, c, shares, array_size(shares), "ns", unit);
	if (!unit)
		cost_table_add_columns(list, &n, c, share_intervals, array_size(share_intervals),
				       "%", NULL);
	if (array_find(part, c->part, c->n, part->nruns && cost_part_is_single(part)))
		cost_table_add_columns(list, &n, c, sampling_errors, array_size(sampling_errors),
				       "%", unit);
	if (cost_parts_shows_load(q))
		list[n++] = load_column;
	t->columns = list;
	t->ncolumns = n;
	amount_columns(t, q->in);
}

/* --- rows --- */

static void cost_table_add_row(struct table *t, const struct cost_parts *c,
			       const struct cost_part *part, const struct tally_row *r)
{
	const char *unit = cost_parts_unit(c);
	const struct cost self = cost_self(part, r),
			  total = c->table->relation ? self : cost_total(part, r);
	const struct system_load *load = &part->load;
	bool single = cost_part_is_single(part);
	struct cost_row row = {
		.block = part->block,
		.unit = unit,
		.samples = part->tally.no_samples ? NAN : (double)r->samples,
		.self_share = {100 * self.share, unit ? NAN : 100 * self.share_ci},
		.total_share = {100 * total.share, unit ? NAN : 100 * total.share_ci},
		.self_ns = {self.ns, self.ns_ci},
		.total_ns = {total.ns, total.ns_ci},
		.self_sampling_error = unit ? self.ns_sampling : 100 * self.share_sampling,
		.total_sampling_error = unit ? total.ns_sampling : 100 * total.share_sampling,
		.cpu_use_pct = {self.share * load->pct,
				hypot(self.share_ci * load->pct, self.share * load->ci)},
	};

	if (!single)
		row.self_sampling_error = row.total_sampling_error = NAN;
	for (int i = 0; i < c->spec.nkeys; i++)
		row.key[c->spec.keys[i]] = *r->key[i] ? r->key[i] : NULL;
	table_add(t, struct cost_row, &row);
}

/* Returns how many rows of a part are shown. perf has chosen the rows of a text. */
static size_t cost_parts_shown(const struct cost_parts *c, const struct query *q,
			       const struct tally *f)
{
	long limit = query_limit(q, q->bare.flat ? 0 : c->table->limit);

	return !limit || (size_t)limit > f->n ? f->n : (size_t)limit;
}

static void cost_table_add_rows(struct table *t, const struct cost_parts *c, const struct query *q)
{
	size_t shown, before;

	for (int i = 0; i < c->n; i++) {
		const struct tally *f = &c->part[i].tally;

		shown = cost_parts_shown(c, q, f);
		before = t->rows;
		for (size_t row = 0; row < f->n && t->rows < before + shown; row++)
			if (cost_parts_has_row(c, &f->rows[row]))
				cost_table_add_row(t, c, &c->part[i], &f->rows[row]);
	}
}

/* --- notes --- */

static double cost_table_sum(const struct tally *f, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += f->rows[i].self;
	return sum;
}

/* Appends the sum of all rows, and the sum of the rows that are shown. */
static void cost_table_print_sums(struct str *s, const struct cost_part *part, enum amount in,
				  size_t shown)
{
	const struct tally *f = &part->tally;
	double sum = cost_table_sum(f, f->n), of = f->weight > 0 ? 100 / f->weight : NAN;

	if (f->no_self)
		return;
	str_printf(s, f->n == 1 ? "%zu row" : "all %zu rows", f->n);
	if (f->spec.relation)
		str_printf(s, " (the total of '%s')", f->spec.function);
	str_printf(s, ": %.2f %%", sum * of);
	if (!isnan(part->basis.ns))
		str_printf(s, " = %.1f %s/%s", sum * of / 100 * part->basis.ns, amount_name(in),
			   part->basis.unit);
	if (shown < f->n)
		str_printf(s, " (the %zu shown: %.2f %%, --all shows all)", shown,
			   cost_table_sum(f, shown) * of);
	if (f->softirq > 0 || f->hardirq > 0)
		str_printf(s, ", of that softirqs inside it %.2f %%, hardirqs %.2f %%",
			   f->softirq * of, f->hardirq * of);
	str_puts(s, "; ");
}

/*
 * Appends the causes of unresolved addresses, such as " (no symbols 1.20 %, no mapping 0.31 %)".
 */
static void cost_table_print_causes(struct str *s, const struct tally *f)
{
	const char *before = " (";

	for (int i = 0; i < UNRESOLVED_N; i++) {
		if (!(f->unresolved_by[i] > 0))
			continue;
		str_printf(s, "%s%s %.2f %%", before, unresolved_names[i],
			   100 * f->unresolved_by[i] / f->weight);
		before = ", ";
	}
	if (*before == ',')
		str_putc(s, ')');
}

/*
 * Appends the shares of samples that no row has. The shares are of all samples, also where --comm,
 * --dso or --symbol filters.
 */
static void cost_table_print_left_out(struct str *s, const struct tally *f)
{
	bool some = f->spec.comm || f->spec.dso || f->spec.symbol || f->spec.relation ||
		    (f->spec.workload_only && f->spec.cpus);
	const char *of = !some			 ? ""
			 : f->spec.workload_only ? " of the workload's samples"
						 : " of all samples";

	if (f->unresolved > 0)
		str_printf(s, "; unresolved addresses %.2f %%%s", 100 * f->unresolved / f->weight,
			   of);
	cost_table_print_causes(s, f);
	if (f->spec.components)
		str_printf(s, "; unclassified functions %.2f %%%s",
			   f->weight > 0 ? 100 * f->unclassified / f->weight : 0, of);
	if (f->idle > 0)
		str_printf(s, "; idle left out: %.1f %% of the weight",
			   100 * f->idle / (f->idle + f->weight + f->others));
	if (f->unsampled_idle > 0)
		str_printf(s, "; idle time without samples, by /proc/stat: %.2f %%",
			   100 * f->unsampled_idle / f->weight);
	if (f->events > 1)
		str_printf(s, "; the profile has %zu events; --event selects another", f->events);
}

/*
 * Adds one note about a part: its sums, its basis, its samples, and the samples that no row has.
 */
static void cost_table_note_part(struct table *t, const struct cost_part *part, enum amount in,
				 size_t shown)
{
	const struct tally *f = &part->tally;
	enum note_severity severity = SEVERITY_RESULT;
	freed(str_free) struct str s = {0};

	if (!f->samples && !f->n) {
		cost_print_absence(part, &s);
	} else if (f->samples && !f->n && f->spec.relation) { /* one line for all such sides */
		str_printf(&s, "no sample has '%s'", f->spec.function);
	} else {
		severity = SEVERITY_METHOD;
		cost_table_print_sums(&s, part, in, shown);
		str_printf(&s, "basis %s", part->basis.text);
		if (f->samples)
			str_printf(&s, "; %llu samples of %s", (unsigned long long)f->samples,
				   f->event ? f->event : "?");
		if (part->block.variant)
			str_printf(&s, " in %d run%s", part->nruns, part->nruns == 1 ? "" : "s");
		if (f->others > 0)
			str_printf(&s, ", %.2f %% of the weight of all samples",
				   100 * f->weight / (f->weight + f->others));
		cost_print_coverage(part, &s);
		cost_table_print_left_out(&s, f);
	}
	note_add_block(&t->notes, &part->block, cost_sum, s.buf)->severity = severity;
	t->lossy |= part->basis.uncounted;
}

/* Adds the sums of several parts in one line, before the notes of the parts. */
static void cost_table_note_sums(struct table *t, const struct cost_part *part, int n,
				 enum amount in)
{
	const char *unit = NULL;
	freed(str_free) struct str s = {0};

	for (int i = 0; i < n && n > 1; i++) {
		const struct tally *f = &part[i].tally;

		if (!f->n || f->no_self || isnan(part[i].basis.ns))
			continue;
		unit = part[i].basis.unit;
		str_printf(&s, "%s%s %s %.1f", s.len ? ", " : "all rows of each side add up to: ",
			   part[i].block.variant, part[i].block.side,
			   cost_table_sum(f, f->n) / f->weight * part[i].basis.ns);
	}
	if (unit) {
		str_printf(&s, " %s/%s", amount_name(in), unit);
		note_add(&t->notes, cost_sum, s.buf);
	}
}

/* Returns whether the part has intervals over fewer than COST_RUNS runs. */
static bool cost_part_has_few_runs(const struct cost_part *p)
{
	return !cost_part_is_single(p) &&
	       (p->nruns < COST_RUNS || (!isnan(p->basis.ns) && p->measured.n < COST_RUNS));
}

/*
 * Adds notes that hold for the whole table. While interrupts are off, the timer's interrupt waits,
 * and then the sample charges the code that enables interrupts.
 */
static void cost_table_note_rules(struct table *t, const struct cost_part *part, int n)
{
	bool several = false, few = false, exact = false, divided = false;
	const char *event = NULL;

	for (int i = 0; i < n; i++) {
		several |= part[i].nruns && !cost_part_is_single(&part[i]);
		few |= cost_part_has_few_runs(&part[i]);
		event = event ? event : part[i].tally.event;
		exact |= part[i].tally.exact;
		divided |= part[i].divided;
	}
	if (several)
		note_add(
			&t->notes, cost_interval, COST_SAMPLES,
			few ? "; it is nominal for fewer than 10 runs: intervals of six runs held the truth 91 to 97 % of the time on a quiet machine"
			    : "");
	if (divided && !several)
		note_add(&t->notes, split_estimated);
	if (event && !exact && (str_starts(event, "cpu-clock") || str_starts(event, "task-clock")))
		note_add(&t->notes, timer_blind, event);
}

/*
 * Names the blocks in which a filter matches nothing. It is a warning if no block has a match,
 * because the filter may be misspelled.
 */
static void cost_table_note_filters(struct table *t, const struct cost_parts *c)
{
	const struct tally_spec *spec = &c->spec;
	const struct {
		const char *option, *value;
	} filters[] = {{"--comm", spec->comm}, {"--dso", spec->dso}, {"--symbol", spec->symbol}};
	freed(str_free) struct str s = {0};

	for (size_t k = 0; k < array_size(filters); k++)
		if (filters[k].value)
			str_printf(&s, " %s %s", filters[k].option, filters[k].value);
	for (int i = 0; s.len && i < c->n; i++)
		if (c->part[i].tally.samples && !c->part[i].tally.n)
			note_add_block(&t->notes, &c->part[i].block, no_sample_matches, s.buf)
				->severity = t->rows ? SEVERITY_INFO : SEVERITY_WARNING;
}

/* --- notes on groups --- */

static bool cost_group_has(const struct components *rules, const struct tally_row *r)
{
	const struct function f = {.symbol = r->key[0], .module = r->key[1]};

	return components_of(rules, &f) != component_none;
}

/* Adds a note such as "the groups alloc and skb overlap: build_skb, __build_skb (self 17.85 %)". */
static void cost_groups_note_overlap(struct table *t, const struct cost_part *whole,
				     const struct components *a, const struct components *b)
{
	const struct tally *f = &whole->tally;
	freed(str_free) struct str names = {0};
	double share = 0;
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++) {
		if (!cost_group_has(a, &f->rows[i]) || !cost_group_has(b, &f->rows[i]))
			continue;
		share += 100 * f->rows[i].self / f->weight;
		if (n++ < NAMED_MAX)
			str_printf(&names, "%s%s", names.len ? ", " : "", f->rows[i].key[0]);
	}
	if (n > NAMED_MAX)
		str_printf(&names, " and %zu more", n - NAMED_MAX);
	if (n)
		note_add_block(&t->notes, &whole->block, groups_overlap, components_name(a, 0),
			       components_name(b, 0), names.buf, share);
}

static bool cost_group_is_empty(const struct cost_parts *c, int group)
{
	for (int i = group * c->nblocks; i < (group + 1) * c->nblocks; i++)
		for (size_t row = 0; row < c->part[i].tally.n; row++)
			if (cost_parts_has_row(c, &c->part[i].tally.rows[row]))
				return false;
	return true;
}

static void cost_groups_add_notes(const struct cost_parts *c, struct table *t)
{
	for (int i = 0; i < c->nrules; i++) {
		if (cost_group_is_empty(c, i))
			note_add(&t->notes, group_empty, components_name(c->rules[i], 0));
		for (int k = i + 1; k < c->nrules; k++)
			for (int block = 0; block < c->nblocks; block++)
				cost_groups_note_overlap(t, &c->whole[block], c->rules[i],
							 c->rules[k]);
	}
}

int cost_parts_add_notes(const struct cost_parts *c, struct store *s, const struct query *q,
			 struct table *t, struct error *err)
{
	const struct cost_part *parts = c->whole ? c->whole : c->part, *part;
	int rc = 0;

	if (c->whole)
		cost_groups_add_notes(c, t);
	cost_table_note_sums(t, parts, c->nblocks, q->in);
	for (int i = 0; i < c->nblocks && !rc; i++) {
		part = &parts[i];
		cost_table_note_part(t, part, q->in,
				     c->whole ? part->tally.n
					      : cost_parts_shown(c, q, &part->tally));
		if (cost_parts_shows_load(q))
			system_load_note(&c->part[i].load, &part->block, t);
		basis_note_event(t, part->basis.ns, q->in, part->tally.event);
		rc = cost_part_add_notes(s, q, part, t, err);
	}
	cost_table_note_rules(t, parts, c->nblocks);
	cost_table_note_filters(t, c);
	if (!rc && s)
		scope_capture_notes(s, t);
	return rc;
}

int cost_table_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	freed(cost_parts_free) struct cost_parts c;
	int rc = cost_parts_read(&c, cost_table_find(t->name), s, q, err);

	rc = rc ?: cost_parts_check_unit(&c, err);
	if (!rc) {
		cost_table_make_columns(t, &c, q);
		cost_table_add_rows(t, &c, q);
		rc = cost_parts_add_notes(&c, s, q, t, err);
	}
	return rc;
}
