// SPDX-License-Identifier: GPL-2.0-only
#include "analyze/analysis/analysis.h"

#include "analyze/costs/components.h"
#include "analyze/scope/placement.h"
#include "analyze/scope/runs.h"
#include "analyze/symbols/symtab.h"
#include "lib/file.h"
#include "lib/workers.h"

#include <errno.h>
#include <unistd.h>

/* One side of one run, passed from a reader thread to the writer. */
struct job {
	const struct layout_entry *entry;
	char *folder; /* in the capture, with a slash at its end; owned */
	struct ingest in;
	struct damage damage; /* what is wrong with the side's files */
	struct error err;
	int64_t run; /* the row id, after the run is written */
	bool counts; /* the workload accounts for its work; known after the run is written */
	int rc;
	bool done;
};

struct pool {
	const struct analysis *a;
	const char *hosts_dir;
	struct symbol_cache *symbols;
	struct job *jobs;
	size_t n, next, written, ahead;
	unsigned int threads_each; /* threads in excess of the runs; they read parts of a run */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool stop;
};

static void job_read(const struct pool *p, struct job *j)
{
	const struct ingest_options how = {.meters = p->a->meters,
					   .nmeters = p->a->nmeters,
					   .threads = p->threads_each,
					   .slice = p->a->slice,
					   .inlines = p->a->inlines,
					   .units = p->a->units,
					   .symbols = p->symbols};

	if (strcmp(j->entry->status, "ok") ||
	    (j->entry->variant && !str_matches(p->a->variant, j->entry->variant)))
		return;
	damage_check(&j->damage, &p->a->named, p->a->capture, j->folder);
	j->rc = ingest_run(&j->in, j->entry->dir, p->hosts_dir, &how, &j->err);
}

