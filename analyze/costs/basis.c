// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/costs/basis.h"

#include <errno.h>
#include <math.h>

/* --- amounts --- */

static const struct {
	const char *name;
	const char *events[3]; /* events with weights in this amount */
} amounts[] = {
	[IN_NS] = {"ns", {NULL}},
	[IN_CYCLES] = {"cycles", {"cycles", "cpu-cycles", NULL}},
	[IN_INSTRUCTIONS] = {"instructions", {"instructions", NULL}},
};

const char *amount_name(enum amount in)
{
	return amounts[in].name;
}

int amount_parse(const char *name, enum amount *in, struct error *err)
{
	for (size_t i = 0; i < array_size(amounts); i++) {
		if (!strcmp(amounts[i].name, name)) {
			*in = (enum amount)i;
			return 0;
		}
	}
	return error_set(err, EINVAL, "costs are in ns, cycles or instructions, not in '%s'", name);
}

/* Returns whether the event has this name: "cycles:ppp" and "cpu_core/cycles/P" are "cycles". */
static bool amount_is_event(const char *event, const char *name)
{
	const char *slash = strchr(event, '/');
	size_t n;

	event = slash ? slash + 1 : event;
	n = strcspn(event, ":/");
	return strlen(name) == n && !strncmp(name, event, n);
}

bool amount_counted_by(enum amount in, const char *event)
{
	for (int i = 0; event && amounts[in].events[i]; i++)
		if (amount_is_event(event, amounts[in].events[i]))
			return true;
	return false;
}

static double amount_given(const struct query *q)
{
	return q->in == IN_CYCLES	  ? q->work.cycles
	       : q->in == IN_INSTRUCTIONS ? q->work.instructions
					  : 0;
}

static double amount_units(const struct query *q)
{
	return q->work.units > 0 ? q->work.units : q->work.rate * q->work.seconds;
}

void amount_columns(struct table *t, enum amount in)
{
	struct column *list;
	const char *ns, *name = amount_name(in);

	if (in == IN_NS)
		return;
	list = arena_dup(&t->arena, t->columns, (size_t)t->ncolumns * sizeof(*list));
	for (int i = 0; i < t->ncolumns; i++) {
		if (list[i].unit && str_starts(list[i].unit, "ns"))
			list[i].unit = arena_printf(&t->arena, "%s%s", name, list[i].unit + 2);
		ns = strstr(list[i].name, "_ns");
		if (ns && (!ns[3] || ns[3] == '_'))
			list[i].name =
				arena_printf(&t->arena, "%.*s_%s%s", (int)(ns - list[i].name),
					     list[i].name, name, ns + 3);
	}
	t->columns = list;
}

/* --- units of work --- */

static const char *basis_canonical_unit(const char *name)
{
	const struct work_kind *kind = work_kind_find(name);

	return kind ? kind->unit : NULL;
}

static int basis_check_unit(const struct query *q, const char **unit, struct error *err)
{
	*unit = q->unit ? basis_canonical_unit(q->unit) : NULL;
	if (q->unit && !*unit)
		return error_set(err, EINVAL,
				 "no unit '%s'; the units are " WORK_UNITS(
					 WORK_UNIT_COMMA) "KiB and syscall",
				 q->unit);
	return 0;
}

/* --- a block of the store --- */

/* How a basis divides two figures of a run. */
struct basis_ratio {
	const struct query *q;
	const char *rate_metric, *work; /* the metric, and its unit */
	bool busy;
	struct estimate calls; /* calls per unit of work; n is 0 unless the unit is a syscall */
	struct stats_error calls_error;
};

/* What the search for a block's basis reads and fills. */
struct basis_search {
	struct store *s;
	const struct block *block;
	struct run *runs;
	int n;
	enum estimator est;
	struct basis_ratio k;
	struct basis_value *v;
	struct basis_runs *measured;
};

