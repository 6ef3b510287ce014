// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the figures of a diff. The costs of a profile have the figures of each run. System calls
 * have one table of all runs, and one for each run.
 */
#include "analyze/compare/diff.h"

#include "analyze/texts/text.h"
#include "analyze/costs/basis.h"
#include "analyze/probes/syscalls/table.h"
#include "analyze/scope/runs.h"

#include <errno.h>
#include <math.h>

void diff_carry_notes(struct table *to, const struct table *from)
{
	const struct note *n;

	to->lossy |= from->lossy;
	for (size_t i = 0; i < from->notes.n; i++) {
		n = &from->notes.note[i];
		if (n->severity == SEVERITY_WARNING || n->severity == SEVERITY_LOSSY)
			notes_copy(&to->notes, n);
		if (note_is(n, NOTE_passes_differ))
			passes_sort_last_note(&to->notes);
	}
}

/* Labels the notes on groups, which hold for one end, and copies those that are no warnings. */
static void diff_carry_group_notes(struct table *to, struct table *from, const char *label)
{
	for (size_t i = 0; i < from->notes.n; i++) {
		struct note *n = &from->notes.note[i];

		if (!note_is(n, NOTE_groups_overlap) && !note_is(n, NOTE_group_empty))
			continue;
		n->variant = label;
		n->side = NULL;
		if (note_is(n, NOTE_groups_overlap))
			notes_copy(&to->notes, n);
	}
}

/* --- costs of profiles --- */

/*
 * Fills the cost of each run: share i x basis i, which is 0 where the run has no sample in the row.
 * A bare file is one run with the basis of the command line.
 */
static void diff_add_runs(const struct diff *d, enum end e, const struct cost_part *part,
			  const double *weights, double cost, struct diff_row *row)
{
	const double *all = part->tally.run_weight;

	if (!part->block.variant)
		row->runs[e][0] += cost;
	for (size_t i = 0; part->block.variant && i < d->nruns[e]; i++)
		if (all[i] > 0)
			row->runs[e][i] += weights[i] / all[i] * part->measured.ns[i];
}

static void diff_add_row_of(struct diff *d, enum end e, const struct cost_parts *c,
			    const struct cost_part *part, const struct tally_row *r)
{
	const struct cost self = cost_self(part, r);
	const struct diff_cost cost = {.key = r->key[0],
				       .key2 = c->spec.nkeys > 1 && *r->key[1] ? r->key[1] : NULL,
				       .cost = self.ns,
				       .sampling =
					       cost_part_is_single(part) ? self.ns_sampling : NAN,
				       .samples = part->tally.no_samples ? 0 : (double)r->samples,
				       .count = c->spec.totals ? cost_total(part, r).ns : NAN};
	struct diff_row *row = diff_add_cost(d, e, &cost);

	diff_add_runs(d, e, part, r->run_self, self.ns, row);
	if (d->has_errors[e])
		row->error[e] = stats_error_add(row->error[e], self.error);
}

/* Adds up all functions of a side: groups may overlap, so their sum is no total. */
static void diff_add_whole(struct diff *d, enum end e, const struct cost_part *whole)
{
	const struct tally *f = &whole->tally;

	for (size_t i = 0; i < f->n; i++) {
		d->total[e] += cost_self(whole, &f->rows[i]).ns;
		d->samples[e] += f->no_samples ? 0 : (double)f->rows[i].samples;
	}
}

static int diff_add_parts(struct diff *d, enum end e, const struct cost_parts *c,
			  const struct query *q, struct error *err)
{
	const struct cost_part *part = c->part;
	size_t n;
	int rc = 0;

	if (part->block.variant) {
		n = (size_t)part->nruns < part->measured.n ? (size_t)part->nruns : part->measured.n;
		d->nruns[e] = n < d->nruns[e] ? n : d->nruns[e];
		d->never_idle[e] = q->basis == BASIS_DEFAULT && !part->basis.exclude_idle;
		d->has_errors[e] = true;
	}
	if (part->basis.unit)
		rc = diff_set_unit(d, part->basis.unit, err);
	for (int i = 0; i < c->n && !rc; i++) {
		part = &c->part[i];
		if (part->tally.n && (isnan(part->basis.ns) || part->tally.no_self))
			return error_set(
				err, ENODATA, "the cost of a unit of work is not known: %s",
				q->workload_only
					? part->basis.text
					: "the workload's output has no amount of work (zcost capture --units)");
		for (size_t row = 0; row < part->tally.n; row++)
			if (cost_parts_has_row(c, &part->tally.rows[row]) &&
			    *part->tally.rows[row].key[0])
				diff_add_row_of(d, e, c, part, &part->tally.rows[row]);
	}
	if (c->whole && !rc)
		diff_add_whole(d, e, c->whole);
	return rc;
}

static int diff_read_costs(struct diff *d, const struct comparison *c, enum end e,
			   const struct query *q, const struct diff_spec *spec, struct table *notes,
			   struct error *err)
{
	struct store *s = c->end[e].store;
	freed(cost_parts_free) struct cost_parts parts = {0};
	freed(table_free) struct table t = {0};
	int rc = s && q->unit ? basis_require_unit(s, q, err) : 0;

	if (rc)
		return rc;
	d->parts = spec->groups;
	table_init(&t, spec->measure, NULL, 0);
	rc = cost_parts_read(&parts, cost_table_find(spec->measure), s, q, err);
	rc = rc ?: diff_add_parts(d, e, &parts, q, err);
	rc = rc ?: cost_parts_add_notes(&parts, s, q, &t, err);
	if (!rc) {
		diff_carry_group_notes(notes, &t, c->end[e].label);
		diff_carry_notes(notes, &t);
	}
	return rc || !s ? rc : store_failed(s, err);
}

