// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/costs/costs.h"

#include "analyze/costs/call_tree.h"
#include "analyze/texts/text.h"

#include <errno.h>
#include <math.h>

/* --- the interval of a cost --- */

/*
 * Returns the shares' differences from the pooled share, for the runs with samples: the mean share
 * of runs that weigh equally, else run i weighs with its samples.
 */
static double *cost_deviations(const struct tally *f, const double *run_weight, double share,
			       size_t *n)
{
	double *x = xcalloc((size_t)f->nruns + 1, sizeof(*x)), sum = 0;
	int i;

	for (*n = 0, i = 0; i < f->nruns; i++) {
		if (!(f->run_weight[i] > 0))
			continue;
		x[(*n)++] = run_weight[i] - share * f->run_weight[i];
		sum += f->run_weight[i];
	}
	for (size_t k = 0; k < *n; k++)
		x[k] *= (double)*n / sum;
	return x;
}

/*
 * Returns whether the row has samples enough for an interval. `samples` is their number. Exact
 * times have none and need none.
 */
static bool cost_is_frequent(const struct tally *f, const double *run_weight, double samples)
{
	int runs = 0, without = 0;

	for (int i = 0; i < f->nruns; i++) {
		runs += f->run_weight[i] > 0;
		without += f->run_weight[i] > 0 && !(run_weight[i] > 0);
	}
	return (samples >= COST_SAMPLES || !strcmp(f->event ?: "", EXACT_EVENT)) &&
	       10 * without <= runs;
}

/*
 * Returns the error of a mean of n values that have an excess kurtosis of 1. The variance of their
 * sample variance is (2 / (n - 1) + 1 / n) x its square, as with these degrees of freedom.
 */
static struct stats_error cost_heavy_tails(struct stats_error e, size_t n)
{
	return (struct stats_error){e.se, fmax(1, 2 / (2 / ((double)n - 1) + 1 / (double)n))};
}

/*
 * Turns deviations of shares into deviations of costs in the same runs. The deviations of the basis
 * are stretched to its interval, which the estimator determines.
 */
static void cost_add_basis(const struct basis_runs *measured, double basis, double share, double *x,
			   size_t n)
{
	struct stats_error plain = stats_error_of(EST_MEAN, measured->ns, n);
	double mean = stats_mean(measured->ns, n), half = stats_error_half(plain, 0.95);
	double stretch = half > 0 ? stats_error_half(measured->error, 0.95) / half : 0;

	for (size_t i = 0; i < n; i++)
		x[i] = x[i] * basis + (measured->ns[i] - mean) * stretch * share;
}

/* Sets the error of a cost and returns it with the degrees of freedom of the cost's interval. */
static struct stats_error cost_add_errors(const struct cost_part *p, struct cost *c,
					  struct stats_error share, double *x, size_t n)
{
	const double ns = p->basis.ns;
	struct stats_error basis = stats_error_times(p->measured.error, c->share);

	if (p->same_runs) {
		cost_add_basis(&p->measured, ns, c->share, x, n);
		c->error = stats_error_of(EST_MEAN, x, n);
		return cost_heavy_tails(c->error, n);
	}
	c->error = stats_error_add(stats_error_times(share, ns), basis);
	return stats_error_add(stats_error_times(cost_heavy_tails(share, n), ns), basis);
}

static void cost_fill_interval(const struct cost_part *p, const double *run_weight, struct cost *c)
{
	size_t n;
	autofree double *x = cost_deviations(&p->tally, run_weight, c->share, &n);
	struct stats_error share = stats_error_of(EST_MEAN, x, n);

	c->share_ci = stats_error_half(cost_heavy_tails(share, n), 0.95);
	c->ns_ci = stats_error_half(cost_add_errors(p, c, share, x, n), 0.95);
}

bool cost_part_is_single(const struct cost_part *p)
{
	return p->nruns < COST_LEAST_RUNS ||
	       (!isnan(p->basis.ns) && p->measured.n < COST_LEAST_RUNS);
}

