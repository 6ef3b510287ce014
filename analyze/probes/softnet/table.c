// SPDX-License-Identifier: GPL-2.0-only
/*
 * softnet: the work of the network softirq on the side's CPUs, and the share of each CPU of the
 * host. --by cpu has a row for each CPU of the host that did any work.
 */
#include "analyze/scope/changes.h"
#include "lib/str.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct column softnet_columns[] = {
	{"variant", .type = V_STR},
	{"side", .type = V_STR},
	{"name", .type = V_STR,
	 .what = "softnet_squeezed: the softirq used up its budget; _received_rps: another CPU woke this CPU; _waiting_max: the most packets that waited at any reading"},
	{"cpu", .type = V_STR, .shape = STANDS_RIGHT, .what = "the CPU's number, with --by cpu"},
	{"value", .type = V_REAL, .spread = SPREAD_RANGE,
	 .what = "value in the window; estimate over the runs"},
	{"unit", .type = V_STR, .shape = STAYS_WHOLE},
	{"per_s", "1/s", V_REAL, .digits = 2},
	{"per_mib", "1/MiB", V_REAL, .digits = 4, .what = "per MiB of the workload's bytes"},
	{"cpus", .type = V_STR, .shape = STAYS_WHOLE,
	 .what = "the CPUs and their shares, including other CPUs than the side's"},
	{"runs", .type = V_INT, .what = "runs that measured it"},
};

enum { CPUS_SHOWN = 3 };

/* Always listed: a zero here is an answer, not noise. */
static const char *const always[] = {"processed", "dropped", "squeezed"};

/* Returns the position in the list above. Other counters come last. */
static int softnet_rank(const char *name)
{
	int i;

	for (i = 0; i < (int)array_size(always); i++)
		if (str_starts(name, always[i]))
			break;
	return i;
}

static int softnet_in_order(const void *a, const void *b)
{
	const char *x = ((const struct change_row *)a)->name;
	const char *y = ((const struct change_row *)b)->name;
	int rc = softnet_rank(x) - softnet_rank(y);

	return rc ? rc : strverscmp(x, y);
}

/* Returns the CPU number in the metric's name, or -1 for the sum over the side's CPUs. */
static int softnet_cpu_of(const char *name)
{
	const char *colon = strchr(name, ':');
	int cpu;

	return colon && sscanf(colon, ":cpu%d", &cpu) == 1 ? cpu : -1;
}

/*
 * Fills in the zeros. A CPU that counted nothing has no metric, so a run with readings counts as
 * 0.
 */
static void softnet_fill_zeros(struct changes *c)
{
	const struct change_row *all = changes_find(c, "processed");
	size_t i;
	int r;

	for (i = 0; i < c->n && all; i++)
		for (r = 0; r < c->b->n; r++)
			if (softnet_cpu_of(c->row[i].name) >= 0 && isnan(c->row[i].x[r]) &&
			    !isnan(all->x[r]))
				c->row[i].x[r] = 0;
}

static bool softnet_same_counter(const char *of_cpu, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(of_cpu, name, n) && of_cpu[n] == ':';
}

static double softnet_per_second(const struct changes *c, size_t i)
{
	double x = changes_estimate(c, &c->row[i], AS_PER_SECOND).value;

	return isnan(x) ? 0 : x;
}

/* Fills "1: 97 %, 0: 3 %", the largest share first. */
static void softnet_put_cpus(const struct changes *c, const char *name, struct table *t,
			     struct value *row)
{
	bool *said = xcalloc(c->n + 1, sizeof(*said));
	struct str s = {0};
	double all = 0;
	size_t i, shown, most;

	for (i = 0; i < c->n; i++)
		if (softnet_same_counter(c->row[i].name, name))
			all += softnet_per_second(c, i);
	for (shown = 0; shown < CPUS_SHOWN && all > 0; shown++) {
		for (most = c->n, i = 0; i < c->n; i++)
			if (softnet_same_counter(c->row[i].name, name) && !said[i] &&
			    softnet_per_second(c, i) >
				    (most < c->n ? softnet_per_second(c, most) : 0))
				most = i;
		if (most == c->n)
			break;
		said[most] = true;
		str_printf(&s, "%s%d: %.0f %%", shown ? ", " : "",
			   softnet_cpu_of(c->row[most].name),
			   100 * softnet_per_second(c, most) / all);
	}
	table_set(t, row, "cpus", value_str(t, s.buf));
	str_free(&s);
	free(said);
}

static void softnet_put_row(const struct changes *c, const struct change_row *r, struct table *t)
{
	struct estimate e = changes_estimate(c, r, AS_COUNT);
	char *name = xasprintf("softnet_%s", r->name);
	struct value *row = block_row(t, &c->b->block);
	int cpu = softnet_cpu_of(r->name);

	name[strcspn(name, ":")] = '\0';
	table_set(t, row, "name", value_str(t, name));
	table_set(t, row, "cpu", cpu < 0 ? value_none() : value_int(cpu));
	table_set(t, row, "unit", value_str(t, r->unit));
	table_set(t, row, "runs", value_int((int64_t)e.n));
	put_estimate(t, row, "value", &e);
	if (!str_ends(name, "_max")) { /* a maximum has no rate */
		e = changes_estimate(c, r, AS_PER_SECOND);
		table_set(t, row, "per_s", value_real(e.value));
		e = changes_estimate(c, r, AS_PER_MIB);
		table_set(t, row, "per_mib", value_real(e.value));
	}
	if (cpu < 0)
		softnet_put_cpus(c, r->name, t, row);
	free(name);
}

static bool softnet_wanted(const struct changes *c, const struct change_row *r,
			   const struct query *q)
{
	int cpu = softnet_cpu_of(r->name);

	if (q->by || q->cpus)
		return cpu >= 0 && (!q->cpus || cpuset_has(q->cpus, (unsigned int)cpu));
	return cpu < 0 &&
	       (q->all || softnet_rank(r->name) < (int)array_size(always) || change_happened(c, r));
}

static int softnet_put_block(struct block_table *k, struct error *err)
{
	struct changes c;
	int rc = changes_read(&c, k, "softnet_", err);
	size_t i;

	if (!rc) {
		softnet_fill_zeros(&c);
		if (c.n)
			qsort(c.row, c.n, sizeof(*c.row), softnet_in_order);
		for (i = 0; i < c.n; i++)
			if (softnet_wanted(&c, &c.row[i], k->q))
				softnet_put_row(&c, &c.row[i], k->t);
	}
	changes_free(&c);
	return rc;
}

static void softnet_add_notes(struct block_table *k)
{
	if (!k->t->rows)
		changes_nothing(k->s, k->t);
	else if (!k->q->by && !k->q->cpus)
		note_add(&k->t->notes, softnet_of_side);
}

static int softnet_run(struct store *s, const struct query *q, struct table *t, struct error *err)
{
	if (block_table_check_by(q, t, "cpu", err))
		return -EINVAL;
	return block_table_run(s, q, t, softnet_put_block, softnet_add_notes, err);
}

const struct measure measure_softnet = {
	.name = "softnet",
	.what = "packets processed, dropped and squeezed by the side's CPUs",
	MEASURE_COLUMNS(softnet_columns),
	.options = {[SOURCE_CAPTURE] = OPT_RUNS "by cpu all"},
	.whole = WHOLE_CPUS,
	.spare = "runs",
	.run = softnet_run,
};
