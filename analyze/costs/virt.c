// SPDX-License-Identifier: GPL-2.0-only
/*
 * virt: what a virtual machine needs its hypervisor for, per unit of work. The frame counts the
 * interrupts that the side's CPUs took, the writes of registers that these CPUs made, and their
 * halts. A count of the frame is divided by the work of the same run, and times are costs of the
 * profile, which has the frame's. perf's own timer is among the interrupts of profiled runs, so
 * /proc/interrupts has those of the measure pass beside them.
 */
#include "analyze/costs/costs.h"
#include "analyze/scope/changes.h"

#include <errno.h>
#include <math.h>

static const struct column virt_columns[] = {
	SIDE_COLUMNS,
	{"kind", .type = V_STR,
	 .what = "interrupt (the side's CPUs took it), msr_write (they wrote the register), halt, steal, function (it exits to the hypervisor)"},
	{"source", .type = V_STR, .what = "frame, /proc/interrupts, /proc/stat or profile"},
	{"name", .type = V_STR, .what = "of the interrupt, register or function"},
	{"per_unit", .type = V_REAL, .digits = 4, .spread = SPREAD_RANGE,
	 .what = "count per unit of work; estimate over the runs"},
	{"ns_per_unit", "ns", V_REAL, .digits = 1, .spread = SPREAD_RANGE,
	 .what = "cost per unit of work, as in functions: of the interrupt's handler, or of the function itself; stolen time; a halt is idle time"},
	{"ns_each", "ns", V_REAL,
	 .what = "time of one in the handler: of all of them, by the frame, / their number"},
	{"per_message", .type = V_REAL, .digits = 3, .optional = true,
	 .what = "count per message: per request of the workload"},
	{"per_s", "1/s", V_REAL, .digits = 1},
	{"runs", .type = V_INT, .what = "runs that measured it"},
};

/* What the frame counts: the kinds of rows, in their order. */
static const struct virt_kind {
	const char *name, *context;
	const char *known; /* the metric of a run that counted them, where an absent count is 0 */
	bool times;	   /* counted with the times; otherwise in the syscalls pass */
} virt_kinds[] = {
	{"interrupt", "hardirq", "frame_ns:total", true},
	{"msr_write", "msr", "frame_entries:msr", false},
	{"halt", "halt", "frame_ns:total", true},
};

/* Names of registers of x86, and of interrupts that /proc/interrupts counts. */
static const struct {
	const char *key, *name;
} virt_names[] = {
	{"0x6e0", "tsc_deadline"},    /* sets the timer */
	{"0x830", "x2apic_icr"},      /* sends an interrupt to a CPU */
	{"0x83f", "x2apic_self_ipi"}, /* sends an interrupt to the CPU itself */
	{"CAL Function call interrupts", "call_function"},
	{"LOC Local timer interrupts", "local_timer"},
	{"RES Rescheduling interrupts", "reschedule"},
	{"TLB TLB shootdowns", "tlb_shootdown"}, /* the frame counts them as function calls */
};

/* Functions that exit to the hypervisor. */
static const char virt_functions[] =
	"native_write_msr* native_apic_msr_write* x2apic_send_IPI* *native_safe_halt";

/* The rows of a block. */
struct virt {
	const struct block_table *k;
	struct block_runs profiled; /* those that may have the frame's times */
	struct block_runs all;
	const struct cost_part *part;
	const char *rate; /* the metric of the rate of work; NULL: not known */
};

/* A figure of a run / its work, or / its seconds where `rate` is NULL. */
struct virt_figure {
	const char *metric, *object;
	const char *known; /* a metric of runs in which an absent figure is 0, or NULL */
	const char *rate;
};

static double virt_figure_of(struct store *s, const struct run *r, const void *arg)
{
	const struct virt_figure *f = arg;
	double x = run_metric(s, r, f->metric, f->object, NO_CPU);

	if (isnan(x) && f->known && !isnan(figure_metric(s, r, f->known)))
		x = 0;
	return x / (f->rate ? work_in_window(s, r, f->rate) : figure_metric(s, r, "seconds"));
}