/* --- system calls --- */

/* Adds the calls of one run, or of all runs where it is NULL. */
static int diff_add_syscalls(struct diff *d, const struct comparison *c, enum end e,
			     const struct run *run, size_t i, struct query *q, struct table *notes,
			     struct error *err)
{
	freed(table_free) struct table t = {0};
	autofree struct syscall_cost *calls = NULL;
	int n, rc;

	q->pass = run ? run->pass : c->query.pass;
	q->repeat = run ? run->repeat : c->query.repeat;
	n = syscall_costs_read(c->end[e].store, q, &calls, &t, err);
	rc = n < 0 ? n : 0;
	for (int k = 0; k < n && !rc; k++) {
		const struct diff_cost cost = {.key = calls[k].name,
					       .cost = calls[k].ns_per_work,
					       .count = calls[k].calls_per_work,
					       .sampling = NAN};

		if (isnan(cost.cost))
			rc = error_set(
				err, ENODATA,
				"the cost of a unit of work is not known: the workload's output has no amount of work (zcost capture --units)");
		else if (!run)
			diff_add_cost(d, e, &cost);
		else
			diff_add_run(d, e, i, &cost);
	}
	if (!rc && !run)
		diff_carry_notes(notes, &t);
	return rc;
}

static int diff_read_syscalls(struct diff *d, const struct comparison *c, enum end e,
			      struct query *q, const struct run *runs, struct table *notes,
			      struct error *err)
{
	const struct work_kind *unit;
	int rc;

	q->unit = q->unit ?: work_unit(c->end[e].store, runs, (int)d->nruns[e]);
	unit = syscalls_unit(q, err);
	rc = !unit ? -ENODATA : q->unit ? basis_require_unit(c->end[e].store, q, err) : 0;
	rc = rc ?: diff_set_unit(d, unit->unit, err);
	rc = rc ?: diff_add_syscalls(d, c, e, NULL, 0, q, notes, err);
	for (size_t i = 0; i < d->nruns[e] && !rc; i++)
		rc = diff_add_syscalls(d, c, e, &runs[i], i, q, notes, err);
	return rc ? rc : store_failed(c->end[e].store, err);
}

/* Reads a bare file: one run, with the basis of the command line. */
static int diff_read_bare(struct diff *d, const struct comparison *c, enum end e,
			  const struct diff_spec *spec, struct table *notes, struct error *err)
{
	struct query q = compare_query(c, e, NULL);
	int ret;

	if (spec->syscalls)
		return error_set(
			err, EINVAL,
			"%s is no capture; files have functions, components, contexts and modules to compare",
			c->end[e].label);
	if (!(q.work.rate > 0) && !(q.work.units > 0))
		return error_set(
			err, EINVAL,
			"%s does not tell the work done: give --rate BASE,NEW in units per second (its CPUs fully used), or --units and --busy-ns",
			c->end[e].label);
	diff_set_runs(d, e, 1);
	ret = diff_read_costs(d, c, e, &q, spec, notes, err);
	if (q.bare.flat && q.bare.flat->samples > 0 && !(d->samples[e] > 0))
		d->samples[e] = q.bare.flat->samples; /* said once for all rows */
	return ret;
}

int diff_read_others(struct diff *d, const struct comparison *c, enum end e, const char *side,
		     struct error *err)
{
	const struct query q = compare_query(c, e, side);
	const struct block b = {q.variant, q.side};
	autofree struct run *runs = NULL;
	int n = scope_runs(c->end[e].store, &q, &b, FOR_FIGURES, &runs, err);

	if (n > 0)
		d->others[e] = busy_others_pct(c->end[e].store, &q, runs, n);
	return n < 0 ? n : 0;
}

int diff_read(struct diff *d, const struct comparison *c, enum end e, const char *side,
	      const struct diff_spec *spec, struct table *notes, struct error *err)
{
	struct query q = compare_query(c, e, side);
	const struct block b = {q.variant, q.side};
	autofree struct run *runs = NULL;
	int n, ret;

	if (c->end[e].bare)
		return diff_read_bare(d, c, e, spec, notes, err);
	n = scope_runs(c->end[e].store, &q, &b, spec->syscalls ? FOR_SYSCALLS : FOR_PROFILE, &runs,
		       err);
	if (n < 0)
		return n;
	if (!n)
		return error_set(err, ENODATA,
				 "%s has no %s of its %s; capture it with the pass '%s'",
				 c->end[e].label, spec->syscalls ? "syscall accounting" : "profile",
				 q.side, spec->syscalls ? "syscalls" : "profile");
	diff_set_runs(d, e, (size_t)n);
	ret = spec->syscalls ? diff_read_syscalls(d, c, e, &q, runs, notes, err)
			     : diff_read_costs(d, c, e, &q, spec, notes, err);
	if (!ret && !spec->syscalls)
		ret = diff_read_others(d, c, e, side, err);
	return ret;
}

int diff_read_ends(struct diff *d, const struct comparison *c, const char *side,
		   const struct diff_spec *spec, struct table *notes, struct error *err)
{
	int ret = 0;

	*d = (struct diff){0};
	for (int e = 0; e < ENDS && !ret; e++) {
		ret = diff_read(d, c, (enum end)e, side, spec, notes, err);
		compare_note_others(c, (enum end)e, side, d->others[e], notes);
	}
	if (!ret && d->never_idle[BASE] != d->never_idle[NEW])
		note_add(&notes->notes, basis_mixed,
			 c->end[d->never_idle[BASE] ? BASE : NEW].label);
	if (ret)
		diff_free(d);
	else
		diff_judge(d, &c->rule);
	return ret;
}
