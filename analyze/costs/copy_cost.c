// SPDX-License-Identifier: GPL-2.0-only
/* The cost of the workload's copying, from the profile. */
#include "analyze/costs/costs.h"

#include <math.h>

/* Reads the names of the workload's threads in the measured runs. No name: not collected. */
static int copy_read_comms(struct store *s, const struct block *b, struct intern *comms,
			   struct error *err)
{
	const struct query every = {0};
	struct thread_row *rows;
	autofree struct run *runs = NULL;
	int n = scope_runs(s, &every, b, FOR_FIGURES, &runs, err), rc = n < 0 ? n : 0;

	for (int i = 0; i < n && rc >= 0; i++) {
		rc = store_threads(s, runs[i].id, &rows, err);
		for (int k = 0; k < rc; k++)
			if (rows[k].comm)
				intern_str(comms, rows[k].comm);
		free(rows);
	}
	return rc < 0 ? rc : 0;
}

/*
 * Returns whether the thread of a row is the workload's. Kernel threads work for the workload under
 * any name. The kernel names the threads of io_uring.
 */
static bool copy_thread_counts(const struct tally_row *r, const struct intern *comms)
{
	const char *comm = r->key[0], *context = r->key[1];

	return !comms->n || intern_find(comms, comm, strlen(comm)) != INTERN_NONE ||
	       str_starts(comm, "iou-") || !strcmp(context, context_names[CTX_KTHREAD]);
}

/*
 * Returns whether copying in a row is the workload's. Interrupts and softirqs work for the workload
 * under any name.
 */
static bool copy_row_counts(const struct tally_row *r, const struct intern *comms)
{
	const char *context = r->key[1];

	if (strcmp(r->key[2], "data copy") != 0)
		return false;
	return copy_thread_counts(r, comms) || context_is_interrupt(context_of_name(context));
}

static struct cost copy_cost_of_part(const struct cost_part *p, const struct intern *comms)
{
	const struct tally *f = &p->tally;
	struct tally_row sum = {.run_self = xcalloc((size_t)p->nruns + 1, sizeof(double))};
	struct cost copy = {NAN, NAN, NAN, NAN, NAN, NAN, {NAN, NAN}};

	for (size_t i = 0; i < f->n; i++) {
		if (!copy_row_counts(&f->rows[i], comms))
			continue;
		sum.self += f->rows[i].self;
		for (int run = 0; run < p->nruns; run++)
			sum.run_self[run] += f->rows[i].run_self[run];
	}
	if (sum.self > 0)
		copy = cost_self(p, &sum);
	else if (f->n)
		copy.share = 0, copy.ns = 0 * p->basis.ns;
	free(sum.run_self);
	return copy;
}

int copy_cost(struct store *s, const struct query *q, const struct block *b, bool *alone,
	      struct cost *copy, struct basis_value *basis, struct error *err)
{
	struct query plain = {.pass = q->pass,
			      .repeat = q->repeat,
			      .estimator = q->estimator,
			      .unit = q->unit,
			      .workload_only = q->workload_only && !alone};
	struct tally_spec spec = {.keys = {BY_COMM, BY_CONTEXT, BY_COMPONENT}, .nkeys = 3};
	struct components *components;
	freed(intern_free) struct intern comms = {0};
	freed(cost_part_free) struct cost_part part = {0};
	int rc = components_keep(&components, s, NULL, "basic", err);

	*copy = (struct cost){NAN, NAN, NAN, NAN, NAN, NAN, {NAN, NAN}};
	if (rc)
		return rc;
	spec.components = components;
	rc = cost_part_read(s, &plain, b, &spec, &part, err);
	if (!rc && alone) {
		rc = copy_read_comms(s, b, &comms, err);
		*alone = comms.n;
	}
	if (!rc)
		*copy = copy_cost_of_part(&part, &comms);
	*basis = part.basis;
	components_free(components);
	return rc;
}

int copying_read_direction(struct store *s, const struct query *q, const struct block *b,
			   enum direction way, double *ns, struct error *err)
{
	struct query plain = {
		.pass = q->pass, .repeat = q->repeat, .estimator = q->estimator, .unit = q->unit};
	struct tally_spec spec = {
		.keys = {BY_COMM, BY_CONTEXT, BY_SYMBOL}, .nkeys = 3, .totals = true};
	freed(intern_free) struct intern comms = {0};
	freed(cost_part_free) struct cost_part part;
	int rc;

	spec.symbol = way == SENT ? "_copy_from_iter*" : "_copy_to_iter*";
	rc = cost_part_read(s, &plain, b, &spec, &part, err);
	*ns = !rc && part.tally.samples ? 0 * part.basis.ns : NAN;
	rc = rc ?: copy_read_comms(s, b, &comms, err);
	for (size_t i = 0; !rc && i < part.tally.n; i++)
		if (copy_thread_counts(&part.tally.rows[i], &comms))
			*ns += cost_total(&part, &part.tally.rows[i]).ns;
	return rc;
}

const char *copying_base(struct store *s, const char *variant)
{
	const char *key = store_settings_key(s, variant), *base = NULL;
	autofree const char **names = NULL;
	int n = store_variants(s, &names, NULL);

	for (int i = 0; i < n && !base && strcmp(names[i], variant) != 0; i++)
		if (!strcmp(store_settings_key(s, names[i]), key))
			base = names[i];
	return base ?: variant;
}

int group_cost(struct store *s, const struct query *q, const struct block *b, const char *functions,
	       struct cost *cost, const char **unit, struct error *err)
{
	const struct query plain = {
		.pass = q->pass, .repeat = q->repeat, .estimator = q->estimator};
	struct tally_spec spec = {.keys = {BY_COMPONENT}, .nkeys = 1, .totals = true};
	autofree char *group = xasprintf("group=%s", functions);
	struct components *rules;
	freed(cost_part_free) struct cost_part part = {0};
	int rc = components_group(&rules, group, err);

	*cost = (struct cost){NAN, NAN, NAN, NAN, NAN, NAN, {NAN, NAN}};
	if (rc)
		return rc;
	spec.components = rules;
	rc = cost_part_read(s, &plain, b, &spec, &part, err);
	if (!rc && part.tally.samples) {
		cost->share = 0;
		cost->ns = 0 * part.basis.ns;
	}
	for (size_t i = 0; !rc && i < part.tally.n; i++)
		if (!strcmp(part.tally.rows[i].key[0], "group"))
			*cost = cost_total(&part, &part.tally.rows[i]);
	*unit = part.basis.unit;
	components_free(rules);
	return rc;
}
