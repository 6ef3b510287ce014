// SPDX-License-Identifier: GPL-2.0-only
/* run.json: one side of one run and the state of its collectors; clock.json beside it. */
#include "analyze/probes/ingest.h"

#include "analyze/model/notes.h"
#include "lib/file.h"
#include "lib/json.h"
#include "lib/names.h"
#include "lib/str.h"

#include <errno.h>
#include <time.h>

enum { SCHEMA = 1 }; /* the schema of both files */

/* --- how exactly the collectors cut the window --- */

enum { NOTE_FROM_NS = 1000000 };

struct edge {
	const char *key, *metric, *what;
	bool dated; /* figures are interpolated to this edge, whenever the reading was */
};

static const struct edge edges[] = {
	{"on_after_ns", "window_start_error_us", "start", false},
	{"off_after_ns", "window_end_error_us", "end", false},
	{"read_before_ns", "window_first_reading_us", "start", true},
	{"read_after_ns", "window_last_reading_us", "end", true},
};

static void edge_add_note(struct ingest *in, const struct edge *e, double ns, double window,
			  const char *who)
{
	/* Counts between readings are interpolated, so their error is a part of the distance. */
	double doubtful = e->dated ? window / 20 : window / 100;
	enum note_severity level = ns > doubtful ? SEVERITY_WARNING : SEVERITY_INFO;

	if (ns <= NOTE_FROM_NS)
		return;
	if (!e->dated)
		note_add(&in->notes, window_cut_late, e->what, ns / 1e6, who)->severity = level;
	else if (ns > window / 100)
		note_add(&in->notes, window_reading_far, who, e->what, ns / 1e6)->severity = level;
}

/* Adds a metric of the collector that was farthest from the window's edge. */
static void edge_add_metric(struct ingest *in, const json_t *collectors, const struct edge *e)
{
	double window = (double)(in->run.end_ns - in->run.start_ns), worst = -1;
	const json_t *c, *after;
	const char *who = NULL;
	size_t i;

	json_array_foreach (collectors, i, c) {
		after = json_object_get(c, e->key);
		if (!json_is_integer(after) || (double)json_integer_value(after) <= worst)
			continue;
		worst = (double)json_integer_value(after);
		who = json_str(c, "name");
	}
	if (worst < 0)
		return;
	ingest_metric(in, e->metric, "us", worst / 1e3);
	edge_add_note(in, e, worst, window, who ? who : "a collector");
}

static void run_add_edges(struct ingest *in, const json_t *root)
{
	const json_t *window = json_object_get(root, "window"),
		     *late = json_object_get(window, "late_ns"),
		     *own = json_object_get(window, "own_cpu_ns");

	if (in->run.end_ns <= in->run.start_ns || slice_given(&in->how.slice))
		return;
	if (json_is_integer(own))
		ingest_metric(in, "own_cpu_pct", "%",
			      100 * (double)json_integer_value(own) /
				      (double)(in->run.end_ns - in->run.start_ns));
	if (json_is_integer(late))
		ingest_metric(in, "window_late_us", "us", (double)json_integer_value(late) / 1e3);
	for (size_t i = 0; i < array_size(edges); i++)
		edge_add_metric(in, json_object_get(root, "collectors"), &edges[i]);
}

/* --- run.json --- */

static const char *run_keep_or(struct ingest *in, const json_t *root, const char *key,
			       const char *otherwise)
{
	const char *s = json_str(root, key);

	return arena_strdup(&in->arena, s && *s ? s : otherwise);
}

static const char *run_command_line(struct ingest *in, const json_t *argv)
{
	freed(str_free) struct str s = {0};
	const json_t *arg;
	size_t i;

	if (!json_is_array(argv))
		return NULL;
	json_array_foreach (argv, i, arg) {
		str_puts(&s, i ? " " : "");
		str_puts(&s, json_string_value(arg) ? json_string_value(arg) : "?");
	}
	return arena_strdup(&in->arena, s.buf);
}

/*
 * Returns "2026-01-31T12:00:00Z", with or without a fraction of a second, as seconds since 1970,
 * or 0.
 */
