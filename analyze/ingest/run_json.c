// SPDX-License-Identifier: GPL-2.0-only
/* run.json: what one side of one run was, and what its collectors say of themselves. */
#include "lib/names.h"
#include "analyze/ingest/edges.h"
#include "lib/json.h"

#include "analyze/model/notes.h"
#include "lib/alloc.h"
#include "lib/str.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SCHEMA = 1 };

static const char *run_keep(struct ingest *in, const char *s)
{
	return s ? arena_strdup(&in->arena, s) : NULL;
}

static const char *run_keep_or(struct ingest *in, const json_t *root, const char *key,
			       const char *otherwise)
{
	const char *s = json_str(root, key);

	return run_keep(in, s && *s ? s : otherwise);
}

static const char *run_command_line(struct ingest *in, const json_t *argv)
{
	struct str s = {0};
	const char *line;
	const json_t *arg;
	size_t i;

	if (!json_is_array(argv))
		return NULL;
	json_array_foreach (argv, i, arg) {
		str_puts(&s, i ? " " : "");
		str_puts(&s, json_string_value(arg) ? json_string_value(arg) : "?");
	}
	line = run_keep(in, s.buf);
	str_free(&s);
	return line;
}

/* "2026-01-31T12:00:00Z", a fraction of a second allowed; 0 when it is not that. */
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
		note_add(&in->notes, run_json_unreadable, err.text);
		return;
	}
	in->has_cpus = true;
	in->run.cpus = run_keep(in, text);
	in->run.ncpus = (int)cpuset_count(&in->cpus);
}

/* A name that becomes a path: run.json may be a stranger's, and "../.." leaves the capture. */
static const char *run_keep_part(struct ingest *in, const json_t *root, const char *key,
				 const char *otherwise)
{
	const char *s = json_str(root, key);

	if (!s || !*s)
		return otherwise;
	if (name_is_part(s))
		return run_keep(in, s);
	note_add(&in->notes, run_json_bad_name, key, name_shown(s));
	return otherwise;
}

static void run_read_collector(struct ingest *in, const json_t *c)
{
	const char *name = run_keep_or(in, c, "name", "?");
	const json_t *file, *lost = json_object_get(c, "lost");
	const char *why = json_str(c, "why");
	size_t i;

	array_grow(in->collectors, in->ncollectors, in->collectors_cap);
	in->collectors[in->ncollectors++] = (struct collector_row){
		name, run_keep_or(in, c, "state", "ok"), why && *why ? run_keep(in, why) : NULL,
		json_is_integer(lost) ? json_integer_value(lost) : -1};
	json_array_foreach (json_object_get(c, "files"), i, file) {
		if (!json_is_string(file))
			continue;
		array_grow(in->files, in->nfiles, in->files_cap);
		in->files[in->nfiles++] =
			(struct ingest_file){name, run_keep(in, json_string_value(file))};
	}
}

/*
 * Not a failure: many workloads end by themselves. Older captures do not say it: a command that had
 * ended, and a window that is too short.
 */
static void run_read_early_end(struct ingest *in, const json_t *root)
{
	double window = (double)(in->run.end_ns - in->run.start_ns) / 1e9;
	double asked = window + (double)json_u64(json_object_get(root, "window"), "early_ns") / 1e9;
	double plan = json_number_value(json_object_get(root, "duration_s"));

	if (asked <= window && json_is_object(json_object_get(root, "exit")))
		asked = plan;
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
	in->started_ns = json_u64(root, "started_ns");
	in->ended_ns = json_u64(root, "ended_ns");
	in->wall_clock = run_wall_clock(json_str(root, "wall_clock"));
	run_read_cpus(in, root);
	run_read_early_end(in, root);
	json_array_foreach (json_object_get(root, "collectors"), i, c)
		run_read_collector(in, c);
	ingest_edges(in, root);
}

int ingest_run_json(struct ingest *in, const char *path, struct error *err)
{
	json_t *root = json_file(path, err);
	uint64_t schema;

	if (!root)
		return err && err->code ? -err->code : -EBADMSG;
	schema = json_u64(root, "schema_version");
	if (schema != SCHEMA) {
		json_decref(root);
		return error_set(err, EBADMSG,
				 "%s: schema_version %llu; this zcost reads %d: use the zcost that "
				 "made it, or a newer one",
				 path, (unsigned long long)schema, SCHEMA);
	}
	run_read(in, root);
	json_decref(root);
	return 0;
}