static struct cost cost_from_weight(const struct cost_part *p, double weight,
				    const double *run_weight)
{
	const struct tally *f = &p->tally;
	double share = f->weight > 0 ? weight / f->weight : NAN;
	struct cost c = {share, NAN, share * p->basis.ns, NAN, NAN, NAN, {NAN, NAN}};

	if (f->n_eff > 0)
		c.share_sampling = STATS_Z95 * sqrt(share * fmax(1 - share, 0) / f->n_eff);
	c.ns_sampling = c.share_sampling * p->basis.ns;
	if (!cost_part_is_single(p) && run_weight &&
	    cost_is_frequent(f, run_weight, share * f->n_eff))
		cost_fill_interval(p, run_weight, &c);
	return c;
}

struct cost cost_self(const struct cost_part *p, const struct tally_row *r)
{
	return cost_from_weight(p, p->tally.no_self ? NAN : r->self, r->run_self);
}

struct cost cost_total(const struct cost_part *p, const struct tally_row *r)
{
	return cost_from_weight(p, p->tally.no_total ? NAN : r->total, r->run_total);
}

static void cost_cpus_add(struct cpuset *set, const struct profile *p)
{
	for (size_t i = 0; i < p->ncosts; i++)
		if (p->costs[i].cpu != PROFILE_NONE)
			cpuset_add(set, p->costs[i].cpu);
}

/* --- coverage --- */

void cost_print_coverage(const struct cost_part *p, struct str *s)
{
	const double low = 100 * p->coverage.low, high = 100 * p->coverage.high;

	if (!(p->coverage.busy_ns > 0))
		return;
	str_printf(s, "; the samples cover %.1f %% of the busy time",
		   100 * p->coverage.weight / p->coverage.busy_ns);
	if (high - low >= 0.1)
		str_printf(s, " (%.1f to %.1f %% by run)", low, high);
}

/*
 * Adds the idle time of a run that has no samples, for the basis of wall time. Without it, the
 * functions would share the idle time. /proc/stat says how idle time compares with busy time.
 */
static void cost_add_unsampled_idle(struct cost_part *p, int run, const struct profile_time *t,
				    double busy_ns, double wall_ns)
{
	double idle = t->busy * (wall_ns - busy_ns) / busy_ns;

	if (p->basis.exclude_idle || t->idle > idle / 2)
		return;
	p->tally.unsampled_idle += idle - t->idle;
	p->tally.weight += idle - t->idle;
	p->tally.run_weight[run] += idle - t->idle;
	if (p->tally.spec.calls)
		call_tree_add_root(p->tally.spec.calls, run, "[idle time without samples]",
				   idle - t->idle, 0);
}

/* Compares the samples of a run with the time that its CPUs were busy. */
static void cost_compare_time(struct store *s, struct cost_part *p, const struct run *r, int run,
			      const struct profile *profile)
{
	const struct cpuset *cpus = p->tally.spec.cpus;
	double ns = figure_metric(s, r, "seconds") * 1e9;
	double busy_ns = busy_rate(s, r, cpus) * ns / 1e9, part;
	unsigned int ncpus = cpus ? cpuset_count(cpus) : (unsigned int)r->ncpus;
	struct profile_time t;

	if (!(busy_ns > 0) || !profile_time_of(profile, cpus, &t) ||
	    strcmp(intern_get(&profile->strings, profile->events[t.event].name), p->tally.event))
		return;
	if (t.exact)
		busy_ns = ns * ncpus - t.idle;
	/* Old frames have no such row. */
	p->divided |= t.exact && !(run_metric(s, r, "frame_ns", "divided", NO_CPU) < busy_ns / 100);
	part = t.busy / busy_ns;
	p->coverage.low = p->coverage.busy_ns > 0 ? fmin(p->coverage.low, part) : part;
	p->coverage.high = fmax(p->coverage.high, part);
	p->coverage.weight += t.busy;
	p->coverage.busy_ns += busy_ns;
	cost_add_unsampled_idle(p, run, &t, busy_ns, ns * ncpus);
}

static int cost_read_runs(struct store *s, struct cost_part *p, const struct run *runs, int n,
			  struct error *err)
{
	struct tally_pass *pass = NULL;
	const struct profile *profile;
	int rc = 0;

	for (int i = 0; i < n && !rc; i++) {
		rc = store_profile(s, runs[i].id, &profile, err);
		if (rc)
			break;
		if (p->tally.spec.workload_only)
			rc = profile_check_own(profile, runs[i].variant, runs[i].side, err);
		if (rc)
			break;
		pass = pass ?: tally_begin(&p->tally, profile);
		rc = tally_run(pass, i, err);
		if (p->tally.spec.cpus)
			cost_cpus_add(&p->cpus, profile);
		if (!rc && p->tally.event)
			cost_compare_time(s, p, &runs[i], i, profile);
	}
	tally_end(pass);
	return rc;
}