/* Returns the cycles or instructions per second, summed over all CPUs of the side. */
static double basis_counted(struct store *s, const struct run *r, const struct basis_ratio *k)
{
	if (k->q->cpus || k->q->workload_only)
		return NAN;
	return run_metric(s, r, "counter", amount_name(k->q->in), NO_CPU) /
	       figure_metric(s, r, "seconds");
}

/*
 * Returns the cost of a unit of work in one run: of the workload's threads, or of all programs on
 * the CPUs of the query.
 */
static double basis_per_unit(struct store *s, const struct run *r, const struct basis_ratio *k)
{
	const double calls = k->calls.n ? k->calls.value : 1;
	double rate = figure_metric(s, r, k->rate_metric) * calls;
	const struct cpuset *cpus = k->q->cpus;
	unsigned int ncpus = cpus ? cpuset_count(cpus) : (unsigned int)r->ncpus;

	if (!(rate > 0))
		return NAN;
	if (query_of_wall(k->q)) /* --in cycles: nobody counts cycles of a wait */
		return k->q->in != IN_NS ? NAN
					 : figure_metric(s, r, "waits_wall_ns") /
						   figure_metric(s, r, "seconds") / rate;
	if (k->q->in != IN_NS)
		return basis_counted(s, r, k) / rate;
	if (k->q->workload_only)
		return figure_metric(s, r, busy_metric(k->q)) * 1e7 / rate;
	if (k->busy)
		return work_time(s, k->q, r, k->rate_metric) / calls;
	return ncpus ? 1e9 / rate * ncpus : NAN;
}

static void basis_fill_text(const struct basis_search *b, const struct estimate *e)
{
	const struct basis_ratio *k = &b->k;
	const struct run *first = b->runs;
	bool all = !strcmp(first->pass, "all"), own = k->q->workload_only || query_of_wall(k->q);
	autofree char *cpus = k->q->cpus ? cpuset_format(k->q->cpus) : NULL;
	const char *asked = cpus ?: first->cpus ?: "all";
	freed(str_free) struct str s = {0};

	str_printf(&s, "%s: %.1f %s/%s of %s%s (",
		   query_of_wall(k->q)	 ? "threads"
		   : k->q->in != IN_NS	 ? "counted"
		   : k->q->workload_only ? "workload"
		   : k->busy		 ? "busy"
					 : "wall",
		   b->v->ns, amount_name(k->q->in), b->v->unit, own ? "its threads" : "CPU ",
		   own ? "" : asked);
	if (e->n > 1)
		str_printf(&s, "%s of ", estimator_names[b->est]);
	str_printf(&s, "%zu %s%srun%s", e->n, all ? "" : first->pass, all ? "" : " ",
		   e->n == 1 ? "" : "s");
	if (e->n > 1 && !isnan(e->lo))
		str_printf(&s, ", %.1f..%.1f", e->lo, e->hi);
	if (k->calls.n)
		str_printf(&s, "; %.4g calls/%s of %zu run%s", k->calls.value, k->work, k->calls.n,
			   k->calls.n == 1 ? "" : "s");
	str_putc(&s, ')');
	if (!strcmp(b->v->unit, "packet"))
		work_print_packet(&s, "; ", b->s, b->runs, b->n);
	if (k->q->workload_only && cpus)
		str_printf(&s, ", on any CPU; the rows are of CPU %s", cpus);
	snprintf(b->v->text, sizeof(b->v->text), "%s", s.buf);
}

