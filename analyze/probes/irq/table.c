// SPDX-License-Identifier: GPL-2.0-only
/*
 * irq: the interrupts of the side's CPUs and the softirqs that these CPUs ran, the most frequent
 * first. --by cpu and --cpu SET show all CPUs of the host.
 */
#include "analyze/scope/changes.h"
#include "lib/str.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct column irq_columns[] = {
	{"variant", .type = V_STR},
	{"side", .type = V_STR},
	{"kind", .type = V_STR, .what = "irq or softirq"},
	{"source", .type = V_STR,
	 .what = "the name in /proc/interrupts; total is the sum over all sources"},
	{"device", .type = V_STR, .what = "the interrupt's name"},
	{"cpu", .type = V_STR, .shape = STANDS_RIGHT, .what = "the CPU's number, with --by cpu"},
	{"count", .type = V_REAL, .digits = 1,
	 .what = "count in the window on the side's CPUs; estimate over the runs"},
	{"per_s", "1/s", V_REAL, .digits = 1, .spread = SPREAD_RANGE},
	{"per_mib", "1/MiB", V_REAL, .digits = 4, .what = "per MiB of the workload's bytes"},
	{"cpus", .type = V_STR, .shape = STAYS_WHOLE,
	 .what = "the CPUs that took the interrupt and their shares, including other CPUs than the side's"},
	{"runs", .type = V_INT, .what = "runs that measured it"},
};

struct irq_kind {
	const char *kind;
	struct changes here, elsewhere, by_cpu; /* rows: "LOC Local timer interrupts" */
};

struct irq_ranked {
	const struct change_row *row;
	double rate;
};

/* --- reading --- */

static int irq_compare_rate(const void *a, const void *b)
{
	const struct irq_ranked *x = a, *y = b;

	if (x->rate != y->rate)
		return x->rate < y->rate ? 1 : -1;
	if (x->row->cpu != y->row->cpu)
		return x->row->cpu < y->row->cpu ? -1 : 1;
	return strverscmp(x->row->name, y->row->name);
}

static struct irq_ranked *irq_rank(const struct changes *c)
{
	struct irq_ranked *list = xcalloc(c->n + 1, sizeof(*list));
	size_t i;

	for (i = 0; i < c->n; i++) {
		double rate = changes_estimate(c, &c->row[i], AS_PER_SECOND).value;

		list[i] = (struct irq_ranked){&c->row[i], isnan(rate) ? -INFINITY : rate};
	}
	if (c->n)
		qsort(list, c->n, sizeof(*list), irq_compare_rate);
	return list;
}

/*
 * Fills in the zeros. A CPU that took no interrupt of a source has no metric, so a run that read
 * the source counts as 0.
 */
static void irq_fill_by_cpu(struct irq_kind *k)
{
	const struct change_row *here, *elsewhere;
	struct change_row *row;
	size_t i;
	int r;

	for (i = 0; i < k->by_cpu.n; i++) {
		row = &k->by_cpu.row[i];
		here = changes_find(&k->here, row->name, NO_CPU);
		elsewhere = changes_find(&k->elsewhere, row->name, NO_CPU);
		for (r = 0; r < k->by_cpu.b->n; r++)
			if (isnan(row->x[r]) && ((here && !isnan(here->x[r])) ||
						 (elsewhere && !isnan(elsewhere->x[r]))))
				row->x[r] = 0;
	}
}

static int irq_read_kind(struct irq_kind *k, const struct block_table *from, const char *kind,
			 struct error *err)
{
	char *elsewhere = xasprintf("%s_elsewhere", kind);
	int rc;

	*k = (struct irq_kind){.kind = kind};
	rc = changes_read(&k->here, from, kind, OF_SIDE, err);
	if (!rc)
		rc = changes_read(&k->elsewhere, from, elsewhere, OF_SIDE, err);
	if (!rc)
		rc = changes_read(&k->by_cpu, from, kind, OF_EACH_CPU, err);
	if (!rc)
		irq_fill_by_cpu(k);
	free(elsewhere);
	return rc;
}

static void irq_free_kind(struct irq_kind *k)
{
	changes_free(&k->here);
	changes_free(&k->elsewhere);
	changes_free(&k->by_cpu);
}

/* --- rows --- */

static struct value *irq_put_row(const struct changes *c, const struct change_row *r,
				 const char *kind, struct table *t)
{
	struct value *row = block_row(t, &c->b->block);
	char *copy = xstrdup(r->name), *device = strchr(copy, ' ');

	if (device)
		*device++ = '\0';
	table_set(t, row, "kind", value_str(t, kind));
	table_set(t, row, "source", value_str(t, copy));
	table_set(t, row, "device", value_str(t, device));
	changes_put(c, r, t, row);
	free(copy);
	return row;
}

static long irq_put_sources(const struct irq_kind *k, const struct query *q, long left,
			    struct table *t)
{
	struct irq_ranked *list = irq_rank(&k->here);
	struct value *row;
	size_t i;

	for (i = 0; i < k->here.n && left; i++) {
		const char *source = list[i].row->name;
		const struct change_row *other = changes_find(&k->elsewhere, source, NO_CPU);

		if (!q->all && !change_happened(&k->here, list[i].row) &&
		    !(other && change_happened(&k->elsewhere, other)))
			continue;
		row = irq_put_row(&k->here, list[i].row, k->kind, t);
		changes_put_cpus(&k->by_cpu, source, t, row);
		left--;
	}
	free(list);
	return left;
}

static long irq_put_by_cpu(const struct irq_kind *k, const struct query *q, long left,
			   struct table *t)
{
	struct irq_ranked *list = irq_rank(&k->by_cpu);
	struct value *row;
	size_t i;

	for (i = 0; i < k->by_cpu.n && left; i++) {
		int cpu = list[i].row->cpu;

		if (q->cpus && !cpuset_has(q->cpus, (unsigned int)cpu))
			continue;
		row = irq_put_row(&k->by_cpu, list[i].row, k->kind, t);
		table_set(t, row, "cpu", value_int(cpu));
		left--;
	}
	free(list);
	return left;
}

static int irq_put_block(struct block_table *k, struct error *err)
{
	static const char *const names[] = {"irq", "softirq"};
	long left = k->q->limit ? k->q->limit : -1;
	struct irq_kind kind;
	size_t i;
	int rc = 0;

	for (i = 0; i < array_size(names) && !rc; i++) {
		rc = irq_read_kind(&kind, k, names[i], err);
		k->found += kind.here.n;
		if (!rc)
			left = k->q->by || k->q->cpus ? irq_put_by_cpu(&kind, k->q, left, k->t)
						      : irq_put_sources(&kind, k->q, left, k->t);
		irq_free_kind(&kind);
	}
	return rc;
}

static void irq_add_notes(struct block_table *k)
{
	changes_note(k);
	if (k->found && !k->q->by && !k->q->cpus)
		note_add(
			&k->t->notes, table_how,
			"counts are those of the side's CPUs; the column cpus lists the CPUs on which the host took the interrupts");
}

static int irq_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	if (block_table_check_by(q, t, "cpu", err))
		return -EINVAL;
	return block_table_run(s, q, t, irq_put_block, irq_add_notes, err);
}

const struct measure measure_irq = {
	.name = "irq",
	.what = "interrupts and softirqs: their source, rate and CPUs",
	MEASURE_COLUMNS(irq_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS "by cpu limit all"},
	.whole = WHOLE_CPUS,
	.spare = "runs count",
	.run = irq_run,
};
