// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/probes/power/table.h"

#include "analyze/scope/work.h"
#include "analyze/scope/placement.h"
#include "analyze/scope/changes.h"

#include <math.h>

const char *const power_source_names[] = {
	[POWER_NONE] = NULL,	 [POWER_MEASURED] = "measured", [POWER_IMPORTED] = "imported",
	[POWER_GIVEN] = "given", [POWER_MODELLED] = "modelled",
};

bool power_has_kind(struct store *s, const struct query *q, const char *kind)
{
	return store_has_metric(s, "power_w", kind, q->variant);
}

const char *power_kind(struct store *s, const struct query *q)
{
	if (q->power_kind)
		return q->power_kind;
	for (int i = 0; power_kind_names[i]; i++)
		if (power_has_kind(s, q, power_kind_names[i]))
			return power_kind_names[i];
	return NULL;
}

void power_note_kinds(struct store *s, const struct query *q, struct table *t)
{
	const char *used = power_kind(s, q);
	freed(str_free) struct str others = {0};

	for (int i = 0; used && power_kind_names[i]; i++)
		if (strcmp(power_kind_names[i], used) && power_has_kind(s, q, power_kind_names[i]))
			str_printf(&others, "%s%s", others.len ? ", " : "", power_kind_names[i]);
	if (others.len)
		note_add(&t->notes, power_kind, used, others.buf);
}

static bool power_same_host(const struct run *a, const struct run *b)
{
	return a->host && b->host ? !strcmp(a->host, b->host) : a == b;
}

/*
 * Reads the metered power of the side's host. A meter measures the host, so any side of the repeat
 * on that host may have the metric.
 */
static bool power_metered(struct store *s, const struct run *side, struct power *p)
{
	struct run_filter f = {side->variant, side->pass, NULL, side->repeat, false};
	const struct metric_key key = {"power_w", p->kind, NO_CPU};
	const char *source;
	autofree struct run *all = NULL;
	bool found;
	int n;

	if (!p->kind)
		return false;
	found = store_metric_of(s, side->id, &key, &p->watts, &source);
	n = found ? 0 : store_runs(s, &f, &all, NULL);
	for (int i = 0; i < n && !found; i++)
		found = power_same_host(&all[i], side) &&
			store_metric_of(s, all[i].id, &key, &p->watts, &source);
	if (found)
		p->source = !strcmp(source, "modelled")	  ? POWER_MODELLED
			    : !strcmp(source, "imported") ? POWER_IMPORTED
							  : POWER_MEASURED;
	return found;
}

bool power_is_modelled(const struct query *q)
{
	return q->model_idle > 0 || q->model_per_cpu > 0;
}

/* Computes a host's power with the model. The idle power and each CPU count once. */
static bool power_modelled(struct store *s, const struct query *q, const struct run *const sides[],
			   int n, int first, struct power *p)
{
	double cpu = 0;

	if (!power_is_modelled(q))
		return false;
	for (int i = first; i < n; i++)
		if (power_same_host(sides[i], sides[first]))
			cpu += cpu_pct_unshared(s, sides, i);
	p->watts = q->model_idle + q->model_per_cpu * cpu / 100;
	p->source = POWER_MODELLED;
	p->kind = NULL;
	return !isnan(p->watts);
}

static bool power_is_shared(struct store *s, const struct run *const sides[], int n)
{
	struct run_filter f = {sides[0]->variant, sides[0]->pass, NULL, sides[0]->repeat, false};
	autofree struct run *all = NULL;
	int count = store_runs(s, &f, &all, NULL), on_host = 0;

	for (int i = 0; i < count; i++)
		for (int k = 0; k < n; k++)
			if (power_same_host(&all[i], sides[k])) {
				on_host++;
				break;
			}
	return on_host > n;
}

static const struct power none = {NAN, POWER_NONE, NULL, false};

