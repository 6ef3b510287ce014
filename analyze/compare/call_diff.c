// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/compare/diff.h"

#include <errno.h>
#include <math.h>

/* A frame with at least this share of a test's first frame in each run shares the test. */
#define SAME_TEST 0.98

/* The weights that are in one region, while its rows are made. */
struct region_totals {
	double **runs; /* by run of the tree, by frame */
	double *samples[ENDS];
};

void call_diff_free(struct call_diff *cd)
{
	for (int i = 0; i < REGIONS; i++)
		free(cd->changes[i]);
	for (int i = 0; i < ENDS; i++)
		cost_part_free(&cd->part[i]);
	diff_free(&cd->d);
	call_tree_free(&cd->tree);
}

/* --- reading --- */

static size_t call_diff_first(const struct call_diff *cd, int e)
{
	return e == BASE ? 0 : (size_t)cd->part[BASE].nruns;
}

/* Returns the cost of a unit of weight. */
static double call_diff_per(const struct call_diff *cd, int e)
{
	return cd->part[e].basis.ns / cd->part[e].tally.weight;
}

static int call_diff_read_end(struct call_diff *cd, const struct comparison *c, enum end e,
			      struct table *notes, struct error *err)
{
	struct query q = compare_query(c, e, cd->side);
	const struct block b = {c->end[e].bare ? NULL : q.variant, q.side};
	struct cost_part *part = &cd->part[e];
	bool bare = c->end[e].bare;
	size_t n;
	int rc;

	if (q.bare.flat)
		return error_set(err, EINVAL, "%s is a text without call chains; give a perf.data",
				 c->end[e].label);
	rc = call_tree_read(&cd->tree, c->end[e].store, &q, &b, part, notes, err);
	if (rc)
		return rc;
	if (bare && isnan(part->basis.ns))
		part->basis = (struct basis_value){.ns = 100, .unit = CALL_SHARES};
	if (!part->nruns || !(part->tally.weight > 0))
		return error_set(
			err, ENODATA,
			bare ? "%s has no such sample%s"
			     : "%s has no profile of its %s; capture it with the pass 'profile'",
			c->end[e].label, bare ? "" : q.side);
	if (isnan(part->basis.ns))
		return error_set(err, ENODATA, "%s: the cost of a unit of work is not known: %s",
				 c->end[e].label, part->basis.text);
	rc = diff_set_unit(&cd->d, part->basis.unit, err);
	if (rc)
		return rc;
	cd->unit = cd->d.unit;
	cd->d.never_idle[e] = q.basis == BASIS_DEFAULT && !part->basis.exclude_idle;
	cd->d.has_errors[e] = true;
	cd->d.samples[e] = (double)part->tally.samples;
	n = (size_t)part->nruns;
	diff_set_runs(&cd->d, e, n < part->measured.n ? n : part->measured.n);
	if (!bare)
		rc = diff_read_others(&cd->d, c, e, cd->side, err);
	compare_note_others(c, e, cd->side, cd->d.others[e], notes);
	return rc;
}

/* --- regions --- */

/* What decides the region of a frame: its costs with all that it calls, and the runs with samples.
 */
struct presence {
	double *cost;
	int *runs;
	double chance; /* a frame that costs less may lack samples at this end by chance */
};

static void presence_make(struct presence *p, const struct call_diff *cd, int e)
{
	const struct call_tree *t = &cd->tree;
	const struct cost_part *part = &cd->part[e];

	p->chance = stats_proportion(0, (unsigned)part->tally.samples, 0.95).hi * part->basis.ns;
	p->cost = xcalloc(t->nframes + 1, sizeof(*p->cost));
	p->runs = xcalloc(t->nframes + 1, sizeof(*p->runs));
	for (size_t run = 0; run < (size_t)part->nruns; run++) {
		autofree double *of_run = call_tree_totals(t, call_diff_first(cd, e) + run,
							   call_diff_first(cd, e) + run + 1);

		for (size_t i = 0; i < t->nframes; i++) {
			p->cost[i] += of_run[i] * call_diff_per(cd, e);
			p->runs[i] += of_run[i] > 0;
		}
	}
}

/* Returns whether the frame is at this end alone, in nearly all runs, and costs too much for the
 * other end's lack of it to be chance. */