static void *pool_reader(void *arg)
{
	struct pool *p = arg;

	pthread_mutex_lock(&p->lock);
	while (!p->stop && p->next < p->n) {
		struct job *j;

		if (p->next >= p->written + p->ahead) {
			pthread_cond_wait(&p->changed, &p->lock);
			continue;
		}
		j = &p->jobs[p->next++];
		pthread_mutex_unlock(&p->lock);
		job_read(p, j);
		pthread_mutex_lock(&p->lock);
		j->done = true;
		pthread_cond_broadcast(&p->changed);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* Adds a lossy note for each kind of damage. `skip` is as in damage_text(). */
static void analysis_note_damage(struct analysis *a, const struct damage *d, size_t skip,
				 struct notes *notes)
{
	for (int kind = 0; kind < DAMAGE_KINDS; kind++) {
		autofree char *text = damage_text(d, (enum damage_kind)kind, skip);

		if (text)
			note_add(notes, files_changed, text);
	}
	damage_add(&a->damage, d);
}

/* Returns the run. If run.json is lost, the run has only the names from the manifest. */
static struct run job_find_run(const struct job *j)
{
	const struct layout_entry *e = j->entry;
	struct run r = j->in.run;

	r.variant = e->variant ? e->variant : r.variant ? r.variant : "run";
	r.pass = e->pass ? e->pass : r.pass ? r.pass : "all";
	r.side = e->side ? e->side : r.side ? r.side : "local";
	r.role = e->role;
	r.repeat = e->variant ? e->repeat : r.repeat ? r.repeat : 1;
	r.position = e->position;
	r.status = r.status ? r.status : e->status;
	if (strcmp(e->status, "ok")) {
		r.status = e->status;
		r.why = e->why;
	} else if (j->rc) {
		r.status = "failed";
		r.why = j->err.text;
	}
	return r;
}

/* The order of the index of the table. Of equal keys, the last row counts. */
static int job_metric_order(const void *a, const void *b)
{
	const struct metric_row *x = *(const struct metric_row *const *)a,
				*y = *(const struct metric_row *const *)b;

	return strcmp(x->key.name, y->key.name)
		       ?: strcmp(x->key.object ?: "", y->key.object ?: "")
		       ?: ascending(x->key.cpu, y->key.cpu) ?: ascending(x, y);
}

/* SQLite reads rows faster that lie in the order of their index. */
static int job_write_metrics(struct store *s, int64_t run, const struct ingest *in,
			     struct error *err)
{
	autofree const struct metric_row **rows = xcalloc(in->nmetrics + 1, sizeof(*rows));
	int rc = 0;

	for (size_t i = 0; i < in->nmetrics; i++)
		rows[i] = &in->metrics[i];
	qsort(rows, in->nmetrics, sizeof(*rows), job_metric_order);
	for (size_t i = 0; i < in->nmetrics && !rc; i++)
		rc = store_metric_put(s, run, rows[i], err);
	return rc;
}

static int job_write_rows(struct store *s, int64_t run, const struct ingest *in, struct error *err)
{
	int rc = job_write_metrics(s, run, in, err);

	for (size_t i = 0; i < in->ncollectors && !rc; i++)
		rc = store_collector_add(s, run, &in->collectors[i], err);
	for (size_t i = 0; i < in->nfacts && !rc; i++) {
		in->facts[i].run = run;
		rc = store_fact_add(s, &in->facts[i], err);
	}
	for (size_t i = 0; i < in->nseries && !rc; i++)
		rc = store_series_put(s, run, in->series[i].name, in->series[i].t_ns,
				      in->series[i].value, err);
	for (size_t i = 0; i < in->nsyscalls && !rc; i++)
		rc = store_syscall_add(s, run, &in->syscalls[i], err);
	for (size_t i = 0; i < in->nsockets && !rc; i++)
		rc = store_socket_add(s, run, &in->sockets[i], err);
	for (size_t i = 0; i < in->nthreads_seen && !rc; i++)
		rc = store_thread_add(s, run, &in->threads_seen[i], err);
	if (!rc && in->profile)
		rc = store_profile_write(s, run, in->profile, err);
	return rc;
}

/*
 * Adds a name that the list lacks. A substring search is enough because no name is part of
 * another.
 */
static void analysis_add_absent(struct analysis *a, const char *name)
{
	if (!a->absent.buf || !strstr(a->absent.buf, name))
		str_printf(&a->absent, "%s%s", a->absent.len ? ", " : "", name);
}

static void analysis_count_losses(struct analysis *a, const struct ingest *in)
{
	for (size_t i = 0; i < in->nabsent; i++)
		analysis_add_absent(a, in->absent[i]);
	for (size_t i = 0; i < in->notes.n; i++)
		a->lossy += in->notes.note[i].severity == SEVERITY_LOSSY;
}

/*
 * Notes a run that was measured and cannot be read. The note is of the capture, because tables show
 * no notes of failed runs. A window that ends before --from is no loss.
 */
static int job_write_unread(struct store *s, const struct job *j, const struct run *r,
			    struct error *err)
{
	struct notes notes = {0};
	autofree char *text = NULL;

	if (!j->rc || j->rc == -ERANGE)
		return 0;
	text = xasprintf("%s/%s-%02d %s: %s", r->variant, r->pass, r->repeat, r->side, j->err.text);
	note_add(&notes, run_left_out, text);
	return store_notes_add(s, 0, &notes, err);
}

static int job_write(struct analysis *a, struct store *s, struct job *j, struct error *err)
{
	struct run r = job_find_run(j);
	int rc;

	if (!strcmp(r.status, "ok") && j->in.run.end_ns > j->in.run.start_ns)
		ingest_metric(&j->in, "seconds", "s",
			      (double)(j->in.run.end_ns - j->in.run.start_ns) / 1e9);
	if (strcmp(r.status, "ok"))
		note_add(&j->in.notes, run_left_out, r.why ? r.why : "no reason");
	analysis_note_damage(a, &j->damage, strlen(j->folder), &j->in.notes);
	rc = store_begin(s, err);
	rc = rc ?: store_run_add(s, &r, err);
	j->run = r.id;
	j->counts = j->in.units && workload_file(&j->in);
	rc = rc ?: job_write_rows(s, r.id, &j->in, err);
	analysis_count_losses(a, &j->in);
	rc = rc ?: store_notes_add(s, r.id, &j->in.notes, err);
	rc = rc ?: job_write_unread(s, j, &r, err);
	return rc ?: store_commit(s, err);
}

/* Writes the jobs in their order, each as soon as it is ready. */
static int pool_write_jobs(struct analysis *a, struct store *s, struct pool *p, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; i < p->n && !rc; i++) {
		pthread_mutex_lock(&p->lock);
		while (!p->jobs[i].done)
			pthread_cond_wait(&p->changed, &p->lock);
		pthread_mutex_unlock(&p->lock);
		rc = job_write(a, s, &p->jobs[i], err);
		ingest_free(&p->jobs[i].in);
		pthread_mutex_lock(&p->lock);
		p->written = i + 1;
		p->stop = rc != 0;
		pthread_cond_broadcast(&p->changed);
		pthread_mutex_unlock(&p->lock);
	}
	return rc;
}

static int pool_run(struct analysis *a, struct store *s, struct pool *p, struct error *err)
{
	size_t all = a->jobs > 0 ? (size_t)a->jobs : (size_t)sysconf(_SC_NPROCESSORS_ONLN);
	size_t threads = all < p->n ? all : p->n, i;
	autofree pthread_t *id = NULL;
	int rc;

	if (!threads)
		return 0;
	p->threads_each = (unsigned int)(all / threads);
	p->ahead = threads + 2; /* limits the runs that wait in memory */
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	id = xcalloc(threads, sizeof(*id));
	for (i = 0; i < threads; i++)
		if (pthread_create(&id[i], NULL, pool_reader, p))
			break;
	threads = i;
	rc = threads ? pool_write_jobs(a, s, p, err)
		     : error_sys(err, EAGAIN, "cannot start a thread");
	for (i = 0; i < threads; i++)
		pthread_join(id[i], NULL);
	for (i = 0; i < p->n; i++)
		ingest_free(&p->jobs[i].in);
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	return rc;
}

/* --- the capture as a whole --- */

static int write_variant_facts(struct store *s, const char *variant, const char *prefix,
			       const struct layout_setting *list, size_t n, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		autofree char *name = xasprintf("%s%s", prefix, list[i].name);

		rc = store_fact_add(s,
				    &(struct fact_row){.variant = variant,
						       .name = name,
						       .value = list[i].value},
				    err);
	}
	return rc;
}