struct power power_of(struct store *s, const struct query *q, const struct run *const sides[],
		      int n)
{
	const char *kind = power_kind(s, q);
	struct power all = none, one;
	double watts = 0;
	int k;

	for (int i = 0; i < n; i++) {
		for (k = 0; k < i && !power_same_host(sides[k], sides[i]); k++)
			;
		if (k < i)
			continue;
		one = none;
		one.kind = kind;
		if (!power_metered(s, sides[i], &one) && !power_modelled(s, q, sides, n, i, &one))
			return none;
		watts += one.watts;
		if (one.source > all.source) {
			all.source = one.source;
			all.kind = one.kind;
		}
	}
	if (!n)
		return all;
	all.watts = watts;
	all.shared = power_is_shared(s, sides, n);
	return all;
}

/* --- the table --- */

/*
 * power: each kind of power with its energy per byte and its score T^n / P^m, then the domains of
 * the kind. The total of a kind uses one source. Kinds are never added up, and neither are domains
 * of different sources.
 */

static const struct column power_columns[] = {
	SIDE_COLUMNS,
	{"kind", .type = V_STR,
	 .what = "wall, platform, package, other, or model for --power-model"},
	{"domain", .type = V_STR, .what = "source and domain, or total for the whole kind"},
	{"power_w", "W", V_REAL, .digits = 2, .spread = SPREAD_RANGE,
	 .what = "mean over the window; estimate over the runs"},
	{"energy_j", "J", V_REAL, .digits = 1, .what = "energy in the window"},
	{"j_per_gb", "J/GB", V_REAL, .digits = 3, .what = "per 1e9 bytes of the workload"},
	{"roi_p", .type = V_REAL, .digits = 4, .what = "T^n / P^m, T in Gbit/s"},
	{"source", .type = V_STR, .what = "measured, imported or modelled"},
	{"runs", .type = V_INT, .what = "runs that measured it"},
};

/* The source of a row's watts: a metric or the query's model. */
struct power_table_watts {
	const struct query *q;
	const struct metric_key *metric; /* NULL for the model */
};

static double power_figure_watts(struct store *s, const struct run *r, const void *arg)
{
	const struct power_table_watts *w = arg;

	if (w->metric)
		return figure_metric_of(s, r, w->metric);
	return w->q->model_idle + w->q->model_per_cpu * figure_metric(s, r, "cpu_pct") / 100;
}

static double power_figure_joules(struct store *s, const struct run *r, const void *arg)
{
	return power_figure_watts(s, r, arg) * figure_metric(s, r, "seconds");
}

static double power_figure_per_gb(struct store *s, const struct run *r, const void *arg)
{
	return PER_GB * power_figure_joules(s, r, arg) / work_in_window(s, r, "rate_kib");
}

static double power_figure_score(struct store *s, const struct run *r, const void *arg)
{
	const struct query *q = ((const struct power_table_watts *)arg)->q;

	if (sent_datagrams(s, r))
		return NAN;
	return pow(figure_metric(s, r, "throughput"), roi_exponent_n(q)) /
	       pow(power_figure_watts(s, r, arg), roi_exponent_m(q));
}

/* THE TABLE of figures derived from watts. */
static const struct {
	const char *column;
	figure_fn figure;
	bool whole; /* only for the whole kind, not for a domain */
} figures[] = {
	{"energy_j", power_figure_joules, false},
	{"j_per_gb", power_figure_per_gb, true},
	{"roi_p", power_figure_score, true},
};

struct power_table_row {
	const char *kind, *domain, *source;
	struct power_table_watts watts;
};

static void power_table_put_row(const struct block_table *bt, const struct power_table_row *k)
{
	struct estimate e = block_estimate(bt, power_figure_watts, &k->watts);
	struct table *t = bt->t;
	struct value *row;

	if (!e.n)
		return;
	row = block_row(t, &bt->b->block);
	table_set(t, row, "kind", value_str(t, k->kind));
	table_set(t, row, "domain", value_str(t, k->domain ? k->domain : "total"));
	table_set(t, row, "source", value_str(t, k->source));
	table_set(t, row, "runs", value_int((int64_t)e.n));
	put_estimate(t, row, "power_w", &e);
	for (size_t i = 0; i < array_size(figures); i++) {
		if (figures[i].whole && k->domain)
			continue;
		e = block_estimate(bt, figures[i].figure, &k->watts);
		table_set(t, row, figures[i].column, value_real(e.value));
	}
}

