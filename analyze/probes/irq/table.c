// SPDX-License-Identifier: GPL-2.0-only
/*
 * irq: the interrupts of the side's CPUs and the softirqs that these CPUs ran, the most frequent
 * first. --by cpu and --cpu SET show all CPUs of the host.
 */
#include "analyze/scope/changes.h"
#include "lib/str.h"

#include <errno.h>
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

static void irq_put_row(const struct changes *c, const struct change_rate *ranked,
			const struct change_row *r, const char *kind, struct table *t)
{
	struct value *row = block_row(t, &c->b->block);
	char *copy = xstrdup(r->name), *device = strchr(copy, ' ');

	if (device)
		*device++ = '\0';
	table_set(t, row, "kind", value_str(t, kind));
	table_set(t, row, "source", value_str(t, copy));
	table_set(t, row, "device", value_str(t, device));
	if (r->cpu == NO_CPU)
		changes_put_cpus(ranked, c->n, r->name, t, row);
	else
		table_set(t, row, "cpu", value_int(r->cpu));
	changes_put(c, r, t, row);
	free(copy);
}

static int irq_put_block(struct block_table *k, struct error *err)
{
	static const char *const kinds[] = {"irq", "softirq"};
	long left = k->q->limit ? k->q->limit : -1;
	struct change_rate *ranked;
	struct changes c;
	size_t kind, i;
	int rc = 0;

	for (kind = 0; kind < array_size(kinds) && !rc; kind++) {
		rc = changes_read(&c, k, kinds[kind], OF_ALL, err);
		k->found += c.n;
		changes_fill_cpus(&c);
		ranked = changes_rank(&c);
		for (i = 0; i < c.n && left && !rc; i++) {
			if (!changes_wanted(&c, ranked[i].row, k->q))
				continue;
			irq_put_row(&c, ranked, ranked[i].row, kinds[kind], k->t);
			left--;
		}
		free(ranked);
		changes_free(&c);
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

const struct measure measure_irq = {
	.name = "irq",
	.what = "interrupts and softirqs: their source, rate and CPUs",
	MEASURE_COLUMNS(irq_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS "by cpu limit all"},
	.whole = WHOLE_CPUS,
	.spare = "runs count",
	.keys = "cpu",
	.block = irq_put_block,
	.notes = irq_add_notes,
};
