// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/measures/basis.h"

#include "lib/alloc.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *unit, *rate;
} units[] = {
	{"KiB", "rate_kib"},
	{"packet", "rate_packets"},
	{"message", "rate_messages"},
};

const char *basis_rate_metric(const char *unit)
{
	size_t i;

	for (i = 0; i < array_size(units); i++)
		if (!strcmp(units[i].unit, unit))
			return units[i].rate;
	return NULL;
}

static const char *canonical_unit(const char *name)
{
	size_t i;

	for (i = 0; i < array_size(units); i++)
		if (!strcasecmp(units[i].unit, name))
			return units[i].unit;
	return NULL;
}

static int check_unit(const struct query *q, const char **unit, struct error *err)
{
	*unit = q->unit ? canonical_unit(q->unit) : NULL;
	if (q->unit && !*unit)
		return error_set(err, EINVAL, "no unit '%s'; there are packet, KiB and message",
				 q->unit);
	return 0;
}

/* --- a block of the store --- */

struct ratio {
	const struct query *q;
	const char *rate_metric;
	bool busy;
};

/* Busy ns per second of the CPUs asked for. */
static double busy_rate(struct store *s, const struct run *r, const struct cpuset *cpus)
{
	double seconds, sum = 0, v;
	unsigned int cpu;
	char name[32];

	if (!cpus) {
		v = figure_metric(s, r, "cpu_pct");
		return v * 1e7;
	}
	seconds = figure_metric(s, r, "seconds");
	for (cpu = 0; cpu < CPUSET_MAX; cpu++) {
		if (!cpuset_has(cpus, cpu))
			continue;
		snprintf(name, sizeof(name), "busy_ns:cpu%u", cpu);
		v = figure_metric(s, r, name);
		if (!isnan(v))
			sum += v;
	}
	return sum > 0 ? sum / seconds : NAN;
}

static double per_unit(struct store *s, const struct run *r, const void *arg)
{
	const struct ratio *k = arg;
	const struct cpuset *cpus = k->q->cpus;
	double rate = k->q->rate > 0 ? k->q->rate : figure_metric(s, r, k->rate_metric);
	unsigned int ncpus = cpus ? cpuset_count(cpus) : (unsigned int)r->ncpus;

	if (!(rate > 0))
		return NAN;
	return k->busy ? busy_rate(s, r, cpus) / rate : ncpus ? 1e9 / rate * ncpus : NAN;
}

static const char *plural(int n)
{
	return n == 1 ? "" : "s";
}

static void put_text(struct basis_value *v, const struct ratio *k, const struct estimate *e,
		     const struct run *runs, int n, enum estimator est)
{
	char range[64] = "", *cpus = k->q->cpus ? cpuset_format(k->q->cpus) : NULL;

	if (e->n > 1 && !isnan(e->lo))
		snprintf(range, sizeof(range), ", %.1f..%.1f", e->lo, e->hi);
	snprintf(v->text, sizeof(v->text), "%s: %.1f ns/%s of CPU %s (%s of %zu %s run%s%s)",
		 k->busy ? "busy" : "wall", v->ns, v->unit,
		 cpus		? cpus
		 : runs[0].cpus ? runs[0].cpus
				: "all",
		 estimator_names[est], e->n, runs[0].pass, plural((int)e->n), range);
	free(cpus);
	(void)n;
}

static bool try_runs(struct store *s, struct ratio *k, const struct run *runs, int n,
		     enum estimator est, struct basis_value *v)
{
	struct estimate e = scope_estimate(s, runs, n, est, per_unit, k);

	if (!e.n)
		return false;
	v->ns = e.value;
	v->exclude_idle = k->busy;
	put_text(v, k, &e, runs, n, est);
	return true;
}

/* KiB, or what else the workload counted. */
static bool try_units(struct store *s, const struct query *q, const char *unit, bool busy,
		      const struct run *runs, int n, enum estimator est, struct basis_value *v)
{
	struct ratio k = {q, NULL, busy};
	size_t i;

	for (i = 0; i < array_size(units); i++) {
		if (unit && strcmp(unit, units[i].unit))
			continue;
		k.rate_metric = units[i].rate;
		v->unit = units[i].unit;
		if (try_runs(s, &k, runs, n, est, v))
			return true;
	}
	v->unit = NULL;
	return false;
}

