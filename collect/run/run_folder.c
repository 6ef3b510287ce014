// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files of a run: which ones are its own, and run.json (docs/reference/capture-folder.md). The
 * keys have a fixed order, because people read them too.
 */
#include "collect/run/run.h"

#include "collect/collect.h"
#include "lib/alloc.h"
#include "lib/command.h"
#include "lib/file.h"
#include "lib/json.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- the folder before the run --- */

/* Files that every run has. */
static const char *const common[] = {"workload.out", "workload.err", "run.json"};

/* Entries that a folder without a run may have. */
static const char beside[] = ". .. hosts zcost.db";

/* A collector's file alone is no earlier run: perf.data may be a recording of the user. */
int folder_check(const char *dir, bool *used, struct error *err)
{
	autofree char *json = xasprintf("%s/run.json", dir),
		      *out = xasprintf("%s/workload.out", dir);
	struct dirent *e;

	*used = path_exists(json) || path_exists(out);
	each_entry (e, dir)
		if (!*used && !str_matches_any(beside, e->d_name))
			return error_set(
				err, EEXIST,
				"%s: the folder has '%s', which is not part of a run: give another -o",
				dir, e->d_name);
	return 0;
}

static void folder_remove(const char *dir, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n && list[i]; i++) {
		autofree char *path = xasprintf("%s/%s", dir, list[i]);

		unlink(path);
	}
}

void folder_clear(const char *dir)
{
	folder_remove(dir, common, array_size(common));
	for (size_t i = 0; collectors[i]; i++)
		folder_remove(dir, collectors[i]->files, array_size(collectors[i]->files));
}

/* --- run.json --- */

static const char *const state_names[] = {"ok", "unsupported", "degraded"};

static void run_json_set_int(json_t *o, const char *key, uint64_t value)
{
	json_object_set_new(o, key, json_integer((json_int_t)value));
}

static json_t *run_json_window(const struct run *r)
{
	json_t *o;

	if (!r->end_ns)
		return json_null();
	o = json_pack("{s:I, s:I, s:s}", "start_ns", (json_int_t)r->start_ns, "end_ns",
		      (json_int_t)r->end_ns, "clock", "CLOCK_MONOTONIC");
	run_json_set_int(o, "own_cpu_ns", r->own_ns);
	if (r->early_ns)
		run_json_set_int(o, "early_ns", r->early_ns);
	if (r->wanted_ns && r->wanted_ns <= r->start_ns)
		run_json_set_int(o, "late_ns", r->start_ns - r->wanted_ns);
	return o;
}

static void run_json_add_ns(json_t *o, const char *key, uint64_t from, uint64_t to)
{
	if (from && to)
		run_json_set_int(o, key, to - from);
}

static json_t *run_json_files(struct collect *c)
{
	json_t *list = json_array();

	for (size_t i = 0; c->is->files[i]; i++) {
		autofree char *path = collect_path(c, c->is->files[i]);

		if (!access(path, F_OK))
			json_array_append_new(list, json_string(c->is->files[i]));
		else if (errno != ENOENT)
			collect_degraded(c, "%s: cannot be looked for: %s", path, strerror(errno));
	}
	return list;
}

static json_t *run_json_collector(struct collect *c)
{
	json_t *files = run_json_files(c); /* may change the state */
	json_t *o = json_pack("{s:s, s:s, s:o}", "name", c->is->name, "state",
			      state_names[c->state], "why", json_any_text(c->why ? c->why : ""));

	if (c->lost >= 0)
		run_json_set_int(o, "lost", (uint64_t)c->lost);
	if (c->is->when == AT_THE_EDGE) {
		run_json_add_ns(o, "on_after_ns", c->run->start_ns, c->on.to);
		run_json_add_ns(o, "off_after_ns", c->run->end_ns, c->off.to);
	} else if (c->is->when == DATED) {
		run_json_add_ns(o, "read_before_ns", c->on.from, c->run->start_ns);
		run_json_add_ns(o, "read_after_ns", c->run->end_ns, c->off.to);
	}
	json_object_set_new(o, "files", files);
	json_object_set(o, "info", c->info);
	return o;
}

static json_t *run_json_matched(const struct tree *t)
{
	json_t *list = json_array();

	for (size_t i = 0; i < t->nmatches; i++) {
		autofree char *text =
			xasprintf("%d %s", (int)t->matches[i].process.pid, t->matches[i].name);

		json_array_append_new(list, json_any_text(text));
	}
	return list;
}

static json_t *run_json(const struct run *r)
{
	json_t *o, *command = json_array(), *processes = json_array(), *list = json_array();
	autofree char *cpus = cpuset_format(&r->cpus);

	for (size_t i = 0; r->argv[i]; i++)
		json_array_append_new(command, json_any_text(r->argv[i]));
	o = json_pack("{s:i, s:s, s:o, s:o, s:i, s:o, s:o, s:o, s:o, s:s, s:f, s:f}",
		      "schema_version", 1, "zcost_version", zcost_version, "variant",
		      json_any_text(r->variant), "pass", json_any_text(r->pass), "repeat",
		      (int)r->repeat, "side", json_any_text(r->side), "host",
		      json_any_text(path_base_name(r->hosts)), "command", command, "units",
		      json_any_text(r->units), "cpus", cpus, "warmup_s", r->warmup_s, "duration_s",
		      r->duration_s);
	if (r->user)
		json_object_set_new(o, "user", json_any_text(r->user));
	json_object_set_new(o, "window", run_json_window(r));
	for (size_t i = 0; i < r->nprocesses; i++)
		json_array_append_new(processes, json_integer(r->processes[i]));
	json_object_set_new(o, "processes", processes);
	json_object_set_new(o, "named", json_any_text(r->named));
	if (run_has_strangers(r))
		json_object_set_new(o, "matched", run_json_matched(&r->tree));
	json_object_set_new(o, "exit",
			    r->stopped || !r->pid
				    ? json_null()
				    : json_pack("{s:i, s:i}", "status",
						WIFEXITED(r->status) ? WEXITSTATUS(r->status) : 0,
						"signal",
						WIFSIGNALED(r->status) ? WTERMSIG(r->status) : 0));
	run_json_set_int(o, "started_ns", r->started_ns);
	run_json_set_int(o, "ended_ns", r->ended_ns);
	json_object_set_new(o, "wall_clock", json_string(r->wall_clock));
	json_object_set_new(o, "status", json_string(r->failed ? "failed" : "ok"));
	json_object_set_new(o, "why", json_any_text(r->why));
	if (r->cut_off)
		json_object_set_new(o, "cut_off", json_any_text(r->cut_off));
	for (size_t i = 0; i < r->ncollect; i++)
		json_array_append_new(list, run_json_collector(&r->collect[i]));
	json_object_set_new(o, "collectors", list);
	return o;
}

int run_write_json(const struct run *r, struct error *err)
{
	json_auto_t *o = run_json(r);
	autofree char *path = xasprintf("%s/run.json", r->dir);

	return json_write(path, o, JSON_INDENT(2) | JSON_REAL_PRECISION(15), err);
}
