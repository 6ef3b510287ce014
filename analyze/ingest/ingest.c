// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/ingest/ingest.h"

#include "analyze/ingest/others.h"
#include "analyze/ingest/power_kinds.h"
#include "analyze/ingest/window.h"
#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/snap.h"
#include "lib/str.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* THE TABLE of raw files. A file that is not here is kept in the capture and not understood. */
static const struct parser {
	const char *file;
	int (*read)(struct ingest *in, const char *path, struct error *err);
} parsers[] = {
	// clang-format off: a row per file
	{"proc_stat.snap", ingest_proc_stat},
	{"softnet.snap", ingest_softnet},
	{"throttle.snap", ingest_throttle},
	{"counters.tsv", ingest_counters},
	{"power.tsv", ingest_power},
	{"power-ipmi.snap", ingest_power_ipmi},
	{"power-command.snap", ingest_power_command},
	{"power-command-2.snap", ingest_power_command},
	{"power-command-3.snap", ingest_power_command},
	{"power-command-4.snap", ingest_power_command},
	{"syscalls.tsv", ingest_syscalls},
	{"perf.data", ingest_perf},
	{"threads.snap", ingest_threads},
	{"sched.snap", ingest_sched},
	{"tcp.snap", ingest_tcp},
	{"idle.snap", ingest_idle},
	{"irq.snap", ingest_irq},
	{"nic.snap", ingest_nic},
	{"nic_state.tsv", ingest_nic_state},
	{"snmp.snap", ingest_snmp},
	// clang-format on
};

void ingest_metric(struct ingest *in, const char *name, const char *unit, double value,
		   const char *source)
{
	if (!isfinite(value))
		return;
	array_grow(in->metrics, in->nmetrics, in->metrics_cap);
	in->metrics[in->nmetrics++] =
		(struct metric_row){arena_strdup(&in->arena, name), unit, value, source};
}

void ingest_point(struct ingest *in, const char *series, uint64_t t_ns, double value)
{
	array_grow(in->series, in->nseries, in->series_cap);
	in->series[in->nseries++] = (struct ingest_series){series, t_ns, value};
}

struct thread_row *ingest_thread(struct ingest *in, int64_t pid, int64_t tid)
{
	uint64_t *at = map_at(&in->thread_index, (uint64_t)pid << 32 | (uint32_t)tid);

	if (!*at) {
		array_grow(in->threads_seen, in->nthreads_seen, in->threads_seen_cap);
		in->threads_seen[in->nthreads_seen++] = (struct thread_row){.pid = pid,
									    .tid = tid,
									    .run_ns = NAN,
									    .user_ns = NAN,
									    .system_ns = NAN,
									    .migrations = NAN,
									    .sched_run_ns = NAN,
									    .wait_ns = NAN,
									    .slices = NAN,
									    .voluntary = NAN,
									    .involuntary = NAN};
		*at = in->nthreads_seen;
	}
	return &in->threads_seen[*at - 1];
}

bool ingest_has_cpu(const struct ingest *in, unsigned int cpu)
{
	return !in->has_cpus || cpuset_has(&in->cpus, cpu);
}

double ingest_cover(struct ingest *in, const char *what, uint64_t *from, uint64_t *to)
{
	uint64_t start = in->run.start_ns, end = in->run.end_ns;
	double window = (double)(end - start), covered;

	if (end <= start)
		return 0; /* said once, by ingest_run */
	if (*from < start)
		*from = start;
	if (*to > end)
		*to = end;
	covered = *to > *from ? (double)(*to - *from) : 0;
	if (covered < 0.9 * window)
		note_add(&in->notes, coverage_too_small, what, covered / 1e9, window / 1e9);
	else if (covered < 0.99 * window)
		note_add(&in->notes, coverage_partial, what, 100 * covered / window)->severity =
			covered < 0.95 * window ? SEVERITY_LOSSY : SEVERITY_INFO;
	return covered < 0.9 * window ? 0 : covered / 1e9;
}

static const struct parser *parser_of(const char *file)
{
	size_t i;

	for (i = 0; i < array_size(parsers); i++)
		if (!strcmp(parsers[i].file, file))
			return &parsers[i];
	return NULL;
}

