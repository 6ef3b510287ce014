// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads the figures of a diff. One table per end has the printed figures. The tested figures, those
 * of each run, are in that table too, or in one table per run.
 */
#include "analyze/compare/diff.h"

#include "analyze/texts/perf_report.h"
#include "analyze/costs/basis.h"
#include "analyze/scope/runs.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

void diff_carry_notes(struct table *to, const struct table *from)
{
	const struct note *n;
	size_t i;

	to->lossy |= from->lossy;
	for (i = 0; i < from->notes.n; i++) {
		n = &from->notes.note[i];
		if (n->severity == SEVERITY_WARNING || n->severity == SEVERITY_LOSSY)
			notes_copy(&to->notes, n);
		if (note_is(n, NOTE_passes_differ))
			passes_sort_last_note(&to->notes);
	}
}

/* Copies the notes on groups, which hold for one end. */
static void diff_carry_group_notes(struct table *to, const struct table *from, const char *label)
{
	size_t i;

	for (i = 0; i < from->notes.n; i++)
		if (note_is(&from->notes.note[i], NOTE_groups_overlap) ||
		    note_is(&from->notes.note[i], NOTE_group_empty)) {
			notes_copy(&to->notes, &from->notes.note[i]);
			notes_set_side(&to->notes, label, NULL);
		}
}

/* Reads the total of a measure of groups: groups may overlap, so their sum is no total. */
static int diff_read_whole(struct diff *d, const struct comparison *c, const struct diff_spec *spec,
			   enum end e, const struct query *q, struct table *notes,
			   struct error *err)
{
	struct query whole = *q;
	struct table t;
	int ret;

	whole.runs = NULL; /* they are the groups' */
	ret = measure_run(spec->whole, c->end[e].store, &whole, &t, err);
	if (!ret) {
		diff_add_whole(d, spec, e, &t);
		diff_carry_notes(notes, &t);
	}
	table_free(&t);
	return ret;
}

static int diff_read_table(struct diff *d, const struct comparison *c, const struct diff_spec *spec,
			   enum end e, int run, const struct query *q, struct table *notes,
			   struct error *err)
{
	struct table t;
	int ret = measure_run(spec->measure, c->end[e].store, q, &t, err);

	if (!ret)
		ret = diff_add_table(d, spec, e, run, &t, err);
	if (!ret && q->runs)
		diff_add_runs(d, spec, e, &t, q->runs);
	if (!ret && run == DIFF_POOLED && spec->whole)
		diff_carry_group_notes(notes, &t, c->end[e].label);
	else if (!ret && run == DIFF_POOLED)
		diff_carry_notes(notes, &t);
	table_free(&t);
	if (!ret && run == DIFF_POOLED && spec->whole)
		ret = diff_read_whole(d, c, spec, e, q, notes, err);
	return ret;
}

static int diff_find_runs(const struct comparison *c, enum end e, const char *side,
			  const struct diff_spec *spec, struct run **runs, struct error *err)
{
	struct query q = compare_query(c, e, side);
	struct block b = {q.variant, q.side};
	int n = scope_runs(c->end[e].store, &q, &b, spec->syscalls ? FOR_SYSCALLS : FOR_PROFILE,
			   runs, err);

	if (n)
		return n;
	free(*runs);
	return error_set(err, ENODATA, "%s has no %s of its %s; capture it with the pass '%s'",
			 c->end[e].label, spec->syscalls ? "syscall accounting" : "profile", q.side,
			 spec->syscalls ? "syscalls" : "profile");
}

static int diff_read_tables(struct diff *d, const struct comparison *c, enum end e,
			    const char *side, const struct diff_spec *spec, const struct run *runs,
			    struct table *notes, struct error *err)
{
	struct query q = compare_query(c, e, side);
	struct basis_known known = {0};
	size_t i, n = d->nruns[e];
	struct cost_runs costs = {.n = n};
	int ret;

	if (!spec->syscalls)
		q.runs = &costs;
	q.known = &known;
	q.limit = LONG_MAX; /* not `all`, which would tell unresolved addresses apart */
	ret = diff_read_table(d, c, spec, e, DIFF_POOLED, &q, notes, err);
	cost_runs_free(&costs);
	for (i = 0; i < n && !ret && !q.runs; i++) {
		q.pass = runs[i].pass;
		q.repeat = runs[i].repeat;
		ret = diff_read_table(d, c, spec, e, (int)i, &q, notes, err);
	}
	return ret;
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
	q.limit = LONG_MAX;
	ret = diff_read_table(d, c, spec, e, DIFF_POOLED, &q, notes, err);
	if (q.bare.flat && q.bare.flat->samples > 0 && !(d->samples[e] > 0))
		d->samples[e] = q.bare.flat->samples; /* said once for all rows */
	return ret ? ret : diff_read_table(d, c, spec, e, 0, &q, notes, err);
}

int diff_read(struct diff *d, const struct comparison *c, enum end e, const char *side,
	      const struct diff_spec *spec, struct table *notes, struct error *err)
{
	struct run *runs;
	int n, ret;

	if (c->end[e].bare)
		return diff_read_bare(d, c, e, spec, notes, err);
	n = diff_find_runs(c, e, side, spec, &runs, err);
	if (n < 0)
		return n;
	diff_set_runs(d, e, (size_t)n);
	ret = diff_read_tables(d, c, e, side, spec, runs, notes, err);
	free(runs);
	return ret;
}

int diff_read_ends(struct diff *d, const struct comparison *c, const char *side,
		   const struct diff_spec *spec, struct table *notes, struct error *err)
{
	int e, ret = 0;

	diff_init(d);
	for (e = 0; e < ENDS && !ret; e++)
		ret = diff_read(d, c, (enum end)e, side, spec, notes, err);
	if (!ret && d->never_idle[BASE] != d->never_idle[NEW])
		note_add(&notes->notes, basis_mixed,
			 c->end[d->never_idle[BASE] ? BASE : NEW].label);
	if (ret)
		diff_free(d);
	else
		diff_judge(d, &c->rule);
	return ret;
}
