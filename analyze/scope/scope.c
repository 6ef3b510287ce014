// SPDX-License-Identifier: GPL-2.0-only

#include "analyze/scope/runs.h"

#include <errno.h>
#include <math.h>

static bool scope_among(const char **names, int n, const char *name, bool glob)
{
	return array_find(known, names, n,
			  !strcmp(name, *known) || (glob && str_matches(name, *known)));
}

int scope_check_name(struct store *s, const char *what, const char *name, bool glob,
		     const char **names, int n, struct error *err)
{
	freed(str_free) struct str list = {0};

	if (!name || scope_among(names, n, name, glob))
		return 0;
	for (int i = 0; i < n; i++)
		str_printf(&list, "%s%s", i ? ", " : "", names[i]);
	return error_set(err, ENOENT, "%s has no %s '%s'; %sit has: %s",
			 store_path(s) ?: "the store", what, name, did_you_mean(list.buf, name),
			 list.buf ? list.buf : "none");
}

static bool scope_has_runs(struct store *s, const struct query *q, const char *variant,
			   const char *side)
{
	struct run_filter f = {variant, q->pass, side, q->repeat, true};
	autofree struct run *runs = NULL;
	int n = store_runs(s, &f, &runs, NULL);

	return n > 0;
}

static int scope_pick_blocks(struct store *s, const struct query *q, const char **variants, int nv,
			     const char **sides, int ns, struct block **blocks)
{
	size_t n = 0, cap = 0;

	*blocks = NULL;
	for (int v = 0; v < nv; v++) {
		if (!str_matches(q->variant, variants[v]))
			continue;
		for (int i = 0; i < ns; i++) {
			if ((q->side && strcmp(q->side, sides[i])) ||
			    !scope_has_runs(s, q, variants[v], sides[i]))
				continue;
			array_add(*blocks, n, cap, (struct block){variants[v], sides[i]});
		}
	}
	return (int)n;
}

int scope_blocks(struct store *s, const struct query *q, struct block **blocks, struct error *err)
{
	autofree const char **variants = NULL, **sides = NULL;
	int nv = store_variants(s, &variants, err), ns, rc;

	if (nv < 0)
		return nv;
	ns = store_sides(s, &sides, err);
	rc = ns < 0 ? ns : scope_check_name(s, "variant", q->variant, true, variants, nv, err);
	rc = rc ?: scope_check_name(s, "side", q->side, false, sides, ns, err);
	rc = rc ?: scope_pick_blocks(s, q, variants, nv, sides, ns, blocks);
	if (!rc && (q->repeat || q->pass))
		return error_set(err, ENOENT, "no such run; 'zcost report runs' lists them");
	return rc;
}

static bool scope_has_wall(struct store *s, const struct run *r)
{
	return isfinite(figure_metric(s, r, "waits_wall_ns"));
}

/* Returns whether the run may have the query's event: the wall time of threads, or samples. */
static bool scope_has_event(struct store *s, const struct query *q, const struct run *r)
{
	return query_of_wall(q) ? scope_has_wall(s, r)
				: !scope_has_wall(s, r) || store_has_collector(s, r->id, "perf");
}

static bool scope_serves(struct store *s, const struct query *q, const struct run *r,
			 enum purpose p)
{
	switch (p) {
	case FOR_PROFILE:
		return store_has_profile(s, r->id) && scope_has_event(s, q, r);
	case FOR_PROFILE_NOTES:
		/* perf ran, even if its file is missing */
		return (store_has_profile(s, r->id) || store_has_collector(s, r->id, "perf")) &&
		       scope_has_event(s, q, r);
	case FOR_SYSCALLS:
		return store_has_syscalls(s, r->id);
	case FOR_WAITS:
		return scope_has_wall(s, r);
	default:
		return true;
	}
}

/* Returns the pass with the cheapest instruments, which gives the figures. */
static const char *scope_figures_pass(const struct run *runs, int n)
{
	static const char *const order[] = {"measure", "all", "syscalls", "trace", "profile"};

	for (size_t o = 0; o < array_size(order); o++)
		for (int i = 0; i < n; i++)
			if (!strcmp(runs[i].pass, order[o]))
				return order[o];
	return n ? runs[0].pass : NULL;
}

int scope_runs(struct store *s, const struct query *q, const struct block *b, enum purpose p,
	       struct run **runs, struct error *err)
{
	struct run_filter f = {b->variant, q->pass, b->side, q->repeat, false};
	int n = store_runs(s, &f, runs, err), kept = 0;
	const char *pass;
	bool sampled = false;