static void read_one(struct ingest *in, const char *what, const char *file,
		     int (*read)(struct ingest *, const char *, struct error *))
{
	char *path = xasprintf("%s/%s", in->dir, file);
	struct error err = {0};
	struct stat st;

	if (stat(path, &st))
		note_add(&in->notes, file_missing, what, file);
	else if (!S_ISREG(st.st_mode)) /* opening a fifo would wait for ever */
		note_add(&in->notes, file_not_regular, what, file);
	else if (read(in, path, &err))
		note_add(&in->notes, file_unreadable, what, err.text);
	free(path);
}

/*
 * Files with times in them, or with nothing that is counted, beside the .snap files; any other is a
 * total of the whole window.
 */
static const char *const timed[] = {"perf.data", "power.tsv", "nic_state.tsv"};

static bool is_timed(const char *file)
{
	size_t i;

	for (i = 0; i < array_size(timed); i++)
		if (!strcmp(timed[i], file))
			return true;
	return false;
}

/* Can the file tell of the slice that is asked for? What it is read for says so if not. */
static bool tells(struct ingest *in, const char *what, const struct parser *p)
{
	char *path = xasprintf("%s/%s", in->dir, p->file);
	bool known = is_timed(p->file) || !in->sliced || !path_exists(path);

	if (!known && str_ends(p->file, ".snap"))
		known = window_resolves_snaps(in, what, path);
	else if (!known)
		window_absent(in, what, "a total of the whole window");
	free(path);
	return known;
}

/* What was not measured, and why; what was lost. */
static void collector_notes(struct ingest *in)
{
	size_t i;

	for (i = 0; i < in->ncollectors; i++) {
		const struct collector_row *c = &in->collectors[i];

		if (strcmp(c->state, "ok"))
			note_add(&in->notes, collector_state, c->name, c->state, c->why ? ": " : "",
				 c->why ? c->why : "")
				->severity =
				strcmp(c->state, "degraded") ? SEVERITY_INFO : SEVERITY_WARNING;
		if (c->lost > 0)
			note_add(&in->notes, collector_lost, c->name, (long long)c->lost);
	}
}

static void read_files(struct ingest *in)
{
	const struct parser *p;
	size_t i;

	if (in->units && strcmp(in->units, "none"))
		read_one(in, "workload", "workload.out", ingest_workload);
	for (i = 0; i < in->nfiles; i++) {
		p = parser_of(in->files[i].name);
		if (p && tells(in, in->files[i].collector, p))
			read_one(in, in->files[i].collector, p->file, p->read);
	}
	ingest_others(in);
	ingest_meters(in);
	power_put(in);
	ingest_clock(in);
}

int ingest_run(struct ingest *in, const char *dir, const char *hosts_dir,
	       const struct ingest_options *how, struct error *err)
{
	char *path = xasprintf("%s/run.json", dir);
	int rc;

	*in = (struct ingest){.how = *how};
	in->dir = arena_strdup(&in->arena, dir);
	rc = ingest_run_json(in, path, err);
	free(path);
	if (rc)
		return rc;
	if (hosts_dir && in->run.host) {
		path = xasprintf("%s/%s", hosts_dir, in->run.host);
		in->host_dir = path_is_dir(path) ? arena_strdup(&in->arena, path) : NULL;
		free(path);
	}
	if (strcmp(in->run.status, "ok"))
		return 0;
	rc = window_narrow(in, err);
	if (rc)
		return rc;
	collector_notes(in);
	if (in->run.end_ns <= in->run.start_ns)
		note_add(&in->notes, window_missing);
	else
		read_files(in);
	window_cut_series(in);
	return 0;
}

void ingest_free(struct ingest *in)
{
	free(in->collectors);
	free(in->files);
	free(in->metrics);
	notes_free(&in->notes);
	free(in->series);
	free(in->syscalls);
	free(in->power);
	free(in->sockets);
	free(in->threads_seen);
	map_free(&in->thread_index);
	free(in->absent);
	if (in->profile)
		profile_free(in->profile);
	free(in->profile);
	arena_free(&in->arena);
	*in = (struct ingest){0};
}