static int write_variant(struct store *s, const struct layout_variant *v, struct error *err)
{
	int rc = store_variant_add(s, v->name, v->what, v->base, err);

	for (size_t i = 0; i < v->nsettings && !rc; i++)
		rc = store_setting_add(s, v->name, v->settings[i].name, v->settings[i].value, err);
	rc = rc ?: write_variant_facts(s, v->name, "", v->keys, v->nkeys, err);
	return rc ? rc : write_variant_facts(s, v->name, "var:", v->vars, v->nvars, err);
}

struct capture_fact {
	const char *key, *value;
};

static int capture_facts_write(struct store *s, const struct capture_fact *facts, size_t n,
			       struct error *err)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++)
		if (facts[i].value)
			rc = store_capture_put(s, facts[i].key, facts[i].value, err);
	return rc;
}

static int write_capture(struct store *s, struct layout *l, struct error *err)
{
	const struct capture_fact facts[] = {
		{"name", l->name},
		{"created", l->created},
		{"zcost_version", l->zcost_version},
		{"estimator", l->estimator},
		{"order", l->order},
		{"manifest_sha256", l->has_manifest ? l->manifest_sha256 : NULL},
		{"run_sha256", *l->run_sha256 ? l->run_sha256 : NULL}};
	int rc = store_begin(s, err);

	rc = rc ?: capture_facts_write(s, facts, array_size(facts), err);
	for (size_t i = 0; i < l->nvariants && !rc; i++)
		rc = write_variant(s, &l->variants[i], err);
	rc = rc ?: store_notes_add(s, 0, &l->notes, err);
	return rc ? rc : store_commit(s, err);
}