/* Reads the basis of each run by the ratio. Returns false if no run has one. */
static bool basis_try_ratio(struct basis_search *b)
{
	struct basis_runs *r = b->measured;
	struct estimate e;
	int i;

	for (r->n = 0, i = 0; i < b->n; i++) {
		r->ns[r->n] = basis_per_unit(b->s, &b->runs[i], &b->k);
		r->id[r->n] = b->runs[i].id;
		r->n += !isnan(r->ns[r->n]);
	}
	if (!r->n)
		return false;
	e = stats_estimate(b->est, r->ns, r->n, 0.95);
	r->error = stats_error_of(b->est, r->ns, r->n);
	if (b->k.calls.n)
		r->error = stats_error_add(
			r->error, stats_error_times(b->k.calls_error, e.value / b->k.calls.value));
	b->v->ns = e.value;
	b->v->exclude_idle = b->k.busy;
	basis_fill_text(b, &e);
	return true;
}

static bool basis_is_syscall(const char *unit)
{
	return unit && !strcmp(unit, "syscall");
}

/*
 * Tries KiB first, then the other units that the workload counted. System calls are counted in
 * separate runs, and counting slows those runs. So the rate of calls is the calls per unit of work
 * of the counting runs, times the rate of work of the runs that the costs are from.
 */
static bool basis_try_units(struct basis_search *b, const char *unit, bool busy)
{
	bool calls = basis_is_syscall(unit);

	b->k.busy = busy;
	for (size_t i = 0; i < WORK_KINDS; i++) {
		if (!work_kinds[i].rate ||
		    (unit && !calls && strcmp(unit, work_kinds[i].unit) != 0))
			continue;
		b->k.rate_metric = work_kinds[i].rate;
		b->k.work = work_kinds[i].unit;
		if (calls)
			b->k.calls = calls_per_work(b->s, b->block, b->est, b->k.rate_metric,
						    &b->k.calls_error);
		if (calls && !b->k.calls.n)
			continue;
		b->v->unit = calls ? "syscall" : work_kinds[i].unit;
		if (basis_try_ratio(b))
			return true;
	}
	b->v->unit = NULL;
	return false;
}

/* Warns that the wall time of the CPUs replaces the unknown CPU time. */
static void basis_warn_never_idle(struct store *s, struct basis_value *v)
{
	size_t len = strlen(v->text);

	snprintf(v->text + len, sizeof(v->text) - len,
		 "; CPU time is not known%s; the basis assumes that the CPUs were never idle",
		 scope_slice_absent(s, "cpu") ? " of this part of the window" : "");
}

static bool basis_find(struct basis_search *b, const char *unit)
{
	const struct query *q = b->k.q;

	if (query_of_wall(q))
		return basis_try_units(b, unit, false);
	if (q->basis != BASIS_WALL && basis_try_units(b, unit, true))
		return true;
	if (q->basis == BASIS_BUSY || q->workload_only || !basis_try_units(b, unit, false))
		return false;
	if (q->basis == BASIS_DEFAULT && q->in == IN_NS)
		basis_warn_never_idle(b->s, b->v);
	return true;
}

/* Returns why the block has no basis, with the way out. */
static const char *basis_absence_reason(struct store *s, const struct query *q, const char *unit)
{
	const bool calls = basis_is_syscall(unit), counted = q->in != IN_NS;
	const char *sliced = scope_slice_absent(s, counted	      ? "counters"
						   : calls	      ? "syscalls"
						   : q->workload_only ? "threads"
								      : "cpu");

	return counted && q->workload_only
		       ? "events are counted for all that runs on the side's CPUs; omit --workload-only"
	       : sliced ? sliced
	       : counted && q->cpus
		       ? "events are counted for all CPUs of the side together; omit --cpu"
	       : counted
		       ? "no run counted both its work and the events (collector 'counters'; a virtual machine may have no PMU)"
	       : calls ? "no run counted both its work and its system calls (pass 'syscalls')"
	       : q->workload_only
		       ? "no run has both its work and the CPU time of the workload's processes (collector 'threads')"
		       : "no run measured both its work and the time of its CPUs";
}