static double virt_stolen(struct store *s, const struct run *r, const void *rate)
{
	return figure_metric(s, r, "cpu_steal_pct") * 1e7 / figure_metric(s, r, rate);
}

static struct value *virt_put_row(const struct virt *v, const char *kind, const char *name,
				  const char *source, int runs)
{
	struct table *t = v->k->t;
	struct value *row = block_row(t, &v->k->b->block);

	table_set(t, row, "kind", value_str(t, kind));
	table_set(t, row, "name", value_str(t, name));
	table_set(t, row, "source", value_str(t, source));
	table_set(t, row, "runs", value_int(runs));
	return row;
}

static struct estimate virt_estimate(const struct virt *v, const struct block_runs *b,
				     struct virt_figure f, const char *rate)
{
	f.rate = rate;
	return scope_estimate(v->k->s, b->runs, b->n, v->k->list.estimator, virt_figure_of, &f);
}

/* Sets ns_per_unit to the cost of a row of the profile, and returns it. */
static double virt_set_cost(const struct virt *v, struct value *row, const struct tally_row *from)
{
	struct cost c = cost_self(v->part, from);
	struct table *t = v->k->t;

	table_set(t, row, "ns_per_unit",
		  isnan(c.ns_ci)
			  ? value_real(c.ns)
			  : value_estimate(t, c.ns, fmax(c.ns - c.ns_ci, 0), c.ns + c.ns_ci));
	return c.ns;
}

/* Adds the row of a count in the runs of b. The time in an interrupt is a cost, that of a halt is
 * not. */
static void virt_put_count(const struct virt *v, const struct block_runs *b, const char *kind,
			   const char *name, struct virt_figure f)
{
	struct estimate count = virt_estimate(v, b, f, NULL);
	autofree char *symbol = xasprintf("[%s]", f.object);
	const struct tally *tally = &v->part->tally;
	struct table *t = v->k->t;
	struct value *row;

	if (!count.n)
		return;
	row = virt_put_row(v, kind, name, f.known ? "frame" : "/proc/interrupts", (int)count.n);
	table_set(t, row, "per_s", value_real(count.value));
	count = virt_estimate(v, b, f, "rate_messages");
	table_set(t, row, "per_message", value_real(count.value));
	if (!v->rate)
		return;
	count = virt_estimate(v, b, f, v->rate);
	put_estimate(t, row, "per_unit", &count);
	for (size_t i = 0; i < tally->n && f.known && !strcmp(kind, "interrupt"); i++)
		if (!strcmp(tally->rows[i].key[0], symbol))
			virt_set_cost(v, row, &tally->rows[i]);
	if (f.known && !strcmp(kind, "interrupt"))
		table_set(t, row, "ns_each",
			  value_real(scope_sum(v->k->s, b, "frame_ns", f.object) /
				     scope_sum(v->k->s, b, f.metric, f.object)));
}

/* Adds the rows of the metrics "frame_entries:CONTEXT VECTOR" with the kind's context. */
static void virt_put_kind(const struct virt *v, const struct metric_keys *keys,
			  const struct virt_kind *kind)
{
	size_t len = strlen(kind->context);

	for (size_t i = 0; i < keys->n; i++) {
		const char *object = keys->m[i].key.object, *name = object + len;

		if (strncmp(object, kind->context, len) || (*name && *name != ' '))
			continue;
		name = *name ? name + 1 : "all";
		for (size_t r = 0; r < array_size(virt_names); r++)
			if (!strcmp(virt_names[r].key, name))
				name = virt_names[r].name;
		virt_put_count(v, kind->times ? &v->profiled : &v->all, kind->name, name,
			       (struct virt_figure){"frame_entries", object, kind->known, NULL});
	}
}