static int write_host(struct store *s, const char *hosts_dir, const char *name, struct error *err)
{
	freed(host_free) struct host h;
	int rc;

	rc = host_read(&h, hosts_dir, name, err);
	rc = rc ?: store_host_add(s, &h.row, err);
	for (size_t i = 0; i < h.nplaces && !rc; i++)
		rc = store_topology_add(s, &h.places[i], err);
	for (size_t i = 0; i < h.nfacts && !rc; i++)
		rc = store_fact_add(s, &h.facts[i], err);
	return rc;
}

/* Writes every host that a run names. */
static int write_hosts(struct store *s, const struct layout *l, struct error *err)
{
	autofree const char **hosts = NULL;
	int n = store_names(s, NAMES_HOST, &hosts, err), rc = n < 0 ? n : store_begin(s, err);

	for (int i = 0; i < n && !rc; i++)
		rc = write_host(s, l->hosts_dir, hosts[i], err);
	return rc ? rc : store_commit(s, err);
}

static int analysis_count_runs(struct analysis *a, struct store *s, struct error *err)
{
	struct run_filter all = {.failed = true};
	autofree struct run *runs = NULL;
	int n = store_runs(s, &all, &runs, err);
	size_t ok;

	runs_count(runs, n, &ok, &a->failed);
	a->runs = ok + a->failed;
	return n < 0 ? n : 0;
}

/* Formats the slice as "1.5 to 3 s", "from 1.5 s" or "to 3 s". */
static void slice_format(const struct time_slice *t, char *text, size_t size)
{
	double from = (double)t->from.ns / 1e9, to = (double)t->to.ns / 1e9;

	if (t->from.given && t->to.given)
		snprintf(text, size, "%.10g to %.10g s", from, to);
	else
		snprintf(text, size, "%s %.10g s", t->from.given ? "from" : "to",
			 t->from.given ? from : to);
}

/*
 * Writes how the analysis read the runs, if it used options. See scope_add_slice_notes() in
 * scope/scope.c.
 */
static int write_manner(const struct analysis *a, struct store *s, struct error *err)
{
	char slice[64];
	bool sliced = slice_given(&a->slice);
	const struct capture_fact facts[] = {
		{"inlines", a->inlines ? "1" : NULL},
		{"power_csv", a->meter_options},
		{"units", a->units},
		{"slice", sliced ? slice : NULL},
		{"slice_absent", sliced && a->absent.len ? a->absent.buf : NULL},
	};

	slice_format(&a->slice, slice, sizeof(slice));
	return capture_facts_write(s, facts, array_size(facts), err);
}

static struct work_side *jobs_work_sides(const struct job *jobs, size_t n)
{
	struct work_side *sides = xcalloc(n + 1, sizeof(*sides));

	for (size_t i = 0; i < n; i++)
		sides[i] = (struct work_side){jobs[i].run, jobs[i].entry->work, jobs[i].counts};
	return sides;
}

/* Writes what only all runs together show. skew_store() may make runs fail. */
static int write_comparisons(struct analysis *a, struct store *s, const struct work_side *sides,
			     size_t nsides, struct error *err)
{
	struct run_filter good = {0}, every = {.failed = true};
	autofree struct run *runs = NULL, *all = NULL, *left = NULL;
	int n = store_runs(s, &good, &runs, err), rc = n < 0 ? n : store_begin(s, err);

	rc = rc ?: placement_notes(s, runs, n, err);
	rc = rc ?: skew_store(s, runs, n, &a->lossy, err);
	if (rc)
		return rc;
	n = store_runs(s, &every, &all, err);
	rc = n < 0 ? n : work_share_store(s, all, n, sides, nsides, err);
	n = rc ?: store_runs(s, &good, &left, err);
	rc = n < 0 ? n : coverage_store(s, left, n, err);
	return rc ? rc : store_commit(s, err);
}