static double run_wall_clock(const char *text)
{
	struct tm tm = {0};
	const char *rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;

	if (!rest)
		return 0;
	return (double)timegm(&tm) + (*rest == '.' ? strtod(rest, NULL) : 0);
}

static void run_read_cpus(struct ingest *in, const json_t *root)
{
	const char *text = json_str(root, "cpus");
	struct error err = {0};

	if (!text || !*text)
		return;
	if (cpuset_parse(&in->cpus, text, &err)) {
		note_add(&in->notes, file_damaged, "run.json", err.text);
		return;
	}
	in->has_cpus = true;
	in->run.cpus = arena_strdup(&in->arena, text);
	in->run.ncpus = (int)cpuset_count(&in->cpus);
}

/*
 * Returns a name that becomes a part of a path. run.json may be a stranger's: "../.." would leave
 * the capture.
 */
static const char *run_keep_part(struct ingest *in, const json_t *root, const char *key,
				 const char *otherwise)
{
	const char *s = json_str(root, key);
	autofree char *text = NULL;

	if (!s || !*s)
		return otherwise;
	if (name_is_part(s))
		return arena_strdup(&in->arena, s);
	text = xasprintf("%s '%." NAME_SHOWN "s' is not the name of a folder", key, s);
	note_add(&in->notes, file_damaged, "run.json", text);
	return otherwise;
}

/* Adds the fact tool:perf with the value 6.1.192 for "perf version 6.1.192". */
static void run_add_tool(struct ingest *in, const char *collector, const char *version)
{
	const char *word = version ? strstr(version, "version ") : NULL;
	autofree char *name = NULL;

	if (!version || !*version)
		return;
	name = xasprintf("tool:%s", collector);
	ingest_fact(in, name, word ? word + strlen("version ") : version);
}

/*
 * Adds what the collector cost in the window: the CPU time of its readings, and the runs of its BPF
 * programs in the parts of the window in which the kernel counted them.
 */
static void run_add_cost(struct ingest *in, const char *name, const json_t *info)
{
	double window = (double)(in->run.end_ns - in->run.start_ns),
	       looks = json_num(info, "looks"), timed = json_num(info, "timed_ns");

	if (slice_given(&in->how.slice)) /* it is known for the whole window only */
		return;
	ingest_metric_of(in, "reading_cpu_pct", name, NO_CPU, "%",
			 100 * json_num(info, "looks_ns") / window);
	ingest_metric_of(in, "readings_per_s", name, NO_CPU, "1/s", 1e9 * looks / window);
	ingest_metric_of(in, "program_cpu_pct", name, NO_CPU, "%",
			 100 * json_num(info, "runs_ns") / timed);
	ingest_metric_of(in, "program_runs_per_s", name, NO_CPU, "1/s",
			 1e9 * json_num(info, "runs") / timed);
}

static void run_read_collector(struct ingest *in, const json_t *c)
{
	const char *name = run_keep_or(in, c, "name", "?");
	const json_t *file, *lost = json_object_get(c, "lost");
	const char *why = json_str(c, "why");
	size_t i;

	array_add(in->collectors, in->ncollectors, in->collectors_cap,
		  (struct collector_row){name, run_keep_or(in, c, "state", "ok"),
					 why && *why ? arena_strdup(&in->arena, why) : NULL,
					 json_is_integer(lost) ? json_integer_value(lost) : -1});
	run_add_tool(in, name, json_str(json_object_get(c, "info"), "version"));
	run_add_cost(in, name, json_object_get(c, "info"));
	json_array_foreach (json_object_get(c, "files"), i, file) {
		if (!json_is_string(file))
			continue;
		array_add(in->files, in->nfiles, in->files_cap,
			  (struct ingest_file){name,
					       arena_strdup(&in->arena, json_string_value(file))});
	}
}

/*
 * Notes a window that the workload ended early. That is no failure: many workloads end by
 * themselves.
 */
static void run_read_early_end(struct ingest *in, const json_t *root)
{
	double window = (double)(in->run.end_ns - in->run.start_ns) / 1e9;
	double asked = window + (double)json_u64(json_object_get(root, "window"), "early_ns") / 1e9;

	if (in->run.end_ns && !strcmp(in->run.status, "ok") && window < 0.99 * asked)
		note_add(&in->notes, window_short, window, asked);
}