static bool find_basis(struct store *s, const struct query *q, const char *unit,
		       const struct run *runs, int n, enum estimator est, struct basis_value *v)
{
	if (q->basis != BASIS_WALL && try_units(s, q, unit, true, runs, n, est, v))
		return true;
	return q->basis != BASIS_BUSY && try_units(s, q, unit, false, runs, n, est, v);
}

double basis_of_run(struct store *s, const struct query *q, const char *unit, const struct run *r)
{
	struct ratio k = {q, basis_rate_metric(unit), q->basis != BASIS_WALL};
	double ns = k.rate_metric ? per_unit(s, r, &k) : NAN;

	k.busy = false;
	return isnan(ns) && k.rate_metric && q->basis == BASIS_DEFAULT ? per_unit(s, r, &k) : ns;
}

int basis_of_block(struct store *s, const struct query *q, const struct block *b,
		   struct basis_value *v, struct error *err)
{
	struct query every = {0}; /* the basis is the variant's, whatever run is looked at */
	enum estimator est;
	struct run *runs;
	const char *unit;
	int n, rc = check_unit(q, &unit, err);

	*v = (struct basis_value){.ns = NAN, .exclude_idle = q->basis != BASIS_WALL};
	if (!rc)
		rc = scope_estimator(s, q, &est, err);
	if (rc)
		return rc;
	n = scope_runs(s, &every, b, FOR_FIGURES, &runs, err);
	if (n < 0)
		return n;
	if (!find_basis(s, q, unit, runs, n, est, v))
		snprintf(v->text, sizeof(v->text),
			 "none: no run has both the work done and the time of its CPUs; shares "
			 "only");
	free(runs);
	return 0;
}

/* --- bare files --- */

int basis_of_file(const struct query *q, unsigned int ncpus, struct basis_value *v,
		  struct error *err)
{
	double rate = q->rate;
	const char *unit;
	int rc = check_unit(q, &unit, err);

	*v = (struct basis_value){.ns = NAN, .exclude_idle = q->basis == BASIS_BUSY};
	if (rc)
		return rc;
	if (!(rate > 0) && q->units > 0 && q->seconds > 0)
		rate = q->units / q->seconds;
	unit = unit ? unit : "packet";
	if (q->basis == BASIS_BUSY || (q->busy_ns > 0 && q->basis != BASIS_WALL)) {
		double n = q->units > 0 ? q->units : rate * q->seconds;

		if (!(q->busy_ns > 0) || !(n > 0))
			return error_set(
				err, EINVAL,
				"--basis busy needs the busy time and the work done in it: "
				"--busy-ns, and --units or --rate with --seconds");
		v->ns = q->busy_ns / n;
		v->exclude_idle = true;
		snprintf(v->text, sizeof(v->text), "busy: %.1f ns/%s = %.0f ns / %.0f", v->ns, unit,
			 q->busy_ns, n);
	} else if (rate > 0) {
		v->ns = 1e9 / rate * ncpus;
		snprintf(v->text, sizeof(v->text), "wall: %.1f ns/%s = 1e9 / %.10g x %u CPU%s",
			 v->ns, unit, rate, ncpus, plural((int)ncpus));
	} else {
		snprintf(v->text, sizeof(v->text),
			 "none: shares only; --rate, or --units and --seconds, make costs of them");
	}
	v->unit = isnan(v->ns) ? NULL : unit;
	return 0;
}

/* "cycles:ppp" and "cpu_core/cycles/P" are cycles. */
static bool counts_time(const char *event)
{
	static const char *const names[] = {"cpu-clock",  "task-clock",	  "cycles",
					    "cpu-cycles", "instructions", "ref-cycles"};
	const char *slash = strchr(event, '/');
	const char *name = slash ? slash + 1 : event;
	size_t n = strcspn(name, ":/"), i;

	for (i = 0; i < array_size(names); i++)
		if (strlen(names[i]) == n && !strncmp(names[i], name, n))
			return true;
	return false;
}

void basis_event_note(struct table *t, const char *event)
{
	if (event && !counts_time(event))
		table_note(t,
			   "warning: %s counts no time: the costs divide the time by its samples",
			   event);
}