/* Returns whether the profiled runs are the runs of the basis, and all have samples. */
static bool cost_runs_are_same(const struct cost_part *p, const struct run *runs)
{
	if (p->measured.n != (size_t)p->nruns)
		return false;
	for (int i = 0; i < p->nruns; i++)
		if (p->measured.id[i] != runs[i].id || !(p->tally.run_weight[i] > 0))
			return false;
	return true;
}

static int cost_count_lost(struct store *s, const struct query *q, struct cost_part *p,
			   struct error *err)
{
	autofree struct run *runs = NULL;
	int n = scope_runs(s, q, &p->block, FOR_PROFILE_NOTES, &runs, err);

	if (n < 0)
		return n;
	p->nlost = n - p->nruns;
	return 0;
}

static int cost_read_block(struct store *s, const struct query *q, const struct tally_spec *spec,
			   struct cost_part *p, struct error *err)
{
	struct tally_spec own = *spec;
	autofree struct run *runs = NULL;
	int n, rc = basis_of_block(s, q, &p->block, &p->basis, &p->measured, err);

	if (rc)
		return rc;
	n = scope_runs(s, q, &p->block, FOR_PROFILE, &runs, err);
	if (n < 0)
		return n;
	own.exclude_idle = p->basis.exclude_idle;
	own.workload_only = q->workload_only;
	own.exclude_irq = p->basis.exclude_irq;
	tally_init(&p->tally, &own, n);
	p->nruns = n;
	rc = cost_read_runs(s, p, runs, n, err);
	rc = rc ?: cost_count_lost(s, q, p, err);
	tally_sort(&p->tally);
	p->same_runs = cost_runs_are_same(p, runs);
	return rc;
}

/* --- a bare file --- */

/* Finds the CPUs of the wall basis: the selected CPUs that have samples. */
static int cost_find_cpus(const struct query *q, struct cost_part *p, struct error *err)
{
	autofree char *asked = NULL, *there = NULL;
	unsigned int cpu;

	if (q->bare.profile)
		cost_cpus_add(&p->cpus, q->bare.profile);
	p->ncpus = cpuset_count(&p->cpus) ? cpuset_count(&p->cpus) : 1;
	if (!q->cpus)
		return 0;
	for (p->ncpus = 0, cpu = 0; cpu < CPUSET_MAX; cpu++)
		p->ncpus += cpuset_has(q->cpus, cpu) && cpuset_has(&p->cpus, cpu);
	if (p->ncpus)
		return 0;
	asked = cpuset_format(q->cpus);
	there = cpuset_format(&p->cpus);
	return *there ? error_set(err, ENODATA,
				  "--cpu %s: the file has no samples of this CPU; its CPUs are %s",
				  asked, there)
		      : error_set(
				err, ENODATA,
				"--cpu %s: the file's samples do not record their CPU: record with perf record -a, -C CPUS or --sample-cpu",
				asked);
}

static int cost_read_file(const struct query *q, const struct tally_spec *spec, struct cost_part *p,
			  struct error *err)
{
	struct tally_spec own = *spec;
	int rc = cost_find_cpus(q, p, err);

	p->nruns = 1;
	rc = rc ?: basis_of_file(q, p->ncpus, &p->basis, err);
	if (rc)
		return rc;
	own.exclude_idle = p->basis.exclude_idle;
	tally_init(&p->tally, &own, 1);
	if (q->bare.profile)
		rc = tally_profile(&p->tally, q->bare.profile, err);
	else
		tally_flat(&p->tally, q->bare.flat);
	basis_of_weights(q, p->tally.event,
			 q->bare.flat ? q->bare.flat->event_count : p->tally.weight, &p->basis);
	return rc;
}

int cost_part_read(struct store *s, const struct query *q, const struct block *b,
		   const struct tally_spec *spec, struct cost_part *p, struct error *err)
{
	*p = (struct cost_part){.block = *b};
	return b->variant ? cost_read_block(s, q, spec, p, err) : cost_read_file(q, spec, p, err);
}