static bool presence_is_alone(const struct presence p[ENDS], const struct call_diff *cd, int e,
			      size_t frame)
{
	int nruns = cd->part[e].nruns;

	return !p[!e].runs[frame] && 10 * (nruns - p[e].runs[frame]) <= nruns &&
	       p[e].cost[frame] > p[!e].chance;
}

/* Returns the region of each frame's own samples. The caller frees it. */
static uint8_t *call_diff_find_regions(const struct call_diff *cd)
{
	const struct call_tree *t = &cd->tree;
	uint8_t *region = xcalloc(t->nframes + 1, sizeof(*region));
	struct presence p[ENDS];

	for (int e = 0; e < ENDS; e++)
		presence_make(&p[e], cd, e);
	for (size_t i = 0; i < t->nframes; i++) {
		uint32_t parent = t->frames[i].parent;

		if (parent != CALL_NONE && region[parent] != IN_BOTH)
			region[i] = region[parent];
		else if (presence_is_alone(p, cd, BASE, i))
			region[i] = VANISHED;
		else if (presence_is_alone(p, cd, NEW, i))
			region[i] = APPEARED;
	}
	for (int e = 0; e < ENDS; e++) {
		free(p[e].cost);
		free(p[e].runs);
	}
	return region;
}

/* Fills the weights in a region, and the costs that they make. */
static void region_totals_make(struct region_totals *r, struct call_diff *cd, const uint8_t *region,
			       enum call_region of)
{
	const struct call_tree *t = &cd->tree;
	struct call_change *changes = xcalloc(t->nframes + 1, sizeof(*changes));
	int e;

	r->runs = xcalloc(t->nruns + 1, sizeof(*r->runs));
	for (e = 0; e < ENDS; e++)
		r->samples[e] = xcalloc(t->nframes + 1, sizeof(double));
	for (size_t run = 0; run < t->nruns; run++) {
		const struct call_run *from = &t->runs[run];

		e = run >= call_diff_first(cd, NEW);
		r->runs[run] = xcalloc(t->nframes + 1, sizeof(double));
		for (size_t i = 0; i < from->n && i < t->nframes; i++)
			if (region[i] == of) {
				r->runs[run][i] = from->weight[i];
				r->samples[e][i] += (double)from->samples[i];
			}
		call_tree_add_up(t, r->runs[run]);
		for (size_t i = 0; i < t->nframes; i++)
			changes[i].cost[e] += r->runs[run][i] * call_diff_per(cd, e);
	}
	for (e = 0; e < ENDS; e++) {
		call_tree_add_up(t, r->samples[e]);
		for (size_t i = 0; i < t->nframes; i++)
			if (t->frames[i].parent == CALL_NONE) {
				cd->regions[of].cost[e] += changes[i].cost[e];
				cd->d.total[e] += changes[i].cost[e];
			}
	}
	cd->changes[of] = changes;
}

static void region_totals_free(struct region_totals *r, const struct call_tree *t)
{
	array_free(e, r->runs, t->nruns, free(*e));
	free(r->samples[BASE]);
	free(r->samples[NEW]);
}

/* --- tests --- */

static bool call_diff_is_same_test(const struct region_totals *r, size_t nruns, uint32_t first,
				   uint32_t frame)
{
	for (size_t run = 0; run < nruns; run++)
		if (!(r->runs[run][frame] >= SAME_TEST * r->runs[run][first]))
			return false;
	return true;
}

static void call_diff_fill_end(struct call_diff *cd, int e, const struct region_totals *r,
			       uint32_t frame, struct diff_row *row)
{
	const struct cost_part *part = &cd->part[e];
	autofree double *weights = xcalloc((size_t)part->nruns + 1, sizeof(*weights));
	struct tally_row total = {.run_total = weights};
	struct cost cost;

	for (int run = 0; run < part->nruns; run++) {
		weights[run] = r->runs[call_diff_first(cd, e) + (size_t)run][frame];
		total.total += weights[run];
		if ((size_t)run < cd->d.nruns[e] && part->tally.run_weight[run] > 0)
			row->runs[e][run] =
				weights[run] / part->tally.run_weight[run] * part->measured.ns[run];
	}
	cost = cost_total(part, &total);
	row->cost[e] = cost.ns;
	row->error[e] = cost.error;
	row->sampling[e] = cost.ns_sampling;
	row->samples[e] = r->samples[e][frame];
	row->seen[e] = total.total > 0;
}

