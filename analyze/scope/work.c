// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/scope/work.h"

#include <math.h>

#define WORK_KIND(id, unit, units) {unit, unit, "rate_" units},
// clang-format off
const struct work_kind work_kinds[WORK_KINDS] = {
	{"KiB", "kib", "rate_kib"},
	WORK_UNITS(WORK_KIND)
	{"syscall", "syscall", NULL}, /* used only with --unit syscall */
};
// clang-format on

const struct work_kind *work_kind_find(const char *unit)
{
	return array_find(kind, work_kinds, WORK_KINDS, !unit || !strcasecmp(kind->unit, unit));
}

static bool work_has_rate(struct store *s, const struct run *runs, int n, const char *rate)
{
	return rate && array_find(r, runs, n, !isnan(figure_metric(s, r, rate)));
}

const char *work_unit(struct store *s, const struct run *runs, int n)
{
	for (size_t i = 0; i < WORK_KINDS; i++)
		if (work_has_rate(s, runs, n, work_kinds[i].rate))
			return work_kinds[i].unit;
	return NULL;
}

const char *work_rate_metric(const char *unit)
{
	const struct work_kind *kind = work_kind_find(unit);

	return kind ? kind->rate : NULL;
}

const char *work_word(const char *unit)
{
	const struct work_kind *kind = work_kind_find(unit);

	return kind ? kind->word : "unit";
}

char *work_units(struct store *s, const struct run *runs, int n)
{
	struct str out = {0};

	for (size_t i = 0; i < WORK_KINDS; i++)
		if (work_has_rate(s, runs, n, work_kinds[i].rate))
			str_printf(&out, "%s%s", out.len ? ", " : "", work_kinds[i].unit);
	return out.buf ? str_take(&out) : xstrdup("");
}

double work_in_window(struct store *s, const struct run *r, const char *rate_metric)
{
	double work = figure_metric(s, r, rate_metric) * figure_metric(s, r, "seconds");

	return work > 0 ? work : NAN;
}

double busy_rate(struct store *s, const struct run *r, const struct cpuset *cpus)
{
	double sum = 0, v;

	if (!cpus)
		return figure_metric(s, r, "cpu_pct") * 1e7;
	for (unsigned int cpu = 0; cpu < CPUSET_MAX; cpu++) {
		v = cpuset_has(cpus, cpu) ? run_metric(s, r, "busy_ns", NULL, (int)cpu) : NAN;
		if (!isnan(v))
			sum += v;
	}
	return sum > 0 ? sum / figure_metric(s, r, "seconds") : NAN;
}

double work_time(struct store *s, const struct query *q, const struct run *r,
		 const char *rate_metric)
{
	double busy = q->workload_only ? figure_metric(s, r, busy_metric(q)) * 1e7
				       : busy_rate(s, r, q->cpus);

	return busy / figure_metric(s, r, rate_metric);
}

/* More sides than a receiver and a sender have metrics of the transfer. */
static bool transfer_has_metrics(struct store *s, const struct run *r)
{
	return !isnan(figure_metric(s, r, "transfer_sides"));
}

double transfer_rate(struct store *s, const struct run *r, const char *rate_metric)
{
	if (!transfer_has_metrics(s, r))
		return figure_metric(s, r, rate_metric);
	return run_metric(s, r, "transfer", rate_metric, NO_CPU);
}

double transfer_part(struct store *s, const struct run *r)
{
	return transfer_has_metrics(s, r) ? figure_metric(s, r, "transfer_part") : 1;
}

/* --- system calls per unit of work --- */

double calls_of_run(struct store *s, const struct run *r)
{
	autofree struct syscall_row *rows = NULL;
	uint64_t calls = 0;
	int n = store_syscalls(s, r->id, &rows, NULL);

	if (n < 0)
		return NAN;
	for (int i = 0; i < n; i++)
		calls += rows[i].calls;
	return n ? (double)calls : NAN;
}

static double work_calls_per_unit(struct store *s, const struct run *r, const void *rate_metric)
{
	return calls_of_run(s, r) / work_in_window(s, r, rate_metric);
}

