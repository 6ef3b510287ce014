// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/costs/costs.h"

#include "analyze/texts/perf_report.h"
#include "analyze/costs/basis.h"
#include "lib/str.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The columns after the keys. The ns columns add the unit of work to their unit. */
static const struct column shares[] = {
	{"samples", .type = V_INT, .what = "number of samples"},
	{"self_share", "%", V_REAL, .digits = 2, .what = "self share of all samples' weights"},
	{"total_share", "%", V_REAL, .digits = 2,
	 .what = "share of samples with the row anywhere in the call chain"},
	COST_COLUMN("self"),
	COST_COLUMN("total"),
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
	{"self_sampling_error", "%", V_REAL, .digits = 2, .optional = true,
	 .what = "half the 95 % sampling error of the self cost, or of its share"},
	{"total_sampling_error", "%", V_REAL, .digits = 2, .optional = true,
	 .what = "half the 95 % sampling error of the total cost, or of its share"},
};

static const struct column load_column = {"cpu_use_pct",
					  "%",
					  V_REAL,
					  .digits = 3,
					  .spread = SPREAD_HALF,
					  .what = "self_share x the machine's load"};

enum { KEY_VARIANT = TALLY_KEYS, KEY_SIDE };

/*
 * The part of the query that concerns one table: the key columns in their order, and the fold's
 * specification.
 */
struct cost_table_plan {
	const struct cost_table *ct;
	struct tally_spec spec;
	int by_block; /* the number of key columns "variant" and "side", which come first */
	struct components *components; /* owned by the plan; NULL: use the query's */
	bool load;		       /* add the column cpu_use_pct */
	bool shares_only; /* no part has a basis, so the intervals are those of shares */
	bool single;	  /* a part has a single run: add the columns of sampling errors */
	enum amount in;
};

static bool cost_table_has_key(const struct tally_spec *spec, enum tally_key key)
{
	int i;

	for (i = 0; i < spec->nkeys; i++)
		if (spec->keys[i] == key)
			return true;
	return false;
}

static int cost_table_add_key(struct cost_table_plan *p, const char *name, struct error *err)
{
	int key = tally_key_find(name);

	if (!strcmp(name, "variant") || !strcmp(name, "side")) {
		p->by_block = 1;
		return 0;
	}
	if (key < 0)
		return error_set(
			err, EINVAL,
			"cannot split by '%s'; the keys are comm, pid, tid, thread, cpu, context, component, module, dso, symbol, variant and side",
			name);
	if (!cost_table_has_key(&p->spec, (enum tally_key)key))
		p->spec.keys[p->spec.nkeys++] = (enum tally_key)key;
	return 0;
}

static int cost_table_plan_keys(struct cost_table_plan *p, const struct query *q, struct error *err)
{
	char *copy = xstrdup(q->by ? q->by : ""), *rest = copy, *word;
	int rc = 0, i;

	while (!rc && (word = str_token(&rest, ',')))
		if (*str_trim(word))
			rc = cost_table_add_key(p, str_trim(word), err);
	for (i = 0; i < p->ct->nkeys; i++)
		if (!cost_table_has_key(&p->spec, p->ct->keys[i]))
			p->spec.keys[p->spec.nkeys++] = p->ct->keys[i];
	free(copy);
	return rc;
}

static int cost_table_make_plan(struct cost_table_plan *p, const struct cost_table *ct,
				const struct query *q, struct error *err)
{
	int rc;

	*p = (struct cost_table_plan){
		.ct = ct, .load = q->system_load > 0 || q->load_measured, .in = q->in};
	p->spec = (struct tally_spec){.totals = ct->totals,
				      .merge_unresolved = !q->all,
				      .separate_dsos = q->bare.profile && !q->bare.alike,
				      .workload_only = q->workload_only,
				      .event = q->event,
				      .in = q->in,
				      .comm = q->comm,
				      .dso = q->dso,
				      .symbol = ct->relation ? NULL : q->symbol,
				      .relation = ct->relation,
				      .function = q->symbol,
				      .cpus = q->cpus};
	rc = cost_table_plan_keys(p, q, err);
	if (!rc && !q->rules)
		rc = components_read(&p->components, q->components_file, q->components_set, err);
	p->spec.components = q->rules ? q->rules : p->components;
	return rc;
}