static void *analysis_check_rest(void *arg)
{
	struct analysis *a = arg;

	damage_check(&a->rest, &a->named, a->capture, NULL);
	return NULL;
}

/* Reads the runs, while another thread checks the files that belong to none. */
static int analyze_runs(struct analysis *a, struct store *s, struct pool *p, struct error *err)
{
	struct background checking = {0};
	struct notes notes = {0};
	int rc;

	background_start(&checking, analysis_check_rest, a);
	rc = pool_run(a, s, p, err);
	background_wait(&checking);
	analysis_note_damage(a, &a->rest, 0, &notes);
	a->lossy += notes.n;
	return rc ? rc : store_notes_add(s, 0, &notes, err);
}

static int analyze_layout(struct analysis *a, struct store *s, struct layout *l, struct error *err)
{
	struct pool p = {.a = a, .hosts_dir = l->hosts_dir, .n = l->nentries};
	autofree struct work_side *sides = NULL;
	size_t skip = strlen(a->capture) + 1;
	int rc;

	a->lossy += l->notes.n;
	rc = write_capture(s, l, err);
	rc = rc ?: damage_list(&a->named, l, a->capture, err);
	if (rc)
		return rc;
	p.jobs = xcalloc(p.n + 1, sizeof(*p.jobs));
	for (size_t i = 0; i < p.n; i++) {
		const char *dir = l->entries[i].dir;

		p.jobs[i].entry = &l->entries[i];
		p.jobs[i].folder = xasprintf("%s/", strlen(dir) > skip ? dir + skip : ".");
	}
	p.symbols = symbol_cache_new();
	rc = analyze_runs(a, s, &p, err);
	symbol_cache_free(p.symbols);
	sides = jobs_work_sides(p.jobs, p.n);
	array_free(e, p.jobs, p.n, free(e->folder));
	rc = rc ?: write_manner(a, s, err);
	rc = rc ?: write_hosts(s, l, err);
	rc = rc ?: write_comparisons(a, s, sides, l->nentries, err);
	rc = rc ?: analysis_count_runs(a, s, err);
	rc = rc ?: components_store(s, err);
	return rc ? rc : store_commit_all(s, err);
}

int analyze(struct analysis *a, struct error *err)
{
	struct store *s = NULL;
	freed(layout_free) struct layout l;
	autofree char *path = xasprintf("%s/zcost.db", a->capture);
	int rc = layout_read(&l, a->capture, err);

	rc = rc ?: meters_check(a, &l, err);
	if (!rc && !a->nmeters)
		a->forgotten = store_remembered(a->capture, "power_csv");
	rc = rc ?: store_create(&s, path, err);
	rc = rc ?: analyze_layout(a, s, &l, err);
	rc = store_close(s, rc, err);
	str_free(&a->absent);
	return rc;
}

void analysis_free(struct analysis *a)
{
	members_free(&a->named);
	free(a->forgotten);
	free(a->meter_options);
	free(a->units);
}

/* Refuses a capture that has runs but lacks their raw files. */
static int analysis_check_raw(const struct analysis *a, const struct layout *l, struct error *err)
{
	size_t gone = 0;

	for (size_t i = 0; i < l->nentries; i++) {
		autofree char *path = xasprintf("%s/run.json", l->entries[i].dir);

		gone += !path_exists(path);
	}
	if (gone < l->nentries)
		return 0;
	return error_set(
		err, ENOENT,
		"%s: the raw files of its runs are gone, and zcost.db has figures of whole windows only",
		a->capture);
}

int analyze_in_memory(struct analysis *a, struct store **store, struct error *err)
{
	freed(layout_free) struct layout l;
	int rc = layout_read(&l, a->capture, err);

	*store = NULL;
	rc = rc ?: analysis_check_raw(a, &l, err);
	rc = rc ?: store_create_in_memory(store, a->capture, err);
	rc = rc ?: analyze_layout(a, *store, &l, err);
	str_free(&a->absent);
	if (!rc)
		return 0;
	rc = store_close(*store, rc, err);
	*store = NULL;
	return rc;
}
