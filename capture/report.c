// SPDX-License-Identifier: GPL-2.0-only
/* What a side says of itself: its run.json, and the last words on standard error. */
#include "capture/capture.h"
#include "capture/work.h"
#include "lib/alloc.h"
#include "lib/file.h"
#include "lib/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_SHOWN = 200 };

static const char *json_text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

/* What a foreign program printed may be anything; a message and JSON want plain text. */
static char *text_clean(const char *s)
{
	char *out = xstrndup(s, LINE_MAX_SHOWN), *p;

	for (p = out; *p; p++)
		if ((unsigned char)*p < ' ' || (unsigned char)*p > '~')
			*p = '?';
	return out;
}

/* "Try `x --help' for more information.": argp and others end so, and it names no reason. */
static bool line_invites_to_help(const char *line)
{
	return strcasestr(line, "--help") &&
	       (strcasestr(line, "try ") || strcasestr(line, "for more"));
}

/* What follows is how it is used, not what went wrong. */
static bool line_is_usage(const char *line)
{
	return !strncasecmp(line, "usage:", strlen("usage:"));
}

/* The last line that may be a reason; the first one where none may. */
static char *find_telling_line(char *text)
{
	char *rest = text, *line, *first = NULL, *last = NULL;

	while ((line = str_token(&rest, '\n'))) {
		line = str_trim(line);
		if (!*line)
			continue;
		if (!first)
			first = line;
		if (line_is_usage(line) && last)
			break;
		if (!line_invites_to_help(line) && !line_is_usage(line))
			last = line;
	}
	return last ? last : first;
}

char *report_line(const char *path, bool first)
{
	char *data, *line, *out;

	if (file_read(path, &data, NULL, NULL))
		return NULL;
	line = str_trim(data);
	if (first)
		line[strcspn(line, "\n")] = '\0';
	else
		line = find_telling_line(line);
	out = line && *line ? text_clean(str_trim(line)) : NULL;
	free(data);
	return out;
}

/* Adds the last line of a file in quotes, unless `s` has it already. */
static void report_quote_last_line(struct str *s, const char *path)
{
	char *line = report_line(path, false);

	if (line && !(s->buf && strstr(s->buf, line)))
		str_printf(s, ": \"%s\"", line);
	free(line);
}

static bool remark_is_new(struct capture *c, const char *said)
{
	size_t known = c->said.n;

	return intern_str(&c->said, said) == known;
}

/* What the plan names, or a pass is for. */
static bool collector_is_asked_for(const struct capture *c, enum side side, const char *name)
{
	char *copy = xstrdup(c->plan->sides[side].collect), *rest = copy, *word;
	bool found = !strcmp(name, "perf") || !strcmp(name, "syscalls");

	while (!found && (word = str_token(&rest, ',')))
		found = !strcmp(str_trim(word), name);
	free(copy);
	return found;
}

/* Once in a capture for each thing that is not measured well, or cannot be and was asked for. */
static void remark_collector(struct capture *c, enum side side, const char *host, const json_t *collector,
		   struct str *unmeasured)
{
	const char *state = json_text(collector, "state"), *name = json_text(collector, "name"),
		   *why = json_text(collector, "why");
	bool cannot = !strcmp(state, "unsupported");
	char *said;

	if (!strcmp(state, "ok"))
		return;
	said = cannot ? xasprintf("%s: %s cannot be measured: %s", host, name, why)
		      : xasprintf("%s: %s is %s: %s", side_names[side], name, state, why);
	if (!remark_is_new(c, said)) {
		free(said);
		return;
	}
	if (cannot && !c->verbose && !collector_is_asked_for(c, side, name)) {
		str_printf(unmeasured, "%s%s", unmeasured->len ? ", " : "", name);
	} else {
		progress_clear(&c->progress);
		note("%s", said);
	}
	free(said);
}

static void remark_collectors(struct capture *c, enum side side, const json_t *root)
{
	const char *host = json_text(root, "host");
	const json_t *collector;
	struct str names = {0};
	size_t i;

	json_array_foreach (json_object_get(root, "collectors"), i, collector)
		remark_collector(c, side, host, collector, &names);
	if (names.len) {
		progress_clear(&c->progress);
		note("%s: not measured: %s (why: --verbose, or %s/runs/*/*/%s/run.json)", host,
		     names.buf, c->dir, side_names[side]);
	}
	str_free(&names);
}

/* Once for each side of a variant; of a run that failed its own reason is told. */
static void remark_early_end(struct capture *c, enum side side, const json_t *root)
{
	const json_t *w = json_object_get(root, "window");
	double early = json_number_value(json_object_get(w, "early_ns"));
	double length = json_number_value(json_object_get(w, "end_ns")) -
			json_number_value(json_object_get(w, "start_ns"));
	char *key = xasprintf("%s/%s early", json_text(root, "variant"), side_names[side]);
	size_t known = c->said.n;

	if (early > 0 && !strcmp(json_text(root, "status"), "ok") &&
	    intern_str(&c->said, key) == known) {
		progress_clear(&c->progress);
		note("%s/%s-%02d: %s: %.3g s were asked for, the command ended after %.3g s",
		     json_text(root, "variant"), json_text(root, "pass"),
		     (int)json_integer_value(json_object_get(root, "repeat")), side_names[side],
		     (length + early) / 1e9, length / 1e9);
	}
	free(key);
}

static void report_add_why(struct str *s, const json_t *root, const char *run_dir, const char *ended)
{
	char *err_path = xasprintf("%s/workload.err", run_dir);
	char *log = xasprintf("%s.log", run_dir), *clean;

	if (root && *json_text(root, "why")) {
		clean = text_clean(json_text(root, "why"));
		str_puts(s, clean);
		free(clean);
	} else {
		str_printf(s, "zcost collect %s", ended);
		report_quote_last_line(s, log);
	}
	report_quote_last_line(s, err_path);
	free(err_path);
	free(log);
}

/* Where its output gives no reason, the last words on standard error may. */
static char *report_undone_work(const json_t *root, const char *run_dir)
{
	bool quoted;
	char *why = work_undone(run_dir, json_text(root, "units"), &quoted), *clean;
	char *err_path = xasprintf("%s/workload.err", run_dir);
	struct str s = {0};

	if (why) {
		clean = text_clean(why);
		str_puts(&s, clean);
		if (!quoted)
			report_quote_last_line(&s, err_path);
		free(clean);
	}
	free(err_path);
	free(why);
	return s.buf ? str_take(&s) : NULL;
}

void report_side(struct capture *c, const char *dir, enum side side, const char *ended, char **why)
{
	char *run_dir = xasprintf("%s/%s", dir, side_names[side]);
	char *path = xasprintf("%s/run.json", run_dir);
	json_t *root = json_load_file(path, 0, NULL);
	struct str s = {0};
	char *undone = NULL;

	if (root) {
		remark_collectors(c, side, root);
		remark_early_end(c, side, root);
	}
	if (!root || strcmp(json_text(root, "status"), "ok")) {
		str_printf(&s, "%s: ", side_names[side]);
		report_add_why(&s, root, run_dir, ended);
		*why = str_take(&s);
	} else if ((undone = report_undone_work(root, run_dir))) {
		*why = xasprintf("%s: %s", side_names[side], undone);
	}
	free(undone);
	json_decref(root);
	free(path);
	free(run_dir);
}