/* Finds the first frame of each frame's test, and adds a row for each test. */
static void call_diff_add_rows(struct call_diff *cd, enum call_region of,
			       const struct region_totals *r)
{
	const struct call_tree *t = &cd->tree;
	double least = FAMILY_SHARE * (cd->d.total[BASE] + cd->d.total[NEW]);
	struct diff_row *row;

	for (uint32_t i = 0; i < t->nframes; i++) {
		struct call_change *x = &cd->changes[of][i];
		uint32_t parent = t->frames[i].parent, first = CALL_NONE;

		x->first = CALL_NONE;
		if (!(x->cost[BASE] + x->cost[NEW] >= least))
			continue;
		if (parent != CALL_NONE)
			first = cd->changes[of][parent].first;
		if (first != CALL_NONE && call_diff_is_same_test(r, t->nruns, first, i)) {
			x->first = first;
			continue;
		}
		x->first = i;
		row = diff_add_row(&cd->d, "", of * t->nframes + i);
		for (int e = 0; e < ENDS; e++)
			call_diff_fill_end(cd, e, r, i, row);
	}
}

/* Returns the rows by their ids. Judging has sorted the rows. The caller frees the array. */
static const struct diff_row **call_diff_index_rows(const struct call_diff *cd)
{
	const struct diff_row **rows = xcalloc(REGIONS * cd->tree.nframes + 1, sizeof(*rows));

	for (size_t i = 0; i < cd->d.n; i++)
		rows[cd->d.rows[i].id] = &cd->d.rows[i];
	return rows;
}

/* Gives each frame its test, unless the parent did not pass. `rows` are those of the region. */
static void call_diff_link_rows(struct call_diff *cd, enum call_region of,
				const struct diff_row *const *rows, double alpha)
{
	const struct call_tree *t = &cd->tree;
	struct call_change *changes = cd->changes[of];
	autofree bool *passed = xcalloc(t->nframes + 1, sizeof(*passed)); /* by the first frame */
	uint32_t parent;

	for (size_t i = t->nframes; i-- > 0;) {
		if (changes[i].first != i)
			continue;
		passed[i] |= rows[i]->p < alpha;
		parent = t->frames[i].parent;
		if (parent != CALL_NONE)
			passed[changes[parent].first] |= passed[i];
	}
	for (size_t i = 0; i < t->nframes; i++) {
		if (changes[i].first == CALL_NONE)
			continue;
		parent = t->frames[changes[i].first].parent;
		if (parent == CALL_NONE || passed[changes[parent].first] || !cd->d.possible)
			changes[i].row = rows[changes[i].first];
	}
}

void call_diff_judge(struct call_diff *cd, const struct verdict_rule *rule)
{
	struct region_totals totals[REGIONS];
	autofree uint8_t *region = call_diff_find_regions(cd);
	autofree const struct diff_row **rows = NULL;

	for (int of = 0; of < REGIONS; of++)
		region_totals_make(&totals[of], cd, region, (enum call_region)of);
	for (int of = 0; of < REGIONS; of++)
		call_diff_add_rows(cd, (enum call_region)of, &totals[of]);
	cd->d.joint = true;
	diff_judge(&cd->d, rule);
	rows = call_diff_index_rows(cd);
	for (int of = 0; of < REGIONS; of++) {
		call_diff_link_rows(cd, (enum call_region)of, rows + of * cd->tree.nframes,
				    rule->alpha);
		region_totals_free(&totals[of], &cd->tree);
	}
}

int call_diff_read(struct call_diff *cd, const struct comparison *c, bool reverse,
		   struct table *notes, struct error *err)
{
	int rc;

	*cd = (struct call_diff){0};
	call_tree_init(&cd->tree, reverse);
	rc = compare_side(c, &cd->side, err);
	for (int e = 0; e < ENDS && !rc; e++)
		rc = call_diff_read_end(cd, c, (enum end)e, notes, err);
	if (rc)
		return rc;
	call_diff_judge(cd, &c->rule);
	return 0;
}
