// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/probes/ingest.h"

#include "analyze/perfdata/perfdata.h"
#include "analyze/probes/power/parser.h"
#include "analyze/probes/snapshots.h"
#include "analyze/probes/tsv.h"
#include "lib/file.h"
#include "lib/str.h"

#include <errno.h>
#include <stdio.h>

/*
 * The list of parsers, in alphabetical order. A raw file that no parser names stays in the capture
 * unread.
 */
// clang-format off
#define PARSERS(row) \
	row(batches) \
	row(path) \
	row(counters) \
	row(drop_times) \
	row(drops) \
	row(due) \
	row(frame) \
	row(idle) \
	row(irq) \
	row(net_sysctls) \
	row(nic) \
	row(nic_state) \
	row(perf) \
	row(pools) \
	row(power) \
	row(power_command) \
	row(proc_stat) \
	row(queues) \
	row(sched) \
	row(snmp) \
	row(socket_copies) \
	row(sockstat) \
	row(softnet) \
	row(syscalls) \
	row(tcp) \
	row(threads) \
	row(throttle) \
	row(waits)
// clang-format on

#define DECLARATION(name) extern const struct parser parser_##name;
#define ADDRESS(name)	  &parser_##name,

PARSERS(DECLARATION)
static const struct parser *const parsers[] = {PARSERS(ADDRESS)};

const struct parser *parser_find(const char *file)
{
	for (size_t i = 0; i < array_size(parsers); i++)
		for (int k = 0; parsers[i]->files[k]; k++)
			if (!strcmp(parsers[i]->files[k], file))
				return parsers[i];
	return NULL;
}

int parser_read(const struct parser *p, struct ingest *in, const char *path, struct error *err)
{
	freed(tsv_free) struct tsv t = {0};
	int rc;

	if (!p->rows)
		return p->read ? p->read(in, path, err) : snaps_parse(&p->snaps, in, path, err);
	rc = tsv_read(&t, path, '\t', err) ?: tsv_require(&t, p->columns, err);
	rc = rc ?: p->rows(in, &t, err);
	if (t.bad)
		note_add(&in->notes, rows_unreadable, p->collector, t.bad, path_base_name(path));
	return rc;
}

void ingest_metric_row(struct ingest *in, const struct metric_row *m)
{
	struct metric_row row = *m;

	if (!isfinite(m->value))
		return;
	row.key.name = arena_strdup(&in->arena, m->key.name);
	row.key.object = m->key.object ? arena_strdup(&in->arena, m->key.object) : NULL;
	array_add(in->metrics, in->nmetrics, in->metrics_cap, row);
}

void ingest_metric_of(struct ingest *in, const char *name, const char *object, int cpu,
		      const char *unit, double value)
{
	ingest_metric_row(in, &(struct metric_row){{name, object, cpu}, unit, value, NULL});
}

void ingest_metric(struct ingest *in, const char *name, const char *unit, double value)
{
	ingest_metric_of(in, name, NULL, NO_CPU, unit, value);
}

void ingest_fact(struct ingest *in, const char *name, const char *value)
{
	array_add(in->facts, in->nfacts, in->facts_cap,
		  (struct fact_row){.name = arena_strdup(&in->arena, name),
				    .value = arena_strdup(&in->arena, value)});
}

double ingest_find_metric(const struct ingest *in, const char *name, const char *object)
{
	for (size_t i = 0; i < in->nmetrics; i++) {
		const struct metric_key *k = &in->metrics[i].key;

		if (!strcmp(k->object ?: "", object ?: "") && k->cpu == NO_CPU &&
		    !strcmp(k->name, name))
			return in->metrics[i].value;
	}
	return NAN;
}

void ingest_point(struct ingest *in, const char *series, uint64_t t_ns, double value)
{
	const char *name = intern_get(&in->series_names, intern_str(&in->series_names, series));

	array_add(in->series, in->nseries, in->series_cap,
		  (struct ingest_series){name, t_ns, value});
}

struct thread_row *ingest_thread(struct ingest *in, int64_t pid, int64_t tid)
{
	uint64_t *at = map_at(&in->thread_index, (uint64_t)pid << 32 | (uint32_t)tid);
	struct thread_row row = {.pid = pid, .tid = tid};

	if (!*at) {
		for (int f = 0; f < THREAD_FIGURES; f++)
			row.f[f] = NAN;
		array_add(in->threads_seen, in->nthreads_seen, in->threads_seen_cap, row);
		*at = in->nthreads_seen;
	}
	return &in->threads_seen[*at - 1];
}

