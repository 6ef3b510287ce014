// SPDX-License-Identifier: GPL-2.0-only
/* cpu: how the side's CPUs spent the window; 100 % is one CPU. */
#include "analyze/measures/measure.h"

#include "analyze/measures/block_table.h"
#include "analyze/measures/cpu_parts.h"
#include "analyze/measures/zero_copy.h"

static const struct column cpu_columns[] = {
	{"variant", .type = V_STR},
	{"side", .type = V_STR},
	{"runs", .type = V_INT, .what = "runs that the figures come from"},
	{"app_pct", "%", V_REAL, .digits = 1,
	 .what = "user space, of all programs; guests included"},
	{"sys_pct", "%", V_REAL, .digits = 1, .what = "kernel, on behalf of processes"},
	{"soft_pct", "%", V_REAL, .digits = 1, .what = "softirqs"},
	{"irq_pct", "%", V_REAL, .digits = 1, .what = "hardware interrupts"},
	{"steal_pct", "%", V_REAL, .digits = 1, .what = "taken by the hypervisor"},
	{"iowait_pct", "%", V_REAL, .digits = 1,
	 .what = "idle with I/O waited for; io_uring waits count here"},
	{"idle_pct", "%", V_REAL, .digits = 1, .what = "idle"},
	{"busy_pct", "%", V_REAL, .digits = 1, .spread = SPREAD_RANGE, .stem = "busy",
	 .what = "all but idle and iowait"},
};

const struct cpu_part cpu_parts[8] = {
	{"app_pct", "cpu_user_pct"},	 {"sys_pct", "cpu_system_pct"},
	{"soft_pct", "cpu_softirq_pct"}, {"irq_pct", "cpu_irq_pct"},
	{"steal_pct", "cpu_steal_pct"},	 {"iowait_pct", "cpu_iowait_pct"},
	{"idle_pct", "cpu_idle_pct"},	 {NULL, NULL},
};

static void cpu_put_block(struct store *s, const struct block_list *list,
			  const struct block_runs *b, struct table *t)
{
	struct value *row = table_row(t);
	struct estimate e;
	size_t i;

	table_set(t, row, "variant", value_str(t, b->block.variant));
	table_set(t, row, "side", value_str(t, b->block.side));
	table_set(t, row, "runs", value_int(b->n));
	for (i = 0; cpu_parts[i].column; i++) {
		e = scope_estimate(s, b->runs, b->n, list->estimator, figure_metric,
				   cpu_parts[i].metric);
		table_set(t, row, cpu_parts[i].column, value_real(e.value));
	}
	e = scope_estimate(s, b->runs, b->n, list->estimator, figure_metric, "cpu_pct");
	put_estimate(t, row, "busy_pct", &e);
}

static int cpu_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	struct block_list list;
	int rc = block_list_read(&list, s, q, FOR_FIGURES, err), i;

	if (!rc) {
		zero_copy_title(s, q, t);
		for (i = 0; i < list.n; i++)
			cpu_put_block(s, &list, &list.blocks[i], t);
		note_add(&t->notes, percent_of_cpu);
		block_list_notes(&list, s, t);
	}
	block_list_free(&list);
	return rc;
}

const struct measure measure_cpu = {
	.name = "cpu",
	.what = "how the side's CPUs spent the window; --by cpu, comm, process or thread",
	MEASURE_COLUMNS(cpu_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS},
	.spare = "runs iowait_pct steal_pct",
	.by = &measure_cpu_by,
	.collectors = "cpu",
	.run = cpu_run,
};