/* --- the metrics power_w of KIND and of KIND/SOURCE/DOMAIN --- */

static void power_table_put_metric(const struct block_table *bt, const struct metric_row *m)
{
	autofree char *kind = xstrdup(m->key.object);
	char *domain = strchr(kind, '/'), *slash;

	if (domain)
		*domain++ = '\0';
	slash = domain ? strchr(domain, '/') : NULL;
	if (slash)
		*slash = ' '; /* "powercap package-0/core" */
	power_table_put_row(bt, &(struct power_table_row){.kind = kind,
							  .domain = domain,
							  .source = m->source,
							  .watts = {bt->q, &m->key}});
}

static int power_table_put_block(struct block_table *bt, struct error *err)
{
	static const char *const kinds[] = {"wall", "platform", "package", "other/"};
	const struct power_table_row model = {
		.kind = "model", .source = "model", .watts = {bt->q, NULL}};
	freed(metric_keys_free) struct metric_keys names = {0};
	int rc = metric_keys_add(&names, bt->s, bt->b, "power_w", OF_SIDE, err);

	for (size_t i = 0; i < array_size(kinds) && !rc; i++)
		for (size_t n = 0; n < names.n; n++)
			if (str_starts(names.m[n].key.object ?: "", kinds[i]))
				power_table_put_metric(bt, &names.m[n]);
	if (!rc && power_is_modelled(bt->q))
		power_table_put_row(bt, &model);
	return rc;
}

/* Adds the collector's reason why no run of a variant and side measured power. */
static void power_table_note_absent(struct block_table *k)
{
	const struct block_runs *b = k->list.blocks;

	if (scope_slice_absent(k->s, k->t->name)) {
		changes_nothing(k->s, k->t, NULL);
		return;
	}
	for (int i = 0; i < k->list.n; i++) {
		autofree char *reason = block_collector_reason(k->s, &b[i], "power");

		note_add_block(
			&k->t->notes, &b[i].block, table_not_measured,
			arena_printf(
				&k->t->arena,
				"%s; 'zcost analyze --power-csv' imports a meter's log, and --power-model computes modelled power",
				reason ? reason : "see 'zcost report runs'"));
	}
}

static void power_table_note_rules(const struct query *q, struct table *t)
{
	note_add(
		&t->notes, table_how,
		"kinds of power are never added up; the total of a kind is the sum of one source without the parts inside a package (core, uncore)");
	if (power_is_modelled(q))
		note_add(&t->notes, power_modelled, q->model_idle, q->model_per_cpu);
}

/* Adds a note for the variants that have no score because they send datagrams. */
static void power_table_note_datagrams(struct store *s, const struct block_list *list,
				       struct table *t)
{
	freed(absences_free) struct absences absent = {0};
	int r;

	for (int i = 0; i < list->n && t->rows; i++) {
		const struct block_runs *b = &list->blocks[i];

		for (r = 0; r < b->n && !sent_datagrams(s, &b->runs[r]); r++)
			;
		if (r < b->n)
			absences_add(&absent, "roi_p", b->block.variant, b->block.side, NULL);
	}
	absences_next(&absent, (size_t)list->n);
	absences_add_notes(&absent, t);
}

static void power_add_notes(struct block_table *k)
{
	if (k->t->rows)
		power_table_note_rules(k->q, k->t);
	else
		power_table_note_absent(k);
	power_table_note_datagrams(k->s, &k->list, k->t);
}

const struct measure measure_power = {
	.name = "power",
	.what = "watts and joules by kind and domain, joules per GB, scores",
	MEASURE_COLUMNS(power_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS OPT_MODEL "roi-n roi-m"},
	.whole = WHOLE_POWER,
	.spare = "runs energy_j source",
	.block = power_table_put_block,
	.notes = power_add_notes,
};