/* Adds the stolen time, and the functions of the profile. */
static void virt_put_costs(const struct virt *v)
{
	const struct cost_part *p = v->part;

	struct estimate e = block_estimate(v->k, virt_stolen, v->rate);
	struct table *t = v->k->t;

	if (e.n)
		put_estimate(t, virt_put_row(v, "steal", NULL, "/proc/stat", (int)e.n),
			     "ns_per_unit", &e);
	for (size_t i = 0; i < p->tally.n; i++) {
		const char *name = p->tally.rows[i].key[0];

		if (cost_self(p, &p->tally.rows[i]).ns > 0 && str_matches_any(virt_functions, name))
			virt_set_cost(v, virt_put_row(v, "function", name, "profile", p->nruns),
				      &p->tally.rows[i]);
	}
}

static int virt_put_rows(struct virt *v, struct error *err)
{
	freed(metric_keys_free) struct metric_keys keys = {0};
	int rc = metric_keys_add(&keys, v->k->s, &v->all, "frame_entries", OF_SIDE, err);

	v->rate = v->part->basis.unit ? work_rate_metric(v->part->basis.unit) : NULL;
	for (size_t i = 0; i < array_size(virt_kinds) && !rc; i++)
		virt_put_kind(v, &keys, &virt_kinds[i]);
	if (rc)
		return rc;
	for (size_t i = 0; i < array_size(virt_names); i++)
		virt_put_count(v, v->k->b, "interrupt", virt_names[i].name,
			       (struct virt_figure){"irq", virt_names[i].key, NULL, NULL});
	if (!keys.n)
		note_add_block(
			&v->k->t->notes, &v->k->b->block, table_how,
			scope_slice_absent(v->k->s, "frame")
				?: "no run has the frame, which counts register writes, halts and the interrupts' time; see 'zcost report runs'");
	if (v->rate)
		virt_put_costs(v);
	return 0;
}

static int virt_read_runs(struct virt *v, struct error *err)
{
	const struct block *b = &v->k->b->block;
	int rc = block_every_pass(v->k->s, v->k->q, b, &v->all, err);

	if (rc)
		return rc;
	v->profiled.n = scope_runs(v->k->s, v->k->q, b, FOR_PROFILE, &v->profiled.runs, err);
	return v->profiled.n < 0 ? v->profiled.n : 0;
}

static int virt_put_block(struct block_table *k, struct error *err)
{
	const struct tally_spec spec = {.keys = {BY_SYMBOL}, .nkeys = 1};
	freed(cost_part_free) struct cost_part part = {0};
	struct virt v = {.k = k, .profiled.block = k->b->block, .part = &part};
	int rc;

	if (k->q->unit && !strcasecmp(k->q->unit, "syscall"))
		return error_set(err, EINVAL, "--unit: table 'virt' has no figures per syscall");
	rc = cost_part_read(k->s, k->q, &k->b->block, &spec, &part, err);
	rc = rc ?: virt_read_runs(&v, err);
	rc = rc ?: virt_put_rows(&v, err);
	free(v.profiled.runs);
	free(v.all.runs);
	return rc;
}

const struct measure measure_virt = {
	.name = "virt",
	.what = "what a virtual machine needs its hypervisor for: interrupts, timers, halts",
	MEASURE_COLUMNS(virt_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS "unit basis"},
	.whole = WHOLE_CPUS,
	.spare = "runs per_s ns_each",
	.collectors = "frame irq cpu perf workload",
	.block = virt_put_block,
	.how = "the frame counted interrupts and halts in the profiled runs, where perf's timer adds to local_timer, and writes of registers in the syscalls pass; /proc/interrupts is of the measure pass, without perf; a write of x2apic_icr sends an interrupt to a CPU, one of tsc_deadline sets the timer; on a virtual machine both exit to the hypervisor, and so does a halt",
};