	if (n <= 0)
		return n;
	pass = p == FOR_FIGURES ? scope_figures_pass(*runs, n) : NULL;
	/* Runs with exact times alone serve where no run has samples. */
	for (int i = 0; i < n && p == FOR_PROFILE && !query_of_wall(q); i++)
		sampled |= store_has_collector(s, (*runs)[i].id, "perf");
	for (int i = 0; i < n; i++)
		if ((!pass || !strcmp((*runs)[i].pass, pass)) &&
		    scope_serves(s, q, &(*runs)[i], p) &&
		    (!sampled || store_has_collector(s, (*runs)[i].id, "perf")))
			(*runs)[kept++] = (*runs)[i];
	return kept;
}

const char *scope_doubt(const struct run *runs, int n)
{
	if (!n || !strcmp(runs[0].pass, "measure"))
		return NULL;
	if (!strcmp(runs[0].pass, "all"))
		return "every collector ran at once: throughput and CPU include the cost of the collectors";
	return "no measure run is selected: throughput and CPU include the cost of the instruments";
}

/*
 * Adds the warnings and losses, and the note on the origin of the work that figures are divided by.
 * 'zcost report runs' shows the other notes.
 */
static void scope_add_notes(struct table *t, const struct notes *stored, int runs)
{
	for (size_t i = 0; i < stored->n; i++) {
		if (stored->note[i].severity != SEVERITY_WARNING &&
		    stored->note[i].severity != SEVERITY_LOSSY &&
		    !note_is(&stored->note[i], NOTE_work_of_side))
			continue;
		t->lossy |= stored->note[i].severity == SEVERITY_LOSSY;
		notes_copy(&t->notes, &stored->note[i])->runs = runs;
	}
}

void scope_notes(struct store *s, const struct run *runs, int n, struct table *t)
{
	freed(notes_free) struct notes stored = {0};

	for (int r = 0; r < n; r++)
		store_notes(s, runs[r].id, &stored, NULL);
	scope_add_notes(t, &stored, n);
}

int scope_profile_notes(struct store *s, const struct query *q, const struct block *b,
			struct table *t, struct error *err)
{
	autofree struct run *runs = NULL;
	int n = scope_runs(s, q, b, FOR_PROFILE_NOTES, &runs, err);

	scope_notes(s, runs, n, t);
	return n < 0 ? n : passes_note_conditions(s, q, b, PROFILE_PASS, t, err);
}

static bool note_concerns_basis(const struct note *note)
{
	const char *concerns = note_collector(note);

	return note->severity == SEVERITY_LOSSY &&
	       (!concerns || !strcmp(concerns, "workload") || !strcmp(concerns, "cpu"));
}

/* Adds whether the threads' times hold interrupts, and whether the threads leave the CPUs. */
static void busy_note_threads(struct store *s, const struct block *b, const struct run *r,
			      struct table *t)
{
	double holds = figure_metric(s, r, "threads_hold_irq");

	if (holds == 1)
		note_add(&t->notes, interrupts_of_threads, INTERRUPTS_IN_THREADS);
	else if (holds == 0)
		note_add(
			&t->notes, interrupts_of_threads,
			"leaves out softirqs and interrupts, those of its own system calls too: the kernel has CONFIG_IRQ_TIME_ACCOUNTING. Costs of code leave them out, too");
	if (figure_metric(s, r, "workload_confined") == 0)
		note_add_block(&t->notes, b, threads_unconfined);
}

int scope_basis_notes(struct store *s, const struct query *q, const struct block *b,
		      struct table *t, struct error *err)
{
	freed(notes_free) struct notes stored = {0}, losses = {0};
	autofree struct run *runs = NULL;
	int n = scope_runs(s, q, b, FOR_FIGURES, &runs, err);

	for (int r = 0; r < n; r++)
		if (!scope_serves(s, q, &runs[r], FOR_PROFILE_NOTES))
			store_notes(s, runs[r].id, &stored, NULL);
	for (size_t i = 0; i < stored.n; i++)
		if (note_concerns_basis(&stored.note[i]))
			notes_copy(&losses, &stored.note[i]);
	scope_add_notes(t, &losses, n);
	if (q->workload_only && n > 0)
		busy_note_threads(s, b, runs, t);
	if ((q->pass || q->repeat) && n > 0 && scope_doubt(runs, n))
		note_add(&t->notes, no_measure_pass, scope_doubt(runs, n));
	return n < 0 ? n : 0;
}

void scope_capture_notes(struct store *s, struct table *t)
{
	freed(notes_free) struct notes stored = {0};

	store_notes(s, 0, &stored, NULL);
	scope_add_notes(t, &stored, 0);
}

int scope_estimator(struct store *s, const struct query *q, enum estimator *e, struct error *err)
{
	const char *name = q->estimator ? q->estimator
			   : s		? store_capture_value(s, "estimator")
					: NULL;

	if (estimator_parse(name, e))
		return 0;
	return error_set(err, EINVAL,
			 "no estimator '%s'; the estimators are median, middle and mean", name);
}