/* Explains a missing basis. The workload may have counted another unit than --unit. */
static void basis_fill_none(struct basis_value *v, struct store *s, const struct query *q,
			    const char *unit, const struct run *runs, int n)
{
	autofree char *has = work_units(s, runs, n);

	v->uncounted = unit != NULL;
	if (unit && !basis_is_syscall(unit) && *has && !strstr(has, unit))
		snprintf(v->text, sizeof(v->text),
			 "none: --unit %s: the workload counts only %s; shares only", unit, has);
	else
		snprintf(v->text, sizeof(v->text), "none: %s; shares only",
			 basis_absence_reason(s, q, unit));
}

int basis_of_block(struct store *s, const struct query *q, const struct block *block,
		   struct basis_value *v, struct basis_runs *measured, struct error *err)
{
	struct basis_search b = {
		.s = s, .block = block, .k = {.q = q}, .v = v, .measured = measured};
	const char *unit;
	int rc = basis_check_unit(q, &unit, err);

	*v = (struct basis_value){.ns = NAN, .exclude_idle = q->basis != BASIS_WALL};
	*measured = (struct basis_runs){.error = {NAN, NAN}};
	if (!rc && q->workload_only && q->basis == BASIS_WALL)
		rc = error_set(
			err, EINVAL,
			"--basis wall is the time of whole CPUs; with --workload-only, omit it");
	rc = rc ?: scope_estimator(s, q, &b.est, err);
	if (!rc)
		rc = b.n = scope_runs(s, q, block, query_of_wall(q) ? FOR_WAITS : FOR_FIGURES,
				      &b.runs, err);
	if (rc < 0)
		return rc;
	measured->ns = xcalloc((size_t)b.n + 1, sizeof(*measured->ns));
	measured->id = xcalloc((size_t)b.n + 1, sizeof(*measured->id));
	if (!basis_find(&b, unit))
		basis_fill_none(v, s, q, unit, b.runs, b.n);
	v->exclude_irq =
		q->workload_only && b.n && figure_metric(s, b.runs, "threads_hold_irq") == 0;
	free(b.runs);
	return 0;
}

void basis_runs_free(struct basis_runs *r)
{
	free(r->ns);
	free(r->id);
	*r = (struct basis_runs){0};
}

/* Adds the units that the block's runs count and that `has` lacks. */
static int basis_add_units(struct store *s, const struct block *b, struct str *has,
			   struct error *err)
{
	struct query every = {0};
	autofree struct run *runs = NULL;
	autofree char *units = NULL;
	int n = scope_runs(s, &every, b, FOR_FIGURES, &runs, err);

	if (n < 0)
		return n;
	units = work_units(s, runs, n);
	if (*units && !(has->buf && strstr(has->buf, units)))
		str_printf(has, "%s%s", has->len ? ", " : "", units);
	return 0;
}

int basis_require_unit(struct store *s, const struct query *q, struct error *err)
{
	freed(str_free) struct str has = {0};
	autofree struct block *blocks = NULL;
	const char *unit;
	int n, rc = basis_check_unit(q, &unit, err);

	if (rc || !unit || basis_is_syscall(unit) || scope_slice_absent(s, "workload"))
		return rc;
	n = scope_blocks(s, q, &blocks, err);
	if (n <= 0)
		return n;
	for (int i = 0; i < n && !rc; i++)
		rc = basis_add_units(s, &blocks[i], &has, err);
	if (!rc && !(has.buf && strstr(has.buf, unit)))
		rc = error_set(
			err, ENODATA, "--unit %s: the runs count %s%s%s", unit,
			has.len ? "only " : "no work", has.len ? has.buf : "",
			"; 'units' of the plan says what counts, nic:IF counts packets and KiB");
	return rc;
}

/* --- bare files --- */

void basis_of_weights(const struct query *q, const char *event, double weight,
		      struct basis_value *v)
{
	const char *in = amount_name(q->in),
		   *unit = basis_canonical_unit(q->unit ? q->unit : "packet");
	double n = amount_units(q);