/* --- columns --- */

static bool cost_table_has_column(const struct cost_table *ct, const struct column *c)
{
	if (str_starts(c->name, "total_"))
		return ct->totals || ct->relation;
	return !ct->relation || !str_starts(c->name, "self_");
}

static void cost_table_add_column(struct column *list, int *n, const char *name, const char *what)
{
	list[(*n)++] = (struct column){name, .type = V_STR, .what = what};
}

static void cost_table_make_columns(struct table *t, struct cost_table_plan *p, const char *unit)
{
	struct column *list = arena_alloc(&t->arena, 24 * sizeof(*list));
	int n = 0, i;

	if (p->by_block) {
		cost_table_add_column(list, &n, "variant", NULL);
		cost_table_add_column(list, &n, "side", NULL);
	}
	for (i = 0; i < p->spec.nkeys; i++)
		cost_table_add_column(list, &n, tally_key_name(p->spec.keys[i]), NULL);
	for (i = 0; i < (int)array_size(shares); i++) {
		if (!cost_table_has_column(p->ct, &shares[i]))
			continue;
		list[n] = shares[i];
		if (unit && !strcmp(shares[i].unit ? shares[i].unit : "", "ns"))
			list[n].unit = arena_printf(&t->arena, "ns/%s", unit);
		n++;
	}
	p->shares_only = !unit;
	for (i = 0; p->shares_only && i < (int)array_size(share_intervals); i++)
		if (cost_table_has_column(p->ct, &share_intervals[i]))
			list[n++] = share_intervals[i];
	for (i = 0; p->single && i < (int)array_size(sampling_errors); i++) {
		if (!cost_table_has_column(p->ct, &sampling_errors[i]))
			continue;
		list[n] = sampling_errors[i];
		if (unit)
			list[n].unit = arena_printf(&t->arena, "ns/%s", unit);
		n++;
	}
	if (p->load)
		list[n++] = load_column;
	t->columns = list;
	t->ncolumns = n;
	amount_columns(t, p->in);
}

/* --- rows --- */

static struct value cost_table_add_share(struct table *t, const struct cost_table_plan *p,
					 const struct cost *cost)
{
	return value_half(t, 100 * cost->share, p->shares_only ? 100 * cost->share_ci : NAN);
}

static struct value cost_table_sampling(const struct cost_table_plan *p, const struct cost *cost)
{
	return value_real(p->shares_only ? 100 * cost->share_sampling : cost->ns_sampling);
}

/* Adds a row. The figures follow the keys, in the order of `shares`. */
static void cost_table_add_row(struct table *t, const struct cost_table_plan *p,
			       const struct cost_part *part, const struct tally_row *r)
{
	const struct cost self = cost_self(part, r),
			  total = p->ct->relation ? self : cost_total(part, r);
	const struct value figures[array_size(shares)] = {
		part->tally.no_samples ? value_none() : value_int((int64_t)r->samples),
		cost_table_add_share(t, p, &self),
		cost_table_add_share(t, p, &total),
		value_half(t, self.ns, self.ns_ci),
		value_half(t, total.ns, total.ns_ci),
	};
	struct value *row = table_row(t);
	int i, c = 0;

	if (p->by_block) {
		row[c++] = value_str(t, part->block.variant);
		row[c++] = value_str(t, part->block.side);
	}
	for (i = 0; i < p->spec.nkeys; i++)
		row[c++] = *r->key[i] ? value_str(t, r->key[i]) : value_none();
	for (i = 0; i < (int)array_size(shares); i++)
		if (cost_table_has_column(p->ct, &shares[i]))
			row[c++] = figures[i];
	if (cost_part_is_single(part)) {
		table_set(t, row, "self_sampling_error", cost_table_sampling(p, &self));
		table_set(t, row, "total_sampling_error", cost_table_sampling(p, &total));
	}
	if (p->load)
		table_set(t, row, "cpu_use_pct",
			  value_half(t, self.share * part->load.pct,
				     system_load_ci(&part->load, self.share, self.share_ci)));
}

