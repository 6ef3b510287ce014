// SPDX-License-Identifier: GPL-2.0-only
/* Reads perf.data into a profile of the samples on the side's CPUs within the window. */
#include "analyze/probes/ingest.h"
#include "analyze/perfdata/perfdata.h"
#include "lib/str.h"

/*
 * Adds the processes that the plan names to those of the workload. run.json has those that lived at
 * the window's ends, by the name of the process, which is that of its first thread.
 */
static void perf_add_named(struct profile *p, const struct ingest *in)
{
	for (size_t i = 0; in->named && i < p->ncosts; i++) {
		const struct profile_cost *c = &p->costs[i];

		if (c->tid == c->pid && c->comm != PROFILE_NONE &&
		    str_matches_any(in->named, intern_get(&p->strings, c->comm)))
			profile_add_own(p, c->pid);
	}
	profile_sort_own(p);
}

static int perf_read_file(struct ingest *in, const char *path, struct error *err)
{
	/* A part of the window has no exact times, but its samples have their contexts. */
	const bool exact = in->exact && (in->exact->ntimes || in->exact->ndue);
	struct perfdata_options o = {.from_ns = in->run.start_ns,
				     .to_ns = in->run.end_ns,
				     .cpus = in->has_cpus ? &in->cpus : NULL,
				     .threads = in->how.threads,
				     .inlines = in->how.inlines,
				     .host_dir = in->host_dir,
				     .run_dir = in->dir,
				     .exact = exact ? in->exact : NULL,
				     .workload = in->pids,
				     .nworkload = in->npids,
				     .cache = in->how.symbols,
				     .in_capture = true,
				     .spots = true};
	struct profile *p = xcalloc(1, sizeof(*p));
	int rc;

	profile_init(p);
	rc = perfdata_read(p, path, &o, err);
	if (!rc) {
		in->profile = p;
		perf_add_named(p, in);
		profile_add_notes(p, &in->notes);
		if (!p->ncosts)
			note_add(&in->notes, perf_no_samples);
		return 0;
	}
	profile_free(p);
	free(p);
	return rc;
}

const struct parser parser_perf = {
	.files = {"perf.data"}, .timed = true, .last = true, .read = perf_read_file};

/*
 * Coverage: the time that the samples of a clock account for, over the busy time of the side's
 * CPUs. Samples are missing where perf records none (some kernels record no sample while a CPU's
 * idle task is current, softirqs on top of the idle task included), and where the timer of the
 * clock came late. A virtual CPU that sleeps gets the timer's interrupt late, behind the interrupt
 * that wakes it. The sample then lies in that interrupt's softirq, although its time was idle.
 */

/* Busy time is known to two ticks for each CPU, so a smaller difference proves nothing. */
static const double coverage_blur_ns = 2e7;
static const double coverage_low_pct = 90, coverage_high_pct = 110;

double *ingest_idle_ns(const struct ingest *in)
{
	double *ns = xcalloc(CPUSET_MAX, sizeof(*ns)),
	       window = (double)(in->run.end_ns - in->run.start_ns);
	int cpu;

	for (size_t i = 0; i < CPUSET_MAX; i++)
		ns[i] = NAN;
	for (size_t i = 0; i < in->nmetrics; i++) {
		cpu = in->metrics[i].key.cpu;
		if (!strcmp(in->metrics[i].key.name, "busy_ns") && cpu >= 0 && cpu < CPUSET_MAX)
			ns[cpu] = window - in->metrics[i].value;
	}
	return ns;
}

/* Returns the weights of the samples of each CPU's idle task, softirqs on top of it included. */
static double *coverage_idle_tasks(const struct profile *p, uint32_t event)
{
	double *ns = xcalloc(CPUSET_MAX, sizeof(*ns));

	for (size_t i = 0; i < p->ncosts; i++)
		if (p->costs[i].event == event && !p->costs[i].tid && p->costs[i].cpu < CPUSET_MAX)
			ns[p->costs[i].cpu] += (double)p->costs[i].weight;
	return ns;
}

/* Adds a note on the CPUs with idle time that the samples of their idle tasks do not account for.
 */
static void coverage_note_unseen(struct ingest *in, uint32_t event, bool low)
{
	autofree double *tasks = coverage_idle_tasks(in->profile, event),
			*idle = ingest_idle_ns(in);
	double all = 0, sampled = 0;
	struct cpuset unseen = {0};
	autofree char *text = NULL;

	for (unsigned int cpu = 0; cpu < CPUSET_MAX; cpu++) {
		if (isnan(idle[cpu]) || profile_has_idle(tasks[cpu], idle[cpu]))
			continue;
		cpuset_add(&unseen, cpu);
		all += idle[cpu];
		sampled += tasks[cpu];
	}
	text = cpuset_format(&unseen);
	if (all > 0)
		note_add(&in->notes, perf_idle_unseen, text, sampled / 1e9, all / 1e9)->severity =
			low ? SEVERITY_WARNING : SEVERITY_INFO;
}

void ingest_coverage(struct ingest *in)
{
	const double window = (double)(in->run.end_ns - in->run.start_ns);
	double busy = ingest_find_metric(in, "busy_ns", NULL), pct, blur;
	struct profile_time t;
	bool low, blurred;

	if (!in->profile || !profile_time_of(in->profile, NULL, &t) || !(busy > 0))
		return;
	if (t.exact)
		busy = window * in->run.ncpus - t.idle;
	pct = 100 * t.busy / busy;
	blur = coverage_blur_ns * in->run.ncpus;
	if (in->profile->parts && !t.exact) /* a workload may rest in some of them, by chance */
		blur += 2 * busy / sqrt(in->profile->parts);
	blurred = fabs(busy - t.busy) <= blur;
	low = pct < coverage_low_pct && !blurred;
	ingest_metric(in, "coverage_pct", "%", pct);
	if (low)
		note_add(&in->notes, perf_coverage, pct, t.busy / 1e9, busy / 1e9);
	if (pct > coverage_high_pct && !blurred)
		note_add(&in->notes, perf_coverage_high, pct, t.busy / 1e9, busy / 1e9);
	coverage_note_unseen(in, t.event, low);
}