	if (q->in == IN_NS || !isnan(v->ns))
		return;
	if (amount_counted_by(q->in, event) && !(weight > 0)) {
		snprintf(v->text, sizeof(v->text),
			 "none: the total of %s is not known (--%s); shares only", in, in);
	} else if (!amount_counted_by(q->in, event)) {
		snprintf(v->text, sizeof(v->text),
			 "none: %s does not count %s, and --%s is missing; shares only",
			 event ? event : "the event", in, in);
	} else if (!(n > 0)) {
		snprintf(
			v->text, sizeof(v->text),
			"none: the work done is not known (--units, or --rate with --seconds); shares only");
	} else {
		v->ns = weight / n;
		v->unit = unit;
		snprintf(v->text, sizeof(v->text),
			 "counted: %.1f %s/%s = %.0f, the weight of the samples of %s, / %.0f",
			 v->ns, in, unit, weight, event, n);
	}
}

int basis_of_file(const struct query *q, unsigned int ncpus, struct basis_value *v,
		  struct error *err)
{
	double rate = q->work.rate, n = amount_units(q);
	const char *unit;
	int rc = basis_check_unit(q, &unit, err);

	*v = (struct basis_value){.ns = NAN, .exclude_idle = q->basis == BASIS_BUSY};
	if (rc)
		return rc;
	if (!(rate > 0) && q->work.seconds > 0)
		rate = q->work.units / q->work.seconds;
	unit = unit ? unit : "packet";
	if (q->in != IN_NS) {
		v->exclude_idle = q->basis != BASIS_WALL;
		if (!(amount_given(q) > 0)) /* basis_of_weights() fills it */
			return 0;
		if (!(n > 0))
			return error_set(
				err, EINVAL,
				"--%s needs the work done in that time: --units, or --rate with --seconds",
				amount_name(q->in));
		v->ns = amount_given(q) / n;
		snprintf(v->text, sizeof(v->text), "given: %.1f %s/%s = %.0f / %.0f", v->ns,
			 amount_name(q->in), unit, amount_given(q), n);
	} else if (q->basis == BASIS_BUSY || (q->work.busy_ns > 0 && q->basis != BASIS_WALL)) {
		if (!(q->work.busy_ns > 0) || !(n > 0))
			return error_set(
				err, EINVAL,
				"--basis busy needs the busy time and the work done in it: "
				"--busy-ns, and --units or --rate with --seconds");
		v->ns = q->work.busy_ns / n;
		v->exclude_idle = true;
		snprintf(v->text, sizeof(v->text), "busy: %.1f ns/%s = %.0f ns / %.0f", v->ns, unit,
			 q->work.busy_ns, n);
	} else if (rate > 0) {
		v->ns = 1e9 / rate * ncpus;
		snprintf(v->text, sizeof(v->text), "wall: %.1f ns/%s = 1e9 / %.10g x %u CPU%s",
			 v->ns, unit, rate, ncpus, ncpus == 1 ? "" : "s");
	} else {
		snprintf(v->text, sizeof(v->text),
			 "none: shares only; for costs, add --rate, or --units and --seconds");
	}
	v->unit = isnan(v->ns) ? NULL : unit;
	return 0;
}

static bool basis_counts_time(const char *event)
{
	static const char *const names[] = {"cpu-clock", "task-clock", "ref-cycles", WALL_EVENT};

	for (size_t i = 0; i < array_size(names); i++)
		if (amount_is_event(event, names[i]))
			return true;
	return amount_counted_by(IN_CYCLES, event) || amount_counted_by(IN_INSTRUCTIONS, event);
}

void basis_note_event(struct table *t, double per, enum amount in, const char *event)
{
	const char *what = in == IN_NS ? "time" : amount_name(in);

	if (isnan(per) || !event)
		return;
	if (in == IN_NS ? !basis_counts_time(event) : !amount_counted_by(in, event))
		note_add(&t->notes, event_counts_other, event, what, what);
}