void thread_seen(struct ingest *in, struct thread_row *row, const char *comm, uint64_t t_ns)
{
	if (!row->comm || strcmp(row->comm, comm))
		row->comm = arena_strdup(&in->arena, comm);
	if (!row->first_ns || t_ns < row->first_ns)
		row->first_ns = t_ns;
	if (t_ns > row->last_ns)
		row->last_ns = t_ns;
}

bool ingest_has_cpu(const struct ingest *in, unsigned int cpu)
{
	return !in->has_cpus || cpuset_has(&in->cpus, cpu);
}

double ingest_cover(struct ingest *in, const char *what, uint64_t *from, uint64_t *to)
{
	uint64_t start = in->run.start_ns, end = in->run.end_ns;
	double window = (double)(end - start), covered;

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

/* --- a slice of the window --- */

int window_narrow(struct ingest *in, struct error *err)
{
	const struct time_slice *s = &in->how.slice;
	uint64_t start = in->run.start_ns, length = in->run.end_ns - start;
	uint64_t from = s->from.given ? s->from.ns : 0, to = s->to.given ? s->to.ns : length;

	in->sliced = (s->from.given || s->to.given) && in->run.end_ns > start;
	if (!in->sliced)
		return 0;
	if (from >= length)
		return error_set(err, ERANGE, "--from %.10g: its window is %.2f s long",
				 (double)from / 1e9, (double)length / 1e9);
	if (to > length) {
		if ((double)(to - length) > 0.01 * (double)(length - from))
			note_add(&in->notes, window_before_to, (double)length / 1e9,
				 (double)to / 1e9);
		to = length;
	}
	in->run.start_ns = start + from;
	in->run.end_ns = start + to;
	return 0;
}

char *ingest_kallsyms(const struct ingest *in)
{
	char *own = xasprintf("%s/kallsyms", in->dir);

	if (path_exists(own))
		return own;
	free(own);
	return in->host_dir ? xasprintf("%s/kallsyms", in->host_dir) : NULL;
}

void window_absent(struct ingest *in, const char *what, const char *why)
{
	note_add(&in->notes, not_in_slice, what, why);
	if (str_index(in->absent, in->nabsent, what) < 0)
		array_add(in->absent, in->nabsent, in->absent_cap, arena_strdup(&in->arena, what));
}

/* The times of readings; each is the first member of a struct of `size` bytes. */
struct times {
	const void *first;
	size_t n, size;
};

static uint64_t times_at(const struct times *t, size_t i)
{
	return *(const uint64_t *)((const char *)t->first + i * t->size);
}

/* Returns how far `at` is from the nearer of the two readings around it. */
static double times_distance(const struct times *t, uint64_t at)
{
	for (size_t i = 1; i < t->n; i++)
		if (times_at(t, i - 1) <= at && at <= times_at(t, i))
			return fmin((double)(at - times_at(t, i - 1)),
				    (double)(times_at(t, i) - at));
	return 0; /* outside all readings: ingest_cover checks how much they cover */
}

static bool times_any_inside(const struct times *t, uint64_t from, uint64_t to)
{
	uint64_t margin = (to - from) / 20;

	for (size_t i = 0; i < t->n; i++)
		if (times_at(t, i) >= from + margin && times_at(t, i) + margin <= to)
			return true;
	return false;
}

bool window_resolves(struct ingest *in, const char *what, const void *first, size_t n, size_t size)
{
	const struct times t = {first, n, size};
	uint64_t from = in->run.start_ns, to = in->run.end_ns;
	double length = (double)(to - from), off;

	if (!in->sliced)
		return true;
	off = (times_distance(&t, from) + times_distance(&t, to)) / length;
	if (off > 0.01 && (off > 0.4 || !times_any_inside(&t, from, to))) {
		window_absent(in, what, "its readings are too far apart");
		return false;
	}
	if (off > 0.05)
		note_add(&in->notes, slice_interpolated, what, 100 * off);
	return true;
}

bool window_resolves_snaps(struct ingest *in, const char *what, const char *path)
{
	struct error damage = {0};
	freed(snaps_free) struct snaps snaps;
	int rc = snaps_read(&snaps, path, &damage);
	bool known = false;

	if (rc && rc != -EBADMSG)
		note_add(&in->notes, file_damaged, what, damage.text);
	else
		known = window_resolves(in, what, snaps.snap, snaps.n, sizeof(*snaps.snap));
	return known;
}

void window_cut_series(struct ingest *in)
{
	size_t kept = 0;

	for (size_t i = 0; i < in->nseries && in->sliced; i++)
		if (in->series[i].t_ns > in->run.start_ns && in->series[i].t_ns <= in->run.end_ns)
			in->series[kept++] = in->series[i];
	if (in->sliced)
		in->nseries = kept;
}

/* --- all files of a run --- */

static void ingest_read_file(struct ingest *in, const char *what, const char *file,
			     const struct parser *p)
{
	autofree char *path = xasprintf("%s/%s", in->dir, file);
	struct error err = {0};
	struct stat st;

	if (stat(path, &st))
		error_set(&err, ENOENT, "the file %s is missing", file);
	else if (!S_ISREG(st.st_mode)) /* open() of a FIFO waits for ever */
		error_set(&err, EBADMSG, "%s is not a regular file", file);
	else
		parser_read(p, in, path, &err);
	if (err.code)
		note_add(&in->notes, file_damaged, what, err.text);
}

/* Returns whether the file's figures can be those of the slice, and notes it if they cannot. */
static bool parser_resolves_slice(struct ingest *in, const char *what, const struct parser *p,
				  const char *file)
{
	autofree char *path = xasprintf("%s/%s", in->dir, file);
	bool known = p->timed || !in->sliced || !path_exists(path);

	if (!known && str_ends(file, ".snap"))
		known = window_resolves_snaps(in, what, path);
	else if (!known)
		window_absent(in, what, "a total of the whole window");
	return known;
}

/* Notes what a collector did not measure, and why, and how much it lost. */
static void collector_add_notes(struct ingest *in)
{
	for (size_t i = 0; i < in->ncollectors; i++) {
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

static void ingest_read_collected(struct ingest *in, bool last)
{
	const struct parser *p;

	for (size_t i = 0; i < in->nfiles; i++) {
		const struct ingest_file *f = &in->files[i];

		p = parser_find(f->name);
		if (p && p->last == last && parser_resolves_slice(in, f->collector, p, f->name))
			ingest_read_file(in, f->collector, f->name, p);
	}
}

/*
 * The frame of another side may have measured the CPUs of this one, too. Then the run's folder has
 * files that no collector of this run wrote.
 */
static void ingest_add_shared_files(struct ingest *in)
{
	static const char *const files[] = {"frame.tsv", "due.tsv"};

	for (size_t i = 0; i < in->ncollectors; i++)
		if (!strcmp(in->collectors[i].name, "frame"))
			return;
	for (size_t i = 0; i < array_size(files); i++) {
		autofree char *path = xasprintf("%s/%s", in->dir, files[i]);

		if (path_exists(path))
			array_add(in->files, in->nfiles, in->files_cap,
				  (struct ingest_file){"frame", files[i]});
	}
}

static void ingest_read_files(struct ingest *in)
{
	static const struct parser account = {.read = ingest_workload};

	ingest_add_shared_files(in);
	if (in->units && workload_file(in))
		ingest_read_file(in, "workload", workload_file(in), &account);
	ingest_read_collected(in, false);
	ingest_read_collected(in, true);
	ingest_rate_in_window(in);
	ingest_check_sockets(in);
	ingest_fill_profile(in);
	ingest_others(in);
	ingest_coverage(in);
	ingest_meters(in);
	power_put(in);
	ingest_clock(in);
}

int ingest_run(struct ingest *in, const char *dir, const char *hosts_dir,
	       const struct ingest_options *how, struct error *err)
{
	autofree char *path = xasprintf("%s/run.json", dir);
	int rc;

	*in = (struct ingest){.how = *how};
	in->dir = arena_strdup(&in->arena, dir);
	rc = ingest_run_json(in, path, err);
	if (rc)
		return rc;
	if (how->units)
		workload_set_units(in);
	if (hosts_dir && in->run.host) {
		in->host_dir = arena_printf(&in->arena, "%s/%s", hosts_dir, in->run.host);
		if (!path_is_dir(in->host_dir))
			in->host_dir = NULL;
	}
	if (strcmp(in->run.status, "ok"))
		return 0;
	rc = window_narrow(in, err);
	if (rc)
		return rc;
	collector_add_notes(in);
	if (in->run.end_ns <= in->run.start_ns)
		note_add(&in->notes, window_missing);
	else
		ingest_read_files(in);
	window_cut_series(in);
	if (in->broken.code)
		return error_set(err, in->broken.code, "%s", in->broken.text);
	return 0;
}

void ingest_free(struct ingest *in)
{
	free(in->collectors);
	free(in->files);
	free(in->metrics);
	free(in->facts);
	notes_free(&in->notes);
	free(in->series);
	free(in->syscalls);
	free(in->power);
	free(in->sockets);
	free(in->threads_seen);
	free(in->pids);
	map_free(&in->thread_index);
	free(in->absent);
	if (in->profile)
		profile_free(in->profile);
	free(in->profile);
	exact_free(in->exact);
	intern_free(&in->series_names);
	arena_free(&in->arena);
	*in = (struct ingest){0};
}