static size_t cost_table_rows_shown(const struct cost_table_plan *p, const struct query *q,
				    const struct tally *f)
{
	long limit = q->limit > 0 ? q->limit : p->ct->limit;

	return q->all || !limit || (size_t)limit > f->n ? f->n : (size_t)limit;
}

/* --- notes --- */

/* Appends the sum of all rows, and the sum of the rows that are shown. */
static void cost_table_print_sums(struct str *s, const struct cost_part *part, enum amount in,
				  size_t shown)
{
	const struct tally *f = &part->tally;
	double sum = 0, seen = 0, of = f->weight > 0 ? 100 / f->weight : NAN;
	size_t i;

	for (i = 0; i < f->n; i++) {
		sum += f->rows[i].self;
		seen += i < shown ? f->rows[i].self : 0;
	}
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
		str_printf(s, " (the %zu shown: %.2f %%; --all shows all)", shown, seen * of);
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
	int i;

	for (i = 0; i < UNRESOLVED_N; i++) {
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
	bool some = f->spec.comm || f->spec.dso || f->spec.symbol || f->spec.workload_only ||
		    f->spec.relation;
	const char *of = some ? " of all samples" : "";
	if (f->unresolved > 0)
		str_printf(s, "; unresolved addresses %.2f %%%s", 100 * f->unresolved / f->weight,
			   of);
	cost_table_print_causes(s, f);
	str_printf(s, "; unclassified functions %.2f %%%s",
		   f->weight > 0 ? 100 * f->unclassified / f->weight : 0, of);
	if (f->idle > 0)
		str_printf(s, "; idle left out: %.1f %% of the weight",
			   100 * f->idle / (f->idle + f->weight));
	if (f->unsampled_idle > 0)
		str_printf(s, "; idle time without samples, by /proc/stat: %.2f %%",
			   100 * f->unsampled_idle / f->weight);
	if (f->events > 1)
		str_printf(s, "; the profile has %zu events; --event selects another", f->events);
}

/* Adds a note when a filter matches nothing, because its value may be misspelled. */
static void cost_table_note_filter(struct table *t, const struct cost_part *part)
{
	const struct tally *f = &part->tally;
	const struct {
		const char *option, *value;
	} filters[] = {
		{"--comm", f->spec.comm}, {"--dso", f->spec.dso}, {"--symbol", f->spec.symbol}};
	struct str s = {0};
	size_t i;

	for (i = 0; i < array_size(filters); i++)
		if (filters[i].value)
			str_printf(&s, " %s %s", filters[i].option, filters[i].value);
	if (s.len && f->samples && !f->n)
		note_add_block(&t->notes, &part->block, no_sample_matches, s.buf);
	str_free(&s);
}

/* A filter that matches samples of another variant or side is not misspelled. */
static void cost_table_calm_filter_notes(struct table *t)
{
	size_t i;

	for (i = 0; t->rows && i < t->notes.n; i++)
		if (note_is(&t->notes.note[i], NOTE_no_sample_matches))
			t->notes.note[i].severity = SEVERITY_INFO;
}

/*
 * Adds one note about a part: its sums, its basis, its samples, and the samples that no row has.
 */
static void cost_table_note_part(struct table *t, const struct cost_part *part, enum amount in,
				 size_t shown)
{
	const struct tally *f = &part->tally;
	struct str s = {0};

	if (!f->samples && !f->n) {
		cost_print_absence(part, &s);
	} else {
		cost_table_print_sums(&s, part, in, shown);
		str_printf(&s, "basis %s", part->basis.text);
		if (f->samples)
			str_printf(&s, "; %llu samples of %s", (unsigned long long)f->samples,
				   f->event ? f->event : "?");
		if (part->block.variant)
			str_printf(&s, " in %d run%s", part->nruns, part->nruns == 1 ? "" : "s");
		cost_print_coverage(part, &s);
		cost_print_workload(part, &s);
		cost_table_print_left_out(&s, f);
	}
	if (f->samples && !f->n && f->spec.relation) /* one line for all such sides */
		note_add_block(&t->notes, &part->block, function_unseen, f->spec.function);
	else
		note_add_block(&t->notes, &part->block, cost_sum, s.buf);
	t->lossy |= part->basis.uncounted;
	str_free(&s);
	cost_table_note_filter(t, part);
}

/*
 * Adds a note for timer events. While interrupts are off, the timer's interrupt waits, and then
 * the sample charges the code that enables interrupts.
 */
static void cost_table_note_timer(struct table *t, const char *event)
{
	if (event && (str_starts(event, "cpu-clock") || str_starts(event, "task-clock")))
		note_add(&t->notes, timer_blind, event);
}

/* --- the two sources --- */

static void cost_table_fill_runs(struct cost_runs *runs, const struct query *q,
				 const struct cost_part *part, size_t shown)
{
	const struct tally *f = &part->tally;
	size_t i, row, n = runs->n;
	const double *self;

	n = (size_t)f->nruns < n ? (size_t)f->nruns : n;
	runs->n = n = part->measured.n < n ? part->measured.n : n;
	runs->never_idle = q->basis == BASIS_DEFAULT && !part->basis.exclude_idle;
	runs->ns = xcalloc(shown * n + 1, sizeof(*runs->ns));
	runs->error = xcalloc(shown + 1, sizeof(*runs->error));
	for (row = 0; row < shown; row++) {
		self = f->rows[row].run_self;
		for (i = 0; i < n; i++)
			if (self[i] > 0)
				runs->ns[row * n + i] =
					self[i] / f->run_weight[i] * part->measured.ns[i];
		runs->error[row] = cost_self(part, &f->rows[row]).error;
	}
	runs->rows = shown;
}

static void cost_table_add_part(struct table *t, const struct cost_table_plan *p,
				const struct query *q, const struct cost_part *part)
{
	size_t shown = cost_table_rows_shown(p, q, &part->tally), i;

	for (i = 0; i < shown; i++)
		cost_table_add_row(t, p, part, &part->tally.rows[i]);
	if (q->runs)
		cost_table_fill_runs(q->runs, q, part, shown);
	cost_table_note_part(t, part, p->in, shown);
	if (p->load)
		system_load_note(&part->load, &part->block, t);
	basis_note_event(t, part->basis.ns, p->in, part->tally.event);
}

static int cost_table_add_notes(struct store *s, const struct query *q, const struct block *b,
				struct table *t, struct error *err)
{
	int rc = scope_profile_notes(s, q, b, t, err);

	return rc ? rc : scope_basis_notes(s, b, t, err);
}

static int cost_table_run_blocks(struct cost_table_plan *p, struct store *s, const struct query *q,
				 const struct block *blocks, int n, struct table *t,
				 struct error *err)
{
	struct cost_part *parts = xcalloc((size_t)n + 1, sizeof(*parts));
	const char *unit = NULL;
	bool any = false, several = false, few = false;
	int i, rc = 0;

	p->by_block |= n > 1;
	for (i = 0; i < n && !rc; i++) {
		rc = cost_part_read(s, q, &blocks[i], &p->spec, &parts[i], err);
		if (p->load)
			parts[i].load = system_load_of(s, q, &blocks[i]);
		unit = unit ? unit : parts[i].basis.unit;
		any |= parts[i].nruns > 0;
		several |= parts[i].nruns && !cost_part_is_single(&parts[i]);
		few |= cost_part_has_few_runs(&parts[i]);
		p->single |= parts[i].nruns && cost_part_is_single(&parts[i]);
	}
	cost_table_make_columns(t, p, unit);
	for (i = 0; i < n && !rc; i++) {
		cost_table_add_part(t, p, q, &parts[i]);
		rc = cost_table_add_notes(s, q, &blocks[i], t, err);
	}
	cost_table_calm_filter_notes(t);
	if (several && !rc)
		note_add(&t->notes, cost_interval, COST_SAMPLES);
	if (few && !rc)
		note_add(&t->notes, cost_few_runs, COST_RUNS);
	if (any && !rc)
		cost_table_note_timer(t, parts[0].tally.event);
	for (i = 0; i < n; i++)
		cost_part_free(&parts[i]);
	free(parts);
	return rc;
}

static int cost_table_run_store(struct cost_table_plan *p, struct store *s, const struct query *q,
				struct table *t, struct error *err)
{
	struct block *blocks = NULL;
	int n = scope_blocks(s, q, &blocks, err), rc = n < 0 ? n : 0;

	if (!rc)
		rc = cost_table_run_blocks(p, s, q, blocks, n, t, err);
	if (!rc && q->in == IN_NS)
		rc = cost_note_workload(s, q, t, err);
	if (!rc)
		scope_capture_notes(s, t);
	free(blocks);
	return rc;
}

/* Refuses a query that the text of perf report has no data for. */
static int cost_table_check_flat(const struct cost_table_plan *p, const struct query *q,
				 struct error *err)
{
	enum tally_key key;
	int i;

	for (i = 0; i < p->spec.nkeys; i++) {
		key = p->spec.keys[i];
		if (key == BY_CPU || key == BY_CONTEXT || key == BY_PID || key == BY_TID ||
		    key == BY_THREAD || (key == BY_COMM && !q->bare.flat->has_comm) ||
		    ((key == BY_COMPONENT || key == BY_SYMBOL) && !q->bare.flat->has_symbol))
			return error_set(
				err, EINVAL,
				"the text of perf report has no %s; give the perf.data itself with --perf",
				tally_key_name(key));
	}
	return flat_check_samples(q->bare.flat, q, err);
}

static int cost_table_run_file(struct cost_table_plan *p, const struct query *q, struct table *t,
			       struct error *err)
{
	struct cost_part part = {.load = {.pct = q->system_load}};
	unsigned int ncpus;
	int rc = q->bare.flat ? cost_table_check_flat(p, q, err) : 0;

	if (rc)
		return rc;
	p->single = true;
	rc = cost_part_read_file(q, &p->spec, &part, &ncpus, t, err);
	if (!rc) {
		cost_table_make_columns(t, p, part.basis.unit);
		cost_table_add_part(t, p, q, &part);
	}
	if (!rc && q->bare.profile) {
		cost_table_note_timer(t, part.tally.event);
		profile_add_notes(q->bare.profile, &t->notes);
		if (q->in == IN_NS && !isnan(part.basis.ns) && !part.basis.exclude_idle)
			cost_note_wall_coverage(&part, q, ncpus, t);
		t->lossy |= notes_have(&t->notes, SEVERITY_LOSSY);
	}
	if (!rc && q->bare.flat) {
		flat_note_tables(q->bare.flat, t);
		flat_note_cpus(q, t);
	}
	cost_part_free(&part);
	return rc;
}

int cost_table_run(const struct cost_table *ct, struct store *s, const struct query *q,
		   struct table *t, struct error *err)
{
	struct cost_table own = *ct;
	struct cost_table_plan p;
	int rc;

	own.totals |= q->children;
	if (!s && !q->bare.profile && !q->bare.flat)
		return error_set(err, EINVAL, "table '%s' needs a capture, --perf or --perf-report",
				 t->name);
	if (q->bare.flat && q->children && !ct->totals)
		return error_set(
			err, EINVAL,
			"--children: the rows of a text call each other and cannot be added up; give the perf.data itself with --perf");
	rc = cost_table_make_plan(&p, &own, q, err);
	if (!rc)
		rc = q->bare.profile || q->bare.flat ? cost_table_run_file(&p, q, t, err)
						     : cost_table_run_store(&p, s, q, t, err);
	components_free(p.components);
	return rc;
}