struct estimate calls_per_work(struct store *s, const struct block *b, enum estimator est,
			       const char *rate_metric, struct stats_error *error)
{
	const struct query every = {0}; /* a repeat may lack the pass that counts calls */
	autofree struct run *runs = NULL;
	int n = scope_runs(s, &every, b, FOR_SYSCALLS, &runs, NULL);
	size_t used;
	autofree double *x =
		scope_figures(s, runs, n < 0 ? 0 : n, work_calls_per_unit, rate_metric, &used);

	*error = stats_error_of(est, x, used);
	return stats_estimate(est, x, used, 0.95);
}

/* --- how long packets are --- */

/* Returns the MTU of the interface whose packets are the unit, or NAN. */
static double work_mtu(struct store *s, const struct run *r)
{
	const char *units = store_run_fact(s, r->id, "units"); /* "nic:host/eth0/rx" */
	autofree struct metric_row *state = NULL;
	autofree char *want = NULL;
	double mtu = NAN;
	int n, len;

	if (!units)
		return NAN;
	units += strlen("nic:");
	len = (int)strlen(units) - (str_ends(units, "/rx") || str_ends(units, "/tx") ? 3 : 0);
	want = xasprintf("/%.*s/mtu", len, units);
	n = store_metrics(s, r->id, "nic_state", OF_SIDE, &state, NULL);
	for (int i = 0; i < n; i++) {
		autofree char *object = xasprintf("/%s", state[i].key.object);

		mtu = str_ends(object, want) ? state[i].value : mtu;
	}
	return mtu;
}

/* The lengths of packets: the shortest and longest mean of some runs, in bytes and in frames. */
struct packet_lengths {
	double bytes[2], frames[2]; /* from 0: not known */
};

static void work_add_lengths(struct packet_lengths *l, struct store *s, const struct run *runs,
			     int n)
{
	double kib = 0, packets = 0, bytes, frames;

	for (int i = 0; i < n; i++) {
		kib += figure_metric(s, &runs[i], "rate_kib");
		packets += figure_metric(s, &runs[i], "rate_packets");
	}
	bytes = 1024 * kib / packets;
	if (!(bytes > 0))
		return;
	frames = fmax(bytes / (work_mtu(s, runs) + 18), 1); /* ignores NAN */
	l->bytes[0] = l->bytes[1] > 0 ? fmin(l->bytes[0], bytes) : bytes;
	l->frames[0] = l->bytes[1] > 0 ? fmin(l->frames[0], frames) : frames;
	l->bytes[1] = fmax(l->bytes[1], bytes);
	l->frames[1] = fmax(l->frames[1], frames);
}

static void work_print_range(struct str *out, const char *format, const double range[2])
{
	str_printf(out, format, range[0]);
	if (range[1] < 1.005 * range[0])
		return;
	str_puts(out, " to ");
	str_printf(out, format, range[1]);
}

static void work_print_lengths(struct str *out, const struct packet_lengths *l)
{
	str_puts(out, "a packet has ");
	work_print_range(out, "%.0f", l->bytes);
	str_puts(out, " bytes on average");
	if (l->frames[1] <= 1)
		return;
	str_puts(out, ": an aggregate of at least ");
	work_print_range(out, "%.1f", l->frames);
	str_puts(out, " packets of the wire, by the MTU");
}

void work_print_packet(struct str *out, const char *before, struct store *s, const struct run *runs,
		       int n)
{
	struct packet_lengths l = {0};

	work_add_lengths(&l, s, runs, n);
	if (!(l.bytes[1] > 0))
		return;
	str_puts(out, before);
	work_print_lengths(out, &l);
}

void work_print_packets(struct str *out, struct store *s, const struct query *q)
{
	struct packet_lengths l = {0};
	autofree struct block *blocks = NULL;
	int n = q->unit && !strcasecmp(q->unit, "packet") ? scope_blocks(s, q, &blocks, NULL) : 0;

	for (int i = 0; i < n; i++) {
		autofree struct run *runs = NULL;
		int nruns = scope_runs(s, q, &blocks[i], FOR_FIGURES, &runs, NULL);

		work_add_lengths(&l, s, runs, nruns);
	}
	if (l.bytes[1] > 0)
		work_print_lengths(out, &l);
}