static void run_read(struct ingest *in, const json_t *root)
{
	const json_t *window = json_object_get(root, "window"), *c;
	size_t i;

	in->run.variant = run_keep_part(in, root, "variant", "run");
	in->run.pass = run_keep_part(in, root, "pass", "all");
	in->run.side = run_keep_part(in, root, "side", "local");
	in->run.repeat = (int)json_u64(root, "repeat");
	in->run.host = run_keep_part(in, root, "host", NULL);
	in->run.command = run_command_line(in, json_object_get(root, "command"));
	in->run.status = run_keep_or(in, root, "status", "ok");
	in->run.why = run_keep_or(in, root, "why", NULL);
	in->run.start_ns = json_u64(window, "start_ns");
	in->run.end_ns = json_u64(window, "end_ns");
	in->units = run_keep_or(in, root, "units", "none");
	json_array_foreach (json_object_get(root, "processes"), i, c)
		array_add(in->pids, in->npids, in->pids_cap, (uint32_t)json_integer_value(c));
	in->named = run_keep_or(in, root, "named", NULL);
	c = json_object_get(root, "matched");
	in->unmatched = c && !json_array_size(c);
	in->started_ns = json_u64(root, "started_ns");
	in->ended_ns = json_u64(root, "ended_ns");
	in->wall_clock = run_wall_clock(json_str(root, "wall_clock"));
	run_read_cpus(in, root);
	run_read_early_end(in, root);
	json_array_foreach (json_object_get(root, "collectors"), i, c)
		run_read_collector(in, c);
	run_add_edges(in, root);
}

int ingest_run_json(struct ingest *in, const char *path, struct error *err)
{
	json_auto_t *root = json_file(path, err);
	uint64_t schema = json_u64(root, "schema_version");

	if (!root)
		return err && err->code ? -err->code : -EBADMSG;
	if (schema != SCHEMA)
		return error_set(
			err, EBADMSG,
			"%s: schema_version %llu; this zcost reads %d: use the zcost that made it, or a newer one",
			path, (unsigned long long)schema, SCHEMA);
	run_read(in, root);
	return 0;
}

/*
 * --- clock.json, of a side that ran on another host ---
 *
 * It says how far the side's clock is ahead of the clock of the host that controlled the run. The
 * clocks were compared before and after the run; between the two the offset changes evenly.
 */

/* ns; `offset` is NAN where it was not measured. */
struct comparison {
	double at, offset, error;
};

static struct comparison clock_read_comparison(const json_t *root, const char *key)
{
	const json_t *o = json_object_get(root, key);

	return (struct comparison){json_num(o, "at_ns"), json_num(o, "offset_ns"),
				   json_num(o, "error_ns")};
}

/* Returns the comparison at a time of the side's own clock. */
static struct comparison clock_interpolate(const struct comparison *before,
					   const struct comparison *after, double t)
{
	struct comparison c = isnan(before->offset) ? *after : *before;
	double length = after->at - before->at, part;

	if (isnan(before->offset) || isnan(after->offset) || length <= 0)
		return c;
	part = (t - before->offset - before->at) / length;
	c.offset += fmin(fmax(part, 0), 1) * (after->offset - before->offset);
	c.error = fmax(before->error, after->error);
	return c;
}

static int clock_read_file(struct ingest *in, const char *path, struct error *err)
{
	json_auto_t *root = json_file(path, err);
	struct comparison before, after, c;

	if (!root)
		return -EBADMSG;
	if (json_u64(root, "schema_version") != SCHEMA)
		return error_set(err, EBADMSG, "%s: schema_version is not %d", path, SCHEMA);
	before = clock_read_comparison(root, "before");
	after = clock_read_comparison(root, "after");
	c = clock_interpolate(&before, &after, (double)in->run.start_ns);
	ingest_metric(in, "clock_offset", "s", c.offset / 1e9);
	ingest_metric(in, "clock_error", "s", c.error / 1e9);
	return 0;
}

void ingest_clock(struct ingest *in)
{
	autofree char *path = xasprintf("%s/clock.json", in->dir);
	struct error err = {0};

	if (path_exists(path) && clock_read_file(in, path, &err))
		note_add(&in->notes, file_damaged, "clock.json", err.text);
}