double run_metric(struct store *s, const struct run *r, const char *name, const char *object,
		  int cpu)
{
	return figure_metric_of(s, r, &(struct metric_key){name, object, cpu});
}

double figure_metric_of(struct store *s, const struct run *r, const void *key)
{
	double v;

	return store_metric_of(s, r->id, key, &v, NULL) ? v : NAN;
}

double figure_metric(struct store *s, const struct run *r, const void *name)
{
	const char *colon = strchr(name, ':');
	autofree char *copy = NULL;

	if (!colon)
		return run_metric(s, r, name, NULL, NO_CPU);
	copy = xstrndup(name, (size_t)(colon - (const char *)name));
	return run_metric(s, r, copy, colon + 1, NO_CPU);
}

const char *busy_metric(const struct query *q)
{
	return q->workload_only ? "workload_cpu_pct" : "cpu_pct";
}

double *scope_figures(struct store *s, const struct run *runs, int nruns, figure_fn figure,
		      const void *arg, size_t *n)
{
	double *x = xcalloc((size_t)nruns + 1, sizeof(*x));

	*n = 0;
	for (int i = 0; i < nruns; i++) {
		x[*n] = figure(s, &runs[i], arg);
		*n += !isnan(x[*n]);
	}
	return x;
}

struct estimate scope_estimate(struct store *s, const struct run *runs, int n, enum estimator e,
			       figure_fn figure, const void *arg)
{
	size_t used;
	autofree double *x = scope_figures(s, runs, n, figure, arg, &used);

	return stats_estimate(e, x, used, 0.95);
}

double scope_sum(struct store *s, const struct block_runs *b, const char *metric,
		 const char *object)
{
	const struct metric_key key = {metric, object, NO_CPU};
	struct estimate mean = scope_estimate(s, b->runs, b->n, EST_MEAN, figure_metric_of, &key);

	return mean.value * (double)mean.n;
}

/* --- the workload alone --- */

enum { FEW_BLOCKS = 8 }; /* a note lists the sides of so many */

const char *scope_of(const struct query *q, const char *scope)
{
	return busy_of_cpus(q) || strcmp(scope, "cpus") != 0 ? scope : "workload";
}

double busy_others(struct store *s, const struct run *r, const void *arg)
{
	(void)arg;
	return figure_metric(s, r, "cpu_pct") - figure_metric(s, r, "workload_cpu_pct");
}

static double busy_others_user_pct(struct store *s, const struct run *r, const void *arg)
{
	(void)arg;
	return 100 * figure_metric(s, r, "others_user_pct") / figure_metric(s, r, "cpu_pct");
}

double busy_others_pct(struct store *s, const struct query *q, const struct run *runs, int n)
{
	if (!busy_of_cpus(q) || q->comm)
		return 0;
	return fmax(0, scope_estimate(s, runs, n, EST_MEDIAN, busy_others_user_pct, NULL).value);
}

int busy_notes(struct store *s, const struct query *q, const char *end, struct table *t,
	       struct error *err)
{
	freed(block_list_free) struct block_list list = {0};
	freed(str_free) struct str rest = {0};
	double least = INFINITY, most = 0;
	struct estimate e;
	int n = 0, rc = q->workload_only ? block_list_read(&list, s, q, FOR_FIGURES, err) : 0;

	for (int i = 0; i < list.n; i++) {
		const struct block_runs *b = &list.blocks[i];

		e = scope_estimate(s, b->runs, b->n, list.estimator, busy_others, NULL);
		if (!e.n)
			continue;
		e.value = fmax(e.value, 0);
		least = fmin(least, e.value);
		most = fmax(most, e.value);
		str_printf(&rest, "%s%s %s %.1f", n++ ? ", " : "", b->block.variant, b->block.side,
			   e.value);
		busy_note_threads(s, &b->block, b->runs, t);
	}
	if (n > FEW_BLOCKS) {
		str_reset(&rest);
		str_printf(&rest, "%.1f to %.1f; 'zcost report cpu' has each side", least, most);
	}
	if (rest.len)
		note_add_of(&t->notes, end, NULL, workload_alone, rest.buf);
	return rc;
}

/* --- how the capture was read --- */

void scope_add_slice_notes(struct store *s, bool frames, struct table *t)
{
	const char *slice = store_capture_value(s, "slice"),
		   *absent = store_capture_value(s, "slice_absent");

	if (slice)
		note_add(&t->notes, slice, slice,
			 absent ? "; this part of some runs has no figures of: " : "",
			 absent ? absent : "");
	if (frames && store_capture_value(s, "inlines"))
		note_add(&t->notes, inlines);
}

const char *scope_slice_absent(struct store *s, const char *collector)
{
	const char *absent = store_capture_value(s, "slice_absent");

	return absent && strstr(absent, collector)
		       ? "only the total of the whole window is known, not the part between --from and --to"
		       : NULL;
}