void cost_note_silent_cpus(const struct query *q, const struct cost_part *p, struct table *t)
{
	struct cpuset without = {0};
	autofree char *text = NULL;

	for (unsigned int cpu = 0; cpu < CPUSET_MAX; cpu++)
		if (cpuset_has(q->cpus, cpu) && !cpuset_has(&p->cpus, cpu))
			cpuset_add(&without, cpu);
	text = cpuset_format(&without);
	if (*text)
		note_add(&t->notes, cpu_without_samples, text);
}

/*
 * Warns if the samples of a file have less than 90 % of the time of the wall basis' CPUs, as in a
 * recording of one process that sleeps. The first sample's period lies before its time.
 */
static void cost_note_wall_coverage(const struct cost_part *part, const struct profile *p,
				    struct table *t)
{
	const struct tally *f = &part->tally;
	double weight = f->weight, wall;
	uint32_t event;

	if (profile_pick_event(p, f->event, &event, NULL) || event >= p->nevents ||
	    !p->events[event].is_time || !p->first_ns || !f->samples)
		return;
	wall = part->ncpus * ((double)(p->last_ns - p->first_ns) + weight / (double)f->samples);
	if (100 * weight < 90 * wall)
		note_add(&t->notes, wall_not_covered, 100 * weight / wall, part->ncpus, weight);
}

static void cost_note_text(const struct query *q, struct table *t)
{
	const struct flat *f = q->bare.flat;
	bool events = f->events && f->event && strcmp(f->events, f->event) != 0;

	if (f->tables > 1)
		note_add(&t->notes, text_tables, f->tables,
			 !events ? "first"
				 : arena_printf(&t->arena,
						"table of %s; --event picks another (%s)", f->event,
						f->events));
	if (f->unmarked)
		note_add(&t->notes, flat_unmarked, f->unmarked);
	if (f->lost > 0)
		note_add(&t->notes, perf_lost_samples, (unsigned long long)f->lost);
	if (q->in == IN_NS && q->basis != BASIS_BUSY && !(q->work.busy_ns > 0) &&
	    (q->work.rate > 0 || (q->work.units > 0 && q->work.seconds > 0)))
		note_add(&t->notes, flat_one_cpu);
}

int cost_part_add_notes(struct store *s, const struct query *q, const struct cost_part *p,
			struct table *t, struct error *err)
{
	int rc;

	if (p->block.variant) {
		rc = scope_profile_notes(s, q, &p->block, t, err);
		return rc ? rc : scope_basis_notes(s, q, &p->block, t, err);
	}
	if (q->bare.profile && q->cpus)
		cost_note_silent_cpus(q, p, t);
	if (q->bare.profile)
		profile_add_notes(q->bare.profile, &t->notes);
	if (q->bare.profile && q->in == IN_NS && !isnan(p->basis.ns) && !p->basis.exclude_idle)
		cost_note_wall_coverage(p, q->bare.profile, t);
	if (q->bare.flat)
		cost_note_text(q, t);
	t->lossy |= notes_have(&t->notes, SEVERITY_LOSSY);
	return 0;
}

int cost_blocks(struct store *s, const struct query *q, struct block **blocks, struct error *err)
{
	if (s)
		return scope_blocks(s, q, blocks, err);
	*blocks = xcalloc(1, sizeof(**blocks));
	return 1;
}

void cost_part_free(struct cost_part *p)
{
	tally_free(&p->tally);
	basis_runs_free(&p->measured);
}

static void cost_print_reason(const struct cost_part *part, struct str *s)
{
	autofree char *of = cpuset_format(&part->cpus);
	const char *many = part->nlost == 1 ? "" : "s";

	if (part->nruns && *of)
		str_printf(s, ": the profiles have samples of CPU %s", of);
	else if (part->nruns)
		str_puts(s, " in the profiles");
	else if (part->nlost)
		str_printf(s, ": the profile%s of %d run%s %s none that can be used", many,
			   part->nlost, many, part->nlost == 1 ? "has" : "have");
	else
		str_puts(s, ": no run was profiled");
}

void cost_print_absence(const struct cost_part *part, struct str *s)
{
	bool idle = part->tally.idle > 0;

	str_printf(s, "no samples%s", idle ? " except idle ones" : "");
	if (!idle && part->block.variant)
		cost_print_reason(part, s);
}
